"""The figures of the usage pages: totals and limits; the latest turn by section, and usage by turn and conversation."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Q, Sum

from accounts.models import User
from budget.counting.accuracy import counted_input, predicted_input
from budget.models import Receipt
from budget.pages.context_panel import BAR_WIDTH, AnswerRoom, Bar, answer_room, bars, off_by
from budget.spending import limits, usage
from budget.spending.limits import LimitStatus
from budget.spending.usage import UsageTotals
from recall.figures import caching_effect, money, percent
from recall.llm.client import get_capabilities

NOT_SHOWN: Final = ("items", "ingredients", "prefix", "base_by_class")
"""Large receipt columns that aren't needed here."""
SHOWN_FROM: Final = 0.7
"""Share of the budget from which the line beside the composer is shown: below it there is nothing to act on."""
COUNTED: Final = tuple(name for name in usage.COLUMNS if name not in ("turns", "unpriced"))
"""Receipt columns that are summed."""


@dataclass(frozen=True, slots=True)
class Line:
    """Usage of a turn, conversation, day, month or model."""

    name: str
    used: UsageTotals

    @property
    def cost(self) -> str:
        return money(self.used.cost)

    @property
    def caching_effect(self) -> str:
        return caching_effect(self.used.saved)

    @property
    def from_cache(self) -> str:
        return percent(self.used.from_cache)


@dataclass(frozen=True, slots=True)
class Turn:
    """The latest turn: predicted while it runs, actual when it has ended."""

    receipt: Receipt
    bars: list[Bar]
    answer: AnswerRoom
    off_by: str
    is_demo: bool
    line: Line

    @property
    def is_running(self) -> bool:
        return self.receipt.state == Receipt.State.OPEN

    @property
    def predicted(self) -> int:
        """Predicted input of the first request; tool rounds can't be predicted."""
        return predicted_input(self.receipt.rounds, self.receipt.estimated_input)

    @property
    def actual(self) -> int | None:
        """The provider's count of the first request; None: not yet."""
        return counted_input(self.receipt.rounds)

    @property
    def share(self) -> str:
        """Share of the plan, without the answer's room."""
        return percent(self.receipt.estimated_input / max(1, self.room))

    @property
    def room(self) -> int:
        """Tokens the plan allows for the prompt."""
        return self.receipt.plan_total - self.answer.tokens

    @property
    def input_parts(self) -> list[tuple[str, str, int, int, int]]:
        """Name, look, tokens, x and width of cache reads, cache writes and fresh input."""
        parts = [
            ("Cache read", "read", self.receipt.cache_read_tokens),
            ("Cache write", "write", self.receipt.cache_write_tokens),
            ("Fresh", "fresh", self.receipt.input_tokens),
        ]
        total, x, placed = max(1, self.receipt.total_input), 0, []
        for name, look, tokens in parts:
            width = round(BAR_WIDTH * tokens / total)
            placed.append((name, look, tokens, x, width))
            x += width
        return placed

    @property
    def sentence(self) -> str:
        """Announced to screen readers when it changes."""
        if self.is_running:
            return f"Turn {self.receipt.turn} in progress: about {self.receipt.estimated_input:,} tokens."
        cost = f", {self.line.cost}" if self.receipt.cost is not None else ""
        return f"Turn {self.receipt.turn} complete: {self.receipt.total_input:,} input tokens{cost}."


@dataclass(frozen=True, slots=True)
class Totals:
    """Today, this month, and how much of each limit is used."""

    periods: list[Line]
    standings: list[tuple[LimitStatus, int]]
    """Each limit, and the filled width of its bar."""

    @property
    def unpriced(self) -> int:
        """This month's turns and background calls without a known price."""
        return self.periods[-1].used.unpriced


@dataclass(frozen=True, slots=True)
class LiveStatus:
    """The part of the advanced page that updates with each turn."""

    turn: Turn | None
    lines: list[Line]
    by_model: list[Line]
    is_demo: bool
    """Nothing is charged: costs are those of the configured model."""

    @property
    def unpriced(self) -> int:
        """This month's turns and background calls without a known price."""
        return self.lines[-1].used.unpriced


def build_totals(user: User) -> Totals:
    """The totals of the usage page. At most four indexed statements."""
    standings = [(status, min(BAR_WIDTH, round(BAR_WIDTH * status.share))) for status in limits.limit_statuses(user)]
    return Totals(_build_periods(user), standings)


def _build_periods(user: User) -> list[Line]:
    return [Line("Today", usage.of_day(user)), Line("This month", usage.of_month(user))]


def build_live_status(user: User, receipt: Receipt | None = None) -> LiveStatus:
    """The current status. At most seven indexed statements. `receipt`: the latest, if known."""
    receipt = receipt or latest(user)
    turn = build_turn(receipt) if receipt is not None else None
    turn_lines = [turn.line, Line("Conversation", _of_conversation(user, turn.receipt))] if turn is not None else []
    month = usage.by_model(user, usage.today(user).replace(day=1))
    return LiveStatus(
        turn,
        [*turn_lines, *_build_periods(user)],
        [Line(model, used) for model, used in month.items()],
        settings.IS_OFFLINE,
    )


def latest(user: User) -> Receipt | None:
    """The receipt of the most recent turn, without its items."""
    receipts = Receipt.objects.for_user(user).filter(conversation__deleted_at=None)
    return receipts.select_related("conversation").defer(*NOT_SHOWN).order_by("-created_at").first()


def context_window(latest: Receipt | None) -> int:
    """Context window of the latest turn's model, or of the default model, in tokens."""
    return get_capabilities(latest.model if latest is not None else settings.ENVIRONMENT.chat_model).context_window


def load_filling_turn(conversation: UUID) -> Turn | None:
    """The latest turn of a conversation, if it fills much of the budget."""
    latest = Receipt.objects.filter(conversation=conversation).defer(*NOT_SHOWN).order_by("-created_at").first()
    is_filling = latest is not None and latest.estimated_input >= SHOWN_FROM * latest.plan_total
    return build_turn(latest) if latest is not None and is_filling else None


def build_turn(receipt: Receipt) -> Turn:
    """One turn as the advanced usage page and the line beside the composer show it."""
    return Turn(
        receipt,
        bars=[bar for bar in bars(receipt.sections, receipt.plan_total) if bar.tokens or bar.ceiling],
        answer=answer_room(receipt.sections, receipt.plan_total),
        off_by=off_by(receipt),
        is_demo=any(model_round["demo"] for model_round in receipt.rounds),
        line=Line("Latest turn", usage.of_receipt(receipt)),
    )


def _of_conversation(user: User, receipt: Receipt) -> UsageTotals:
    """All ended turns of the conversation on every branch: all were paid for."""
    receipts = Receipt.objects.for_user(user).filter(conversation_id=receipt.conversation_id)
    ended = receipts.exclude(state=Receipt.State.OPEN)
    sums = {f"sum_{name}": Sum(name) for name in COUNTED}
    unpriced = Count("pk", filter=Q(cost=None))
    return usage.totals_in(ended.aggregate(sum_turns=Count("pk"), sum_unpriced=unpriced, **sums))
