"""How does a file become an attachment? Checked, read, kept as a draft of its own; or one sentence says why not.

What can be read decides, not what a name claims: an image is decoded, a file goes through the readers of the knowledge
base (memory/documents/readers/). Both happen in processes of their own, few at once, and hold no database connection
meanwhile. A file without text, such as a scan, is refused.
"""

from __future__ import annotations

import hashlib
import unicodedata
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.db.models import Count, Sum

from budget.counting.images import image_tokens
from chat.attachments import images
from chat.attachments.limits import (
    MEGABYTE,
    MOST_DRAFT_BYTES,
    MOST_DRAFTS,
    NAME_CHARACTERS,
    PASTE_NAME_WORDS,
    largest_bytes,
)
from chat.models import Attachment
from memory.documents.readers import NotReadable, read_file, recognise, text_files
from memory.documents.readers.isolated import NoTurn, turn
from recall.db.connections import release_connection
from recall.llm.tokens import count_tokens
from recall.text import storable

if TYPE_CHECKING:
    from accounts.models import User

Kind = Attachment.Kind

TOO_LARGE: Final = "{name} has {size:.1f} MB; {most:.0f} MB are the limit."
TOO_MANY: Final = "You have {most} attachments that are not sent. Send or remove some first."
TOO_MUCH: Final = "What you attached and did not send is over {most:.0f} MB. Send or remove some first."
OTHER_IMAGE: Final = "This kind of image is not read. Save it as PNG, JPEG, WebP or GIF."
OTHER_BEGINNINGS: Final = (b"BM", b"II*\x00", b"MM\x00*", b"\x00\x00\x01\x00")
"""Of bitmaps, TIFF and icons; the pictures of newer cameras (HEIC, AVIF) are named after four bytes."""
UNNAMED: Final = "file"
RETRY_SECONDS: Final = 10
"""What a program is told to wait when readers are busy: most files are read by then."""


class AttachmentRefusedError(Exception):
    """The file is not taken; the message is one sentence for its owner."""


class ReadersBusyError(AttachmentRefusedError):
    """Not now: the same file may be taken in a moment."""


def accept(user: User, name: str, content: bytes, *, is_paste: bool = False) -> Attachment:
    """Keep a file, or a long paste, as a draft.

    Raises:
        ReadersBusyError: its turn to be read did not come.
        AttachmentRefusedError: one sentence on why not.
    """
    name = fitting_name(name)
    _check(user, name, len(content))
    release_connection()
    try:
        fields = _pasted(content) if is_paste else _read(user, name, content)
    except NoTurn as busy:
        raise ReadersBusyError(str(busy)) from busy
    except NotReadable as refusal:
        raise AttachmentRefusedError(str(refusal)) from refusal
    mark = hashlib.sha256(content).hexdigest()
    return Attachment.objects.create(
        **({"user": user, "name": name, "size": len(content), "content": content, "content_hash": mark} | fields)
    )


def fitting_name(name: str) -> str:
    """The name without its folders and without characters that are not seen, as long as its column."""
    last = PurePosixPath(storable(name).replace("\\", "/")).name
    seen = "".join(letter for letter in last if unicodedata.category(letter) not in ("Cc", "Cf", "Zl", "Zp")).strip()
    end = PurePosixPath(seen).suffix
    return f"{seen[: NAME_CHARACTERS - len(end)]}{end}" if len(seen) > NAME_CHARACTERS > len(end) else seen or UNNAMED


def _check(user: User, name: str, size: int) -> None:
    most = largest_bytes()
    if size > most:
        raise AttachmentRefusedError(TOO_LARGE.format(name=name, size=size / MEGABYTE, most=most / MEGABYTE))
    drafts = Attachment.objects.for_user(user).filter(message=None).aggregate(count=Count("pk"), size=Sum("size"))
    if drafts["count"] >= MOST_DRAFTS:
        raise AttachmentRefusedError(TOO_MANY.format(most=MOST_DRAFTS))
    if (drafts["size"] or 0) + size > MOST_DRAFT_BYTES:
        raise AttachmentRefusedError(TOO_MUCH.format(most=MOST_DRAFT_BYTES / MEGABYTE))


def _read(user: User, name: str, content: bytes) -> dict[str, Any]:
    if images.is_image(content):
        with turn(user.pk):
            return _image(content)
    if content.startswith(OTHER_BEGINNINGS) or content[4:8] == b"ftyp":
        raise NotReadable(OTHER_IMAGE)
    kind = recognise(name, content)
    text = read_file(name, content, waiting=user.pk)
    return {"kind": Kind.FILE, "media_type": kind.media_type, "text": text, "tokens": count_tokens(text)}


def _image(content: bytes) -> dict[str, Any]:
    read = images.read_apart(content)
    return {
        "kind": Kind.IMAGE,
        "media_type": read.media_type,
        "content": read.content,
        "width": read.width,
        "height": read.height,
        "tokens": image_tokens(read.width, read.height, settings.ENVIRONMENT.chat_model),
    }


def _pasted(content: bytes) -> dict[str, Any]:
    """Named by its first words."""
    text = text_files.within_limits(text_files.decode(content))
    name = fitting_name(f"Pasted: {' '.join(text.split()[:PASTE_NAME_WORDS]).replace('/', ' ')}")
    return {"kind": Kind.PASTE, "media_type": "text/plain", "text": text, "name": name, "tokens": count_tokens(text)}
