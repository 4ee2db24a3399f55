"""Cycle check for restored rows: Recall follows some chains of rows to their end, so none may lead back to itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.db.models import F

from chat.models import Message, Segment
from memory.models import Episode, Fact

if TYPE_CHECKING:
    from accounts.models import User


def is_acyclic(user: User) -> bool:
    """Whether every chain of the user's rows ends.

    A message comes after its parent in the same conversation, and a segment ends after the one before it, so every path
    back ends. Facts are superseded, segments and episodes merged, in any order, but not in a cycle.
    """
    backwards = Message.objects.for_user(user).filter(parent__isnull=False)
    out_of_order = backwards.exclude(parent__seq__lt=F("seq"), parent__conversation=F("conversation"))
    behind = Segment.objects.for_user(user).filter(before__isnull=False).exclude(before__seq__lt=F("last_message__seq"))
    if out_of_order.exists() or behind.exists():
        return False
    chains = (
        Fact.objects.for_user(user).values_list("pk", "superseded_by"),
        Segment.objects.for_user(user).values_list("pk", "merged_into"),
        Episode.objects.for_user(user).values_list("pk", "merged_into"),
    )
    return not any(_has_ring(dict(chain)) for chain in chains)


def _has_ring(following: Mapping[int, int | None]) -> bool:
    """Whether following the chain from some row leads back to it."""
    ended: set[int] = set()
    for start in following:
        way: set[int] = set()
        at: int | None = start
        while at is not None and at not in ended:
            if at in way:
                return True
            way.add(at)
            at = following.get(at)
        ended |= way
    return False
