"""Forgetting in receipts and pinned profiles.

A receipt stays, because its figures were paid; what it shows of a forgotten memory becomes `[forgotten]`. Implements
`memory.ports.forgettable.Forgettable` by shape: budget doesn't import memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from django.db import models
from django.db.models import Q
from django.db.models.functions import Cast

from budget.models import ProfileSnapshot, Receipt
from budget.planning.plan import Section
from recall.redaction import FORGOTTEN, Erasure, ErasureItem, batches

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import User

REFS_AT_ONCE: Final = 100
"""Refs per statement: each is a lookup in the index of receipt items."""
AS_MEMORY: Final = frozenset({Section.MEMORIES.value, Section.TASK.value})
"""Sections whose memories were found by the question; a profile line found by it has `fits`."""


def answers_using(user: User, refs: Iterable[str]) -> dict[int, bool]:
    """Answers that use one of these refs, by message id: whether it was retrieved (True) or always included (False)."""
    wanted, found = set(refs), Counter[int]()
    for some in batches(sorted(wanted), REFS_AT_ONCE):
        naming = Receipt.objects.for_user(user).filter(_naming(some, kept=True))
        for message_id, items in naming.values_list("message_id", "items"):
            found[message_id] |= _was_recalled(items, wanted)
    return {message_id: bool(recalled) for message_id, recalled in found.items()}


def _naming(refs: Iterable[str], **more: bool) -> Q:
    """Receipts that list one of these refs."""
    which = Q()
    for ref in refs:
        which |= Q(items__contains=[{"ref": ref, **more}])
    return which


def _was_recalled(items: Iterable[dict[str, Any]], refs: Collection[str]) -> int:
    """Whether the question found one of these refs."""
    found = (item for item in items if item["section"] in AS_MEMORY or "fits" in item)
    return int(any(item["ref"] in refs and item["kept"] for item in found))


def pinned_to(user: User, erasure: Erasure) -> set[UUID]:
    """Conversations whose latest pinned profile contains it."""
    latest = ProfileSnapshot.objects.for_user(user).order_by("conversation", "-pk").distinct("conversation")
    return {snapshot.conversation_id for snapshot in latest if _holds(snapshot, erasure)}


class ReceiptEraser:
    """Erases memories from receipts and pinned profiles."""

    def check_erasable(self, user: User, conversations: Collection[UUID]) -> None:
        """Does nothing: receipts can always be erased."""

    def collect(self, user: User, erasure: Erasure) -> None:
        """Does nothing: nothing depends on a receipt."""

    def preview(self, user: User, erasure: Erasure) -> Iterator[ErasureItem]:
        """Receipts and pinned profiles that contain it."""
        for receipt in _receipts(user, erasure):
            if _cleaned(receipt, erasure):
                yield ErasureItem("receipt", f"receipt:{receipt.pk}")
        for snapshot in ProfileSnapshot.objects.for_user(user).exclude(conversation__in=erasure.conversations):
            if _holds(snapshot, erasure):
                yield ErasureItem("snapshot", f"snapshot:{snapshot.pk}")

    def erase(self, user: User, erasure: Erasure) -> None:
        """Replace it with `[forgotten]` in receipts; drop the line from pinned profiles."""
        for receipt in _receipts(user, erasure):
            if changed := _cleaned(receipt, erasure):
                Receipt.objects.filter(pk=receipt.pk).update(**changed)
        for snapshot in ProfileSnapshot.objects.for_user(user):
            if _holds(snapshot, erasure):
                kept = [line for line in snapshot.lines if not _is_of(line, erasure)]
                text = "\n".join(line["text"] for line in kept)
                ProfileSnapshot.objects.filter(pk=snapshot.pk).update(lines=kept, text=text)

    def refresh_derived(self, user: User, erasure: Erasure) -> None:
        """Does nothing: chat pins profiles and renews them."""

    def regenerate(self, user: User, wanted: Mapping[str, Any]) -> bool:
        """Does nothing: there is nothing to regenerate."""
        return True


def _receipts(user: User, erasure: Erasure) -> Iterator[Receipt]:
    """Receipts that name it or contain words of it, loaded in small batches."""
    staying = Receipt.objects.for_user(user).exclude(conversation__in=erasure.conversations)
    ids: set[int] = set()
    for some in batches(sorted(erasure.refs), REFS_AT_ONCE):
        ids |= set(staying.filter(_naming(some)).values_list("pk", flat=True))
    shown = staying.alias(listed=Cast("items", models.TextField()), built_from=Cast("ingredients", models.TextField()))
    for hint in chain(erasure.hints(), erasure.start_hints()):
        saying = Q(listed__iregex=hint) | Q(built_from__iregex=hint)
        ids |= set(shown.filter(saying).values_list("pk", flat=True))
    staying = staying.filter(pk__in=ids)
    return staying.only("items", "ingredients").order_by("pk").iterator(chunk_size=200)


def _cleaned(receipt: Receipt, erasure: Erasure) -> dict[str, Any]:
    """The changed columns with their new values."""
    now = {"items": receipt.items, "ingredients": receipt.ingredients}
    will_be = {name: erasure.redact_json(value) for name, value in now.items()}
    return {name: value for name, value in will_be.items() if value != now[name]}


def _holds(snapshot: ProfileSnapshot, erasure: Erasure) -> bool:
    return any(_is_of(line, erasure) for line in snapshot.lines)


def _is_of(line: dict[str, Any], erasure: Erasure) -> bool:
    return erasure.names(line["ref"]) or erasure.occurs_in(line["text"]) or FORGOTTEN in line["text"]
