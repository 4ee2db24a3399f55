"""Budget's API routes: plan, limits, usage, receipts and memory costs."""

from datetime import date, datetime
from decimal import Decimal
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.http import Http404, HttpRequest
from django.utils import timezone
from ninja import Query, Router, Schema, Status
from pydantic import Field

from accounts.api.auth import Replay, person, require_scope
from accounts.models import User
from budget import models
from budget.pages import live
from budget.pages import plan as planning
from budget.planning import user_plan
from budget.planning.plan import PLANS, Section, resolve
from budget.receipts import memory_cost
from budget.spending import limits, usage
from recall.openapi.fields import Moment
from recall.openapi.pagination import Page, Paging, paginate
from recall.openapi.problems import ProblemError, refused_with

router = Router(tags=["budget"])

LATEST: Final = ("-created_at", "-pk")
BY_DAY: Final = ("-day", "-pk")
MAX_TOKENS: Final = 10_000_000
Tokens = Annotated[int, Field(ge=0, le=MAX_TOKENS)]
LimitOf = Literal["turns", "tokens", "money"]
Period = Literal["day", "month"]
Money = Annotated[Decimal, Field(description="US dollars")]


# The plan --------------------------------------------------------------------------------------------------------


class Fate(Schema):
    """An item that would be trimmed or included again."""

    ref: str = Field(description="Such as fact:12; a run of turns as turns:3-9")
    section: str
    label: str
    tokens: int
    rule: str = Field(description="The rule that would trim it, or had")


class WhatIf(Schema):
    """Your latest prompt, fitted into the plan you try."""

    sentence: str
    before: int = Field(description="Tokens with the current plan")
    after: int = Field(description="Tokens with the new plan; 0: your message wouldn't fit")
    cut: list[Fate]
    back: list[Fate] = Field(description="Items that would be included again")
    exact: bool = Field(description="false: some turn sizes are averages")


class Plan(Schema):
    """The plan in effect, in tokens."""

    name: str
    total: int = Field(description="Tokens of a request, answer included")
    output_reserve: int = Field(description="Reserved for the answer")
    ceilings: dict[str, int] = Field(description="Section → tokens; `message` gets the rest")
    is_own: bool = Field(description="true: your own plan; false: the default")
    note: str = Field(description="A notice, if the plan was reduced or no longer fits the model")
    presets: list[str]
    preview: WhatIf | None = Field(None, description="Dry run only: what it would trim; null: no prompt yet")


class NewPlan(Schema):
    """A preset and your changes."""

    preset: Literal["small", "standard", "long"]
    total: Tokens | None = Field(None, description="null: the preset's")
    output_reserve: Tokens | None = Field(None, description="null: the preset's")
    ceilings: dict[str, Tokens] = Field(
        {}, max_length=20, description=f"Of {', '.join(user_plan.MOVABLE)}; unnamed sections follow the preset"
    )
    dry_run: bool = Field(False, description="Preview without saving")


@router.get("/plan", response=Plan, auth=require_scope("budget:read"), summary="Get the plan")
def get_plan(request: HttpRequest) -> Any:
    """The plan for your next message."""
    return _plan(person(request))


@router.put("/plan", response=Plan, auth=require_scope("settings"), summary="Set the plan")
def put_plan(request: HttpRequest, given: NewPlan) -> Any:
    """Applies from your next message."""
    user = person(request)
    window = live.context_window(live.latest(user))
    choice = (given.preset, given.total, given.output_reserve, given.ceilings)
    try:
        if given.dry_run:
            plan = resolve(
                user_plan.validate_plan(*choice, window), window, settings.ENVIRONMENT.rag_per_turn_memory_budget_tokens
            )
            return _resolved(plan, is_own=True) | {"preview": planning.preview_of(live.latest(user), plan)}
        user_plan.save(user, *choice, window)
    except user_plan.InvalidPlanError as wrong:
        errors = [{"where": f"body.given.{name}", "what": sentence} for name, sentence in wrong.errors.items()]
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(wrong), "not-valid", errors=errors) from wrong
    return _plan(user)


