"""Which known facts is a proposal compared with? All of a person's for a reading; for one statement the near ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db.models import F, Max, OuterRef, Q, Subquery
from pgvector.django import CosineDistance

from memory.embedding import embedder
from memory.extraction import KnownFact
from memory.kinds import Kind
from memory.models import Fact, ReviewAction

if TYPE_CHECKING:
    from accounts.models import User
    from memory.extraction import ProposedFact
    from memory.models.facts import FactQuerySet

COMPARED: Final = (Fact.Status.ACTIVE, Fact.Status.PROPOSED, Fact.Status.ARCHIVED, Fact.Status.REJECTED)
"""Facts a proposal is compared with. Superseded and expired ones may become true again, and are not."""
NEAREST: Final = 20
"""Facts closest in meaning that a single statement is compared with: one that says the same is among the first."""


@dataclass(frozen=True, slots=True)
class Near:
    """What one statement is compared with."""

    facts: list[KnownFact]
    similarity: dict[int, float]
    """Cosine of the statement and a fact's, by fact id."""


def known_facts(user: User, *, lock: bool = False) -> list[KnownFact]:
    """All of the user's facts that count; `lock`: in the order of their ids, as reviewing does."""
    facts = _with_times(_compared(user))
    return _known(facts.select_for_update(of=("self",), no_key=True) if lock else facts)


def near(user: User, proposal: ProposedFact, vector: Any, message_id: int) -> Near:
    """The facts that may say the same as `proposal`, contradict its key, or be a no to the same words.

    The caller holds the user's row, so that what is not there yet stays so. Three statements at most.
    """
    compared, model = _compared(user), embedder().name
    closest = (
        compared.filter(embedded_by=model, vector__isnull=False)
        .annotate(distance=CosineDistance("vector", vector))
        .order_by("distance", "pk")
        .values_list("pk", "distance")[:NEAREST]
    )
    similarity = {pk: 1.0 - distance for pk, distance in closest}
    rejected = Q(status=Fact.Status.REJECTED) & (Q(message=message_id) | Q(quote=proposal.quote))
    which = Q(pk__in=similarity) | rejected | ~Q(embedded_by=model)
    if proposal.key:
        which |= Q(kind=proposal.kind, key=proposal.key)
    return Near(_known(_with_times(compared.filter(which))), similarity)


def as_known(fact: Fact, said_at: datetime) -> KnownFact:
    """A stored fact as engines and decisions see it."""
    return KnownFact(
        fact_id=fact.pk,
        statement=fact.statement,
        kind=Kind(fact.kind),
        key=fact.key,
        value=fact.value,
        confidence=fact.confidence,
        status=fact.status,
        quote=fact.quote,
        said_at=said_at,
    )


def _compared(user: User) -> FactQuerySet:
    return Fact.objects.for_user(user).filter(status__in=COMPARED)


def _with_times(facts: FactQuerySet) -> FactQuerySet:
    """With the moments its words were said, and a person decided about it."""
    decided = (
        ReviewAction.objects.filter(fact=OuterRef("pk"), undone_at=None)
        .order_by()
        .values("fact")
        .values(at=Max("created_at"))
    )
    timed: FactQuerySet = facts.annotate(said_at=F("message__created_at"), decided_at=Subquery(decided))
    return timed.defer("vector", "search").order_by("pk")


def _known(facts: Iterable[Any]) -> list[KnownFact]:
    return [
        as_known(fact, max(filter(None, (fact.said_at, fact.decided_at)), default=fact.recorded_at)) for fact in facts
    ]
