"""Withdraws facts without a successor: those that were true and have ended, those the user takes back, and proposals
that newer words overtook. The rows stay as history, so that reading an older message again doesn't restore them.

| what | status | dates |
|---|---|---|
| ended | expired | `valid_until`: when it stopped being true, as far as the user said it |
| taken back | superseded, by nothing | `superseded_at` |
| overtaken proposal | superseded by the newer fact | `superseded_at` |
"""

from datetime import datetime
from typing import Final

from django.db.models import Q
from django.utils import timezone

from memory.facts.deduplication import relations_differ
from memory.facts.links import link_superseded
from memory.models import Fact

ENDED: Final = "you said that it has ended"
TAKEN_BACK: Final = "you took it back"
OVERTAKEN: Final = "you have said something newer since"
"""Reasons, as the user reads them."""


def end_fact(fact_id: int, said_at: datetime, when: datetime | None = None) -> None:
    """Expire an active or proposed fact. `when`: when it stopped being true; None: when the user said so."""
    fact = Fact.objects.only("recorded_at").get(pk=fact_id)
    Fact.objects.filter(pk=fact_id).update(
        status=Fact.Status.EXPIRED,
        reason=ENDED,
        valid_until=when or said_at,
        withdrawn_at=max(said_at, fact.recorded_at),
    )


def retract_fact(fact_id: int) -> None:
    """Withdraw a fact that the user takes back."""
    now = timezone.now()
    Fact.objects.filter(pk=fact_id).update(
        status=Fact.Status.SUPERSEDED, reason=TAKEN_BACK, superseded_at=now, withdrawn_at=now, superseded_by=None
    )


def overtake(fact_id: int, newer: Fact) -> None:
    """Withdraw a proposal in whose place the user has said something newer, which may wait, too."""
    Fact.objects.filter(pk=fact_id).update(
        status=Fact.Status.SUPERSEDED, reason=OVERTAKEN, superseded_at=timezone.now()
    )
    link_superseded(newer, [fact_id])


def withdraw_older_proposals(newer: Fact, said_at: datetime) -> list[int]:
    """Withdraw proposals with the key of `newer` that were stated before `said_at`; return their ids."""
    if not newer.key:
        return []
    earlier = Q(message__created_at__lt=said_at) | Q(message=None, recorded_at__lt=said_at)
    waiting = Fact.objects.filter(earlier, user=newer.user_id, key=newer.key, status=Fact.Status.PROPOSED)
    older = waiting.exclude(pk=newer.pk).values_list("pk", "statement")
    overtaken = [pk for pk, statement in older if not relations_differ(statement, newer.statement)]
    Fact.objects.filter(pk__in=overtaken).update(
        status=Fact.Status.SUPERSEDED, reason=OVERTAKEN, superseded_at=timezone.now()
    )
    link_superseded(newer, overtaken)
    return overtaken
