"""The API returns what the pages show: search with reasons, documents, files, sync, facts of a date, episodes."""

import base64
import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.api import keys
from accounts.models import User
from chat.ingest.source import ChatSource
from memory.documents import uploads
from memory.documents.revisions import save
from memory.index.indexer import embed_pending
from memory.models import Document, Episode, Fact, Upload
from tests.memory.index.test_indexer import said

pytestmark = pytest.mark.django_db

AT = "/api/v1/memory"
PLAN = "The garlic goes into the bed by the wall."


@pytest.fixture
def hers(alice: User, client: Client) -> Client:
    client.force_login(alice)
    return client


@pytest.fixture
def his(bob: User) -> Client:
    client = Client()
    client.force_login(bob)
    return client


def get(client: Client, route: str, /, **query: Any) -> Any:
    response = client.get(f"{AT}/{route}?{urlencode(query, doseq=True)}")
    assert response.status_code == 200, response.content
    return response.json()


def send(client: Client, method: str, route: str, /, **body: Any) -> Any:
    return client.generic(method, f"{AT}/{route}", json.dumps(body), content_type="application/json")


@pytest.fixture
def library(alice: User) -> None:
    save(alice, "/projects/garden/plan", PLAN, started_from=0)
    Fact.objects.create(user=alice, statement="The user grows garlic.", status="active")
    ChatSource().import_conversation(alice, "Garden", said(("user", "I planted the garlic in October.")))
    embed_pending()


def test_a_search_names_each_part_of_each_score(hers: Client, library: None) -> None:
    found = get(hers, "search", q="Where does the garlic go?")

    assert {one["source"] for one in found["results"]} == {"document", "fact", "message"}
    scores = [one["score"] for one in found["results"][1:]]  # what answers leads
    assert scores == sorted(scores, reverse=True)
    assert {"semantic", "keyword", "recency"} <= found["results"][0]["parts"].keys()


def test_a_search_says_what_it_left_out_and_by_which_rule(hers: Client, library: None) -> None:
    found = get(hers, "search", q="Where does the garlic go?", top_k=1)

    assert len(found["results"]) == 1
    assert {one["rule"] for one in found["left_out"]} == {"beyond top-K"}


def test_a_search_can_be_limited(hers: Client, library: None) -> None:
    of_documents = get(hers, "search", q="garlic", source=["document"])["results"]
    elsewhere = get(hers, "search", q="garlic", path="/reference")["results"]

    assert [chunk["text"] for chunk in of_documents] == [PLAN]
    assert elsewhere == []


def test_a_document_is_written_read_and_written_over(hers: Client) -> None:
    new = send(hers, "PUT", "document", path="/reference/bows", text="Of pernambuco.", tags=["Cello ", "cello"])
    again = send(hers, "PUT", "document", path="/reference/bows", text="Of carbon.", version=1)

    assert (new.status_code, new.json()["version"], new.json()["tags"]) == (200, 1, ["cello"])
    assert again.json()["version"] == 2
    assert get(hers, "document", path="/reference/bows")["text"] == "Of carbon."


def test_a_version_that_is_not_the_newest_is_not_written_over(hers: Client) -> None:
    send(hers, "PUT", "document", path="/reference/bows", text="Of pernambuco.")
    lost = send(hers, "PUT", "document", path="/reference/bows", text="Of carbon.", version=0)

    assert lost.status_code == 409
    assert lost["Content-Type"] == "application/problem+json"
    assert "changed since" in lost.json()["detail"]
    assert get(hers, "document", path="/reference/bows")["text"] == "Of pernambuco."


def test_documents_are_listed_moved_and_deleted_with_what_is_below(hers: Client, library: None) -> None:
    moved = send(hers, "POST", "documents/move", path="/projects/garden", to="/projects/allotment")
    listed = get(hers, "documents", under="/projects")
    gone = hers.delete(f"{AT}/documents?path=/projects")

    assert moved.json() == {"moved": 1}
    assert [one["path"] for one in listed["items"]] == ["/projects/allotment/plan"]
    assert gone.json()["deleted"] == ["/projects/allotment/plan"]
    assert get(hers, "documents")["items"] == []


