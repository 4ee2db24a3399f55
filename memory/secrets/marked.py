"""Messages with their secrets marked, from which the network learns and by which it is judged: one a line, such as
`the wifi at the cabin is [secret:Lamp-Frog-77], write a little card for the guests`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from memory.network.pieces import Pieces, pieces_of
from memory.network.training import Example, Head
from memory.secrets.learned import OUTPUTS
from memory.text.user_text import Span

HEADS: Final = (Head(OUTPUTS, 1.0),)
_MARK: Final = re.compile(r"\[secret:([^\[\]]+)\]")


@dataclass(frozen=True, slots=True)
class MarkedSecrets:
    """A message, and the places of its secrets."""

    pieces: Pieces
    spans: Sequence[Span]

    @property
    def example(self) -> Example:
        """The label of each of its pieces."""
        return Example(self.pieces.ids, ([self._label(*place) for place in self.pieces.places],))

    def _label(self, start: int, end: int) -> int:
        if start == end:
            return -1
        return int(any(start < last and end > first for first, last in self.spans))


def read_secrets(line: str) -> MarkedSecrets:
    """A marked line."""
    spans, text, at = [], "", 0
    for mark in _MARK.finditer(line):
        text += line[at : mark.start()]
        spans.append((len(text), len(text) + len(mark[1])))
        text += mark[1]
        at = mark.end()
    return MarkedSecrets(pieces_of(text + line[at:]), spans)


def exchanged(lines: Sequence[str], chance: Random) -> Iterator[str]:
    """The lines that have secrets, with those of other lines in their place: what is said of one tells it, more than
    its letters do."""
    values = [mark[1] for line in lines for mark in _MARK.finditer(line)]
    for line in lines:
        if _MARK.search(line):
            yield _MARK.sub(lambda _: f"[secret:{chance.choice(values)}]", line)


@dataclass(slots=True)
class Score:
    """How many secrets were masked whole, or in part only; and what was masked that is none."""

    whole: int = 0
    part: int = 0
    missed: int = 0
    wrong: int = 0

    def __str__(self) -> str:
        all_, right = self.whole + self.part + self.missed, self.whole + self.part
        return (
            f"of {all_} secrets {_percent(self.whole, all_)} masked whole, {_percent(self.part, all_)} in part; "
            f"precision {_percent(right, right + self.wrong)}"
        )


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.1f} %"


def judge(wanted: Sequence[MarkedSecrets], found: Sequence[Sequence[Span]]) -> Score:
    """The score of the places found in each message."""
    score = Score()
    for message, spans in zip(wanted, found, strict=True):
        text = message.pieces.text
        covered = {at for start, end in spans for at in range(start, end)}
        for start, end in message.spans:
            hidden = [at in covered for at in range(start, end) if not text[at].isspace()]
            score.whole += all(hidden)
            score.part += any(hidden) and not all(hidden)
            score.missed += not any(hidden)
        score.wrong += sum(not any(a < d and b > c for c, d in message.spans) for a, b in spans)
    return score
