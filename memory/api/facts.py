"""Facts: list them, get one with its evidence, and propose new ones."""

from collections.abc import Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal, Self
from uuid import UUID

from django.db.models import Q
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import Query, Router, Schema, Status
from pydantic import Field, field_validator, model_validator

from accounts.api.auth import Replay, check_scope, get_caller, person, require_scope
from accounts.models import User
from memory import models
from memory.api.documents import READ_SCOPE
from memory.documents.tree import MAX_TAG, MAX_TAGS, normal_tag
from memory.facts.keys import MAX_KEY, make_key, split_key
from memory.facts.links import link, neighbors, unlink
from memory.facts.validity import Validity
from memory.forms import MAX_STATEMENT
from memory.librarian import remember
from memory.models.kinds import Kind
from memory.review.evidence import build_fact_views
from recall.openapi.fields import Moment, Number
from recall.openapi.pagination import Page, Paging, paginate
from recall.openapi.problems import ProblemError

router = Router(tags=["facts"])

BY_NUMBER: Final = ("pk",)
HEAVY: Final = ("vector", "search")
"""Large columns that are never returned."""
SESSION_NAME: Final = "you, by the API"
"""Names the source of a fact proposed with a session instead of a key."""


FactStatus = Literal["proposed", "active", "superseded", "rejected", "expired", "archived"]


class Fact(Schema):
    """One statement with its quote."""

    id: int
    statement: str
    kind: str
    key: str = Field(description="Facts with the same key replace each other; empty: none")
    value: str
    tags: list[str]
    status: str = Field(description="proposed, active, superseded, rejected, expired or archived")
    reason: str = Field(description="Why it needs review, was accepted or was retired")
    source: str = Field(description="stated, edited, imported or inferred")
    confidence: float = Field(description="0–1")
    importance: float = Field(description="0–1")
    quote: str = Field(description="The user's own words, verbatim")
    message_id: int | None = Field(description="The message with the quote; null if deleted")
    recorded_at: datetime = Field(description="When Recall learned it")
    valid_from: datetime | None = Field(description="When it became true")
    valid_until: datetime | None
    superseded_at: datetime | None
    superseded_by_id: int | None
    times_used: int = Field(description="Prompts that used it")
    last_used_at: datetime | None


class Surroundings(Schema):
    """A quote and the surrounding text of its message."""

    before: str
    quote: str
    after: str


class Relative(Schema):
    """A linked fact."""

    fact: Fact
    relation: str = Field(description="supersedes, contradicts, depends_on, related_to, …")
    strength: float


class Decision(Schema):
    """A review decision on a fact; `id` undoes it."""

    id: int
    fact_id: int
    verb: str = Field(description="accept, edit, reject, keep_both, unrelated or merge")
    batch: UUID | None = Field(description="Decisions made in one request, undone together")
    created_at: datetime
    undone_at: datetime | None


class FactWithEvidence(Fact):
    """A fact with everything needed to review it."""

    passage: Surroundings | None
    conversation_id: UUID | None
    contradicts: Fact | None = Field(description="The active fact that this one would supersede")
    in_every_prompt: bool
    links: list[Relative]
    decisions: list[Decision]


class Facts(Paging):
    """Filters of the fact list."""

    status: list[FactStatus] = Field(
        [], max_length=6, description="Empty: active facts; with `known_at`: facts active then"
    )
    kind: list[Kind] = Field([], max_length=20)
    tag: str = Field("", max_length=60)
    q: str = Field("", max_length=200, description="Text in the statement or quote")
    conversation: UUID | None = Field(None, description="Learned in this conversation")
    known_at: Moment | None = Field(None, description="Facts Recall considered true at this moment")
    true_at: Moment | None = Field(
        None, description="Facts that were true at this moment, as known at `known_at` or now"
    )


@router.get("/facts", response=Page[Fact], auth=require_scope("memory:read"), summary="List facts")
def list_facts(request: HttpRequest, given: Query[Facts]) -> Any:
    """Active facts, or those Recall considered true at a moment; the oldest first."""
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
    summary="Get a fact with its evidence",
)  # fmt: skip
def get_fact(request: HttpRequest, fact: int) -> Any:
    """A fact with its source, contradiction, links and review decisions."""
    return with_evidence(person(request), [get_own_fact(request, fact)])[0]


def get_own_fact(request: HttpRequest, pk: int) -> models.Fact:
    """The caller's fact with this ID.

    Raises:
        Http404: there is none.
    """
    fact: models.Fact = get_object_or_404(models.Fact.objects.for_user(person(request)), pk=pk)
    return fact


