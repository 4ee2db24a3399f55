"""Decides which turns of the history are cut: the middle first, in one big step that then stays. Pure."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

from recall.environment import setting

FIRST_TURNS: Final = setting("history_first_turns", 2)
"""Turns kept at the start: what the conversation is about."""
LAST_TURNS: Final = setting("history_last_turns", 3)
"""Turns kept at the end: the current topic."""
CUT_DOWN_TO_PERCENT: Final = 50
"""Percent of its ceiling that history is cut down to, so that the cut point and cached bytes last for many turns."""
PLACEHOLDER_TOKENS: Final = 80
"""Maximum tokens of the placeholder; its text is constant except for the turn numbers."""


@dataclass(frozen=True, slots=True)
class TurnRange:
    """Turns from `first` to `last`, both included."""

    first: int
    last: int

    def __contains__(self, turn: object) -> bool:
        return isinstance(turn, int) and self.first <= turn <= self.last


type Span = tuple[int, int]
"""Indexes in the list of turns, the end excluded."""


class History:
    """The turns of one branch, and the last prompt's cut.

    That cut is dropped if it would hide one of the last turns: the conversation moved to a shorter branch.
    """

    def __init__(self, turns: Mapping[int, int], already_cut: TurnRange | None = None) -> None:
        """`turns`: number → tokens, ascending (else ValueError)."""
        self._numbers = list(turns)
        if any(one > other for one, other in pairwise(self._numbers)):
            raise ValueError("The turns of a history must be in ascending order.")
        self._tokens_before = [0, *accumulate(turns.values())]
        self._tail = max(0, len(turns) - LAST_TURNS)
        self._head = min(FIRST_TURNS, self._tail)
        self._start = self._span_of(already_cut)
        self.outer: Final = frozenset(self._numbers[: self._head] + self._numbers[self._tail :])
        """The first and last turns."""

    @property
    def wanted(self) -> int:
        """Tokens of everything not cut yet, placeholder included."""
        return self._kept_tokens(self._start)

    @property
    def spare(self) -> int:
        """Tokens that can be cut before protected turns: the middle, less the placeholder it would leave."""
        low, high = self._start
        already = self._tokens((max(low, self._head), max(high, self._head)))
        placeholder = 0 if high > low else PLACEHOLDER_TOKENS
        return max(0, self._tokens((self._head, self._tail)) - already - placeholder)

    def cut(self, ceiling: int, room: int) -> TurnRange | None:
        """The turns to leave out so that the rest takes at most `room` tokens, placeholder included.

        If not even the placeholder fits, all turns are cut and the placeholder too.
        """
        low, high = self._cut(min(ceiling * CUT_DOWN_TO_PERCENT // 100, room), room)
        return TurnRange(self._numbers[low], self._numbers[high - 1]) if high > low else None

    def _cut(self, target: int, room: int) -> Span:
        if self._kept_tokens(self._start) <= room:
            return self._start
        for span in self._wider_in_the_middle():
            if self._kept_tokens(span) <= target:
                return span
        for span in self._wider_than_the_middle():
            if self._kept_tokens(span) <= room:
                return span
        return 0, len(self._numbers)

    def _wider_in_the_middle(self) -> Iterator[Span]:
        """The starting cut, extended to the last turns, then back to the first ones."""
        low, high = self._start
        yield from ((low, end) for end in range(high + 1, self._tail + 1))
        yield from ((begin, self._tail) for begin in range(low - 1, self._head - 1, -1))

    def _wider_than_the_middle(self) -> Iterator[Span]:
        """The whole middle, then first turns from the inside, then last turns from the oldest."""
        low = min(self._start[0], self._head)
        yield from ((begin, self._tail) for begin in range(low, -1, -1))
        yield from ((0, end) for end in range(self._tail + 1, len(self._numbers) + 1))

    def _span_of(self, already_cut: TurnRange | None) -> Span:
        if already_cut is not None:
            span = bisect_left(self._numbers, already_cut.first), bisect_right(self._numbers, already_cut.last)
            if span[0] < span[1] <= self._tail:
                return span
        return self._head, self._head

    def _tokens(self, span: Span) -> int:
        return self._tokens_before[span[1]] - self._tokens_before[span[0]]

    def _kept_tokens(self, cut: Span) -> int:
        placeholder = PLACEHOLDER_TOKENS if cut[1] > cut[0] else 0
        return self._tokens_before[-1] - self._tokens(cut) + placeholder
