"""Contradictions between a proposal and a known fact, and the three ways to resolve them.

Two facts contradict each other if they have the same key (a user has one home), if the new one's words replace the
known one (`memory/facts/replacement.py`), or if the librarian linked it as contradicting. What each resolution does:

| choice | new fact | known fact | link between them |
|---|---|---|---|
| replace | active, with its key | superseded, kept as history | supersedes |
| keep both | active, *without* a key | unchanged, keeps its key | related to |
| not a contradiction | active, *without* a key | unchanged, keeps its key | none |

Why the new fact loses its key: a key has one value, and the known fact, which is in every prompt, is not what the user
was asked to change. The new fact is recalled when it is relevant, never fades (a user accepted it), and a later
correction of the key still finds exactly one fact to replace.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Q
from django.utils import timezone

from memory.facts.links import Relation, link_all, link_superseded, mark_superseded
from memory.facts.replacement import Replaces, replaces, with_now
from memory.models import Fact, FactLink, ReviewAction


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to resolve a contradiction, as the page offers it."""

    verb: ReviewAction.Verb
    label: str
    means: str
    key: str
    """Its key on the keyboard."""


CHOICES: Final = (
    Choice(ReviewAction.Verb.ACCEPT, "Replace", "The new one holds from now on; the old one becomes history.", "a"),
    Choice(
        ReviewAction.Verb.KEEP_BOTH,
        "Keep both",
        "Both hold. The old one keeps its place in your prompts; the new one comes back when it matters.",
        "b",
    ),
    Choice(
        ReviewAction.Verb.UNRELATED,
        "Not a contradiction",
        "They are about different things: both hold, and nothing ties them to each other.",
        "n",
    ),
)
STRENGTH: Final = {Replaces.LIKELY: 0.6, Replaces.CLEARLY: 0.9}
"""Strength of the link to a fact that a new one replaces by its words."""
NOTHING_AGAINST: Final = "Nothing that is known contradicts this any more. Accept it, or reject it."


def load_contradictions(proposals: Iterable[Fact]) -> dict[int, Fact]:
    """By proposal id: the active fact it contradicts, which accepting it would supersede. Two statements at most."""
    waiting = list(proposals)
    found = _holders_of_the_key([fact for fact in waiting if fact.key])
    return found | _linked([fact for fact in waiting if fact.pk not in found])


def against(fact: Fact) -> Q:
    """The active facts that `fact` contradicts, as a condition, so that they can be locked together with it."""
    linked = FactLink.objects.filter(from_fact=fact.pk, relation=Relation.CONTRADICTS).values("to_fact")
    which = Q(pk__in=linked)
    if fact.key:
        which |= Q(key=fact.key)
    return which & Q(user=fact.user_id, status=Fact.Status.ACTIVE) & ~Q(pk=fact.pk)


def oppose_replaced(fact: Fact) -> None:
    """Let a new fact replace older ones by its words, whatever their keys.

    An active fact supersedes what it clearly replaces, and a proposal an older proposal; one without the user's own
    words only those without them, too. Everything else that is active is linked as contradicting, so that accepting a
    proposal supersedes it, and the user sees both.
    """
    of_user = Fact.objects.filter(user=fact.user_id, status__in=[Fact.Status.ACTIVE, Fact.Status.PROPOSED])
    others = of_user.exclude(pk=fact.pk)
    others = others.exclude(key=fact.key) if fact.key else others
    if fact.status == Fact.Status.PROPOSED and fact.source != Fact.Source.STATED:
        others = others.exclude(status=Fact.Status.PROPOSED, source=Fact.Source.STATED)
    newer = with_now(fact.statement, fact.quote)
    superseded: list[int] = []
    opposed: dict[int, float] = {}
    for pk, status, statement, said_at in others.values_list("pk", "status", "statement", "message__created_at"):
        how = replaces(newer, statement)
        if how == Replaces.NOT or (said_at and fact.message and said_at >= fact.message.created_at):
            continue
        if how == Replaces.CLEARLY and (fact.status == Fact.Status.ACTIVE or status == Fact.Status.PROPOSED):
            superseded.append(pk)
        elif status == Fact.Status.ACTIVE:
            opposed[pk] = STRENGTH[how]
    mark_superseded(superseded, at=timezone.now())
    link_superseded(fact, superseded)
    link_all(fact.user_id, fact.pk, Relation.CONTRADICTS, opposed)


def no_longer_opposed(fact: Fact, others: Sequence[int], *, related: bool) -> list[list[Any]]:
    """Remove the contradiction links between `fact` and `others`; with `related`, link them as related instead.

    Returns the previous links for undo: [from, to, relation, strength] for each of `others`; strength None: they only
    shared a key, without a link.
    """
    opposed = FactLink.objects.filter(from_fact=fact, to_fact__in=others, relation=Relation.CONTRADICTS)
    strengths = dict(opposed.values_list("to_fact", "strength"))
    opposed.delete()
    if related:
        link_all(fact.user_id, fact.pk, Relation.RELATED_TO, dict.fromkeys(others, fact.confidence))
    return [[fact.pk, other, Relation.CONTRADICTS.value, strengths.get(other)] for other in others]


def _holders_of_the_key(keyed: Sequence[Fact]) -> dict[int, Fact]:
    if not keyed:
        return {}
    wanted = {fact.pk: (fact.user_id, fact.key) for fact in keyed}
    users, keys = (set(column) for column in zip(*wanted.values(), strict=True))
    active = Fact.objects.filter(user__in=users, key__in=keys, status=Fact.Status.ACTIVE)
    by_key = {(fact.user_id, fact.key): fact for fact in active.defer("vector", "search")}
    return {pk: by_key[key] for pk, key in wanted.items() if key in by_key}


def _linked(facts: Sequence[Fact]) -> dict[int, Fact]:
    if not facts:
        return {}
    links = (
        FactLink.objects.filter(
            from_fact__in=[fact.pk for fact in facts],
            relation=Relation.CONTRADICTS,
            to_fact__status=Fact.Status.ACTIVE,
        )
        .select_related("to_fact")
        .defer("to_fact__vector", "to_fact__search")
        .order_by("strength", "-pk")  # the strongest comes last and wins
    )
    return {one.from_fact_id: one.to_fact for one in links}
