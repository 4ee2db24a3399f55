"""Review: list proposals, decide on one or many, and undo decisions."""

from collections.abc import Collection
from http import HTTPStatus
from typing import Annotated, Any, Final
from uuid import UUID

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema
from pydantic import Field

from accounts.api.auth import person, require_scope
from accounts.models import User
from memory import models
from memory.api.facts import Decision, Fact, FactWithEvidence, get_own_fact, with_evidence
from memory.facts.validity import Validity, validity_of
from memory.forms import MAX_STATEMENT
from memory.models.kinds import Kind
from memory.pages.review import saved_automatically
from memory.review import decisions
from memory.review.bulk_review import batch_of, decide_batch, undo_batch
from memory.review.merge import MAX_MERGED, merge
from memory.review.undo import can_be_undone
from recall.openapi.fields import Moment, Number
from recall.openapi.pagination import Page, Paging, paginate
from recall.openapi.problems import ProblemError, refused_with

router = Router(tags=["review"])

LATEST: Final = ("-created_at", "-pk")
MAX_FACTS: Final = 200
"""Facts per request."""
Statement = Annotated[str, Field(min_length=1, max_length=MAX_STATEMENT, pattern=r"\S")]


class Queue(Paging):
    """Filters of the review queue."""

    kind: list[Kind] = Field([], max_length=20)
    conversation: UUID | None = Field(None, description="Learned in this conversation")


@router.get(
    "/review", response=Page[FactWithEvidence], auth=require_scope("review"), summary="List proposals to review"
)
def list_review(request: HttpRequest, given: Query[Queue]) -> Any:
    """Each proposal with its quote and the fact it would supersede, the oldest first."""
    user = person(request)
    waiting = models.Fact.objects.for_user(user).proposed().select_related("message")
    chosen = {"kind__in": given.kind, "message__conversation": given.conversation}
    waiting = waiting.filter(**{name: value for name, value in chosen.items() if value})
    found = paginate(request, waiting, ("pk",), given)
    return {**found, "items": with_evidence(user, found["items"])}


# One -------------------------------------------------------------------------------------------------------------


class Wording(Schema):
    """A statement in your own words."""

    statement: Statement
    value: str | None = Field(
        None, max_length=MAX_STATEMENT, description="Value of a keyed fact; null: as the wording says"
    )


class Correction(Wording):
    """A correction of an active fact; omitted dates are unchanged."""

    valid_from: Moment | None = Field(None, description="When it became true; null: unknown")
    valid_until: Moment | None = Field(
        None, description="When it stops being true; null: no end. A past date expires the fact"
    )


class Decided(Schema):
    """A decision and the updated fact."""

    decision: Decision
    fact: Fact


@router.post(
    "/facts/{int:fact}/accept", response=Decided, auth=require_scope("review"), summary="Accept a proposal",
    operation_id="accept_fact",
)  # fmt: skip
def accept(request: HttpRequest, fact: int) -> Any:
    """It becomes an active fact and supersedes the fact it contradicts."""
    return _decide(request, fact, lambda found: decisions.accept(found, by=person(request)))


@router.post(
    "/facts/{int:fact}/edit", response=Decided, auth=require_scope("review"),
    summary="Edit and accept a proposal", operation_id="edit_fact",
)  # fmt: skip
def edit(request: HttpRequest, fact: int, given: Wording) -> Any:
    """It becomes an active fact with your wording."""
    return _decide_with_wording(request, fact, given, decisions.edit)


@router.post(
    "/facts/{int:fact}/correct", response=Decided, auth=require_scope("review"), summary="Correct a fact",
    operation_id="correct_fact",
)  # fmt: skip
def correct(request: HttpRequest, fact: int, given: Correction) -> Any:
    """Replaces an active fact by one in your words; the old fact becomes history.

    If only the dates change, it stays the same fact.
    """

    def decide(found: models.Fact, statement: str, value: str | None, *, by: User) -> models.ReviewAction:
        kept, named = validity_of(found), given.model_fields_set
        since = given.valid_from if "valid_from" in named else kept.since
        until = given.valid_until if "valid_until" in named else kept.until
        return decisions.correct(found, statement, value, Validity(since, until), by=by)

    return _decide_with_wording(request, fact, given, decide)


@router.post(
    "/facts/{int:fact}/reject", response=Decided, auth=require_scope("review"), summary="Reject a proposal or a fact",
    operation_id="reject_fact",
)  # fmt: skip
def reject(request: HttpRequest, fact: int) -> Any:
    """It isn't remembered and won't be proposed again."""
    return _decide(request, fact, lambda found: decisions.reject(found, by=person(request)))


@router.post(
    "/facts/{int:fact}/keep-both", response=Decided, auth=require_scope("review"),
    summary="Keep both facts", operation_id="keep_both_facts",
)  # fmt: skip
def keep_both(request: HttpRequest, fact: int) -> Any:
    """Accepts the proposal and links it to the fact it seemed to contradict."""
    return _decide(request, fact, lambda found: decisions.keep_both(found, by=person(request)))


