"""What one user may have waiting is counted as it is written: requests at once don't pass the limit together."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from chat.archive.safe_zip import NotImportedError
from chat.attachments import upload as attachments
from chat.importing import jobs as imports
from chat.models import Attachment, ImportJob
from memory.documents import uploads
from memory.models import Upload

AT_ONCE = 8


def attach(user: Any) -> None:
    attachments.accept(user, "paste.txt", b"The lease ends in May.", is_paste=True)


def upload(user: Any) -> None:
    uploads.accept(user, "notes.md", b"# Roses")


def import_chats(user: Any) -> None:
    imports.accept(user, "conversations.json", 2, [b"[]"])


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
