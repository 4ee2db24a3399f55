"""Facts whose evidence is on a branch the user left: they become proposals again, and return with the branch.

Editing a message withdraws its words, so facts learned from them automatically are no longer assumed true, and the
facts they superseded become active again. A fact the user accepted or edited stays: that was a decision about the fact.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from django.db import transaction
from django.utils import timezone

from memory.documents.profile_updates import refresh_profile
from memory.librarian.decision import Reason
from memory.models import Fact

if TYPE_CHECKING:
    from accounts.models import User
    from memory.models.facts import FactQuerySet

LEFT: Final = "said on a branch of the conversation that you left"
"""Reason of such a proposal, which also identifies it."""
BACK: Final = "came back: what had taken its place was said on a branch that you left"


@transaction.atomic
def demote_facts(user: User, messages: Collection[int]) -> None:
    """Turn the facts of a left branch, with these messages, into proposals."""
    unasked = _facts_from(user, messages).filter(status=Fact.Status.ACTIVE, accepted_at=None)
    leaving = list(unasked.exclude(source=Fact.Source.EDITED).values_list("pk", flat=True))
    if not leaving:
        return
    Fact.objects.filter(pk__in=leaving).update(status=Fact.Status.PROPOSED, reason=LEFT)
    for older in Fact.objects.for_user(user).filter(status=Fact.Status.SUPERSEDED, superseded_by__in=leaving):
        if not _is_taken(older):
            Fact.objects.filter(pk=older.pk).update(
                status=Fact.Status.ACTIVE, reason=BACK, superseded_at=None, superseded_by=None
            )
    refresh_profile(user)


@transaction.atomic
def reactivate_facts(user: User, messages: Collection[int]) -> None:
    """Reactivate the facts of the followed branch, with these messages.

    A fact stays a proposal if another one has its key now, unless that one only replaced it while the branch was left.
    """
    returning = list(_facts_from(user, messages).filter(status=Fact.Status.PROPOSED, reason=LEFT).order_by("pk"))
    for fact in returning:
        if fact.key:
            _same_key(fact).filter(reason=BACK).update(
                status=Fact.Status.SUPERSEDED, superseded_at=timezone.now(), superseded_by=fact
            )
        if not _is_taken(fact):
            Fact.objects.filter(pk=fact.pk).update(status=Fact.Status.ACTIVE, reason=Reason.STATED)
    if returning:
        refresh_profile(user)


def _facts_from(user: User, messages: Collection[int]) -> FactQuerySet:
    facts: FactQuerySet = Fact.objects.for_user(user).filter(message__in=messages)
    return facts


def _same_key(fact: Fact) -> FactQuerySet:
    same: FactQuerySet = Fact.objects.filter(user=fact.user_id, key=fact.key)
    return same.active()


def _is_taken(fact: Fact) -> bool:
    """Whether another active fact has the key."""
    return bool(fact.key) and _same_key(fact).exists()
