"""From when until when is a fact true in the world? Days as a person types them, moments as they are kept.

    true from     the first moment of that day where the person is
    true until    the last moment of that day: on it, the fact is true still
    left empty    not known, or without an end

What has ended is expired from the moment it is said, and stands in no prompt; what ends later is expired by the nightly
consolidation, and left out from the day on (`memory/models/facts.py: valid_at`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Final
from zoneinfo import ZoneInfo

from memory.models import Fact

OVER: Final = "its time has passed"
"""Why a fact expired, as people read it."""
BACKWARDS: Final = "“True until” lies before “True from”: what ends must have begun."


@dataclass(frozen=True, slots=True)
class Validity:
    """When a fact is true; None: not known, or without an end."""

    since: datetime | None
    until: datetime | None

    @property
    def is_backwards(self) -> bool:
        """Whether it ends before it begins."""
        return self.since is not None and self.until is not None and self.until <= self.since

    def is_over(self, now: datetime) -> bool:
        """Whether it has ended."""
        return self.until is not None and self.until <= now


def validity_of(fact: Fact) -> Validity:
    """As it is kept."""
    return Validity(fact.valid_from, fact.valid_until)


def of_days(since: date | None, until: date | None, kept: Validity, zone: ZoneInfo) -> Validity:
    """What a person in `zone` means by these days; a day that stays as it is kept keeps its moment."""
    return Validity(_moment(since, time.min, kept.since, zone), _moment(until, time.max, kept.until, zone))


def day_of(moment: datetime | None, zone: ZoneInfo) -> date | None:
    """The day a moment is on where the person is."""
    return moment.astimezone(zone).date() if moment else None


def _moment(day: date | None, at: time, kept: datetime | None, zone: ZoneInfo) -> datetime | None:
    if day is None:
        return None
    return kept if day_of(kept, zone) == day else datetime.combine(day, at, zone)
