"""Labeled messages, from which requests to forget are learned and by which they are judged.

A line has a letter and a message, with a tab between them: F names in double brackets what is to be forgotten, P asks
for what was said before, A for everything, N for nothing: `F	please wipe what I said about [[the move]]`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memory.forget_requests.requests import KINDS, OUTPUTS, Kind, read
from memory.network.pieces import Pieces, pieces_of
from memory.network.training import Example, Head

HEADS: Final = (Head(OUTPUTS[0], 1.0), Head(OUTPUTS[1], 1.0))
LETTERS: Final[dict[str, Kind]] = {"N": "none", "F": "topic", "P": "before", "A": "everything"}
AT: Final = (0.3, 0.5, 0.7, 0.8, 0.9)
"""Probabilities from which messages are judged."""
_MARK: Final = re.compile(r"\[\[(.+?)\]\]")


@dataclass(frozen=True, slots=True)
class LabeledMessage:
    """A message, what it asks for, and where it names that."""

    pieces: Pieces
    kind: Kind
    marks: tuple[tuple[int, int], ...]

    @property
    def topics(self) -> set[str]:
        """The names of what is to be forgotten, in lower case."""
        return {self.pieces.text[start:end].casefold() for start, end in self.marks}

    @property
    def example(self) -> Example:
        """What the network should say of the message, and of each piece of one that names a topic."""
        places = self.pieces.places
        kinds = [KINDS.index(self.kind), *[-1] * (len(places) - 1)]
        marks = [-1] * len(places)
        for number, (start, end) in enumerate(places if self.kind == "topic" else ()):
            if start < end:
                marks[number] = int(any(start < last and end > first for first, last in self.marks))
        return Example(self.pieces.ids, (kinds, marks))


def read_line(line: str) -> LabeledMessage:
    """A labeled line.

    Raises:
        ValueError: no letter, or marks where they don't belong.
    """
    letter, _, marked = line.partition("\t")
    text, marks, at = "", [], 0
    for mark in _MARK.finditer(marked):
        text += marked[at : mark.start()]
        marks.append((len(text), len(text) + len(mark[1])))
        text += mark[1]
        at = mark.end()
    if letter not in LETTERS or (letter == "F") != bool(marks):
        raise ValueError(f"This is no labeled request: {line}")
    return LabeledMessage(pieces_of(text + marked[at:]), LETTERS[letter], tuple(marks))


def judge(messages: Sequence[LabeledMessage]) -> Iterator[str]:
    """How many requests are found, how many of those found are requests, and how often the topic is right."""
    found = [(message, read(message.pieces)) for message in messages]
    for least in AT:
        said = [(message, reading) for message, reading in found if reading.sure >= least]
        right = [(message, reading) for message, reading in said if message.kind != "none"]
        named = [(message, reading) for message, reading in right if message.kind == "topic"]
        same = sum(message.topics == {topic.casefold() for topic in reading.topics} for message, reading in named)
        asking = sum(message.kind != "none" for message in messages)
        yield (
            f"from {least:.2f}: of {asking} requests {100 * len(right) / max(1, asking):.1f} % found, precision "
            f"{100 * len(right) / max(1, len(said)):.1f} %; {100 * same / max(1, len(named)):.1f} % of {len(named)} "
            "name the same"
        )
