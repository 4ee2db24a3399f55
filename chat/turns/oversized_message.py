"""Messages longer than the plan: save the text as a document, so that the user can ask about it.

Attached files and pastes become documents of their own; images can't. The page offers it below the failed answer.
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
"""Words of the text that name the document."""


def keep_as_document(answer: Message) -> Document | None:
    """Save the question of a failed answer; returns its first document. None: it did not fail for its length.

    Doing it again returns the same document.
    """
    if answer.event_data.get("error", {}).get("code") != MESSAGE_TOO_LONG:
        return None
    with transaction.atomic():
        lock_user(answer.user_id)  # nothing read here is forgotten before it is stored
        question = Message.objects.for_user(answer.user).filter(pk=answer.parent_id).exclude(text=FORGOTTEN).first()
        documents = (
            []
            if question is None
            else [_store_document(answer.user, name, text, origin) for name, text, origin in _documents_of(question)]
        )
    return documents[0] if documents else None


def _documents_of(question: Message) -> list[tuple[str, str, str]]:
    """Name, text and origin of each document: the attachments, and the message if it is more than a question."""
    files = (
        Attachment.objects.for_user(question.user).filter(message=question).exclude(text="").order_by("number", "pk")
    )
    texts = [(file.name, file.text, f"attachment:{file.pk}") for file in files.defer("content")]
    if not texts or question.tokens > QUESTION_TOKENS:
        texts.append((" ".join(question.text.split()[:NAME_WORDS]), question.text, f"message:{question.pk}"))
    return texts


def _store_document(user: User, name: str, text: str, external_id: str) -> Document:
    origin = revisions.Origin(Document.Source.UPLOAD, external_id=external_id)
    documents = Document.objects.for_user(user)
    existing: Document | None = documents.filter(source=origin.source, external_id=origin.external_id).first()
    if existing is not None:
        return existing
    taken = set(documents.under(FOLDER).values_list("path", flat=True))
    wanted = tree.join_path(FOLDER, tree.fitting_name(name))
    path = next(path for path in tree.numbered(wanted) if path not in taken)
    return revisions.add(user, path, text, Revision.Author.USER, origin, note="Kept from a message that was too long")
