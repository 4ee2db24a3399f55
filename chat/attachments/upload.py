"""Uploads: a file is checked, read and stored as a draft, or refused with one sentence.

Contents decide, not names: an image is decoded, other files go through the readers of the knowledge base
(memory/documents/readers/). Both run in separate processes, few at once, and without a database connection. A file
without text, such as a scan, is refused.
"""

from __future__ import annotations

import hashlib
import unicodedata
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Sum

from budget.counting.images import image_tokens
from chat.attachments import images
from chat.attachments.limits import (
    MAX_DRAFT_BYTES,
    MAX_DRAFTS,
    MEGABYTE,
    NAME_CHARACTERS,
    PASTE_NAME_READ,
    PASTE_NAME_WORDS,
    max_file_bytes,
)
from chat.models import Attachment
from memory.documents.readers import text_files
from memory.documents.readers.formats import NotReadableError, recognize
from memory.documents.readers.isolated import NoFreeReaderError, read_file, turn
from memory.secrets.secrets_filter import mask_name, mask_secrets
from recall.db.connections import release_connection
from recall.db.postgres import wait_for_turn
from recall.db.quotas import QuotaError, make_room
from recall.llm.tokens import count_tokens
from recall.text import storable

if TYPE_CHECKING:
    from accounts.models import User

Kind = Attachment.Kind

TOO_LARGE: Final = "{name} is {size:.1f} MB. The limit is {most:.0f} MB."
TOO_MANY: Final = "You have {most} unsent attachments. Send or remove some first."
TOO_MUCH: Final = "Your unsent attachments exceed {most:.0f} MB. Send or remove some first."
UNSUPPORTED_IMAGE: Final = "This image format isn't supported. Save it as PNG, JPEG, WebP or GIF."
BROKEN_IMAGE: Final = "This isn't an image that can be read. Save it again as PNG, JPEG, WebP or GIF."
IMAGE_SUFFIXES: Final = frozenset({".png", ".jpg", ".jpeg", ".webp", ".gif"})
OTHER_IMAGE_SIGNATURES: Final = (b"BM", b"II*\x00", b"MM\x00*", b"\x00\x00\x01\x00")
"""First bytes of bitmaps, TIFF and icons; newer camera formats (HEIC, AVIF) have theirs after four bytes."""
UNNAMED: Final = "file"
RETRY_SECONDS: Final = 10
"""Seconds after which API clients retry when readers are busy: most files are read by then."""


class AttachmentRefusedError(Exception):
    """The file isn't accepted; the message is one sentence for its owner."""


class ReadersBusyError(AttachmentRefusedError):
    """All readers are busy; the same file may be accepted in a moment."""


def accept(user: User, name: str, content: bytes, *, is_paste: bool = False) -> Attachment:
    """Store a file, or a long paste, as a draft.

    Raises:
        ReadersBusyError: no reader became free.
        AttachmentRefusedError: one sentence on why not.
    """
    name = mask_name(fitting_name(name))
    _check(user, name, len(content))
    release_connection()
    try:
        fields = _read_paste(content) if is_paste else _read(user, name, content)
    except NoFreeReaderError as busy:
        raise ReadersBusyError(str(busy)) from busy
    except NotReadableError as refusal:
        raise AttachmentRefusedError(str(refusal)) from refusal
    mark = hashlib.sha256(content).hexdigest()
    row = {"user": user, "name": name, "size": len(content), "content": content, "content_hash": mark} | fields
    attached = Attachment(**row)
    with transaction.atomic():
        wait_for_turn("chat.attachments", user.pk)
        _check(user, name, len(content))  # again: other files of the user may have been read meanwhile
        try:
            make_room(Attachment.objects.for_user(user), user.pk, size=attached.stored_bytes)
        except QuotaError as full:
            raise AttachmentRefusedError(str(full)) from full
        attached.save(force_insert=True)
    return attached


def fitting_name(name: str) -> str:
    """The file name without folders and invisible characters, within the column width."""
    last = PurePosixPath(storable(name).replace("\\", "/")).name
    seen = "".join(letter for letter in last if unicodedata.category(letter) not in ("Cc", "Cf", "Zl", "Zp")).strip()
    end = PurePosixPath(seen).suffix
    return f"{seen[: NAME_CHARACTERS - len(end)]}{end}" if len(seen) > NAME_CHARACTERS > len(end) else seen or UNNAMED


def _check(user: User, name: str, size: int) -> None:
    most = max_file_bytes()
    if size > most:
        raise AttachmentRefusedError(TOO_LARGE.format(name=name, size=size / MEGABYTE, most=most / MEGABYTE))
    drafts = Attachment.objects.for_user(user).filter(message=None).aggregate(count=Count("pk"), size=Sum("size"))
    if drafts["count"] >= MAX_DRAFTS:
        raise AttachmentRefusedError(TOO_MANY.format(most=MAX_DRAFTS))
    if (drafts["size"] or 0) + size > MAX_DRAFT_BYTES:
        raise AttachmentRefusedError(TOO_MUCH.format(most=MAX_DRAFT_BYTES / MEGABYTE))


def _read(user: User, name: str, content: bytes) -> dict[str, Any]:
    if images.is_image(content):
        with turn(user.pk):
            return _read_image(content)
    if content.startswith(OTHER_IMAGE_SIGNATURES) or content[4:8] == b"ftyp":
        raise NotReadableError(UNSUPPORTED_IMAGE)
    if PurePosixPath(name).suffix.lower() in IMAGE_SUFFIXES:
        raise NotReadableError(BROKEN_IMAGE)
    kind = recognize(name, content)
    text = read_file(name, content, waiting=user.pk)
    return {"kind": Kind.FILE, "media_type": kind.media_type, "text": text, "tokens": count_tokens(text)}


def _read_image(content: bytes) -> dict[str, Any]:
    read = images.read_isolated(content)
    return {
        "kind": Kind.IMAGE,
        "media_type": read.media_type,
        "content": read.content,
        "width": read.width,
        "height": read.height,
        "tokens": image_tokens(read.width, read.height, settings.ENVIRONMENT.chat_model),
    }


def _read_paste(content: bytes) -> dict[str, Any]:
    """Read a paste; it is named after its first words."""
    text = text_files.within_limits(text_files.decode(content))
    opening = " ".join(mask_secrets(text[:PASTE_NAME_READ], is_own=False).split()[:PASTE_NAME_WORDS])
    name = fitting_name(f"Pasted: {opening.replace('/', ' ')}")
    return {"kind": Kind.PASTE, "media_type": "text/plain", "text": text, "name": name, "tokens": count_tokens(text)}