def with_evidence(user: User, facts: Sequence[models.Fact]) -> list[dict[str, Any]]:
    """The facts with their evidence, links and decisions."""
    decisions: dict[int, list[models.ReviewAction]] = {}
    for action in models.ReviewAction.objects.for_user(user).filter(fact__in=facts).order_by("-pk"):
        decisions.setdefault(action.fact_id, []).append(action)
    return [
        {
            **{name: getattr(view.fact, name) for name in Fact.model_fields},
            "passage": view.passage,
            "conversation_id": view.fact.message.conversation_id if view.fact.message else None,
            "contradicts": view.older,
            "in_every_prompt": view.guaranteed,
            "links": [
                {"fact": near.fact, "relation": near.link.relation, "strength": near.link.strength}
                for near in neighbors(user, view.fact)
            ],
            "decisions": decisions.get(view.fact.pk, []),
        }
        for view in build_fact_views(facts)
    ]


class NewFact(Schema):
    """A statement to remember."""

    statement: Annotated[str, Field(min_length=1, max_length=MAX_STATEMENT)] = Field(
        description="Self-contained, about “the user”"
    )
    tags: list[Annotated[str, Field(min_length=1, max_length=MAX_TAG)]] = Field([], max_length=MAX_TAGS)
    key: str = Field(
        "",
        max_length=MAX_KEY,
        description="Subject and attribute of a fact that has one value at a time",
        json_schema_extra={"example": "user/home"},
    )
    value: str = Field("", max_length=MAX_STATEMENT, description="Value of a fact with a key, like `Lisbon`")
    valid_from: Moment | None = Field(None, description="When it became true")
    valid_until: Moment | None = Field(None, description="When it stops being true; null: no end")

    @field_validator("key")
    @classmethod
    def _by_the_scheme(cls, key: str) -> str:
        spelled = make_key(*split_key(key))
        if key.strip() and not spelled:
            raise ValueError("must be a subject and a known attribute, like user/home")
        return spelled

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if Validity(self.valid_from, self.valid_until).is_backwards:
            raise ValueError("valid_until must be after valid_from")
        return self


class Proposed(Schema):
    """The result of a proposal."""

    waits: bool = Field(description="It is a proposal and waits for review")
    sentence: str = Field(description="What happened and why")


@router.post("/facts", response={202: Proposed}, auth=require_scope("memory:write"), summary="Propose a fact")
def propose_fact(request: HttpRequest, given: NewFact) -> Any:
    """It becomes a proposal that the user reviews. Repeated or known facts change nothing."""
    key = get_caller(request).key
    tags = tuple(dict.fromkeys(filter(None, map(normal_tag, given.tags))))
    details = remember.Details(given.key, given.value, tags, given.valid_from, given.valid_until)
    sentence = remember.propose_from_assistant(
        key.name if key else SESSION_NAME, person(request), given.statement, details
    )
    return Status(202, {"waits": sentence == remember.WAITS, "sentence": sentence})


class NewLink(Schema):
    """A link from this fact to another one."""

    to: Number = Field(description="ID of the other fact")
    relation: Literal["related_to", "depends_on", "part_of", "caused_by"] = "related_to"
    strength: float = Field(0.5, ge=0, le=1, json_schema_extra={"example": 0.5})


@router.post(
    "/facts/{int:fact}/links", response={201: FactWithEvidence}, auth=require_scope("memory:write"),
    summary="Link a fact to another",
)  # fmt: skip
def link_facts(request: HttpRequest, fact: int, given: NewLink) -> Any:
    """An existing link keeps the higher strength. A key also needs `memory:read`."""
    check_scope(request, READ_SCOPE)
    user, first, second = person(request), get_own_fact(request, fact), get_own_fact(request, given.to)
    if first == second:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, "A fact can't be linked to itself.")
    link(user.pk, first.pk, models.FactLink.Relation(given.relation), second.pk, given.strength)
    return Status(201, with_evidence(user, [first])[0])


@router.delete(
    "/facts/{int:fact}/links/{int:linked}", response={204: None}, auth=require_scope("memory:write", Replay.NO_TEXT),
    summary="Remove the links between two facts",
)  # fmt: skip
def unlink_facts(request: HttpRequest, fact: int, linked: int) -> Any:
    """Removes what can be stated, in both directions. What a review decided stays."""
    if not unlink(person(request), get_own_fact(request, fact).pk, get_own_fact(request, linked).pk):
        raise Http404
    return Status(204, None)