@pytest.mark.parametrize(
    ("method", "route", "body"),
    [
        ("PUT", "document", {"path": "/profile/identity", "text": "Lives in Moscow.", "version": 0}),
        ("PUT", "document", {"path": "/reference/notes", "text": "Lives in Moscow. ^fact-1", "version": 0}),
        ("POST", "documents/move", {"path": "/projects/garden", "to": "/profile/garden"}),
        ("POST", "documents/move", {"path": "/profile", "to": "/projects/me"}),
        ("POST", "sync", {"origin": "notes", "at": "/profile", "files": []}),
    ],
)
def test_a_key_that_decides_nothing_writes_no_profile(
    method: str, route: str, body: dict[str, Any], alice: User, library: None
) -> None:
    def answered(*scopes: str) -> int:
        _, secret = keys.create_key(alice, "one", scopes)
        program = Client(headers={"Authorization": f"Bearer {secret}"})
        return program.generic(method, f"{AT}/{route}", json.dumps(body), content_type="application/json").status_code

    assert answered("memory:write") == 403
    assert answered("memory:write", "review") != 403


def test_a_file_is_taken_and_its_way_can_be_followed(hers: Client, alice: User) -> None:
    file = SimpleUploadedFile("bows.md", b"# Bows\n\nOf pernambuco.")
    taken = hers.post(f"{AT}/uploads?folder=/reference", {"file": file})
    uploads.process_upload(taken.json()["id"])

    assert (taken.status_code, taken.json()["state"]) == (202, "waiting")
    state = get(hers, f"uploads/{taken.json()['id']}")
    assert state["state"] == "done"
    assert state["path"].startswith("/reference/bows")


def test_a_file_that_cannot_be_read_is_refused_with_a_sentence(hers: Client) -> None:
    refused = hers.post(f"{AT}/uploads", {"file": SimpleUploadedFile("game.exe", b"MZ\x90\x00" * 100)})

    assert refused.status_code == 422
    assert refused.json()["detail"].endswith(".")
    assert not Upload.objects.exists()


def synced(client: Client, **files: str) -> list[dict[str, str]]:
    given = [
        {"external_id": name, "name": f"{name}.md", "content": base64.b64encode(text.encode()).decode()}
        for name, text in files.items()
    ]
    response = send(client, "POST", "sync", origin="notes", at="/reference/notes", files=given)
    assert response.status_code == 200, response.content
    outcomes: list[dict[str, str]] = response.json()
    return outcomes


def test_a_folder_is_kept_in_step(hers: Client) -> None:
    first = synced(hers, bows="Of pernambuco.", strings="Of gut.")
    again = synced(hers, bows="Of pernambuco.", strings="Of gut.")
    later = synced(hers, bows="Of carbon.")

    assert {one["what"] for one in first} == {"new"}
    assert {one["what"] for one in again} == {"unchanged"}
    assert sorted(one["what"] for one in later) == ["changed", "removed"]
    assert Document.objects.get().text == "Of carbon."


def test_what_is_not_in_base64_is_refused_before_anything_is_written(hers: Client) -> None:
    files = [{"external_id": "a", "name": "a.md", "content": "no base64!"}]
    refused = send(hers, "POST", "sync", origin="notes", at="/reference/notes", files=files)

    assert refused.status_code == 422
    assert not Document.objects.exists()


def test_facts_are_told_as_of_a_date(hers: Client, alice: User) -> None:
    common: dict[str, Any] = {"user": alice, "kind": "biography"}
    moved = datetime(2026, 6, 1, tzinfo=UTC)
    Fact.objects.create(
        statement="The user lives in Leeds.", status="superseded", recorded_at=datetime(2026, 1, 1, tzinfo=UTC),
        superseded_at=moved, **common,
    )  # fmt: skip
    Fact.objects.create(statement="The user lives in York.", status="active", recorded_at=moved, **common)

    assert [one["statement"] for one in get(hers, "facts")["items"]] == ["The user lives in York."]
    in_march = get(hers, "facts", known_at="2026-03-01T00:00:00Z")
    assert [one["statement"] for one in in_march["items"]] == ["The user lives in Leeds."]


