"""Receipts of turns: drafted when the prompt is assembled, finalized with usage and cost when the turn ends."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final, Protocol
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from budget.counting import calibration
from budget.counting.cached_prefix import reconcile_usage
from budget.counting.estimate import TextClass, classify
from budget.counting.learning import Observation
from budget.models import Price, Receipt
from budget.planning.fit import Cut, FitResult, section_totals
from budget.planning.items import list_items
from budget.planning.plan import ResolvedPlan
from budget.spending import prices, usage
from recall.db.prepared import PreparedInsert, PreparedQuery, Read
from recall.llm.tokens import count_tokens

State = Receipt.State

FINAL_COLUMNS: Final = (
    "state",
    "rounds",
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
    "usage_is_estimated",
    "cost",
    "cost_uncached",
    "stop_reason",
    "timings",
    "prefix",
    # changed by tool rounds:
    "sections",
    "items",
    "estimated_input",
)
"""Columns that are set when a turn ends."""
_EARLIER: Final = PreparedQuery(
    lambda message: Receipt.objects.select_for_update().only(*usage.COUNTED).filter(message_id=message), message=int
)
_SAVED: Final = PreparedInsert(
    Receipt, f"(message_id) DO UPDATE SET {', '.join(f'{name} = EXCLUDED.{name}' for name in FINAL_COLUMNS)}"
)
PROCESS_ENDED: Final = "process_ended"
"""Stop reason of an answer whose process ended before it."""
TO_THE_CENT_OF_A_CENT: Final = Decimal("0.000001")


class RequestUsage(prices.TokenUsage, Protocol):
    """One request's usage as reported by the provider."""

    @property
    def predicted(self) -> int:
        """Predicted input tokens; 0: no prediction."""
        ...

    @property
    def final(self) -> bool:
        """False: the request was interrupted, so the output count is incomplete."""
        ...


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """How a turn ended."""

    state: State
    rounds: Sequence[RequestUsage]
    """One per answered request; a turn with tools or retries has several."""
    text: str
    """All text shown, to estimate the output of an interrupted request."""
    stop_reason: str = ""
    timings: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds by name, added to those of the draft."""


@dataclass(frozen=True, slots=True)
class Round:
    """One request as the receipt stores it, in tokens."""

    input: int
    cache_read: int
    cache_write_5m: int
    cache_write_1h: int
    output: int
    estimated: bool
    """Partly Recall's own estimate."""
    demo: bool
    """Answered by the offline demo model: free."""
    predicted: int
    """Predicted input tokens."""


def draft_receipt(
    *,
    user_id: int,
    conversation_id: UUID,
    message_id: int,
    turn: int,
    model: str,
    plan: ResolvedPlan,
    fitted: FitResult,
    base_by_class: Mapping[TextClass, int],
    request_digest: str,
    prefix: Mapping[str, Any] | None = None,
    snapshot_id: int | None = None,
    not_taken: Iterable[Cut] = (),
    timings: Mapping[str, float] | None = None,
) -> Receipt:
    """The unsaved receipt of a turn that is about to be answered.

    `not_taken`: what retrieval left out, each with retrieval's own rule.
    """
    cut = [*fitted.cut, *not_taken]
    return Receipt(
        user_id=user_id,
        conversation_id=conversation_id,
        message_id=message_id,
        turn=turn,
        model=model,
        plan=plan.name,
        plan_total=plan.total,
        sections=[asdict(total) for total in section_totals(fitted.kept, cut, plan)],
        items=list_items(fitted.kept, cut),
        estimated_input=fitted.tokens,
        base_by_class=dict(base_by_class),
        request_digest=request_digest,
        prefix=dict(prefix or {}),
        snapshot_id=snapshot_id,
        timings=dict(timings or {}),
    )


def finalize_receipt(receipt: Receipt, ending: TurnOutcome) -> None:
    """Close the receipt, save it (even if the draft wasn't), count its usage, and learn from its figures.

    The last step of the transaction that saves the answer: `calibration.observe` says why. Four statements. If it runs
    twice, because its process was thought dead, the last figures apply and usage is counted once.
    """
    _close_at_todays_prices(receipt, ending)
    figures, missed = learned_from(receipt, ending.rounds[0]) if ending.rounds else ([], None)
    with transaction.atomic(savepoint=False):
        _save_and_count(receipt)
        if ending.rounds:
            calibration.observe(receipt.model, figures, missed)


def record_usage_only(receipt: Receipt, ending: TurnOutcome) -> None:
    """Close an unsaved receipt of a temporary chat: only its usage is counted."""
    _close_at_todays_prices(receipt, ending)
    receipt.created_at = receipt.created_at or timezone.now()
    usage.add_receipt(receipt)


def _close_at_todays_prices(receipt: Receipt, ending: TurnOutcome) -> None:
    today = datetime.now(UTC).date()
    close(
        receipt,
        ending,
        price_of=lambda figures: prices.price_for(receipt.model, today, prices.total_input(figures)),
        tokens_of=lambda text: calibration.estimate_for(receipt.model, {classify(text): count_tokens(text)}),
        is_demo=settings.IS_OFFLINE,
    )


