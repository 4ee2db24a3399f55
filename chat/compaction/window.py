"""Which turns the next segment summarizes. Pure: sizes of the turns in the prompt in, a range out.

The first turns stay, because they say what the conversation is about, and so do the last ones, which are current. The
middle is compacted, oldest first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from budget.planning.history_cut import FIRST_TURNS, LAST_TURNS, TurnRange
from recall.environment import setting

KEPT_TURNS: Final = setting("compact_keep_turns", 10)
"""Turns at the end that stay verbatim."""
KEPT_PERCENT: Final = 25
"""Percentage of the history ceiling that they may fill. With more, history would soon be full again, and each
compaction rewrites the cache: at 50 the input of a long conversation costs a fifth more (docs/cost.md)."""
MIN_KEPT_TURNS: Final = LAST_TURNS
"""Turns kept however long they are: a prompt never cuts these either (`budget/planning/history_cut.py`)."""
MAX_SEGMENT_TURNS: Final = setting("segment_turns", 20)
"""Maximum turns of one segment: 400 tokens can't describe more. A longer middle becomes several segments."""
MIN_COMPACTED_TURNS: Final = 3
"""A trigger that fires repeatedly waits for this many turns: each compaction invalidates the cache of the history."""
MIN_REQUESTED_TURNS: Final = 1
MIN_CONVERSATION_TURNS: Final = FIRST_TURNS + MIN_COMPACTED_TURNS + MIN_KEPT_TURNS
"""A shorter conversation is only compacted on request."""
MAX_SEGMENTS: Final = setting("prompt_segments", 10)
"""Summaries in a prompt (DESIGN §4)."""
SEGMENTS_AFTER_MERGE: Final = max(1, MAX_SEGMENTS // 2)
"""With more, the oldest are merged until this many are left. In one step, because each merge invalidates the cache,
too."""


@dataclass(frozen=True, slots=True)
class SizedTurn:
    """A turn and its tokens in the prompt."""

    number: int
    tokens: int


def select_turns(turns: Sequence[SizedTurn], ceiling: int, *, was_asked: bool = False) -> TurnRange | None:
    """The range of verbatim turns to compact next; None if there are none or too few.

    `ceiling`: tokens the plan gives to history. `was_asked`: the user pressed the button.
    """
    middle = turns[FIRST_TURNS : max(FIRST_TURNS, len(turns) - _count_kept(turns, ceiling))]
    if len(middle) < (MIN_REQUESTED_TURNS if was_asked else MIN_COMPACTED_TURNS):
        return None
    selected = middle[:MAX_SEGMENT_TURNS]
    return TurnRange(selected[0].number, selected[-1].number)


def _count_kept(turns: Sequence[SizedTurn], ceiling: int) -> int:
    """How many turns at the end stay."""
    room = ceiling * KEPT_PERCENT // 100
    kept = 0
    for turn in reversed(turns[-KEPT_TURNS:]):
        room -= turn.tokens
        if room < 0 and kept >= MIN_KEPT_TURNS:
            break
        kept += 1
    return kept


def count_to_merge(segments: int) -> int:
    """How many of the oldest of this many summaries are merged into one; 0: none."""
    return segments - SEGMENTS_AFTER_MERGE + 1 if segments > MAX_SEGMENTS else 0
