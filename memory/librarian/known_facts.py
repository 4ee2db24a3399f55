"""Loads the known facts that a proposal is compared with: all of them for a run, similar ones for one statement."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import connection
from django.db.models import F, Max, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from pgvector import Vector
from pgvector.django import CosineDistance

from memory.embeddings.port import embedder
from memory.facts.deduplication import REJECTED_TOO, SAME_MEANING_COSINE
from memory.librarian.engine import KnownFact
from memory.models import Fact, ReviewAction
from memory.models.kinds import Kind

if TYPE_CHECKING:
    from accounts.models import User
    from memory.embeddings.limits import Vectors
    from memory.librarian.engine import ProposedFact
    from memory.models.facts import FactQuerySet

COMPARED: Final = (Fact.Status.ACTIVE, Fact.Status.PROPOSED, Fact.Status.ARCHIVED, Fact.Status.REJECTED)
"""States compared by meaning. History only counts against older words: new ones may make it true again."""
HISTORY: Final = (Fact.Status.SUPERSEDED, Fact.Status.EXPIRED)


@dataclass(frozen=True, slots=True)
class Near:
    """What one statement is compared with."""

    facts: list[KnownFact]
    similarity: dict[int, float]
    """Cosines by fact id, of facts that may say the same."""


def load_known_facts(user: User, *, lock: bool = False) -> list[KnownFact]:
    """All compared facts of the user, and history, whose words must not create a fact again.

    `lock`: lock them in id order, as review does.
    """
    facts = _with_times(Fact.objects.for_user(user).filter(status__in=(*COMPARED, *HISTORY)))
    return _known(facts.select_for_update(of=("self",), no_key=True) if lock else facts)


def load_similar_facts(user: User, proposal: ProposedFact, vector: Any, message_id: int) -> Near:
    """The facts that may say the same as `proposal`, have its key, or are a rejection of the same words.

    The caller holds the user's row lock, so no such fact appears meanwhile. Two statements.
    """
    (similarity,) = load_similarities(user, [vector])
    rejected = Q(status=Fact.Status.REJECTED) & (Q(message=message_id) | Q(quote=proposal.quote))
    which = Q(pk__in=similarity) | rejected | ~Q(embedded_by=embedder().name)
    if proposal.key:
        which |= Q(key=proposal.key)
    compared = Fact.objects.for_user(user).filter(status__in=COMPARED)
    return Near(_known(_with_times(compared.filter(which))), similarity)


def load_similarities(user: User, vectors: Vectors | list[Any]) -> list[dict[int, float]]:
    """For each vector, the cosines to the user's facts that may say the same, by fact id. One statement for all."""
    if not len(vectors):
        return []
    found: list[dict[int, float]] = [{} for _ in vectors]
    with connection.cursor() as cursor:
        cursor.execute(
            _SIMILAR,
            {
                "vectors": [Vector(vector).to_text() for vector in vectors if vector is not None],
                "user": user.pk,
                "model": embedder().name,
                "statuses": [str(status) for status in COMPARED],
                "far": 1.0 - min(SAME_MEANING_COSINE, REJECTED_TOO),
            },
        )
        for place, fact_id, cosine in cursor.fetchall():
            found[place - 1][fact_id] = cosine
    return found


def load_nearest(user: User, vector: Any, most: int) -> dict[int, float]:
    """Cosines of the open facts that are nearest to a vector in meaning, by fact id."""
    facts = Fact.objects.for_user(user).filter(
        status__in=(Fact.Status.ACTIVE, Fact.Status.PROPOSED), embedded_by=embedder().name
    )
    near = facts.annotate(distance=CosineDistance("vector", vector)).order_by("distance")
    return {pk: 1.0 - distance for pk, distance in near.values_list("pk", "distance")[:most]}


# A vector is parsed from its text once, not for each fact it is compared with: for a thousand facts 2 ms instead of 30.
_SIMILAR: Final = """
    WITH proposal AS MATERIALIZED (
        SELECT put.place, put.vector::halfvec AS vector
        FROM unnest(%(vectors)s::text[]) WITH ORDINALITY AS put (vector, place)
    )
    SELECT proposal.place, fact.id, 1 - (fact.vector <=> proposal.vector)
    FROM proposal JOIN memory_fact AS fact ON fact.vector <=> proposal.vector <= %(far)s
    WHERE fact.user_id = %(user)s AND fact.embedded_by = %(model)s AND fact.status = ANY(%(statuses)s)
"""


def to_known_fact(fact: Fact, said_at: datetime) -> KnownFact:
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
        message_id=fact.message_id,
        edited=fact.source == Fact.Source.EDITED,
        superseded_by=fact.superseded_by_id,
    )


def _with_times(facts: FactQuerySet) -> FactQuerySet:
    """Adds when the facts' words were said and when the user decided on them."""
    decided = (
        ReviewAction.objects.filter(fact=OuterRef("pk"), undone_at=None)
        .order_by()
        .values("fact")
        .values(at=Max("created_at"))
    )
    timed: FactQuerySet = facts.annotate(
        said_at=F("message__created_at"),
        decided_at=Subquery(decided),
        replaced_at=Coalesce("superseded_by__message__created_at", "superseded_at"),
    )
    return timed.defer("vector", "search").order_by("pk")


def _known(facts: Iterable[Any]) -> list[KnownFact]:
    return [to_known_fact(fact, max(filter(None, _times(fact)), default=fact.recorded_at)) for fact in facts]


def _times(fact: Any) -> tuple[datetime | None, ...]:
    return fact.said_at, fact.decided_at, fact.replaced_at, fact.withdrawn_at
