"""Spending limits per day and month: a warning from 80%, no new turns at 100%.

Users and staff set limits; the lower one counts. Usage is counted in the database by days of the user's time zone.
Answers in progress count too, each as one turn with the tokens and cost of an average turn. A turn that was allowed may
exceed a token or money limit by what it uses beyond that average; the next one is stopped.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Final, Literal

from django.db import connection

from accounts.models import User
from budget.models import Limit
from budget.spending.usage import next_month, today
from recall.db.prepared import PreparedQuery, Read
from recall.db.sql_files import load_sql
from recall.figures import money

What = Limit.What
Per = Limit.Per
State = Literal["ok", "warn", "stop"]

WARN_FROM: Final = Decimal("0.8")
"""Share of a limit from which the page warns."""
FIRST_TURN: Final[Mapping[What, Decimal]] = {What.TOKENS: Decimal(4_000), What.MONEY: Decimal("0.01")}
"""Assumed use of a running turn while the month has no turns to average."""
MAX_AMOUNT: Final = Decimal(1_000_000_000)
"""Limits are below this: the column has ten digits before the point …"""
DECIMALS: Final = 4
"""… and this many after it. Rounded further, a tiny limit would become 0, which stops everything."""

_OF_PERSON: Final = PreparedQuery(
    lambda user: Limit.objects.filter(user=user).select_for_update().order_by("pk"), user=int
)


class InvalidLimitError(ValueError):
    """A limit that can't be set, with a sentence that says why."""


@dataclass(frozen=True, slots=True)
class LimitStatus:
    """A user's use of one limit."""

    what: What
    per: Per
    used: Decimal
    """Turns, tokens or US dollars, including answers in progress."""
    amount: Decimal
    """The limit."""
    by_staff: bool
    """The user can't raise it."""
    free_on: date
    """First day of the next period, from 00:00 in the user's time zone."""

    @property
    def share(self) -> float:
        """Used ÷ amount; a limit of 0 is always used up."""
        return float(self.used / self.amount) if self.amount else 1.0

    @property
    def state(self) -> State:
        if self.used >= self.amount:
            return "stop"
        return "warn" if self.used >= self.amount * WARN_FROM else "ok"

    @property
    def sentence(self) -> str:
        """What is used, when it resets, and who can change it."""
        period = "today" if self.per == Per.DAY else "this month"
        again = "at midnight" if self.per == Per.DAY else f"on {self.free_on.day} {self.free_on:%B}"
        who = "Only an administrator can raise this limit." if self.by_staff else "Change it under Usage."
        used, amount = format_amount(self.what, self.used), format_amount(self.what, self.amount, unit=True)
        return f"You've used {used} of {amount} {period}. The limit resets {again}. {who}"


def check_limits(user: User, unwritten: Callable[[], int] = int) -> str | None:
    """Why this user may not start another turn, or None. Call it inside the transaction that starts the turn.

    `unwritten`: counts running answers without a row (temporary chats). It is called once the limits are locked, so
    that a concurrent start sees either the count or the row of the one before.

    Sixteen concurrent sends can't exceed a limit of four: the first statement locks the user's limits until the
    transaction ends, so starts are serialized; the second, with a new snapshot, counts usage and every running answer.
    An answer stops counting as running in the transaction that counts its usage. One statement without limits.
    """
    limits = _OF_PERSON(user=user.pk)
    stops = [status for status in _statuses(user, limits, unwritten()) if status.state == "stop"]
    return max(stops, key=lambda status: status.free_on).sentence if stops else None  # the one that stops the longest


def limits_read(user: User) -> Read:
    """What `check_limits` reads first."""
    return _OF_PERSON.read(user=user.pk)


def stops_spending(user: User) -> LimitStatus | None:
    """The token or money limit that stops background work; of several, the one that stops it longest.

    Turn limits don't: messages sent within them may be read.
    """
    stops = [status for status in limit_statuses(user) if status.what != What.TURNS and status.state == "stop"]
    return max(stops, key=lambda status: status.free_on, default=None)


