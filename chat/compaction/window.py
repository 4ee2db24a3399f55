"""Which turns are folded into a segment? Pure: the sizes of the turns that stand in the prompt in, a stretch out.

The first turns stay, as they say what the conversation is about, and so do the last ones, of which it is just now. The
middle is folded, oldest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from budget.planning.history_cut import FIRST_TURNS, LAST_TURNS, TurnRange
from recall.environment import setting

KEPT_TURNS: Final = setting("compact_keep_turns", 10)
"""Turns at the end that stay as they were said (seed 002: “keep last 10”)."""
KEPT_PERCENT: Final = 25
"""Of the ceiling of history: long turns stay only as far as they fill it. Else it would be full again at once, and
folded, and written to the cache anew: at 50 the input of a long talk costs a fifth more (docs/cost.md)."""
LEAST_STAYING: Final = LAST_TURNS
"""However long they are: a prompt never cuts these either (`budget/planning/history_cut.py`)."""
AT_ONCE: Final = setting("segment_turns", 20)
"""Most turns of one segment: 400 tokens tell no more. A longer middle becomes several segments."""
FEWEST: Final = 3
"""A trigger that comes again and again folds no fewer: each folding makes the provider's cache forget the history."""
FEWEST_WHEN_ASKED: Final = 1
LEAST_TURNS: Final = FIRST_TURNS + FEWEST + LEAST_STAYING
"""A conversation that is shorter is never folded unasked."""
MOST_SEGMENTS: Final = setting("prompt_segments", 10)
"""Summaries in a prompt (DESIGN §4)."""
MERGED_DOWN_TO: Final = max(1, MOST_SEGMENTS // 2)
"""When there are more, the oldest become one, so that so many stand there. In one step: each merging makes the cache
forget the history, too."""


@dataclass(frozen=True, slots=True)
class SizedTurn:
    """A turn and what it takes in the prompt."""

    number: int
    tokens: int


def select_turns(turns: Sequence[SizedTurn], ceiling: int, *, was_asked: bool = False) -> TurnRange | None:
    """The turns to fold next, of those that stand in the prompt as they were said; None: none, or too few.

    `ceiling`: tokens that the plan gives to history. `was_asked`: a person pressed the button.
    """
    middle = turns[FIRST_TURNS : max(FIRST_TURNS, len(turns) - _staying(turns, ceiling))]
    if len(middle) < (FEWEST_WHEN_ASKED if was_asked else FEWEST):
        return None
    folded = middle[:AT_ONCE]
    return TurnRange(folded[0].number, folded[-1].number)


def _staying(turns: Sequence[SizedTurn], ceiling: int) -> int:
    """How many at the end stay."""
    room = ceiling * KEPT_PERCENT // 100
    staying = 0
    for turn in reversed(turns[-KEPT_TURNS:]):
        room -= turn.tokens
        if room < 0 and staying >= LEAST_STAYING:
            break
        staying += 1
    return staying


def too_many(segments: int) -> int:
    """How many of the oldest of so many summaries become one; 0: none."""
    return segments - MERGED_DOWN_TO + 1 if segments > MOST_SEGMENTS else 0
