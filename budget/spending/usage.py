"""Usage counters: each turn counted once, by day of the user's time zone and by model, and their sums.

Counters outlive receipts: forgetting a conversation doesn't refund its tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, Self

from django.db import connection
from django.db.models import QuerySet, Sum
from django.utils import timezone

from accounts.models import User
from budget.models import Receipt, UsageDay
from budget.spending import prices

ZERO: Final = Decimal(0)


@dataclass(frozen=True, slots=True)
class UsageTotals:
    """Turns, the provider's tokens, and US dollars."""

    turns: int = 0
    input_tokens: int = 0
    """Fresh input."""
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal = ZERO
    """Sum of the known prices."""
    cost_uncached: Decimal = ZERO
    """Cost of the same requests without caching."""
    unpriced: int = 0
    """Turns and background calls without a known price."""

    @property
    def total_input(self) -> int:
        """All input, cached or not."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def tokens(self) -> int:
        """All tokens, in and out."""
        return self.total_input + self.output_tokens

    @property
    def saved(self) -> Decimal:
        """US dollars saved by caching; negative if writing the cache cost more than reading it saved."""
        return self.cost_uncached - self.cost

    @property
    def from_cache(self) -> float:
        """Share of the input read from the cache, 0–1."""
        return self.cache_read_tokens / self.total_input if self.total_input else 0.0

    def less(self, other: UsageTotals) -> Self:
        """The difference to `other`; figures may be negative."""
        values, others = asdict(self), asdict(other)
        return type(self)(**{name: values[name] - others[name] for name in values})


COUNTED: Final = (
    "state",
    "created_at",
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
    "cost",
    "cost_uncached",
)
"""Receipt columns that usage is counted from."""
COLUMNS: Final = tuple(UsageTotals.__dataclass_fields__)
NOTHING: Final = UsageTotals()


def of_receipt(receipt: Receipt) -> UsageTotals:
    """One turn's usage. An open one counts nothing yet; one that failed before it used a token counts no turn."""
    if receipt.state == Receipt.State.OPEN:
        return NOTHING
    if receipt.state == Receipt.State.FAILED and not receipt.total_input + receipt.output_tokens:
        return NOTHING
    return UsageTotals(
        turns=1,
        input_tokens=receipt.input_tokens,
        cache_read_tokens=receipt.cache_read_tokens,
        cache_write_tokens=receipt.cache_write_tokens,
        output_tokens=receipt.output_tokens,
        cost=receipt.cost or ZERO,
        cost_uncached=receipt.cost_uncached or ZERO,
        unpriced=int(receipt.cost is None),
    )


# Counting ----------------------------------------------------------------------------------------------------------


def add_receipt(receipt: Receipt, before: UsageTotals = NOTHING) -> None:
    """Count a finalized receipt on the day its turn started. One statement, in the transaction that finalizes it.

    `before`: what the receipt already counted, if it is finalized again (its process was thought dead); only the
    difference is added.
    """
    count(receipt.user_id, receipt.model, receipt.created_at, of_receipt(receipt).less(before))


def add_background(user_id: int, model: str, input_tokens: int, output_tokens: int, *, calls: int = 1) -> Decimal:
    """Count background work for a user, such as a summary: tokens and cost, but no turn.

    Returns the cost in US dollars; 0 if unknown, and the calls count as unpriced. The average of several `calls`
    decides the price tier.
    """
    if not input_tokens + output_tokens:
        return ZERO
    now = timezone.now()
    price = prices.price_for(model, now.date(), input_tokens // max(calls, 1))
    cost = (input_tokens * price.input + output_tokens * price.output) / prices.MILLION if price else ZERO
    used = UsageTotals(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cost=cost,
        cost_uncached=cost,
        unpriced=0 if price else max(calls, 1),
    )
    count(user_id, model, now, used)
    return cost


def count(user_id: int, model: str, when: datetime, used: UsageTotals) -> None:
    """Add to the counter of that day in the user's time zone; a counter never falls below 0."""
    if used == NOTHING:
        return
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_SQL, {"user": user_id, "model": model, "when": when, **asdict(used)})


_COUNT_SQL: Final = f"""
    INSERT INTO budget_usageday (user_id, day, model, {", ".join(COLUMNS)})
    SELECT id, (%(when)s AT TIME ZONE time_zone)::date, %(model)s,
        {", ".join(f"GREATEST(0, %({name})s)" for name in COLUMNS)}
    FROM accounts_user WHERE id = %(user)s
    ON CONFLICT (user_id, day, model) DO UPDATE SET
        {", ".join(f"{name} = GREATEST(0, budget_usageday.{name} + %({name})s)" for name in COLUMNS)}
"""  # noqa: S608 (column names only)


# Sums, one indexed statement each ----------------------------------------------------------------------------------


def today(user: User) -> date:
    """Today's date in the user's time zone."""
    return timezone.localdate(timezone=user.zone)


def of_day(user: User, day: date | None = None) -> UsageTotals:
    """One day, by default today, for all models."""
    return _sum(UsageDay.objects.for_user(user).filter(day=day or today(user)))


def of_month(user: User, day: date | None = None) -> UsageTotals:
    """The calendar month of `day`, by default this one, for all models."""
    first = (day or today(user)).replace(day=1)
    return _sum(UsageDay.objects.for_user(user).filter(day__gte=first, day__lt=next_month(first)))


def by_model(user: User, since: date) -> dict[str, UsageTotals]:
    """Usage by model since that day, the most expensive first."""
    rows = UsageDay.objects.for_user(user).filter(day__gte=since).values("model").annotate(**_sums())
    found = {row["model"]: totals_in(row) for row in rows}
    return dict(sorted(found.items(), key=lambda item: (-item[1].cost, -item[1].tokens, item[0])))


def series(user: User, days: int) -> list[tuple[date, UsageTotals]]:
    """The last `days` days up to today, including days without use."""
    last = today(user)
    dates = [last - timedelta(days=ago) for ago in range(days - 1, -1, -1)]
    rows = UsageDay.objects.for_user(user).filter(day__gte=dates[0]).values("day").annotate(**_sums())
    found = {row["day"]: totals_in(row) for row in rows}
    return [(day, found.get(day, NOTHING)) for day in dates]


def next_month(day: date) -> date:
    """The first day of the month after `day`'s."""
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1)


def _sum(rows: QuerySet[UsageDay]) -> UsageTotals:
    return totals_in(rows.aggregate(**_sums()))


def _sums() -> dict[str, Sum]:
    return {f"sum_{name}": Sum(name) for name in COLUMNS}


def totals_in(row: Mapping[str, Any]) -> UsageTotals:
    """The totals of a row of sums, each named `sum_` and its column; a missing sum is 0."""
    return UsageTotals(**{name: row[f"sum_{name}"] or getattr(NOTHING, name) for name in COLUMNS})