def earlier_read(message_id: int) -> Read:
    """What `finalize_receipt` reads."""
    return _EARLIER.read(message=message_id)


def _save_and_count(receipt: Receipt) -> None:
    earlier = _EARLIER.first(message=receipt.message_id)
    _SAVED([receipt])
    if earlier is not None:
        receipt.created_at = earlier.created_at  # a turn belongs to the day it started on
    usage.add_receipt(receipt, before=usage.of_receipt(earlier) if earlier is not None else usage.NOTHING)


def learned_from(receipt: Receipt, first: RequestUsage) -> tuple[list[Observation], float | None]:
    """Observations from the first request and its prediction error; updates the receipt's prefix."""
    total = prices.total_input(first)
    missed = abs(first.predicted - total) / total if first.predicted and total else None
    if not receipt.prefix.get("new") and not receipt.prefix.get("known"):
        return [Observation(receipt.base_by_class, total)], missed
    cached = first.cache_read + first.cache_write_5m + first.cache_write_1h
    figures, receipt.prefix = reconcile_usage(receipt.prefix, calibration.belief(receipt.model), cached, total)
    return figures, missed


def close_abandoned(message_id: int) -> None:
    """Finalize the receipt of an answer whose process died: it cost its input and the saved part of its text.

    It may have been closed so before: a process that was taken for dead writes more of the answer when it is asked to.
    """
    unfinished = Q(state=State.OPEN) | Q(state=State.STOPPED, stop_reason=PROCESS_ENDED)
    with transaction.atomic(savepoint=False):
        receipts = Receipt.objects.select_for_update(of=("self",)).select_related("message")
        receipt = receipts.filter(unfinished, message_id=message_id).first()
        if receipt is not None:
            finalize_receipt(receipt, TurnOutcome(State.STOPPED, (), receipt.message.text, stop_reason=PROCESS_ENDED))


def close(
    receipt: Receipt,
    ending: TurnOutcome,
    *,
    price_of: Callable[[prices.TokenUsage], Price | None],
    tokens_of: Callable[[str], int],
    is_demo: bool,
) -> None:
    """Set the final columns; nothing is saved."""
    rounds = _rounds(receipt, ending, tokens_of, is_demo=is_demo)
    receipt.state = ending.state
    receipt.stop_reason = ending.stop_reason
    receipt.timings = {**receipt.timings, **{name: round(value, 1) for name, value in ending.timings.items()}}
    receipt.rounds = [asdict(model_round) for model_round in rounds]
    receipt.input_tokens = sum(model_round.input for model_round in rounds)
    receipt.cache_read_tokens = sum(model_round.cache_read for model_round in rounds)
    receipt.cache_write_tokens = sum(model_round.cache_write_5m + model_round.cache_write_1h for model_round in rounds)
    receipt.output_tokens = sum(model_round.output for model_round in rounds)
    receipt.usage_is_estimated = any(model_round.estimated for model_round in rounds)
    receipt.cost, receipt.cost_uncached = _costs([(model_round, price_of(model_round)) for model_round in rounds])


def _rounds(receipt: Receipt, ending: TurnOutcome, tokens_of: Callable[[str], int], *, is_demo: bool) -> list[Round]:
    """The requests; the last one's output is estimated if it was interrupted.

    A turn stopped before the provider reported anything was still sent: its input is estimated. A failed one was
    refused and cost nothing.
    """
    if not ending.rounds and ending.state is not State.STOPPED:
        return []
    unfinished = not ending.rounds or not ending.rounds[-1].final
    shown = tokens_of(ending.text) if unfinished and ending.text else 0
    if not ending.rounds:
        sent = receipt.estimated_input
        return [Round(sent, 0, 0, 0, shown, estimated=True, demo=is_demo, predicted=sent)]
    before = sum(model_round.output for model_round in ending.rounds[:-1])
    rounds = [_round(model_round, model_round.output, is_demo=is_demo) for model_round in ending.rounds[:-1]]
    last = ending.rounds[-1]
    return [*rounds, _round(last, last.output if last.final else max(last.output, shown - before), is_demo=is_demo)]


def _round(figures: RequestUsage, output: int, *, is_demo: bool) -> Round:
    return Round(
        figures.input,
        figures.cache_read,
        figures.cache_write_5m,
        figures.cache_write_1h,
        output,
        estimated=not figures.final,
        demo=is_demo,
        predicted=figures.predicted,
    )


def _costs(priced: Iterable[tuple[Round, Price | None]]) -> tuple[Decimal | None, Decimal | None]:
    """US dollars with and without caching; None if a request has no price."""
    total, uncached = Decimal(0), Decimal(0)
    for one, price in priced:
        if price is None:
            return None, None
        total += prices.cost(one, price)
        uncached += prices.cost_uncached(one, price)
    return total.quantize(TO_THE_CENT_OF_A_CENT), uncached.quantize(TO_THE_CENT_OF_A_CENT)
