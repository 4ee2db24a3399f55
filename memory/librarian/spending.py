"""Who books what background work cost? The app above that knows the prices; it registers itself at start."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from memory.librarian.engine import Usage


@dataclass(frozen=True, slots=True)
class SpendingStop:
    """Nothing more may be spent for a person just now."""

    until: datetime
    sentence: str
    """Which limit it is, for the person."""


class UsageLedger(Protocol):
    """Where tokens spent for a person, beside their turns, are written down."""

    def add(self, user_id: int, used: Usage) -> Decimal:
        """Count the tokens on the person's day, within the caller's transaction; their price in US dollars, 0 where it
        is not known."""
        ...

    def spending_stop(self, user_id: int) -> SpendingStop | None:
        """What stops all spending for this person; None: nothing does."""
        ...


_registered: list[UsageLedger] = []


def register(book: UsageLedger) -> None:
    """Make `book` the place costs are booked in (called once, at start)."""
    _registered[:] = [book]


def record_usage(user_id: int, usage: Usage) -> Decimal:
    """Book the tokens, within the caller's transaction; their price in US dollars.

    Raises:
        LookupError: no app has registered a book.
    """
    return _book().add(user_id, usage)


def get_spending_stop(user_id: int) -> SpendingStop | None:
    """What stops all spending for this person; None: nothing does. Raises as `book` does."""
    return _book().spending_stop(user_id)


def _book() -> UsageLedger:
    if not _registered:
        raise LookupError("No book for costs is registered with memory.")
    return _registered[0]
