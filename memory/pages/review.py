"""What does the review page show? The proposals that wait, by conversation, and the latest decisions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from django.db.models import F, QuerySet

from accounts.models import User
from memory.evidence import Shown, shown
from memory.forms import StatementForm
from memory.models import Fact, ReviewAction

QUEUE_LENGTH: Final = 50
"""Proposals on one page; the next ones move up when the page is loaded again."""
RECENT: Final = 5
"""Latest decisions that the review page offers to undo."""

DONE: Final = {
    ReviewAction.Verb.ACCEPT: "Accepted",
    ReviewAction.Verb.EDIT: "Saved and accepted",
    ReviewAction.Verb.REJECT: "Rejected",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One fact as a page shows it, with what was just done to it."""

    shown: Shown
    action: ReviewAction | None = None
    """The decision just taken, which may be undone."""
    sentence: str = ""
    """What happened, or why nothing did."""
    form: StatementForm | None = None
    """The user's own wording where it could not be taken."""


def queue(user: User, changed: Row | None = None) -> dict[str, Any]:
    """What the review page shows; `changed` stands in its place instead of the plain row."""
    proposals = with_evidence(Fact.objects.for_user(user).proposed())
    in_order = proposals.order_by(
        F("message__conversation__last_activity_at").desc(nulls_last=True),
        "message__conversation_id",
        "message__seq",
        "id",
    )
    rows = [Row(item) for item in shown(list(in_order[:QUEUE_LENGTH]))]
    if changed is not None:
        rows = [changed if row.shown.fact.pk == changed.shown.fact.pk else row for row in rows]
    decided = ReviewAction.objects.for_user(user).filter(undone_at=None).select_related("fact")
    return {
        "groups": [(conversation, list(group)) for conversation, group in groupby(rows, _conversation)],
        "shown_count": len(rows),
        "waiting_count": proposals.count(),
        "recent": decided.order_by("-created_at", "-pk")[:RECENT],
        "page": "review",
    }


def as_it_stands(fact: Fact) -> Shown:
    """The fact as it is stored now, with its evidence.

    Raises:
        Fact.DoesNotExist: it is gone.
    """
    return shown([with_evidence(Fact.objects.filter(pk=fact.pk)).get()])[0]


def with_evidence(facts: QuerySet[Fact]) -> QuerySet[Fact]:
    """With the message and conversation; without the vectors, which no page shows."""
    heavy = ("vector", "search", "message__search", "superseded_by__vector", "superseded_by__search")
    return facts.select_related("message__conversation", "superseded_by").defer(*heavy)


def _conversation(row: Row) -> Any:
    message = row.shown.fact.message
    return message.conversation if message else None
