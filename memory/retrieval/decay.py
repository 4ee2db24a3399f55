"""Decay of unused memories, by the formula of seed 004, and the threshold at which one is archived.

Decay is computed when needed, not stored: it depends on two columns and the clock. A stored figure would be out of
date, and updating it would touch every row of every user every night.
"""

from datetime import timedelta
from typing import Final

from recall.environment import setting

HALF_LIFE: Final = timedelta(days=setting("decay_half_life_days", 30.0))
"""Decay halves after this time without use (seed 004)."""
USE_ADDS: Final = setting("decay_use_adds", 0.1)
"""Added per prompt it was used in (seed 004). Being a candidate doesn't count."""
USES_ADD_AT_MOST: Final = setting("decay_uses_add_at_most", 0.5)
"""So that a memory used often, then never again, still fades to a half (seed 004)."""

_NOW: Final = timedelta()

ARCHIVED_FROM_AGE: Final = timedelta(days=setting("archive_from_days", 30))
"""No younger memory is archived (DESIGN §6)."""
ARCHIVED_BELOW: Final = setting("archive_below", 0.3)
"""A memory is archived if importance × decay is below this (DESIGN §6). At the usual importance of .5 and without use,
that takes 22 days, so the age decides; at .8 it takes 43."""


def decay(unused: timedelta, uses: int) -> float:
    """0–1: 1 is fresh. `unused`: time since the last use, else since it was recorded; negative counts as zero."""
    faded: float = 0.5 ** (max(unused, _NOW) / HALF_LIFE)
    return min(1.0, faded + min(USE_ADDS * uses, USES_ADD_AT_MOST)) if uses else faded
