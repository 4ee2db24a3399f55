"""What becomes of a message that is longer than the plan can hold? It may be kept as a document, and asked about.

Files and pastes that are attached to it become documents of their own; an image cannot.

The offer stands below the answer that could not be given, as long as a question about the text would fit the plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.db import transaction

from budget.planning.fit import QUESTION_TOKENS
from chat.models import Attachment, Message
from chat.turn import MESSAGE_TOO_LONG
from memory.documents import revisions, tree
from memory.forget_epoch import lock_user
from memory.models import Document, Revision
from recall.redaction import FORGOTTEN

if TYPE_CHECKING:
    from accounts.models import User

FOLDER: Final = "/reference"
NAME_WORDS: Final = 6
"""So many of the text's first words name the document: enough to know it again in the tree."""


def keep_as_document(answer: Message) -> Document | None:
    """The document, or the first of several, with what `answer` could not answer; None: that is not why it failed.

    Asking twice gives the same.
    """
    if answer.event_data.get("error", {}).get("code") != MESSAGE_TOO_LONG:
        return None
    with transaction.atomic():
        lock_user(answer.user_id)  # what is read now is not forgotten before it is kept
        asked = Message.objects.for_user(answer.user).filter(pk=answer.parent_id).exclude(text=FORGOTTEN).first()
        kept = [] if asked is None else [_kept(answer.user, name, text, origin) for name, text, origin in _texts(asked)]
    return kept[0] if kept else None


def _texts(asked: Message) -> list[tuple[str, str, str]]:
    """Name, text and origin of what is kept: what is attached; and the message, if it is more than a question."""
    files = Attachment.objects.for_user(asked.user).filter(message=asked).exclude(text="").order_by("number", "pk")
    found = [(one.name, one.text, f"attachment:{one.pk}") for one in files.defer("content")]
    if not found or asked.tokens > QUESTION_TOKENS:
        found.append((" ".join(asked.text.split()[:NAME_WORDS]), asked.text, f"message:{asked.pk}"))
    return found


def _kept(user: User, name: str, text: str, external_id: str) -> Document:
    origin = revisions.Origin(Document.Source.UPLOAD, external_id=external_id)
    mine = Document.objects.for_user(user)
    kept: Document | None = mine.filter(source=origin.source, external_id=origin.external_id).first()
    if kept is not None:
        return kept
    taken = set(mine.under(FOLDER).values_list("path", flat=True))
    wanted = tree.join_path(FOLDER, tree.fitting_name(name))
    path = next(path for path in tree.numbered(wanted) if path not in taken)
    return revisions.add(user, path, text, Revision.Author.USER, origin, note="Kept from a message that was too long")
