"""Artifacts: stores long tool results as documents below `/artifacts`, so that a prompt needs one line for each."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import TYPE_CHECKING, Final

from memory.documents import revisions, tree
from memory.documents.readers import limits
from memory.models import Document, Revision
from recall.text import storable

if TYPE_CHECKING:
    from accounts.models import User

FOLDER: Final = "/artifacts"
CUT_OFF: Final = "\n\n[The rest was left out: a stored result has at most {:,} characters.]"


def store_artifact(user: User, conversation_ref: str, name: str, text: str) -> str:
    """Store `text` as a document and return its path. The same text under the same name is stored once.

    `conversation_ref` names the folder, `name` the tool call, such as `web_search 3`.
    """
    text = _truncate(storable(text))
    digest = hashlib.sha256(text.encode()).hexdigest()
    origin = revisions.Origin(Document.Source.IMPORT, content_hash=digest)
    folder = _folder(conversation_ref)
    for path in tree.numbered(tree.join_path(folder, tree.fitting_name(name))):
        existing = Document.objects.for_user(user).filter(path=path).values_list("content_hash", flat=True).first()
        if existing == digest:
            return path
        if existing is None:
            revisions.add(user, path, text, Revision.Author.IMPORT, origin, note="Kept from a tool's result")
            return path
    raise revisions.PathTakenError(folder)


def remove_artifacts(user: User, conversation_ref: str) -> None:
    """Delete a conversation's artifacts, which contain its content."""
    tree.delete(user, _folder(conversation_ref))


def remove_old_artifacts(before: datetime, most: int) -> int:
    """Delete at most `most` artifacts stored before `before`, oldest first, and return how many."""
    old = Document.objects.under(FOLDER).filter(created_at__lt=before).order_by("created_at", "pk")
    _, by_model = Document.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:most])).delete()
    return by_model.get(Document._meta.label, 0)


def _folder(conversation_ref: str) -> str:
    return tree.join_path(FOLDER, tree.fitting_name(conversation_ref))


def _truncate(text: str) -> str:
    if len(text) <= limits.CHARACTERS:
        return text
    return text[: limits.CHARACTERS] + CUT_OFF.format(limits.CHARACTERS)
