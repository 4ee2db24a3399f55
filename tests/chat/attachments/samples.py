"""Files as users attach them, and rows as they are stored."""

import io
import struct
import zlib
from typing import Any
from uuid import uuid4

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from PIL import Image

from chat.models import Attachment, Message
from chat.turn import AcceptedTurn
from chat.turns import intake

CONTRACT = "# Lease\n\nMy sister Hildegard lives in Tromsø. The rent is 940 euros."


def picture(width: int = 80, height: int = 60, format_: str = "PNG", **options: Any) -> bytes:
    """An image whose left half is red and whose right half is blue."""
    image = Image.new("RGB", (width, height), "blue")
    image.paste("red", (0, 0, width // 2, height))
    out = io.BytesIO()
    image.save(out, format_, **options)
    return out.getvalue()


def bomb(width: int = 100_000, height: int = 100_000) -> bytes:
    """A PNG of a few bytes that claims to be huge."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(100))) + chunk(b"IEND", b"")


def post(client: Client, name: str, content: bytes, **fields: str) -> Any:
    """Send one file as the page does."""
    return client.post(reverse("attachments"), {"file": SimpleUploadedFile(name, content), **fields})


def draft(user: Any, name: str = "lease.md", text: str = CONTRACT, **fields: Any) -> Attachment:
    """A file draft, without reading a file."""
    values = {"kind": "file", "media_type": "text/markdown", "size": len(text.encode()), "content": text.encode()}
    return Attachment.objects.create(
        **{"user": user, "name": name, "text": text, "tokens": 30, "content_hash": "0" * 64, **values, **fields}
    )


def image_draft(user: Any, name: str = "plan.png", content: bytes = b"", **fields: Any) -> Attachment:
    """An image draft."""
    content = content or picture()
    values = {"kind": "image", "media_type": "image/png", "text": "", "width": 80, "height": 60, "tokens": 9}
    return draft(user, name, **{**values, "content": content, "size": len(content), **fields})


def send(user: Any, text: str, *attachments: Attachment, conversation: Any = None) -> AcceptedTurn:
    """A message with attachments, committed; its answer isn't written yet."""
    return intake.accept_message(user, uuid4(), conversation, text, [attachment.pk for attachment in attachments])


def answered(opened: AcceptedTurn, text: str = "I see.") -> Message:
    """The same with its answer."""
    answer = opened.answer
    answer.text, answer.status, answer.process_key = text, Message.Status.COMPLETE, None
    answer.save()
    return answer