@router.delete("/plan", response={204: None}, auth=require_scope("settings", Replay.NO_TEXT), summary="Reset the plan")
def delete_plan(request: HttpRequest) -> Any:
    """Applies from your next message."""
    user_plan.reset_to_default(person(request))
    return Status(HTTPStatus.NO_CONTENT, None)


def _plan(user: User) -> dict[str, Any]:
    is_own = models.BudgetPlan.objects.for_user(user).exists()
    return _resolved(user_plan.plan_for(user, live.context_window(live.latest(user))), is_own=is_own)


def _resolved(plan: Any, *, is_own: bool) -> dict[str, Any]:
    ceilings = {str(section): size for section, size in plan.ceilings.items()}
    named = ("name", "total", "output_reserve", "note")
    values = {name: getattr(plan, name) for name in named}
    return {**values, "ceilings": ceilings, "is_own": is_own, "presets": list(PLANS)}


# Limits ----------------------------------------------------------------------------------------------------------


class Limit(Schema):
    """A limit per day or month of your time zone, and its use."""

    what: LimitOf
    per: Period
    amount: Decimal
    used: Decimal
    state: str = Field(description="ok, warn (from 80%) or stop")
    by_staff: bool = Field(description="Only an administrator can raise it")
    free_on: date


class NewLimit(Schema):
    """One of your limits; null removes it."""

    what: LimitOf
    per: Period
    amount: Annotated[Decimal, Field(ge=0, le=999_999_999, max_digits=13, decimal_places=4)] | None


class NewLimits(Schema):
    """Limits to set; others stay."""

    limits: list[NewLimit] = Field(min_length=1, max_length=6)


@router.get("/limits", response=list[Limit], auth=require_scope("budget:read"), summary="List limits")
def list_limits(request: HttpRequest) -> Any:
    """Every limit in effect, the fullest first."""
    return limits.limit_statuses(person(request))


@router.patch("/limits", response=list[Limit], auth=require_scope("settings"), summary="Set limits")
def set_limits(request: HttpRequest, given: NewLimits) -> Any:
    """All or none. Your limits can only be lower than an administrator's."""
    user = person(request)
    with refused_with(HTTPStatus.UNPROCESSABLE_ENTITY, limits.InvalidLimitError), transaction.atomic():
        for limit in given.limits:
            limits.set_limit(user, limits.What(limit.what), limits.Per(limit.per), limit.amount)
    return limits.limit_statuses(user)


# Usage -----------------------------------------------------------------------------------------------------------


class Used(Schema):
    """Turns, the provider's tokens, and money."""

    turns: int
    input_tokens: int = Field(description="Fresh input")
    cache_read_tokens: int
    cache_write_tokens: int
    output_tokens: int
    cost: Money
    cost_uncached: Money = Field(description="Cost without caching")
    unpriced: int = Field(description="Turns and background calls without a known price")


class Usage(Schema):
    """Current usage."""

    today: Used
    month: Used
    by_model: dict[str, Used] = Field(description="This month")


class UsageDay(Used):
    """One day and model."""

    day: date
    model: str


class Days(Paging):
    """Filter by day."""

    since: date | None = None
    until: date | None = Field(None, description="Inclusive")


@router.get("/usage", response=Usage, auth=require_scope("budget:read"), summary="Get usage")
def get_usage(request: HttpRequest) -> Any:
    """Today and this month, in your time zone."""
    user = person(request)
    month = usage.by_model(user, usage.today(user).replace(day=1))
    return {"today": usage.of_day(user), "month": usage.of_month(user), "by_model": month}


@router.get(
    "/usage/days", response=Page[UsageDay], auth=require_scope("budget:read"), summary="List usage by day and model"
)
def list_usage(request: HttpRequest, given: Query[Days]) -> Any:
    """The latest day first."""
    days = models.UsageDay.objects.for_user(person(request))
    chosen = {"day__gte": given.since, "day__lte": given.until}
    return paginate(request, days.filter(**{name: day for name, day in chosen.items() if day}), BY_DAY, given)


# Receipts --------------------------------------------------------------------------------------------------------


