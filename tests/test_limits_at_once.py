"""What one user may keep or have waiting is counted as it is written: requests at once don't pass a limit together."""

import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from django.db import connection

from accounts.api import keys
from accounts.models import ApiKey
from chat.archive.safe_zip import NotImportedError
from chat.attachments import upload as attachments
from chat.importing import jobs as imports
from chat.models import Attachment, ImportJob, Project, Role
from chat.projects import projects, roles
from memory.documents import revisions, uploads
from memory.models import Boundary, Document, Upload
from recall.db.quotas import QUOTAS, QuotaError

AT_ONCE = 8
NUMBERS = count()


def attach(user: Any) -> None:
    attachments.accept(user, "paste.txt", b"The lease ends in May.", is_paste=True)


def upload(user: Any) -> None:
    uploads.accept(user, "notes.md", b"# Roses")


def import_chats(user: Any) -> None:
    imports.accept(user, "conversations.json", 2, [b"[]"])


KEEP: dict[str, tuple[Callable[[Any], Any], Any, type[Exception]]] = {
    "accounts.apikey": (lambda user: keys.create_key(user, "Notes", ["export"]), ApiKey, QuotaError),
    "memory.boundary": (lambda user: Boundary.add(user, "No gambling."), Boundary, QuotaError),
    "chat.role": (lambda user: roles.create(user, f"Teacher {next(NUMBERS)}", ""), Role, QuotaError),
    "chat.project": (lambda user: projects.create(user, f"Garden {next(NUMBERS)}"), Project, QuotaError),
    "memory.document": (
        lambda user: revisions.save(user, f"/reference/{next(NUMBERS)}", "Roses", started_from=0),
        Document,
        QuotaError,
    ),
    "chat.attachment": (attach, Attachment, attachments.AttachmentRefusedError),
}
"""Table → how a user adds a row, its model, the refusal."""


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("table", QUOTAS)
def test_eight_at_once_do_not_pass_a_quota_of_two(table: str, alice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    add, model, refusal = KEEP[table]
    monkeypatch.setitem(QUOTAS, table, replace(QUOTAS[table], rows=2))
    assert refused_at_once(add, alice, refusal) == AT_ONCE - 2
    assert model._base_manager.filter(user=alice).count() == 2


@pytest.mark.django_db(transaction=True)
def test_eight_files_at_once_do_not_pass_a_limit_of_two(alice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attachments, "MAX_DRAFTS", 2)
    monkeypatch.setattr(uploads, "MAX_WAITING", 2)
    monkeypatch.setattr(imports, "MAX_WAITING", 2)
    for accept, rows, refusal in (
        (attach, Attachment.objects, attachments.AttachmentRefusedError),
        (upload, Upload.objects, uploads.UploadRefusedError),
        (import_chats, ImportJob.objects, NotImportedError),
    ):
        assert refused_at_once(accept, alice, refusal) == AT_ONCE - 2
        assert rows.count() == 2


def refused_at_once(accept: Callable[[Any], None], user: Any, refusal: type[Exception]) -> int:
    """How many of the requests were refused."""
    start, refused = threading.Barrier(AT_ONCE), []

    def send() -> None:
        start.wait()
        try:
            accept(user)
        except refusal as reason:
            refused.append(reason)
        finally:
            connection.close()

    threads = [threading.Thread(target=send) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    return len(refused)
