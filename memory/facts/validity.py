"""Validity: when a fact is true in the world. Users enter days, rows store moments.

    true from     the first moment of that day in the user's time zone
    true until    the last moment of that day, inclusive
    empty         unknown, or without an end

A fact that has ended is expired immediately and is in no prompt; one that ends later is left out from that day on and
expired by the nightly consolidation (`memory/models/facts.py: valid_at`).
"""

from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Final
from zoneinfo import ZoneInfo

from memory.models import Fact

OVER: Final = "its time has passed"
"""Reason of an expired fact, as the user reads it."""
BACKWARDS: Final = "“True until” is before “True from”."


@dataclass(frozen=True, slots=True)
class Validity:
    """When a fact is true; None: unknown, or without an end."""

    since: datetime | None
    until: datetime | None

    @property
    def is_backwards(self) -> bool:
        """Whether it ends before it starts."""
        return self.since is not None and self.until is not None and self.until <= self.since

    def is_over(self, now: datetime) -> bool:
        """Whether it has ended."""
        return self.until is not None and self.until <= now


def validity_of(fact: Fact) -> Validity:
    """The stored validity of a fact."""
    return Validity(fact.valid_from, fact.valid_until)


def of_days(since: date | None, until: date | None, kept: Validity, zone: ZoneInfo) -> Validity:
    """The moments of these days in `zone`; an unchanged day keeps its stored moment."""
    return Validity(_moment(since, time.min, kept.since, zone), _moment(until, time.max, kept.until, zone))


def day_of(moment: datetime | None, zone: ZoneInfo) -> date | None:
    """The day of a moment in the user's time zone."""
    return moment.astimezone(zone).date() if moment else None


def _moment(day: date | None, at: time, kept: datetime | None, zone: ZoneInfo) -> datetime | None:
    if day is None:
        return None
    return kept if day_of(kept, zone) == day else datetime.combine(day, at, zone)
