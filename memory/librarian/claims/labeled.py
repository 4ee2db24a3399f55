"""Labeled statements, from which the network learns and by which it is judged.

A line that starts with `message:` is a user's message; below it is each statement that the rules read in it, behind
`k` (worth keeping), `j` (junk) or `w` (wrong).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from memory.librarian.claims.claims import JUNK, KEEP, OUTPUTS, WRONG, join, worth
from memory.network.training import Example, Head

HEADS: Final = (Head(len(OUTPUTS), 1.0),)
LABELS: Final = {"k": KEEP, "j": JUNK, "w": WRONG}
MESSAGE: Final = "message: "


@dataclass(frozen=True, slots=True)
class LabeledStatement:
    """A statement that was read in a message, and what it is worth."""

    statement: str
    message: str
    label: int

    @property
    def example(self) -> Example:
        """What the network should say of it."""
        return Example.of_pair(join(self.statement, self.message), self.label)


def read_statements(lines: Iterable[str]) -> list[LabeledStatement]:
    """The statements of a file.

    Raises:
        ValueError: a line is none of these.
    """
    labeled: list[LabeledStatement] = []
    message = ""
    for line in filter(str.strip, lines):
        if line.startswith(MESSAGE):
            message = line.removeprefix(MESSAGE)
            continue
        mark, _, statement = line.partition(" ")
        if mark not in LABELS:
            raise ValueError(f"This is no line of labeled statements: {line}")
        labeled.append(LabeledStatement(statement, message, LABELS[mark]))
    return labeled


def judge(statements: Sequence[LabeledStatement], chances: Sequence[float], least: float) -> str:
    """How many that are worth keeping are kept, and how many of those kept are."""
    outcomes = [(one.label == KEEP, chance >= least) for one, chance in zip(statements, chances, strict=True)]
    right, wanted, kept = outcomes.count((True, True)), sum(one for one, _ in outcomes), sum(one for _, one in outcomes)
    return f"kept {100 * right / max(1, wanted):.1f} % of {wanted}; precision {100 * right / max(1, kept):.1f} %"


def chances_of(statements: Sequence[LabeledStatement]) -> list[float]:
    """How likely each is worth keeping."""
    return [worth(one.statement, one.message, one.message) for one in statements]
