"""What becomes of documents that are deleted? They are gone at once, and can be brought back for half an hour.

    delete    the rows go, with versions, passages and vectors; what brings them back is kept apart, a row for each
    undo      the rows stand again, keys, versions and dates as they were; their passages are made anew
    empty     by the clock: what was kept apart goes
    forget    with the next forgetting, whatever that is about: nobody looks through what is out of sight

Nothing that reads documents has to know of those in the trash: they are in no table that it looks at.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.core import serializers
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.utils import timezone

from memory.documents import fact_line_edits, tree
from memory.facts.bulk_review import undo_batch
from memory.forget_epoch import lock_user
from memory.index.indexer import index_document
from memory.models import DeletedDocument, Document, ReviewAction
from memory.text.fact_lines import facts_in
from recall.db.notify import publish_event

if TYPE_CHECKING:
    from accounts.models import User

UNDO_FOR: Final = timedelta(minutes=30)
"""As for conversations (`chat/conversations/trash.py`)."""
UNDO: Final = "undo-documents"
"""Extra tag of a notice that offers to bring back what was deleted, followed by the moment (templates/base.html)."""

NOTHING_TO_UNDO: Final = "There is nothing to bring back: it was deleted for good, or is back already."


@transaction.atomic
def delete(user: User, path: str) -> tuple[datetime, list[tree.Gone]]:
    """Delete what stands at `path` and below; the moment, by which `undo` finds it, and what went, by path.

    Raises:
        ValidationError: `path` is no path.
    """
    lock_user(user.pk)
    moment = timezone.now()
    going = Document.objects.for_user(user).under(path)
    fact_line_edits.gone_with(
        user, going.filter(text__contains="^fact-")
    )  # locks the facts, which come first everywhere
    documents = list(going.order_by("pk").select_for_update())
    kept = [_kept(document, moment) for document in documents]
    gone = tree.delete(user, path)
    taken_out = ReviewAction.objects.for_user(user).filter(created_at__gte=moment).values_list("fact_id", "pk")
    decisions = dict(taken_out)
    for row, document in zip(kept, documents, strict=True):
        row.decisions = [decisions[fact] for fact in facts_in(document.text) if fact in decisions]
    DeletedDocument.objects.bulk_create(kept)
    return moment, gone


@transaction.atomic
def undo(user: User, moment: datetime) -> list[Document]:
    """Bring back what was deleted at that moment; where something else stands by now, beside it. By path."""
    lock_user(user.pk)
    mine = DeletedDocument.objects.for_user(user).filter(deleted_at=moment)
    rows = list(mine.order_by("pk").select_for_update())
    back = [_brought_back(user, row) for row in rows]
    DeletedDocument.objects.filter(pk__in=[row.pk for row in rows]).delete()
    decisions = ReviewAction.objects.for_user(user).filter(pk__in={pk for row in rows for pk in row.decisions})
    undo_batch(list(decisions.select_related("fact").order_by("-pk")))  # a fact that changed since stays as it is
    if back:
        publish_event(f"user-{user.pk}", "memory")
    return sorted(back, key=lambda document: tree.by_name(document.path))


def empty(now: datetime) -> int:
    """Remove for good what was deleted longer ago than `UNDO_FOR`; how many."""
    gone, _ = DeletedDocument.objects.filter(deleted_at__lte=now - UNDO_FOR).delete()
    return gone


def forget(user: User) -> None:
    """Remove all of this person's for good."""
    DeletedDocument.objects.for_user(user).delete()


class _ToTheMicrosecond(DjangoJSONEncoder):
    """Django's own cuts times to the millisecond."""

    def default(self, value: Any) -> Any:
        return value.isoformat() if isinstance(value, datetime) else super().default(value)


def _kept(document: Document, moment: datetime) -> DeletedDocument:
    rows = serializers.serialize("json", [document, *document.revisions.order_by("number")], cls=_ToTheMicrosecond)
    return DeletedDocument(user_id=document.user_id, path=document.path, deleted_at=moment, rows=rows)


# Bringing back -----------------------------------------------------------------------------------------------------


def _brought_back(user: User, row: DeletedDocument) -> Document:
    document: Document
    document, *versions = _objects(row)
    _make_room(user, document)
    document.save_base(raw=True, force_insert=True)  # raw: the dates stay as they were
    for version in versions:
        version.save_base(raw=True, force_insert=True)
    index_document(document)
    return document


def _objects(row: DeletedDocument) -> Iterator[Any]:
    return (one.object for one in serializers.deserialize("json", row.rows))


def _make_room(user: User, document: Document) -> None:
    """What stands at its path stays, unless it is empty: a profile makes its documents anew at each look."""
    standing = Document.objects.for_user(user)
    standing.filter(path=document.path, text="", revisions=None).delete()
    document.path = next(path for path in tree.numbered(document.path) if not standing.filter(path=path).exists())
    if document.external_id and standing.filter(source=document.source, external_id=document.external_id).exists():
        document.external_id = document.content_hash = ""
