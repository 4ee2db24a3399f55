"""Retention of receipts: first the list of cut items is removed, then the texts. Figures always stay.

    cut      counts by rule stay; the cut items are removed
    words    ref, section, tokens and score of each item stay; its text is removed, with the inputs of
             `manage.py replay` and the pinned profiles that no newer receipt was built from

A row is never deleted: conversation totals, charts, memory costs and forgetting (which finds answers by ref) need it.
Daily usage is counted separately in `UsageDay`. `chat/conversations/retention.py` decides when each period ends.
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
"""Replaces the removed texts."""


def listing_cut(before: datetime) -> QuerySet[Receipt]:
    """Receipts of ended turns older than `before` that still list cut items."""
    return _ended(before).filter(cut_kept_days=None)


def with_words(before: datetime) -> QuerySet[Receipt]:
    """Receipts of ended turns older than `before` that still have texts."""
    return _ended(before).filter(words_kept_days=None)


def pinned_for(before: datetime) -> QuerySet[ProfileSnapshot]:
    """Pinned profiles older than `before` that no newer prompt and no running answer uses."""
    old = ProfileSnapshot.objects.filter(created_at__lt=before)
    return old.exclude(receipts__created_at__gte=before).exclude(conversation__messages__status="streaming")


def remove_cut(receipts: QuerySet[Receipt], days: int) -> int:
    """Remove the lists of cut items after `days`; returns the number of receipts. In the caller's transaction."""
    found = receipts.select_for_update(of=("self",)).only("items")
    return sum(_update(receipt, **without_cut(receipt.items, days)) for receipt in found)


def remove_words(receipts: QuerySet[Receipt], days: int) -> int:
    """Remove the texts, and lists of cut items that remain; otherwise as `remove_cut`."""
    found = receipts.select_for_update(of=("self",)).only("items", "ingredients", "cut_kept_days")
    return sum(_update(receipt, **without_words(receipt, days)) for receipt in found)


def without_cut(items: Iterable[Item], days: int) -> dict[str, Any]:
    """A receipt's columns without the list of cut items."""
    listed = list(items)
    rules = Counter(item["rule"] for item in listed if not item["kept"])
    return {"items": [item for item in listed if item["kept"]], "cut_rules": dict(rules), "cut_kept_days": days}


def without_text(item: Item, mark: str) -> Item:
    """A listed item with `mark` in the place of its text, and without the statement that its qualifier repeats."""
    said = {"qualifier": item["qualifier"].partition(" (")[0]} if "qualifier" in item else {}
    return {**item, "label": item["label"] and mark, **said}


def without_words(receipt: Receipt, days: int) -> dict[str, Any]:
    """A receipt's columns without texts."""
    columns = {"items": receipt.items} if receipt.cut_kept_days is not None else without_cut(receipt.items, days)
    unlisted = receipt.ingredients.get("unlisted", 0)
    return {
        **columns,
        "items": [without_text(item, REMOVED) for item in columns["items"]],
        "ingredients": {"unlisted": unlisted} if unlisted else {},
        "words_kept_days": days,
    }


def _ended(before: datetime) -> QuerySet[Receipt]:
    """Only receipts of ended turns: an open one is written again when its turn ends."""
    return Receipt.objects.filter(created_at__lt=before).exclude(state=Receipt.State.OPEN)


def _update(receipt: Receipt, **columns: Any) -> int:
    return Receipt.objects.filter(pk=receipt.pk).update(**columns)