@router.post(
    "/facts/{int:fact}/unrelated", response=Decided, auth=require_scope("review"),
    summary="Accept as not a contradiction", operation_id="unrelated_facts",
)  # fmt: skip
def unrelated(request: HttpRequest, fact: int) -> Any:
    """Accepts the proposal without linking it to the fact it seemed to contradict."""
    return _decide(request, fact, lambda found: decisions.not_a_contradiction(found, by=person(request)))


def _decide_with_wording(request: HttpRequest, pk: int, given: Wording, decide: Any) -> dict[str, Any]:
    statement, user = " ".join(given.statement.split()), person(request)
    return _decide(request, pk, lambda found: decide(found, statement, given.value if found.key else None, by=user))


def _decide(request: HttpRequest, pk: int, decide: Any) -> dict[str, Any]:
    with refused_with(HTTPStatus.CONFLICT, decisions.RefusedError):
        action: models.ReviewAction = decide(get_own_fact(request, pk))
    return {"decision": action, "fact": get_own_fact(request, action.fact_id)}


# Several ---------------------------------------------------------------------------------------------------------


class SeveralFacts(Schema):
    """One decision for many facts."""

    facts: list[Number] = Field(min_length=1, max_length=MAX_FACTS)
    verb: Annotated[str, Field(pattern="^(accept|reject)$")] = Field(description="accept or reject")


class DecidedTogether(Schema):
    """The result of a batch decision."""

    decisions: list[Decision]
    refusals: list[str] = Field(description="Why the others are unchanged")


@router.post(
    "/facts/decide", response=DecidedTogether, auth=require_scope("review"), summary="Accept or reject many",
    operation_id="decide_facts",
)  # fmt: skip
def decide(request: HttpRequest, given: SeveralFacts) -> Any:
    """Decides on a batch; one undo reverts all. Facts decided elsewhere in the meantime are reported as refusals."""
    facts = _own_facts(request, given.facts)
    with refused_with(HTTPStatus.CONFLICT, decisions.RefusedError):
        outcome = decide_batch(facts, models.ReviewAction.Verb(given.verb), by=person(request))
    actions = models.ReviewAction.objects.filter(pk__in=[action.pk for action in outcome.actions]).order_by("pk")
    missing = [decisions.GONE] * (len(set(given.facts)) - len(facts))
    return {"decisions": list(actions), "refusals": [*outcome.refusals, *missing]}


class Merging(Schema):
    """The facts to merge into one."""

    facts: list[Number] = Field(min_length=2, max_length=MAX_MERGED)
    into: Number | None = Field(None, description="The fact whose wording is kept; null: the first")
    statement: str = Field("", max_length=MAX_STATEMENT, description="A new wording instead")


@router.post("/facts/merge", response=Decided, auth=require_scope("review"), summary="Merge facts")
def merge_facts(request: HttpRequest, given: Merging) -> Any:
    """Keeps one fact, in a chosen or new wording, which supersedes the others."""
    chosen = {*given.facts, given.into or given.facts[0]}
    facts = _own_facts(request, chosen)
    if len(facts) < len(chosen):
        raise Http404
    into = next(fact for fact in facts if fact.pk == (given.into or given.facts[0]))
    with refused_with(HTTPStatus.CONFLICT, decisions.RefusedError):
        action = merge(facts, into, " ".join(given.statement.split()), by=person(request))
    return {"decision": action, "fact": get_own_fact(request, action.fact_id)}


def _own_facts(request: HttpRequest, chosen: Collection[int]) -> list[models.Fact]:
    facts = list(models.Fact.objects.for_user(person(request)).filter(pk__in=chosen).order_by("pk"))
    if not facts:
        raise Http404
    return facts


# Decisions -------------------------------------------------------------------------------------------------------


class DecisionWithFact(Decision):
    """A decision with its fact."""

    fact: Fact


@router.get("/decisions", response=Page[DecisionWithFact], auth=require_scope("review"), summary="List decisions")
def list_decisions(request: HttpRequest, given: Query[Paging]) -> Any:
    """Decisions of the last 30 days that can be undone, the latest first."""
    return paginate(request, can_be_undone(person(request)), LATEST, given)


@router.get("/learned", response=list[Fact], auth=require_scope("review"), summary="List facts saved automatically")
def list_learned(request: HttpRequest) -> Any:
    """Facts that the librarian saved without review in the last 30 days; at most 50, the latest first."""
    return saved_automatically(person(request))


class Undoing(Schema):
    """How much to undo."""

    whole: bool = Field(True, description="Undo everything the same request decided")


class Undone(Schema):
    """The restored facts."""

    facts: list[Fact]
    refusals: list[str] = Field(description="Why the others couldn't be undone")


@router.post(
    "/decisions/{int:decision}/undo", response=Undone, auth=require_scope("review"), summary="Undo a decision",
    operation_id="undo_decision",
)  # fmt: skip
def undo(request: HttpRequest, decision: int, given: Undoing | None = None) -> Any:
    """Undoes a decision of the last 30 days, unless a later change depends on it."""
    decisions = models.ReviewAction.objects.for_user(person(request)).select_related("fact")
    action: models.ReviewAction = get_object_or_404(decisions, pk=decision)
    batch = batch_of(action) if given is None or given.whole else [action]
    facts, refusals = undo_batch(batch)
    if not facts:
        raise ProblemError(HTTPStatus.CONFLICT, " ".join(refusals))
    return {"facts": facts, "refusals": refusals}
