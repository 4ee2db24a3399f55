"""What a user may keep is limited: the page and the API say so in a sentence, and nothing is saved."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from accounts.api import keys
from accounts.models import ApiKey
from chat.archive.safe_zip import NotImportedError
from chat.models import Attachment, Message, Project, Role
from chat.projects import projects, roles
from chat.projects.undo_tokens import UndoExpiredError
from chat.turn import TurnRejectedError
from chat.turns import intake
from memory.documents import revisions, uploads
from memory.models import Boundary, Document, Upload
from recall.db.quotas import QUOTAS
from tests.api.rows import AT, with_key
from tests.chat.archive.test_archive import brought, packed
from tests.chat.attachments.samples import draft, post
from tests.conftest import PASSWORD
from tests.running import PROJECT

pytestmark = pytest.mark.django_db

Allow = Callable[..., None]
KEY = {"name": "Notes", "scopes": ["export"], "lifetime": "90"}


@pytest.fixture
def allow(monkeypatch: pytest.MonkeyPatch) -> Allow:
    """`allow(table, rows=2)` changes a quota."""

    def allow(table: str, **most: int) -> None:
        monkeypatch.setitem(QUOTAS, table, replace(QUOTAS[table], **most))  # type: ignore[arg-type]

    return allow


@pytest.mark.parametrize(
    ("table", "page", "operation", "body"),
    [
        ("chat.project", "projects", "projects", {"name": "Garden"}),
        ("chat.role", "roles", "roles", {"name": "Teacher", "instructions": "Be kind."}),
        ("memory.boundary", "memory:add_boundary", "memory/boundaries", {"text": "No gambling."}),
    ],
)
def test_page_and_api_say_that_there_are_too_many(
    table: str, page: str, operation: str, body: dict[str, str], alice: Any, sign_in: Any, allow: Allow
) -> None:
    allow(table, rows=0)
    sentence = f"You have reached the limit of 0 {QUOTAS[table].names}. {QUOTAS[table].remedy}"

    shown = sign_in(alice).post(reverse(page), {"instructions": "", **body})
    answer = with_key(alice).post(f"{AT}/{operation}", body, content_type="application/json")

    assert shown.status_code in {409, 422}
    assert sentence in shown.content.decode()
    assert (answer.status_code, answer.json()["detail"]) == (422, sentence)
    assert not any(model._base_manager.filter(user=alice).exists() for model in (Project, Role, Boundary))


def test_a_document_over_the_limit_is_refused_and_a_known_one_is_still_written(
    alice: Any, sign_in: Any, allow: Allow
) -> None:
    revisions.save(alice, "/reference/roses", "Red", started_from=0)
    allow("memory.document", rows=1)
    sentence = "You have reached the limit of 1 documents. Delete some first."
    typed = {"path": "/reference/tulips", "text": "Yellow", "version": 0}

    shown = sign_in(alice).post(reverse("memory:new_document"), typed)
    answer = with_key(alice).put(f"{AT}/memory/document", typed, content_type="application/json")
    with pytest.raises(uploads.UploadRefusedError, match=sentence):
        uploads.accept(alice, "tulips.md", b"Yellow")

    assert (shown.status_code, sentence in shown.content.decode()) == (409, True)
    assert (answer.status_code, answer.json()["detail"]) == (422, sentence)
    assert revisions.save(alice, "/reference/roses", "White", started_from=1).text == "White"


def test_files_that_wait_will_be_documents(alice: Any, allow: Allow) -> None:
    allow("memory.document", rows=2)
    for name in ("one.md", "two.md"):
        uploads.accept(alice, name, b"Roses")
    with pytest.raises(uploads.UploadRefusedError, match="the limit of 2 documents"):
        uploads.accept(alice, "three.md", b"Roses")
    assert (Upload.objects.count(), Document.objects.count()) == (2, 0)


def test_the_page_of_a_new_key_says_that_there_are_too_many(alice: Any, bob: Any, sign_in: Any, allow: Allow) -> None:
    allow("accounts.apikey", rows=2)
    keys.create_key(alice, "old", ["export"])
    revoked, _ = keys.create_key(alice, "revoked", ["export"])
    keys.revoke(alice, revoked.pk)
    client: Client = sign_in(alice)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})

    assert client.post(reverse("make_key"), KEY).status_code == 200
    refused = client.post(reverse("make_key"), KEY)

    assert refused.status_code == 422
    assert "You have reached the limit of 2 API keys. Revoke one first." in refused.content.decode()
    assert keys.active_keys(alice).count() == 2
    keys.create_key(bob, "his own", ["export"])


def test_revoked_keys_do_not_pile_up(alice: Any, allow: Allow) -> None:
    allow("accounts.apikey", rows=2)
    for number in range(5):
        row, _ = keys.create_key(alice, f"key {number}", ["export"])
        keys.revoke(alice, row.pk)
    assert list(ApiKey.objects.filter(user=alice).values_list("name", flat=True)) == ["key 4", "key 3", "key 2"]


def test_an_attachment_over_the_limit_is_refused_whether_the_others_were_sent_or_not(
    alice: Any, bob: Any, sign_in: Any, allow: Allow
) -> None:
    asked = intake.accept_message(alice, uuid4(), None, "What is this?", [draft(alice).pk])
    draft(alice)
    Message.objects.filter(pk=asked.answer.pk).update(status="complete")
    allow("chat.attachment", rows=2)
    sentence = "You have reached the limit of 2 attachments. Forget messages with attachments first."

    page = post(sign_in(alice), "roses.txt", b"Roses")
    answer = with_key(alice).post(f"{AT}/attachments", {"file": SimpleUploadedFile("roses.txt", b"Roses")})
    with pytest.raises(TurnRejectedError, match=sentence):
        intake.accept_edit(alice, uuid4(), asked.question.pk, "And what is this?")

    assert (page.status_code, page.json()) == (422, {"error": sentence})
    assert (answer.status_code, answer.json()["detail"]) == (422, sentence)
    assert Message.objects.filter(user=alice).count() == 2
    assert post(sign_in(bob), "roses.txt", b"Roses").status_code == 201


def test_of_attachments_what_is_stored_counts_and_not_what_a_column_says(
    alice: Any, bob: Any, charlie: Any, sign_in: Any, allow: Allow
) -> None:
    draft(alice, text="x" * 400_000, size=1)
    archive = packed(alice)
    allow("chat.attachment", megabytes=1)

    accepted = post(sign_in(alice), "roses.txt", b"r" * 50_000)
    refused = post(sign_in(alice), "roses.txt", b"R" * 100_000)
    allow("chat.attachment", megabytes=0)
    with pytest.raises(NotImportedError, match=r"Your attachments exceed 0 MB\."):
        brought(bob, archive)

    assert accepted.status_code == 201
    assert refused.json()["error"] == "Your attachments exceed 1 MB. Forget messages with attachments first."
    assert not Attachment.objects.for_user(bob).exists()


@pytest.mark.parametrize(("room", "table"), [(projects, "chat.project"), (roles, "chat.role")])
def test_a_deleted_project_or_role_returns_only_where_there_is_room(
    room: Any, table: str, alice: Any, allow: Allow
) -> None:
    token = room.remove(room.create(alice, "Garden", "Be kind."))
    room.create(alice, "House", "Be quick.")
    allow(table, rows=1)
    with pytest.raises(
        UndoExpiredError, match=r"was not restored. You have reached the limit of 1 \w+. Delete one first."
    ):
        room.restore(alice, token)
    allow(table, rows=2)
    assert room.restore(alice, token).name == "Garden"


def test_the_documentation_says_what_a_user_may_keep() -> None:
    text = (PROJECT / "docs" / "settings.md").read_text()
    for quota in QUOTAS.values():
        assert f"{quota.rows:,} {quota.names}" in text
        assert not quota.megabytes or f"{quota.megabytes:,} MB" in text
