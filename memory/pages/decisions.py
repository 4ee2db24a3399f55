"""What was decided lately, and what did the librarian keep unasked? All of it can be taken back for 30 days."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from django.core.paginator import Paginator
from django.utils import timezone

from accounts.models import User
from memory.facts.undo import UNDO_FOR, can_be_undone
from memory.models import Fact, ReviewAction

A_PAGE: Final = 100
"""Decisions on one page; those of one click may be cut by its end, and are undone as one all the same."""
KEPT_SHOWN: Final = 50
"""Facts kept unasked that the page shows; the profile page has them all."""


@dataclass(frozen=True, slots=True)
class Click:
    """What one click decided."""

    actions: list[ReviewAction]

    @property
    def first(self) -> ReviewAction:
        """Undoing it undoes all."""
        return self.actions[0]


def decisions(user: User, number: str | None) -> dict[str, Any]:
    """Page `number` of what can be undone, and what was kept without asking."""
    page = Paginator(can_be_undone(user), A_PAGE).get_page(number)
    return {
        "clicks": clicks(page),
        "decisions": page,
        "kept": kept_unasked(user),
        "days": UNDO_FOR.days,
        "page": "review",
    }


def clicks(actions: Iterable[ReviewAction]) -> list[Click]:
    """Decisions in order, those of one click together."""
    return [Click(list(same)) for _, same in groupby(actions, lambda action: action.batch or action.pk)]


def kept_unasked(user: User) -> list[Fact]:
    """What the librarian made a fact by itself in the same time, the latest first."""
    since = timezone.now() - UNDO_FOR
    facts = Fact.objects.for_user(user).filter(status=Fact.Status.ACTIVE, accepted_at=None, recorded_at__gte=since)
    unasked = facts.exclude(extracted_by="").exclude(source=Fact.Source.EDITED)
    return list(unasked.defer("vector", "search").order_by("-recorded_at", "-pk")[:KEPT_SHOWN])
