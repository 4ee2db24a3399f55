"""In which prompts did a memory stand, and from which was it cut? A person's receipts, asked for one reference.

The index on `Receipt.items` finds them; of each receipt only the one item is read, however long its list is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db.models import Count, F, Func, IntegerField, JSONField, Q, QuerySet, Sum, TextField, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from budget.models import Receipt
from budget.planning.plan import Section

if TYPE_CHECKING:
    from accounts.models import User

LISTED: Final = 30
"""Prompts that a page lists, the latest first; all are counted."""
_NAMED: Final = "$[*] ? (@.ref == $ref)"
"""Of a receipt's items the one with a reference."""


@dataclass(frozen=True, slots=True)
class RetrievalRecord:
    """One prompt that a memory came up for."""

    message_id: int
    """Of the answer."""
    question: str
    at: datetime
    item: Mapping[str, Any]
    """As the receipt has it: `tokens`, `parts`, `kept`, `rule` …, with how well it fitted as its `score`."""


@dataclass(frozen=True, slots=True)
class Tally:
    """All prompts that a memory came up for."""

    kept: int
    cut: int
    tokens: int
    """Of the prompts it stood in, by this memory."""
    prompts: int
    """Tokens of those prompts, all that stood in them."""


@dataclass(frozen=True, slots=True)
class MemoryPlacement:
    """One memory among those that a prompt's retrieval considered."""

    receipt: Receipt
    item: Mapping[str, Any]
    """As in `Recalled`."""
    place: int | None
    """By score, 1 is the best; None: it was not searched for."""
    among: int
    """Memories that were."""
    last_kept: float | None
    """The lowest score that still found room; None: none did."""


def prompts_with(user: User, ref: str) -> list[RetrievalRecord]:
    """The latest prompts of the user's for which this memory came up. One statement."""
    found = _naming(user, ref).order_by("-created_at", "-pk")
    columns = found.values_list("message_id", "message__parent__text", "created_at", "item")[:LISTED]
    return [
        RetrievalRecord(message_id, question or "", at, _by_fit(item)) for message_id, question, at, item in columns
    ]


def tally(user: User, ref: str) -> Tally:
    """How often this memory stood in a prompt or was cut, and what it took. One statement."""
    kept = Q(items__contains=[{"ref": ref, "kept": True}])
    figures = _naming(user, ref).aggregate(
        kept=Count("pk", filter=kept),
        cut=Count("pk", filter=~kept),
        tokens=Sum(Cast(KeyTextTransform("tokens", "item"), IntegerField()), filter=kept),
        prompts=Sum(F("input_tokens") + F("cache_read_tokens") + F("cache_write_tokens"), filter=kept),
    )
    return Tally(figures["kept"], figures["cut"], figures["tokens"] or 0, figures["prompts"] or 0)


def load_placement(user: User, message_id: int, ref: str) -> MemoryPlacement:
    """How this memory fared in the prompt of one answer.

    Raises:
        Receipt.DoesNotExist: there is no such answer of this user's, or its receipt does not name this memory.
    """
    own = _standing(user).select_related("message__parent", "conversation")
    receipt = own.get(message_id=message_id)
    item = next((item for item in receipt.items if item["ref"] == ref), None)
    if item is None:
        raise Receipt.DoesNotExist
    scored = [one for one in receipt.items if was_retrieved(one)]
    better = [one for one in scored if fit_of(one) > fit_of(item)]
    place = 1 + len(better) if item in scored else None
    last_kept = min((fit_of(one) for one in scored if one["kept"]), default=None)
    return MemoryPlacement(receipt, _by_fit(item), place, len(scored), last_kept)


def was_retrieved(item: Mapping[str, Any]) -> bool:
    """Whether the question brought it up: a memory, or a line of the profile that would have stood there anyway."""
    return (item["section"] == Section.MEMORIES and item["score"] is not None) or "fits" in item


def fit_of(item: Mapping[str, Any]) -> float:
    """How well an item fits the question, 0–1: a line of the profile is kept by another score."""
    fit: float | None = item.get("fits", item["score"])
    return fit or 0.0


def _by_fit(item: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**item, "score": fit_of(item)} if was_retrieved(item) else item


def _naming(user: User, ref: str) -> QuerySet[Any]:
    """The user's receipts that name `ref`, each with that `item`."""
    path = Func(Value(_NAMED), template="%(expressions)s::jsonpath")
    named = Func(Value("ref"), Cast(Value(ref), TextField()), function="jsonb_build_object")
    item = Func(F("items"), path, named, function="jsonb_path_query_first", output_field=JSONField())
    return _standing(user).filter(items__contains=[{"ref": ref}]).annotate(item=item)


def _standing(user: User) -> QuerySet[Receipt]:
    """The user's receipts, without those of conversations that were deleted."""
    return Receipt.objects.for_user(user).filter(conversation__deleted_at=None)