def limit_statuses(user: User) -> list[LimitStatus]:
    """Every limit of this user, the fullest first. Two statements at most."""
    return sorted(_statuses(user, Limit.objects.for_user(user)), key=lambda status: -status.share)


def set_limit(user: User, what: What, per: Per, amount: Decimal | None, *, by_staff: bool = False) -> None:
    """Set a limit, or remove it (None). A user's own limit can't exceed the one set by staff.

    Raises:
        InvalidLimitError: one sentence; nothing was changed.
    """
    same_limits = Limit.objects.for_user(user).filter(what=what, per=per)
    if amount is None:
        same_limits.filter(set_by_staff=by_staff).delete()
        return
    validate_amount(what, amount)
    bound = None if by_staff else same_limits.filter(set_by_staff=True).first()
    if bound is not None and amount > bound.amount:
        raise InvalidLimitError(
            f"The administrator's limit is {format_amount(what, bound.amount, unit=True)} per {per}."
        )
    Limit.objects.update_or_create(user=user, what=what, per=per, set_by_staff=by_staff, defaults={"amount": amount})


def format_amount(what: What, amount: Decimal, *, unit: bool = False) -> str:
    """An amount in words: “1,200”, “1,200 tokens”, “$2.50”."""
    if what == What.MONEY:
        return money(amount)
    return f"{int(amount):,} {what}" if unit else f"{int(amount):,}"


def validate_amount(what: What, amount: Decimal) -> None:
    """Check an amount.

    Raises:
        InvalidLimitError: a limit can't have this amount.
    """
    if not amount.is_finite() or not 0 <= amount < MAX_AMOUNT:
        raise InvalidLimitError(f"Enter a number from 0 to {MAX_AMOUNT - 1:,}.")
    if what != What.MONEY and amount != int(amount):
        raise InvalidLimitError(f"Enter a whole number of {what}.")
    if amount != round(amount, DECIMALS):
        raise InvalidLimitError(f"Use at most {DECIMALS} decimal places.")


# Counting ----------------------------------------------------------------------------------------------------------


def _statuses(user: User, limits: Iterable[Limit], unwritten: int = 0) -> list[LimitStatus]:
    """The lower of the user's and staff's limit of each kind, with its use."""
    by_size = sorted(limits, key=lambda limit: (-limit.amount, limit.set_by_staff))
    smallest = {(limit.what, limit.per): limit for limit in by_size}
    if not smallest:
        return []
    day = today(user)
    used = _used(user, day, unwritten)
    return [
        LimitStatus(
            what=What(what),
            per=Per(per),
            used=used[What(what), Per(per)],
            amount=limit.amount,
            by_staff=limit.set_by_staff,
            free_on=day + timedelta(days=1) if per == Per.DAY else next_month(day),
        )
        for (what, per), limit in sorted(smallest.items())
    ]


def _used(user: User, day: date, unwritten: int) -> dict[tuple[What, Per], Decimal]:
    """Use per kind of limit: recorded usage and answers in progress. One statement."""
    month = day.replace(day=1)
    starts = {
        "day": day,
        "month": month,
        "day_began": datetime.combine(day, time.min, user.zone),
        "month_began": datetime.combine(month, time.min, user.zone),
    }
    with connection.cursor() as cursor:
        cursor.execute(_USED_SQL, {"user": user.pk, **starts})
        counts = [Decimal(value) for value in cursor.fetchone() or ()]
    booked = {Per.DAY: dict(zip(What, counts[0:3], strict=True)), Per.MONTH: dict(zip(What, counts[3:6], strict=True))}
    running = {Per.DAY: counts[6] + unwritten, Per.MONTH: counts[7] + unwritten}
    mean = _mean_turn(booked[Per.MONTH])
    return {(what, per): booked[per][what] + running[per] * mean[what] for what in What for per in Per}


def _mean_turn(month: Mapping[What, Decimal]) -> dict[What, Decimal]:
    turns = month[What.TURNS]
    if not turns:
        return {What.TURNS: Decimal(1), **FIRST_TURN}
    return {what: month[what] / turns for what in What}


_USED_SQL: Final = load_sql(Path(__file__).with_suffix(".sql"))
