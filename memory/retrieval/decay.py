"""Decay of memories (formula of seed 004), and which of them are archived.

Decay is computed on demand from two columns and the clock, and never stored: a stored value would be a day old when it
is used, and writing it would touch every row every night.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from recall.environment import setting

HALF_LIFE: Final = timedelta(days=setting("decay_half_life_days", 30.0))
"""What lies unused so long is worth half (seed 004)."""
USE_ADDS: Final = setting("decay_use_adds", 0.1)
"""For each prompt it was in (seed 004). Being a candidate does not count."""
USES_ADD_AT_MOST: Final = setting("decay_uses_add_at_most", 0.5)
"""So that what was used often, and then never again, still fades to a half (seed 004)."""

_NOW: Final = timedelta()

ARCHIVED_FROM_AGE: Final = timedelta(days=setting("archive_from_days", 30))
"""Nothing younger is archived, whatever its worth (DESIGN §6)."""
ARCHIVED_BELOW: Final = setting("archive_below", 0.3)
"""Importance × decay from which on a memory stays (DESIGN §6). With the usual importance of .5 and no use it takes
22 days to fall below, and so the age decides; with .8 it takes 43."""


def decay(unused: timedelta, uses: int) -> float:
    """0–1: 1 is fresh. `unused`: since the last use, or since it was recorded; a moment to come counts as now."""
    faded: float = 0.5 ** (max(unused, _NOW) / HALF_LIFE)
    return min(1.0, faded + min(USE_ADDS * uses, USES_ADD_AT_MOST)) if uses else faded


def is_faded(importance: float, recorded_at: datetime, last_used_at: datetime | None, uses: int, now: datetime) -> bool:
    """Whether a memory that no user confirmed should be archived."""
    if recorded_at > now - ARCHIVED_FROM_AGE:
        return False
    return importance * decay(now - (last_used_at or recorded_at), uses) < ARCHIVED_BELOW
