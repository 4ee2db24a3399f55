"""Revives archived memories that are used again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from django.db import transaction

from memory.models import Episode, Fact
from memory.refs import ids_by_kind

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from accounts.models import User

BACK: Final = "used again after it had faded"
"""Reason, as the user reads it."""


def revive(user: User, refs: Iterable[str]) -> int:
    """Unarchive those of these memories that were archived; how many.

    At most one statement per kind of memory if none was archived; within the caller's transaction.
    """
    named = ids_by_kind(refs)
    facts, episodes = named["fact"], named["episode"]
    return (_revive_facts(user, facts) if facts else 0) + (_revive_episodes(user, episodes) if episodes else 0)


@transaction.atomic
def _revive_facts(user: User, ids: Sequence[int]) -> int:
    # A fact with a key is never archived by decay. If it was archived otherwise, its key may be taken by now.
    archived = lock_unused(Fact.objects.for_user(user).archived().filter(pk__in=ids, key=""))
    if not archived:
        return 0
    return Fact.objects.filter(pk__in=archived).update(status=Fact.Status.ACTIVE, reason=BACK)


def _revive_episodes(user: User, ids: Sequence[int]) -> int:
    archived = Episode.objects.for_user(user).filter(pk__in=ids, status=Episode.Status.ARCHIVED)
    return archived.update(status=Episode.Status.LIVE)


def lock_unused(facts: QuerySet[Fact]) -> list[int]:
    """The ids of the facts, locked in the order of their ids, without those that another transaction has locked."""
    locked = facts.order_by("pk").select_for_update(skip_locked=True, no_key=True, of=("self",))
    return list(locked.values_list("pk", flat=True))
