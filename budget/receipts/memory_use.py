"""Uses of one memory: the user's receipts in which it was kept or cut.

The index on `Receipt.items` finds them; only the one item of each receipt is read, however long its list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db.models import Count, F, Func, JSONField, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast

from budget.models import Receipt
from budget.planning.plan import Section

if TYPE_CHECKING:
    from accounts.models import User

LISTED: Final = 30
"""Prompts listed on a page, latest first; all are counted."""
_NAMED: Final = "$[*] ? (@.ref == $ref)"
"""JSON path of the item with a ref."""


@dataclass(frozen=True, slots=True)
class RetrievalRecord:
    """One prompt for which a memory was a candidate."""

    message_id: int
    """The answer's id."""
    question: str
    at: datetime
    item: Mapping[str, Any]
    """The receipt's item (`tokens`, `parts`, `kept`, `rule` …), with its relevance as `score`."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Totals over all prompts for which a memory was a candidate."""

    kept: int
    cut: int


@dataclass(frozen=True, slots=True)
class MemoryPlacement:
    """One memory's rank among a prompt's candidates."""

    receipt: Receipt
    item: Mapping[str, Any]
    """As in `RetrievalRecord`."""
    place: int | None
    """Rank by score, from 1; None: not found by a search."""
    among: int
    """Number of memories found by the search."""
    last_kept: float | None
    """The lowest score that was kept; None: none was."""


def prompts_with(user: User, ref: str) -> list[RetrievalRecord]:
    """The user's latest prompts with this memory as a candidate. One statement."""
    found = _naming(user, ref).order_by("-created_at", "-pk")
    columns = found.values_list("message_id", "message__parent__text", "created_at", "item")[:LISTED]
    return [
        RetrievalRecord(message_id, question or "", at, _by_fit(item)) for message_id, question, at, item in columns
    ]


def tally(user: User, ref: str) -> Tally:
    """How often this memory was kept or cut. One statement."""
    kept = Q(items__contains=[{"ref": ref, "kept": True}])
    figures = _naming(user, ref).aggregate(
        kept=Count("pk", filter=kept),
        cut=Count("pk", filter=~kept),
    )
    return Tally(figures["kept"], figures["cut"])


def load_placement(user: User, message_id: int, ref: str) -> MemoryPlacement:
    """This memory's placement in the prompt of one answer.

    Raises:
        Receipt.DoesNotExist: the user has no such answer, or its receipt doesn't name this memory.
    """
    receipt = _receipts(user).select_related("message__parent", "conversation").get(message_id=message_id)
    item = next((item for item in receipt.items if item["ref"] == ref), None)
    if item is None:
        raise Receipt.DoesNotExist
    scored = [other for other in receipt.items if was_retrieved(other)]
    better = [other for other in scored if fit_of(other) > fit_of(item)]
    place = 1 + len(better) if item in scored else None
    last_kept = min((fit_of(other) for other in scored if other["kept"]), default=None)
    return MemoryPlacement(receipt, _by_fit(item), place, len(scored), last_kept)


def was_retrieved(item: Mapping[str, Any]) -> bool:
    """Whether the question found it: a memory, or a profile line that is also always included."""
    return (item["section"] == Section.MEMORIES and item["score"] is not None) or "fits" in item


def fit_of(item: Mapping[str, Any]) -> float:
    """An item's relevance to the question, 0–1; a profile line is kept by another score."""
    fit: float | None = item.get("fits", item["score"])
    return fit or 0.0


def _by_fit(item: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**item, "score": fit_of(item)} if was_retrieved(item) else item


def _naming(user: User, ref: str) -> QuerySet[Any]:
    """The user's receipts that list `ref`, each with that `item`."""
    path = Func(Value(_NAMED), template="%(expressions)s::jsonpath")
    named = Func(Value("ref"), Cast(Value(ref), TextField()), function="jsonb_build_object")
    item = Func(F("items"), path, named, function="jsonb_path_query_first", output_field=JSONField())
    return _receipts(user).filter(items__contains=[{"ref": ref}]).annotate(item=item)


def _receipts(user: User) -> QuerySet[Receipt]:
    """The user's receipts, without those of deleted conversations."""
    return Receipt.objects.for_user(user).filter(conversation__deleted_at=None)