class SectionOf(Schema):
    """One section of a prompt."""

    section: str
    ceiling: int | None
    tokens: int
    cut_tokens: int
    items: int
    cut: int


class Item(Schema):
    """One candidate, kept or cut."""

    ref: str = Field(description="Such as fact:12")
    section: str
    label: str
    tokens: int
    score: float | None = Field(description="Its rank score within the section")
    fits: float | None = Field(
        None, description="Relevance to the question, for a profile line that is always included"
    )
    parts: dict[str, float] = Field(description="Parts of the score, or of `fits`")
    kept: bool
    rule: str = Field(description="The rule that cut it; empty: kept")


class Receipt(Schema):
    """A receipt without its items."""

    message_id: int
    conversation_id: UUID
    turn: int
    state: str = Field(description="open, done, failed, …")
    model: str
    plan: str
    plan_total: int
    estimated_input: int
    input_tokens: int = Field(description="Fresh input")
    cache_read_tokens: int
    cache_write_tokens: int
    output_tokens: int
    usage_is_estimated: bool
    cost: Decimal | None = Field(description="US dollars; null: unknown")
    cost_uncached: Decimal | None
    stop_reason: str
    created_at: datetime


class ReceiptWithItems(Receipt):
    """A receipt with every candidate by section, and why the others were left out."""

    sections: list[SectionOf]
    items: list[Item]
    unlisted: int = Field(description="Lower-scored candidates that aren't listed")
    cut_kept_days: int | None = Field(
        description="Days after which the list of cut items was removed; null: still there"
    )
    cut_rules: dict[str, int] = Field(description="Once that list is removed: rule → number of items cut")
    words_kept_days: int | None = Field(description="Days after which the labels were removed; null: still there")
    milliseconds: dict[str, float]

    @staticmethod
    def resolve_unlisted(receipt: models.Receipt) -> int:
        """From its ingredients."""
        return int(receipt.ingredients.get("unlisted", 0))

    @staticmethod
    def resolve_milliseconds(receipt: models.Receipt) -> dict[str, float]:
        """Numeric timings only."""
        return {name: value for name, value in receipt.timings.items() if isinstance(value, int | float)}


class Receipts(Paging):
    """Filter receipts."""

    conversation: UUID | None = None
    since: Moment | None = None
    until: Moment | None = None


@router.get("/receipts", response=Page[Receipt], auth=require_scope("budget:read"), summary="List receipts")
def list_receipts(request: HttpRequest, given: Query[Receipts]) -> Any:
    """The latest first."""
    chosen = {"conversation": given.conversation, "created_at__gte": given.since, "created_at__lt": given.until}
    found = _receipts(request).filter(**{name: value for name, value in chosen.items() if value})
    return paginate(request, found.defer(*live.NOT_SHOWN), LATEST, given)


@router.get(
    "/receipts/{int:message}", response=ReceiptWithItems, auth=require_scope("budget:read"), summary="Get a receipt"
)
def get_receipt(request: HttpRequest, message: int) -> Any:
    """`message`: id of the answer."""
    found = _receipts(request).filter(message=message).first()
    if found is None:
        raise Http404
    return found


def _receipts(request: HttpRequest) -> Any:
    return models.Receipt.objects.for_user(person(request)).filter(conversation__deleted_at=None)


# What memories cost ----------------------------------------------------------------------------------------------


class Spent(Schema):
    """A memory's share of the prompts of the last 30 days."""

    ref: str
    section: Section
    times: int = Field(description="Prompts that included it")
    tokens: int = Field(description="Tokens in all of them")
    last_used: datetime
    best_place: int | None = Field(description="Best rank among the memories of its prompts; null: a profile line")


@router.get("/memories", response=list[Spent], auth=require_scope("budget:read"), summary="List memory costs")
def list_spent(request: HttpRequest, limit: Annotated[int, Query(ge=1, le=200)] = 50) -> Any:
    """The most expensive first."""
    spent, _ = memory_cost.spent_since(person(request), timezone.now() - memory_cost.PERIOD)
    return sorted(spent, key=lambda one: (-one.tokens, one.ref))[:limit]
