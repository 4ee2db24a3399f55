"""Facts: the list with its filters, one with its provenance, and a proposal from outside."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from django.db.models import Q
from django.http import Http404, HttpRequest
from django.utils import timezone
from ninja import Query, Router, Schema, Status
from pydantic import Field

from accounts.api.auth import get_caller, person, require_scope
from accounts.models import User
from memory import models
from memory.facts.evidence import build_fact_views
from memory.facts.links import neighbours
from memory.forms import MAX_STATEMENT
from memory.librarian import remember
from memory.models.kinds import Kind
from recall.openapi.fields import Moment
from recall.openapi.pagination import Page, Paging, paginate

router = Router(tags=["facts"])

BY_NUMBER: Final = ("pk",)
HEAVY: Final = ("vector", "search")
"""Columns that are large and never told."""
THE_PERSON: Final = "you, by the API"
"""Who told a fact that came with a session."""


FactStatus = Literal["proposed", "active", "superseded", "rejected", "expired", "archived"]


class Fact(Schema):
    """One statement, with the words it rests on."""

    id: int
    statement: str
    kind: str
    key: str = Field(description="Set: of these only one value holds at a time; empty: the fact stands by itself")
    value: str
    tags: list[str]
    status: str = Field(description="proposed, active, superseded, rejected, expired or archived")
    reason: str = Field(description="Why it waits, was accepted or was retired")
    source: str = Field(description="stated, edited, imported or inferred")
    confidence: float = Field(description="0–1")
    importance: float = Field(description="0–1")
    quote: str = Field(description="The person's own words it rests on, verbatim")
    message_id: int | None = Field(description="The message that holds them; null: it is gone")
    recorded_at: datetime = Field(description="When Recall came to know it")
    valid_from: datetime | None = Field(description="When it began to be true in the world")
    valid_until: datetime | None
    superseded_at: datetime | None
    superseded_by_id: int | None
    times_used: int = Field(description="Prompts it stood in")
    last_used_at: datetime | None


class Surroundings(Schema):
    """A quote and what stands around it in its message."""

    before: str
    quote: str
    after: str


class Relative(Schema):
    """A fact that this one is linked with."""

    fact: Fact
    relation: str = Field(description="supersedes, contradicts, depends_on, related_to, …")
    strength: float


class Decision(Schema):
    """What was decided about a fact; `id` undoes it."""

    id: int
    fact_id: int
    verb: str = Field(description="accept, edit, reject, keep_both, unrelated or merge")
    batch: UUID | None = Field(description="Decisions of one request; undone by one")
    created_at: datetime
    undone_at: datetime | None


class FactWithEvidence(Fact):
    """A fact with all that one needs to judge it."""

    passage: Surroundings | None
    conversation_id: UUID | None
    contradicts: Fact | None = Field(description="The active fact that accepting this one would supersede")
    in_every_prompt: bool
    links: list[Relative]
    decisions: list[Decision]


class Facts(Paging):
    """Which facts."""

    status: list[FactStatus] = Field(
        [], max_length=6, description="Empty: the active ones; with `known_at`: those of then"
    )
    kind: list[Kind] = Field([], max_length=20)
    tag: str = Field("", max_length=60)
    q: str = Field("", max_length=200, description="Words of the statement or the quote")
    conversation: UUID | None = Field(None, description="Learned there")
    known_at: Moment | None = Field(None, description="What Recall took for true at this moment")
    true_at: Moment | None = Field(None, description="What was known (then, or now) to be true at another moment")


@router.get(
    "/facts", response=Page[Fact], auth=require_scope("memory:read"), summary="List facts", operation_id="list_facts"
)
def list_facts(request: HttpRequest, given: Query[Facts]) -> Any:
    """What holds now, or what Recall took for true at a moment; the oldest first."""
    facts = models.Fact.objects.for_user(person(request)).defer(*HEAVY)
    if given.known_at or given.true_at:
        facts = facts.known_at(given.known_at or timezone.now(), true_at=given.true_at)
    elif not given.status:
        facts = facts.active()
    return paginate(request, _filtered(facts, given), BY_NUMBER, given)


def _filtered(facts: Any, given: Facts) -> Any:
    chosen = {"status__in": given.status, "kind__in": given.kind, "message__conversation": given.conversation}
    facts = facts.filter(**{name: value for name, value in chosen.items() if value})
    if given.tag:
        facts = facts.filter(tags__contains=[given.tag])
    if given.q:
        facts = facts.filter(Q(statement__icontains=given.q) | Q(quote__icontains=given.q))
    return facts


@router.get(
    "/facts/{int:fact}", response=FactWithEvidence, auth=require_scope("memory:read"),
    summary="Get a fact with its evidence", operation_id="get_fact",
)  # fmt: skip
def get_fact(request: HttpRequest, fact: int) -> Any:
    """Where it comes from, what it stands against, what it is linked with, and what was decided about it."""
    return with_evidence(person(request), [get_own_fact(request, fact)])[0]


def get_own_fact(request: HttpRequest, pk: int) -> models.Fact:
    """The caller's fact of that number.

    Raises:
        Http404: there is none.
    """
    found: models.Fact | None = models.Fact.objects.for_user(person(request)).filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


def with_evidence(user: User, facts: Sequence[models.Fact]) -> list[dict[str, Any]]:
    """Each with its evidence."""
    decisions: dict[int, list[models.ReviewAction]] = {}
    for action in models.ReviewAction.objects.for_user(user).filter(fact__in=facts).order_by("-pk"):
        decisions.setdefault(action.fact_id, []).append(action)
    return [
        {
            **{name: getattr(one.fact, name) for name in Fact.model_fields},
            "passage": one.passage,
            "conversation_id": one.fact.message.conversation_id if one.fact.message else None,
            "contradicts": one.older,
            "in_every_prompt": one.guaranteed,
            "links": [
                {"fact": near.fact, "relation": near.link.relation, "strength": near.link.strength}
                for near in neighbours(user, one.fact)
            ],
            "decisions": decisions.get(one.fact.pk, []),
        }
        for one in build_fact_views(facts)
    ]


class NewFact(Schema):
    """What is to be remembered."""

    statement: Annotated[str, Field(min_length=1, max_length=MAX_STATEMENT)] = Field(
        description="Understandable on its own, about “the user”"
    )


class Proposed(Schema):
    """What became of it."""

    waits: bool = Field(description="It is a proposal now, and waits for the person's review")
    sentence: str = Field(description="What happened, and why")


@router.post(
    "/facts",
    response={202: Proposed},
    auth=require_scope("memory:write"),
    summary="Propose a fact",
    operation_id="propose_fact",
)
def propose_fact(request: HttpRequest, given: NewFact) -> Any:
    """It becomes a proposal, at most: the person decides. The same again, or what is known, changes nothing."""
    key = get_caller(request).key
    sentence = remember.propose_told_by(key.name if key else THE_PERSON, person(request), given.statement)
    return Status(202, {"waits": sentence == remember.WAITS, "sentence": sentence})
