"""Labeled pairs, from which the updates learn and by which they are judged.

A line has an outcome, a fact and a message, with a tab between them. The words of a replaced fact that no longer hold
are in square brackets, those that take their place in curly ones:
`replaced → The user lives in [Leeds]. → the lease is up, so from Sunday it's {Whitby} for me`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memory.network.training import Example, Head
from memory.updates.pairs import NEW, OLD, OUTCOMES, OUTPUTS, Outcome, Pair, Update, pair_of

HEADS: Final = (Head(OUTPUTS[0], 1.0), Head(OUTPUTS[1], 0.5))
_MARKS: Final = (re.compile(r"\[([^\[\]]+)\]"), re.compile(r"\{([^{}]+)\}"))


@dataclass(frozen=True, slots=True)
class LabeledPair:
    """A pair, what the message does to the fact, and where the replaced and the replacing words are."""

    pair: Pair
    outcome: Outcome
    marks: tuple[tuple[int, int], ...]
    """Places in the fact and in the message; empty unless replaced."""

    @property
    def old(self) -> str:
        return self.pair.fact[slice(*self.marks[0])]

    @property
    def new(self) -> str:
        return self.pair.message[slice(*self.marks[1])]

    @property
    def updated(self) -> str:
        """The fact as it is after the message; empty if it has ended or was wrong."""
        if not self.marks:
            return self.pair.fact if self.outcome == "holds" else ""
        start, end = self.marks[0]
        return f"{self.pair.fact[:start]}{self.new}{self.pair.fact[end:]}"

    @property
    def example(self) -> Example:
        """What the network should say of the pair, and of each piece of a replaced one."""
        outcomes = [OUTCOMES.index(self.outcome), *[-1] * (len(self.pair.ids) - 1)]
        marks = [-1] * len(self.pair.ids)
        for number, (start, end) in enumerate(self.pair.places if self.marks else ()):
            if start < end:
                segment = self.pair.segments[number]
                first, last = self.marks[segment]
                marks[number] = (OLD, NEW)[segment] if start < last and end > first else 0
        return Example(self.pair.ids, (outcomes, marks), self.pair.segments)


def read_labeled(line: str) -> LabeledPair:
    """A line of labeled pairs.

    Raises:
        ValueError: an unknown outcome, or a mark too few.
    """
    outcome, *texts = line.rstrip("\n").split("\t")
    if outcome not in OUTCOMES or len(texts) != len(_MARKS):
        raise ValueError(f"This is no outcome, fact and message: {line}")
    plain, places = [], []
    for text, mark in zip(texts, _MARKS, strict=True):
        found = mark.search(text)
        if (outcome == "replaced") != (found is not None):
            raise ValueError(f"Marks belong to what is replaced: {line}")
        places += [(found.start(), found.start() + len(found[1]))] if found else []
        plain.append(mark.sub(r"\1", text))
    return LabeledPair(pair_of(*plain), outcome, tuple(places))


@dataclass(slots=True)
class Score:
    """Facts that don't hold any more, and what was said of them."""

    found: int = 0
    """Rightly said not to hold as they are."""
    right: int = 0
    """Of these: with the right outcome, and the right words where replaced."""
    wrong: int = 0
    """Facts that hold, and were said not to."""
    missed: int = 0

    def __str__(self) -> str:
        said, all_ = max(1, self.found + self.wrong), max(1, self.found + self.missed)
        return (
            f"changes: precision {100 * self.found / said:.1f} %, recall {100 * self.found / all_:.1f} % of {all_}; "
            f"{100 * self.right / max(1, self.found):.1f} % of them with the right outcome and words"
        )


def judge(pairs: Sequence[LabeledPair], updates: Sequence[Update], least: float) -> Score:
    """The score of changes that are at least so sure."""
    score = Score()
    for wanted, update in zip(pairs, updates, strict=True):
        is_said = update.outcome != "holds" and update.doubted >= least
        if wanted.outcome == "holds":
            score.wrong += is_said
        elif not is_said:
            score.missed += 1
        else:
            score.found += 1
            same = update.outcome == wanted.outcome
            score.right += same and (not wanted.marks or (update.old, update.new) == (wanted.old, wanted.new))
    return score
