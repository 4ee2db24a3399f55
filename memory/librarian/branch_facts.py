"""What becomes of a fact whose evidence lies on a branch that is left? It becomes a proposal again (DESIGN §3).

Whoever edits a message takes its words back: what was learned from them unasked is no longer taken for true, and the
person decides. What had given way to it holds again. A fact that a person accepted, or worded, stays: that was a
decision about the fact and not about the message. Turned to again, the branch brings its facts back.
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
"""Reason of such a proposal; it is also how it is known again."""
BACK: Final = "came back: what had taken its place was said on a branch that you left"


@transaction.atomic
def demote_facts(user: User, messages: Collection[int]) -> None:
    """The person left the branch with these messages."""
    unasked = _resting_on(user, messages).filter(status=Fact.Status.ACTIVE, accepted_at=None)
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
    """The person went over to the branch with these messages. Where something else holds meanwhile, it goes on waiting,
    unless that had only come back in its place."""
    coming = list(_resting_on(user, messages).filter(status=Fact.Status.PROPOSED, reason=LEFT).order_by("pk"))
    for fact in coming:
        if fact.key:
            _same_key(fact).filter(reason=BACK).update(
                status=Fact.Status.SUPERSEDED, superseded_at=timezone.now(), superseded_by=fact
            )
        if not _is_taken(fact):
            Fact.objects.filter(pk=fact.pk).update(status=Fact.Status.ACTIVE, reason=Reason.STATED)
    if coming:
        refresh_profile(user)


def _resting_on(user: User, messages: Collection[int]) -> FactQuerySet:
    facts: FactQuerySet = Fact.objects.for_user(user).filter(message__in=messages)
    return facts


def _same_key(fact: Fact) -> FactQuerySet:
    same: FactQuerySet = Fact.objects.filter(user=fact.user_id, kind=fact.kind, key=fact.key)
    return same.active()


def _is_taken(fact: Fact) -> bool:
    """Whether another fact holds the key, of which one holds at a time."""
    return bool(fact.key) and _same_key(fact).exists()