def test_episodes_are_told_latest_first(hers: Client, alice: User) -> None:
    for year in (2024, 2026, 2025):
        Episode.objects.create(
            user=alice, title=str(year), summary="A year.", happened_at=datetime(year, 5, 1, tzinfo=UTC)
        )

    assert [one["title"] for one in get(hers, "episodes")["items"]] == ["2026", "2025", "2024"]


ROUTES = ["search?q=garlic", "documents", "facts", "episodes", "document?path=/projects/garden/plan", "uploads/1"]


@pytest.mark.parametrize("route", ROUTES)
def test_nobody_gets_in_without_a_session(route: str, client: Client) -> None:
    refused = client.get(f"{AT}/{route}")

    assert refused.status_code == 401
    assert refused["WWW-Authenticate"].startswith("Bearer ")
    problem = refused.json()
    assert (problem["type"], problem["title"], problem["status"]) == ("about:blank", "Unauthorized", 401)
    assert problem["detail"].startswith("Sign in, or send an API key")


def test_a_write_needs_the_sessions_token(alice: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)

    assert send(client, "PUT", "document", path="/reference/bows", text="Of carbon.").status_code == 403
    assert not Document.objects.exists()


def test_bob_reads_moves_and_deletes_nothing_of_alices(his: Client, alice: User, library: None) -> None:
    mine = uploads.accept(alice, "bows.md", b"Of carbon.", "/reference")
    Episode.objects.create(user=alice, title="Garlic", summary="Planted.")

    assert get(his, "search", q="garlic")["results"] == get(his, "search", q="garlic")["left_out"] == []
    for listing in ("documents", "facts", "episodes"):
        assert get(his, listing)["items"] == []
    assert his.get(f"{AT}/document?path=/projects/garden/plan").status_code == 404
    assert his.get(f"{AT}/uploads/{mine.pk}").status_code == 404
    assert send(his, "POST", "documents/move", path="/projects", to="/reference").status_code == 409
    assert his.delete(f"{AT}/documents?path=/projects").json()["deleted"] == []
    assert Document.objects.get(path="/projects/garden/plan").user == alice


@pytest.mark.parametrize(
    ("method", "route", "body", "status"),
    [
        ("GET", "search", {}, 422),
        ("GET", "search?q=a&top_k=0", {}, 422),
        ("GET", "search?q=a&path=nowhere", {}, 422),
        ("GET", "search?q=a&as_of=yesterday", {}, 422),
        ("GET", "search?q=%00", {}, 422),
        ("GET", "document?path=nowhere", {}, 422),
        ("GET", "documents?under=nowhere", {}, 422),
        ("GET", "documents?limit=201", {}, 422),
        ("PUT", "document", {"path": "garden", "text": "x"}, 422),
        ("PUT", "document", {"path": "/a\x00", "text": "x"}, 422),
        ("PUT", "document", {"path": "/a", "text": "x\x00y"}, 422),
        ("POST", "documents/move", {"path": "/a", "to": "/b"}, 409),
        ("POST", "sync", {"origin": "../", "at": "/a", "files": []}, 422),
        ("GET", "uploads/99999999999999999999", {}, 404),
    ],
)
def test_bad_input_is_refused_with_a_sentence(
    method: str, route: str, body: dict[str, Any], status: int, hers: Client
) -> None:
    response = send(hers, method, route, **body) if method != "GET" else hers.get(f"{AT}/{route}")

    assert response.status_code == status, response.content
    if status != 200:
        assert response["Content-Type"] == "application/problem+json"
        assert response.json()["detail"]
