"""Review: what waits, each decision on it, several at once, and taking decisions back."""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus
from typing import Annotated, Any, Final
from uuid import UUID

from django.http import Http404, HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from accounts.api.auth import person, require_scope
from accounts.models import User
from memory import models
from memory.api.facts import Decision, Fact, FactWithEvidence, get_own_fact, with_evidence
from memory.facts import review
from memory.facts.bulk_review import batch_of, decide_batch, undo_batch
from memory.facts.merge import MOST as MOST_MERGED
from memory.facts.merge import merge
from memory.facts.undo import can_be_undone
from memory.facts.validity import Validity, validity_of
from memory.forms import MAX_STATEMENT
from memory.models.kinds import Kind
from memory.pages.decisions import kept_unasked
from recall.openapi.fields import Moment, Number
from recall.openapi.pagination import Page, Paging, paginate
from recall.openapi.problems import ProblemError

router = Router(tags=["review"])

LATEST: Final = ("-created_at", "-pk")
MOST: Final = 200
"""Facts of one request."""
Statement = Annotated[str, Field(min_length=1, max_length=MAX_STATEMENT, pattern=r"\S")]


class Queue(Paging):
    """Which proposals."""

    kind: list[Kind] = Field([], max_length=20)
    conversation: UUID | None = Field(None, description="Learned there")


@router.get(
    "/review", response=Page[FactWithEvidence], auth=require_scope("review"), summary="List what waits for review",
    operation_id="list_review",
)  # fmt: skip
def list_review(request: HttpRequest, given: Query[Queue]) -> Any:
    """Each proposal with its quote, and with the fact it would supersede; the longest waiting first."""
    user = person(request)
    waiting = models.Fact.objects.for_user(user).proposed().select_related("message")
    chosen = {"kind__in": given.kind, "message__conversation": given.conversation}
    waiting = waiting.filter(**{name: value for name, value in chosen.items() if value})
    found = paginate(request, waiting, ("pk",), given)
    return {**found, "items": with_evidence(user, found["items"])}


# One -------------------------------------------------------------------------------------------------------------


class Wording(Schema):
    """A statement in the person's own words."""

    statement: Statement
    value: str | None = Field(None, max_length=MAX_STATEMENT, description="Of a keyed fact; null: as it was")


class Correction(Wording):
    """A fact in use put right; days that are not named stay."""

    valid_from: Moment | None = Field(None, description="When it began to be true in the world; null: not known")
    valid_until: Moment | None = Field(
        None, description="When it stopped, or will stop; null: no end. What has ended is expired at once"
    )


class Decided(Schema):
    """A decision, and the fact as it stands now."""

    decision: Decision
    fact: Fact


@router.post(
    "/facts/{int:fact}/accept", response=Decided, auth=require_scope("review"), summary="Accept a proposal",
    operation_id="accept_fact",
)  # fmt: skip
def accept(request: HttpRequest, fact: int) -> Any:
    """It becomes an active fact; what it contradicts is superseded."""
    return _decided(request, fact, lambda found: review.accept(found, by=person(request)))


@router.post(
    "/facts/{int:fact}/edit", response=Decided, auth=require_scope("review"),
    summary="Accept a proposal in other words", operation_id="edit_fact",
)  # fmt: skip
def edit(request: HttpRequest, fact: int, given: Wording) -> Any:
    """It becomes an active fact that says what you say."""
    return _worded(request, fact, given, review.edit)


@router.post(
    "/facts/{int:fact}/correct", response=Decided, auth=require_scope("review"), summary="Correct a fact",
    operation_id="correct_fact",
)  # fmt: skip
def correct(request: HttpRequest, fact: int, given: Correction) -> Any:
    """A fact in use says from now on what you say: one in your words takes its place, and it becomes history.

    With the same words and other days it stays the same fact.
    """

    def decide(found: models.Fact, statement: str, value: str | None, *, by: User) -> models.ReviewAction:
        kept, named = validity_of(found), given.model_fields_set
        since = given.valid_from if "valid_from" in named else kept.since
        until = given.valid_until if "valid_until" in named else kept.until
        return review.correct(found, statement, value, Validity(since, until), by=by)

    return _worded(request, fact, given, decide)


@router.post(
    "/facts/{int:fact}/reject", response=Decided, auth=require_scope("review"), summary="Reject a proposal or a fact",
    operation_id="reject_fact",
)  # fmt: skip
def reject(request: HttpRequest, fact: int) -> Any:
    """It is not remembered, and not proposed again."""
    return _decided(request, fact, lambda found: review.reject(found, by=person(request)))


@router.post(
    "/facts/{int:fact}/keep-both", response=Decided, auth=require_scope("review"),
    summary="Keep a proposal beside the other", operation_id="keep_both_facts",
)  # fmt: skip
def keep_both(request: HttpRequest, fact: int) -> Any:
    """Both hold, and are related."""
    return _decided(request, fact, lambda found: review.keep_both(found, by=person(request)))


@router.post(
    "/facts/{int:fact}/unrelated", response=Decided, auth=require_scope("review"),
    summary="Say that it contradicts nothing", operation_id="unrelated_facts",
)  # fmt: skip
def unrelated(request: HttpRequest, fact: int) -> Any:
    """The proposal is accepted: what it seemed to contradict is about something else."""
    return _decided(request, fact, lambda found: review.not_a_contradiction(found, by=person(request)))


