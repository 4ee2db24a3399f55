"""When is enough enough? What a person may use in a day or a month: warned from 80 %, stopped at 100 %.

A limit is set by the person or by staff; the smaller one counts. Use is counted in the database, by the days of the
person's own time zone. Answers that are being written count too: each as one turn, with the tokens and the money of a
mean turn, since nobody knows yet what it will take. A turn that was let through may pass a limit of tokens or money by
what it takes beyond that mean; the next one is stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Final, Literal

from django.db import connection

from accounts.models import User
from budget.models import Limit
from budget.spending.usage import next_month, today
from recall.db.prepared import PreparedQuery

What = Limit.What
Per = Limit.Per
State = Literal["ok", "warn", "stop"]

WARN_FROM: Final = Decimal("0.8")
"""Share of a limit from which the page warns: time to choose what the rest is for."""
FIRST_TURN: Final[Mapping[What, Decimal]] = {What.TOKENS: Decimal(4_000), What.MONEY: Decimal("0.01")}
"""What a turn that is being answered is reckoned at, while this month has no turn to take the mean of."""
LARGEST: Final = Decimal(1_000_000_000)
"""No limit is larger: the column has ten digits before the point ..."""
DECIMALS: Final = 4
"""... and so many behind it. Rounded to less, a limit of a hair would be one of 0, which stops everything."""

_OF_PERSON: Final = PreparedQuery(
    lambda user: Limit.objects.filter(user=user).select_for_update().order_by("pk"), user=int
)


class NotAllowed(ValueError):
    """A limit that cannot be set; the sentence says why."""


@dataclass(frozen=True, slots=True)
class LimitStatus:
    """Where a person stands with one limit."""

    what: What
    per: Per
    used: Decimal
    """Turns, tokens or US dollars, answers that are being written included."""
    amount: Decimal
    """The limit."""
    by_staff: bool
    """The person cannot raise it."""
    free_on: date
    """First day of the next period, from 00:00 in the person's time zone."""

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
        """What is used, when it is free again, and who can change it."""
        period = "today" if self.per == Per.DAY else "this month"
        again = "at midnight" if self.per == Per.DAY else f"on {self.free_on:%B} {self.free_on.day}"
        who = "Only an administrator can raise this limit." if self.by_staff else "Change it on the Budget page."
        used, amount = format_amount(self.what, self.used), format_amount(self.what, self.amount, unit=True)
        return f"You've used {used} of {amount} {period}. The limit resets {again}. {who}"


def check_limits(user: User, unwritten: Callable[[], int] = int) -> str | None:
    """Why this person may not begin another turn, or None. To be asked inside the transaction that opens the turn.

    `unwritten`: counts the answers being written that no row tells of, those of temporary chats; asked once the limits
    are locked, so that the next who opens sees either the count or the row of the one before.

    Sixteen sends at once cannot pass a limit of four: the first statement locks the person's limits until that
    transaction ends, so openings come one after the other; the second, with a snapshot of its own, counts what was
    used and every answer that is being written, the one before it among them. An answer leaves the list of those
    being written in the same transaction that counts it as used. One statement for a person without limits.
    """
    limits = _OF_PERSON(user=user.pk)
    stops = [one for one in _standings(user, limits, unwritten()) if one.state == "stop"]
    return max(stops, key=lambda one: one.free_on).sentence if stops else None  # the one that stops for longest


def stops_spending(user: User) -> LimitStatus | None:
    """The limit of tokens or money that stops work in the background, of several the one that does so for longest.

    A limit of turns does not: what was said within it may be read.
    """
    stops = [one for one in limit_statuses(user) if one.what != What.TURNS and one.state == "stop"]
    return max(stops, key=lambda one: one.free_on, default=None)


def limit_statuses(user: User) -> list[LimitStatus]:
    """Every limit that holds for this person, the fullest first. Two statements at most."""
    found = _standings(user, Limit.objects.for_user(user))
    return sorted(found, key=lambda one: -one.share)


def set_limit(user: User, what: What, per: Per, amount: Decimal | None, *, by_staff: bool = False) -> None:
    """Set a limit, or take it away (None). A person's own can only be lower than the one staff set.

    Raises:
        NotAllowed: one sentence; nothing was changed.
    """
    mine = Limit.objects.for_user(user).filter(what=what, per=per)
    if amount is None:
        mine.filter(set_by_staff=by_staff).delete()
        return
    allowed(what, amount)
    bound = None if by_staff else mine.filter(set_by_staff=True).first()
    if bound is not None and amount > bound.amount:
        raise NotAllowed(f"The administrator's limit is {format_amount(what, bound.amount, unit=True)} per {per}.")
    Limit.objects.update_or_create(user=user, what=what, per=per, set_by_staff=by_staff, defaults={"amount": amount})


def format_amount(what: What, amount: Decimal, *, unit: bool = False) -> str:
    """An amount as people read it: “1,200”, “1,200 tokens”, “$2.50”."""
    if what == What.MONEY:
        return f"${amount:,.2f}"
    return f"{int(amount):,} {what}" if unit else f"{int(amount):,}"


def allowed(what: What, amount: Decimal) -> None:
    """Check an amount by itself.

    Raises:
        NotAllowed: it is none that a limit can have.
    """
    if not amount.is_finite() or not 0 <= amount < LARGEST:
        raise NotAllowed(f"Enter a number from 0 to {LARGEST - 1:,}.")
    if what != What.MONEY and amount != int(amount):
        raise NotAllowed(f"Enter a whole number of {what}.")
    if amount != round(amount, DECIMALS):
        raise NotAllowed(f"Use at most {DECIMALS} decimal places.")


# Counting ----------------------------------------------------------------------------------------------------------


def _standings(user: User, limits: Iterable[Limit], unwritten: int = 0) -> list[LimitStatus]:
    """The smaller of what staff and the person set, with what is used of it."""
    smallest = {(one.what, one.per): one for one in sorted(limits, key=lambda one: (-one.amount, one.set_by_staff))}
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
    """What counts against each kind of limit: what is booked, and what is being written. One statement."""
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


_TOKENS: Final = "input_tokens + cache_read_tokens + cache_write_tokens + output_tokens"
_USED_SQL: Final = f"""
    SELECT booked.*, running.* FROM (
        SELECT
            coalesce(sum(turns) FILTER (WHERE day = %(day)s), 0),
            coalesce(sum({_TOKENS}) FILTER (WHERE day = %(day)s), 0),
            coalesce(sum(cost) FILTER (WHERE day = %(day)s), 0),
            coalesce(sum(turns), 0),
            coalesce(sum({_TOKENS}), 0),
            coalesce(sum(cost), 0)
        FROM budget_usageday WHERE user_id = %(user)s AND day >= %(month)s
    ) booked, (
        SELECT
            count(*) FILTER (WHERE created_at >= %(day_began)s),
            count(*) FILTER (WHERE created_at >= %(month_began)s)
        FROM chat_message WHERE user_id = %(user)s AND status = 'streaming'
    ) running
"""  # noqa: S608 (nothing of a person's stands in it); `message_being_written` is the index of the second part
