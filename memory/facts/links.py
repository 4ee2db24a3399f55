"""Links between facts of one user, and superseding one fact by another.

A link exists once: adding it again keeps the higher strength. Links are deleted with their facts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.db.models import Q
from django.utils import timezone

from memory.models import Fact, FactLink

if TYPE_CHECKING:
    from accounts.models import User

GAVE_WAY: Final = "superseded by a newer fact"
"""Reason of a superseded fact."""
CERTAIN: Final = 1.0
"""Strength of a link that records an action."""
MAX_OFFERED: Final = 200
"""Maximum facts offered in a list."""
MAX_STEPS: Final = 3
"""Beyond this distance nearly everything is related, so links carry no information."""

Relation = FactLink.Relation
STATABLE: Final = (Relation.RELATED_TO, Relation.DEPENDS_ON, Relation.PART_OF, Relation.CAUSED_BY)
"""Relations a user may state. The others follow from review decisions, which also change the facts."""


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A related fact and its distance."""

    fact: Fact
    steps: int
    """Links between it and the starting fact, 1 or more."""
    link: FactLink
    """The strongest link among those that reached it first."""


def link(user_id: int, from_id: int, relation: FactLink.Relation, to_id: int, strength: float) -> None:
    """Link one fact to another (supersedes, contradicts, depends on …); an existing link keeps the higher strength.

    Does nothing for a fact and itself, or for a fact of another user.
    """
    link_all(user_id, from_id, relation, {to_id: strength})


def link_all(user_id: int, from_id: int, relation: FactLink.Relation, strengths: Mapping[int, float]) -> None:
    """Link one fact to several in the same way; `strengths`: of the links, by the other fact's id."""
    if not strengths:
        return
    of_user = set(Fact.objects.filter(user=user_id, pk__in=[from_id, *strengths]).values_list("pk", flat=True))
    if from_id not in of_user:
        return
    strengths = {pk: strength for pk, strength in strengths.items() if pk in of_user - {from_id}}
    FactLink.objects.bulk_create(
        [
            FactLink(user_id=user_id, from_fact_id=from_id, to_fact_id=pk, relation=relation, strength=strength)
            for pk, strength in strengths.items()
        ],
        ignore_conflicts=True,
    )
    known = FactLink.objects.filter(from_fact=from_id, relation=relation)
    for strength in set(strengths.values()):
        to = [pk for pk, its in strengths.items() if its == strength]
        known.filter(to_fact__in=to, strength__lt=strength).update(strength=strength)


def unlink(user: User, one: int, other: int) -> bool:
    """Remove the relations a user may state between two of their facts, in either direction; whether there were any."""
    between = Q(from_fact=one, to_fact=other) | Q(from_fact=other, to_fact=one)
    return bool(FactLink.objects.for_user(user).filter(between, relation__in=STATABLE).delete()[0])


def linkable(user: User, fact: Fact) -> list[Fact]:
    """Active facts that `fact` may be linked to, the newest first."""
    active = Fact.objects.for_user(user).active().exclude(pk=fact.pk)
    unlinked = active.exclude(links__to_fact=fact).exclude(linked_from__from_fact=fact)
    return list(unlinked.only("statement", "user").order_by("-recorded_at", "-pk")[:MAX_OFFERED])


def neighbors(user: User, fact: Fact, steps: int = 1, most: int | None = None) -> list[Neighbor]:
    """The user's facts within `steps` links (at most MAX_STEPS) of `fact`, in either direction, nearest first.

    `most`: the maximum count. One statement per step, plus one.
    """
    seen: set[int] = {fact.pk}
    reached: dict[int, tuple[int, FactLink]] = {}
    border = {fact.pk}
    for step in range(1, min(steps, MAX_STEPS) + 1):
        border_links = _links_at(user, border)
        border = set()
        for border_link in border_links:
            for pk in {border_link.from_fact_id, border_link.to_fact_id} - seen:
                seen.add(pk)
                border.add(pk)
                reached[pk] = (step, border_link)
        if not border:
            break
    nearest = list(reached)[:most]
    facts = Fact.objects.for_user(user).defer("vector", "search").in_bulk(nearest)
    return [Neighbor(facts[pk], *reached[pk]) for pk in nearest if pk in facts]


def among(user: User, facts: Iterable[int]) -> list[FactLink]:
    """The user's links between these facts, the strongest first. One statement."""
    ends = list(facts)
    return list(
        FactLink.objects.for_user(user).filter(from_fact__in=ends, to_fact__in=ends).order_by("-strength", "pk")
    )


# Superseding -----------------------------------------------------------------------------------------------------


def mark_superseded(older: Iterable[int], at: datetime) -> None:
    """Supersede facts before their successor becomes active: a key may have only one active fact."""
    Fact.objects.filter(pk__in=list(older)).update(
        status=Fact.Status.SUPERSEDED, reason=GAVE_WAY, superseded_at=at, superseded_by=None
    )


def create_superseding(older: int | None, make: Callable[[], Fact]) -> Fact:
    """Store the fact that `make` creates, after retiring the one it supersedes; None: it supersedes nothing."""
    gone = [] if older is None else [older]
    mark_superseded(gone, at=timezone.now())
    newer = make()
    link_superseded(newer, gone)
    return newer


def link_superseded(newer: Fact, older: Sequence[int]) -> None:
    """Record which fact superseded the older ones."""
    Fact.objects.filter(pk__in=older).update(superseded_by=newer)
    link_all(newer.user_id, newer.pk, Relation.SUPERSEDES, dict.fromkeys(older, CERTAIN))


def give_back(newer: Fact, older: Sequence[int]) -> None:
    """Undo that: the decision by which `newer` superseded the older facts is undone."""
    FactLink.objects.filter(from_fact=newer, to_fact__in=older, relation=Relation.SUPERSEDES).delete()


def _links_at(user: User, facts: set[int]) -> list[FactLink]:
    touching = Q(from_fact__in=facts) | Q(to_fact__in=facts)
    return list(FactLink.objects.for_user(user).filter(touching).order_by("-strength", "pk"))
