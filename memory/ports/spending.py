"""The port to the app above that knows prices: records background usage, and says when spending must stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import Final, Protocol


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one background job; the rule engine uses none."""

    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0
    """Requests, including repairs."""
    model: str = ""
    """For its price."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.calls + other.calls,
            self.model or other.model,
        )


NOTHING_USED: Final = Usage()


@dataclass(frozen=True, slots=True)
class SpendingStop:
    """Nothing more may be spent for a user until a given time."""

    until: datetime
    sentence: str
    """The limit, in a sentence for the user."""


class UsageLedger(Protocol):
    """Records tokens used for a user outside their turns."""

    def add(self, user_id: int, used: Usage) -> Decimal:
        """Add the tokens to the user's day, within the caller's transaction; return their price in US dollars, or 0."""
        ...

    def spending_stop(self, user_id: int) -> SpendingStop | None:
        """What stops all spending for this user, or None."""
        ...


_registered: list[Callable[[], UsageLedger]] = []


def register(load: Callable[[], UsageLedger]) -> None:
    """Register what loads the ledger that records usage, at its first use; called once, at startup."""
    _registered[:] = [cache(load)]


def record_usage(user_id: int, usage: Usage) -> Decimal:
    """Record the tokens, within the caller's transaction; return their price in US dollars.

    Raises:
        LookupError: no app has registered a ledger.
    """
    return _ledger().add(user_id, usage)


def get_spending_stop(user_id: int) -> SpendingStop | None:
    """What stops all spending for this user, or None. Raises like `record_usage`."""
    return _ledger().spending_stop(user_id)


def _ledger() -> UsageLedger:
    if not _registered:
        raise LookupError("No usage ledger is registered with memory.")
    return _registered[0]()
