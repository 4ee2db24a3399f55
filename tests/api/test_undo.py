"""Deletions are undone with what their response contained; a project can also be archived."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from chat.models import Conversation, Project, Role
from memory.forgetting.execute import forget
from memory.forgetting.targets import Target, What
from memory.models import Fact
from tests.api.rows import everything_of, with_key
from tests.api.test_operations import refused, send

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queued")]


@pytest.fixture
def rows(alice: Any) -> dict[str, Any]:
    return everything_of(alice, "garlic")


@pytest.fixture
def hers(alice: Any) -> Client:
    return with_key(alice)


def test_a_deleted_role_is_brought_back_with_its_conversations(hers: Client, rows: dict[str, Any]) -> None:
    before = send(hers, "GET", f"/roles/{rows['role']}")
    gone = send(hers, "DELETE", f"/roles/{rows['role']}")
    assert refused(hers, "GET", f"/roles/{rows['role']}") == 404
    assert Conversation.objects.get().role is None

    back = send(hers, "POST", "/roles/restore", {"token": gone["token"]})

    assert {**back, "created_at": ""} == {**before, "created_at": ""}
    assert back["uses"] == 1
    assert Conversation.objects.get().role_id == rows["role"]


def test_a_deleted_project_is_brought_back_with_its_conversations(hers: Client, rows: dict[str, Any]) -> None:
    before = send(hers, "GET", f"/projects/{rows['project']}")
    gone = send(hers, "DELETE", f"/projects/{rows['project']}")
    assert Conversation.objects.get().scope == ""

    back = send(hers, "POST", "/projects/restore", {"token": gone["token"]})

    assert {**back, "created_at": ""} == {**before, "created_at": ""}
    assert Conversation.objects.get().scope == "/projects/garden"


def test_a_project_that_was_put_away_is_taken_out_again(hers: Client, rows: dict[str, Any]) -> None:
    at = f"/projects/{rows['project']}"
    assert send(hers, "PATCH", at, {"archived": True})["archived_at"]
    assert send(hers, "GET", "/projects") == []
    assert [one["id"] for one in send(hers, "GET", "/projects?archived=true")] == [rows["project"]]
    assert send(hers, "PATCH", at, {"archived": False})["archived_at"] is None
    assert [one["id"] for one in send(hers, "GET", "/projects")] == [rows["project"]]


def test_deleted_documents_are_brought_back_by_their_moment(hers: Client, bob: Any) -> None:
    for path in ("/boats/one", "/boats/two"):
        send(hers, "PUT", "/memory/document", {"path": path, "text": f"About {path}."})
    before = send(hers, "GET", "/memory/document?path=/boats/one")
    gone = send(hers, "DELETE", "/memory/documents?path=/boats")
    assert gone["deleted"] == ["/boats/one", "/boats/two"]
    assert refused(hers, "GET", "/memory/document?path=/boats/one") == 404

    moment = {"deleted_at": gone["deleted_at"]}
    assert refused(with_key(bob), "POST", "/memory/documents/restore", moment) == 404
    assert send(hers, "POST", "/memory/documents/restore", moment) == {"documents": gone["deleted"]}
    assert send(hers, "GET", "/memory/document?path=/boats/one") == before
    assert refused(hers, "POST", "/memory/documents/restore", moment) == 404


@pytest.mark.parametrize("kind", ["role", "project"])
def test_what_is_there_already_is_not_brought_back_twice(kind: str, hers: Client, rows: dict[str, Any]) -> None:
    gone = send(hers, "DELETE", f"/{kind}s/{rows[kind]}")
    send(hers, "POST", f"/{kind}s/restore", {"token": gone["token"]})
    assert refused(hers, "POST", f"/{kind}s/restore", {"token": gone["token"]}) == 409


def test_of_two_at_once_one_brings_it_back(hers: Client, rows: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    gone = send(hers, "DELETE", f"/projects/{rows['project']}")
    send(hers, "POST", "/projects", {"name": "Garden"})  # between the other one's check and its write
    monkeypatch.setattr("chat.projects.projects._project_paths", lambda user: set())
    assert refused(hers, "POST", "/projects/restore", {"token": gone["token"]}) == 409


@pytest.mark.parametrize("kind", ["role", "project"])
def test_after_an_hour_it_is_gone_for_good(
    kind: str, hers: Client, rows: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = send(hers, "DELETE", f"/{kind}s/{rows[kind]}")
    monkeypatch.setattr("chat.projects.undo_tokens.OFFERED_FOR", timedelta(seconds=-1))
    assert refused(hers, "POST", f"/{kind}s/restore", {"token": gone["token"]}) == 409


@pytest.mark.parametrize("kind", ["role", "project"])
def test_her_token_brings_nothing_to_him(kind: str, hers: Client, bob: Any, rows: dict[str, Any]) -> None:
    gone = send(hers, "DELETE", f"/{kind}s/{rows[kind]}")
    assert refused(with_key(bob), "POST", f"/{kind}s/restore", {"token": gone["token"]}) == 409
    assert not (Role.objects if kind == "role" else Project.objects).for_user(bob).exists()
    other = "project" if kind == "role" else "role"
    assert refused(hers, "POST", f"/{other}s/restore", {"token": gone["token"]}) == 409, "it is of the other kind"


@pytest.mark.parametrize("kind", ["role", "project"])
def test_once_something_was_forgotten_nobody_knows_whether_it_may_come_back(
    kind: str, hers: Client, rows: dict[str, Any], alice: Any
) -> None:
    gone = send(hers, "DELETE", f"/{kind}s/{rows[kind]}")
    left = Role.objects.count(), Project.objects.count()
    fact = Fact.objects.create(user=alice, statement="The user grows garlic.", kind="fact")
    forget(alice, Target(What.FACT, str(fact.pk)), by=alice)
    assert refused(hers, "POST", f"/{kind}s/restore", {"token": gone["token"]}) == 409
    assert (Role.objects.count(), Project.objects.count()) == left
