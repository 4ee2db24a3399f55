"""Soft delete of documents: they can be restored for 30 minutes.

    delete    the rows are removed, with revisions, passages and vectors; a serialized copy of each is stored apart
    undo      the rows are restored with their keys, revisions and dates, and indexed again
    empty     run by the scheduler: old copies are purged
    forget    with any forgetting all copies are purged, because nothing searches them

Code that reads documents never sees deleted ones: they are in another table.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.core import serializers
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.utils import timezone

from memory.documents import fact_line_edits, tree
from memory.forget_epoch import lock_user
from memory.index.indexer import index_document
from memory.models import DeletedDocument, Document, ReviewAction
from memory.review.bulk_review import undo_batch
from memory.text.fact_lines import facts_in
from recall.db.notify import publish_event

if TYPE_CHECKING:
    from accounts.models import User

UNDO_FOR: Final = timedelta(minutes=30)
"""The same as for conversations (`chat/conversations/trash.py`)."""
UNDO: Final = "undo-documents"
"""Extra tag of a message that offers to undo a deletion, followed by its time (templates/base.html)."""

NOTHING_TO_UNDO: Final = "Nothing to restore. It was deleted permanently or is already restored."


@transaction.atomic
def delete(user: User, path: str) -> tuple[datetime, list[str]]:
    """Soft-delete `path` and everything below; return the time, which identifies it for `undo`, and the deleted
    paths.

    Raises:
        ValidationError: `path` is invalid.
    """
    lock_user(user.pk)
    moment = timezone.now()
    going = Document.objects.for_user(user).under(path)
    fact_line_edits.lock_stated_facts(user, going.filter(text__contains="^fact-"))  # facts are locked first everywhere
    documents = list(going.order_by("pk").select_for_update())
    kept = [_serialize(document, moment) for document in documents]
    gone = tree.delete(user, path)
    taken_out = ReviewAction.objects.for_user(user).filter(created_at__gte=moment).values_list("fact_id", "pk")
    decisions = dict(taken_out)
    for row, document in zip(kept, documents, strict=True):
        row.decisions = [decisions[fact] for fact in facts_in(document.text) if fact in decisions]
    DeletedDocument.objects.bulk_create(kept)
    return moment, gone


@transaction.atomic
def undo(user: User, moment: datetime) -> list[Document]:
    """Restore what was deleted at that time, at a free path if its own is taken; return the documents by path."""
    lock_user(user.pk)
    deleted = DeletedDocument.objects.for_user(user).filter(deleted_at=moment)
    rows = list(deleted.order_by("pk").select_for_update())
    back = [_restore(user, row) for row in rows]
    DeletedDocument.objects.filter(pk__in=[row.pk for row in rows]).delete()
    decisions = ReviewAction.objects.for_user(user).filter(pk__in={pk for row in rows for pk in row.decisions})
    undo_batch(list(decisions.select_related("fact").order_by("-pk")))  # facts changed since stay as they are
    if back:
        publish_event(f"user-{user.pk}", "memory")
    return sorted(back, key=lambda document: tree.by_name(document.path))


def empty(now: datetime) -> int:
    """Purge what was deleted longer ago than `UNDO_FOR`; return how many."""
    gone, _ = DeletedDocument.objects.filter(deleted_at__lte=now - UNDO_FOR).delete()
    return gone


def forget(user: User) -> None:
    """Purge all of the user's deleted documents."""
    DeletedDocument.objects.for_user(user).delete()


class _ToTheMicrosecond(DjangoJSONEncoder):
    """Django's encoder cuts times to milliseconds."""

    def default(self, value: Any) -> Any:
        return value.isoformat() if isinstance(value, datetime) else super().default(value)


def _serialize(document: Document, moment: datetime) -> DeletedDocument:
    rows = serializers.serialize("json", [document, *document.revisions.order_by("number")], cls=_ToTheMicrosecond)
    return DeletedDocument(user_id=document.user_id, path=document.path, deleted_at=moment, rows=rows)


# Restoring -----------------------------------------------------------------------------------------------------


def _restore(user: User, row: DeletedDocument) -> Document:
    document: Document
    objects: list[Any] = [one.object for one in serializers.deserialize("json", row.rows)]
    document, *versions = objects
    _make_room(user, document)
    document.save_base(raw=True, force_insert=True)  # raw: the dates stay as they were
    for version in versions:
        version.save_base(raw=True, force_insert=True)
    index_document(document)
    return document


def _make_room(user: User, document: Document) -> None:
    """A document at its path stays, unless it is an empty starter document, which pages recreate."""
    existing = Document.objects.for_user(user)
    existing.filter(path=document.path, text="", revisions=None).delete()
    document.path = next(path for path in tree.numbered(document.path) if not existing.filter(path=path).exists())
    if document.external_id and existing.filter(source=document.source, external_id=document.external_id).exists():
        document.external_id = document.content_hash = ""
