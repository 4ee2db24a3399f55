"""Attachments are exported with the archive and imported again, byte for byte."""

import io
import json
import zipfile
from typing import Any

import pytest

from chat.archive.export import stream_archive
from chat.archive.restore import restore_archive
from chat.archive.safe_zip import NotImportedError
from chat.models import Attachment, Message
from tests.chat.archive.test_archive import repacked
from tests.chat.attachments.samples import answered, draft, image_draft, send

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queued")]


def packed(user: Any) -> bytes:
    return b"".join(stream_archive(user))


def test_they_come_in_as_they_left(alice: Any, bob: Any) -> None:
    answered(send(alice, "Look", draft(alice, content=bytes(range(256))), image_draft(alice)))

    restore_archive(bob, io.BytesIO(packed(alice)))

    names = (
        "kind",
        "name",
        "media_type",
        "size",
        "content",
        "text",
        "width",
        "height",
        "tokens",
        "content_hash",
        "number",
    )
    mine, theirs = (list(Attachment.objects.for_user(one).values(*names)) for one in (alice, bob))
    assert [{**row, "content": bytes(row["content"])} for row in mine] == [
        {**row, "content": bytes(row["content"])} for row in theirs
    ]
    question = Message.objects.for_user(bob).get(role="user")
    assert set(Attachment.objects.for_user(bob).values_list("message", flat=True)) == {question.pk}


def test_people_find_their_names_in_the_conversation(alice: Any) -> None:
    answered(send(alice, "Look", draft(alice)))
    with zipfile.ZipFile(io.BytesIO(packed(alice))) as file:
        (page,) = [name for name in file.namelist() if name.startswith("markdown/conversations/")]
        assert "- Attached: lease.md (" in file.read(page).decode()


def test_what_is_no_base64_is_refused(alice: Any, bob: Any) -> None:
    answered(send(alice, "Look", draft(alice)))
    content = packed(alice)
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        row = json.loads(file.read("data/chat.attachment.jsonl"))
    broken = repacked(content, data_chat_attachment_jsonl=json.dumps({**row, "content": "%%%"}).encode())
    with pytest.raises(NotImportedError, match=r"chat\.attachment"):
        restore_archive(bob, io.BytesIO(broken))
