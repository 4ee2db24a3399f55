"""What is left of a receipt when its time is over? Its figures, always. What was cut goes first, then the words.

    cut      → by which rule how many were cut stays; which ones they were goes
    words    → of each thing that stood in the prompt its reference, section, tokens and score stay; what it said goes,
               with what `manage.py replay` builds from and the pinned profiles that no younger receipt was built from

A row is never deleted, since others add up and look up what it says: the sums of a conversation, the charts, what a
memory costs, and forgetting, which finds by the references the answers that a memory stood in. What a person used in a
day is counted apart (`UsageDay`), and reads no receipt. When each time is over is decided in
`chat/conversations/retention.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from budget.models import ProfileSnapshot, Receipt

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from budget.planning.items import Item

REMOVED: Final = "[removed]"
"""Stands for the words of what was in a prompt."""


def listing_cut(before: datetime) -> QuerySet[Receipt]:
    """Receipts of turns that ended and began before `before`, and still list what was cut."""
    return _ended(before).filter(cut_kept_days=None)


def with_words(before: datetime) -> QuerySet[Receipt]:
    """Likewise, and still have the words."""
    return _ended(before).filter(words_kept_days=None)


def pinned_for(before: datetime) -> QuerySet[ProfileSnapshot]:
    """Pinned profiles from before `before` that no younger prompt was built from and no answer is being built from."""
    old = ProfileSnapshot.objects.filter(created_at__lt=before)
    return old.exclude(receipts__created_at__gte=before).exclude(conversation__messages__status="streaming")


def remove_cut(receipts: QuerySet[Receipt], days: int) -> int:
    """Take the lists of what was cut away, after so many `days`; how many receipts. Within the caller's transaction."""
    found = receipts.select_for_update(of=("self",)).only("items")
    return sum(_update(receipt, **without_cut(receipt.items, days)) for receipt in found)


def remove_words(receipts: QuerySet[Receipt], days: int) -> int:
    """Take the words away, and the list of what was cut where it is still there. Likewise."""
    found = receipts.select_for_update(of=("self",)).only("items", "ingredients", "cut_kept_days")
    return sum(_update(receipt, **without_words(receipt, days)) for receipt in found)


def without_cut(items: Iterable[Item], days: int) -> dict[str, Any]:
    """The columns of a receipt as they are without the list of what was cut."""
    listed = list(items)
    rules = Counter(item["rule"] for item in listed if not item["kept"])
    return {"items": [item for item in listed if item["kept"]], "cut_rules": dict(rules), "cut_kept_days": days}


def without_words(receipt: Receipt, days: int) -> dict[str, Any]:
    """The columns of a receipt as they are without words."""
    columns = {"items": receipt.items} if receipt.cut_kept_days is not None else without_cut(receipt.items, days)
    unlisted = receipt.ingredients.get("unlisted", 0)
    return {
        **columns,
        "items": [{**item, "label": item["label"] and REMOVED} for item in columns["items"]],
        "ingredients": {"unlisted": unlisted} if unlisted else {},
        "words_kept_days": days,
    }


def _ended(before: datetime) -> QuerySet[Receipt]:
    """An open one is written again when its turn ends."""
    return Receipt.objects.filter(created_at__lt=before).exclude(state=Receipt.State.OPEN)


def _update(receipt: Receipt, **columns: Any) -> int:
    return Receipt.objects.filter(pk=receipt.pk).update(**columns)