def _worded(request: HttpRequest, pk: int, given: Wording, decide: Any) -> dict[str, Any]:
    statement, user = " ".join(given.statement.split()), person(request)
    return _decided(request, pk, lambda found: decide(found, statement, given.value if found.key else None, by=user))


def _decided(request: HttpRequest, pk: int, decide: Any) -> dict[str, Any]:
    try:
        action: models.ReviewAction = decide(get_own_fact(request, pk))
    except review.RefusedError as refused:
        raise ProblemError(HTTPStatus.CONFLICT, str(refused)) from refused
    return {"decision": action, "fact": get_own_fact(request, action.fact_id)}


# Several ---------------------------------------------------------------------------------------------------------


class SeveralFacts(Schema):
    """One decision on many."""

    facts: list[Number] = Field(min_length=1, max_length=MOST)
    verb: Annotated[str, Field(pattern="^(accept|reject)$")] = Field(description="accept or reject")


class DecidedTogether(Schema):
    """What became of many."""

    decisions: list[Decision]
    refusals: list[str] = Field(description="Why the others stayed as they were")


@router.post(
    "/facts/decide", response=DecidedTogether, auth=require_scope("review"), summary="Accept or reject many",
    operation_id="decide_facts",
)  # fmt: skip
def decide(request: HttpRequest, given: SeveralFacts) -> Any:
    """As one batch, which one undo takes back. What was decided elsewhere meanwhile is left out and told."""
    facts = _own_facts(request, given.facts)
    try:
        outcome = decide_batch(facts, models.ReviewAction.Verb(given.verb), by=person(request))
    except review.RefusedError as refused:
        raise ProblemError(HTTPStatus.CONFLICT, str(refused)) from refused
    actions = models.ReviewAction.objects.filter(pk__in=[one.pk for one in outcome.actions]).order_by("pk")
    gone = [review.GONE] * (len(set(given.facts)) - len(facts))
    return {"decisions": list(actions), "refusals": [*outcome.refusals, *gone]}


class Merging(Schema):
    """Several into one."""

    facts: list[Number] = Field(min_length=2, max_length=MOST_MERGED)
    into: Number | None = Field(None, description="Whose words stay; null: those of the first")
    statement: str = Field("", max_length=MAX_STATEMENT, description="Or in these words")


@router.post(
    "/facts/merge", response=Decided, auth=require_scope("review"), summary="Merge facts", operation_id="merge_facts"
)
def merge_facts(request: HttpRequest, given: Merging) -> Any:
    """One stays, in a wording chosen or given, and supersedes the others."""
    chosen = {*given.facts, given.into or given.facts[0]}
    facts = _own_facts(request, chosen)
    if len(facts) < len(chosen):
        raise Http404
    into = next(fact for fact in facts if fact.pk == (given.into or given.facts[0]))
    try:
        action = merge(facts, into, " ".join(given.statement.split()), by=person(request))
    except review.RefusedError as refused:
        raise ProblemError(HTTPStatus.CONFLICT, str(refused)) from refused
    return {"decision": action, "fact": get_own_fact(request, action.fact_id)}


def _own_facts(request: HttpRequest, chosen: Collection[int]) -> list[models.Fact]:
    facts = list(models.Fact.objects.for_user(person(request)).filter(pk__in=chosen).order_by("pk"))
    if not facts:
        raise Http404
    return facts


# What was decided ------------------------------------------------------------------------------------------------


class DecisionWithFact(Decision):
    """A decision, and what it was about."""

    fact: Fact


@router.get(
    "/decisions", response=Page[DecisionWithFact], auth=require_scope("review"), summary="List what can be taken back",
    operation_id="list_decisions",
)  # fmt: skip
def list_decisions(request: HttpRequest, given: Query[Paging]) -> Any:
    """Decisions of the last thirty days that stand, the latest first."""
    return paginate(request, can_be_undone(person(request)), LATEST, given)


@router.get(
    "/learned", response=list[Fact], auth=require_scope("review"), summary="List what was remembered unasked",
    operation_id="list_learned",
)  # fmt: skip
def list_learned(request: HttpRequest) -> Any:
    """What the librarian made a fact by itself in the last thirty days; at most fifty, the latest first."""
    return kept_unasked(person(request))


class Undoing(Schema):
    """How much to take back."""

    whole: bool = Field(True, description="All that the same request decided, too")


class Undone(Schema):
    """What stands as it did before."""

    facts: list[Fact]
    refusals: list[str] = Field(description="Why the others stay decided")


@router.post(
    "/decisions/{int:decision}/undo", response=Undone, auth=require_scope("review"), summary="Take a decision back",
    operation_id="undo_decision",
)  # fmt: skip
def undo(request: HttpRequest, decision: int, given: Undoing | None = None) -> Any:
    """Within thirty days, unless something that came later rests on it."""
    mine = models.ReviewAction.objects.for_user(person(request)).select_related("fact")
    action = mine.filter(pk=decision).first()
    if action is None:
        raise Http404
    whole = batch_of(action) if given is None or given.whole else [action]
    facts, refusals = undo_batch(whole)
    if not facts:
        raise ProblemError(HTTPStatus.CONFLICT, " ".join(refusals))
    return {"facts": facts, "refusals": refusals}
