"""Messages with what they do, from which the network learns and by which it is judged: one a line, after its sign."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memory.network.pieces import Pieces, pieces_of
from memory.network.training import Example, Head
from memory.speech_acts.network import read_act

HEADS: Final = (Head(2, 1.0), Head(2, 1.0))
"""In earnest or made up; stating something of the user's world, or nothing."""
UNKNOWN: Final = -1
SIGNS: Final = {"=": (0, UNKNOWN), "~": (1, UNKNOWN), "+": (0, 0), "-": (UNKNOWN, 1)}
"""What a labeled line starts with, and its label for each head."""
AT: Final = (0.5, 0.7, 0.8, 0.9, 0.95)
"""Probabilities from which messages are judged."""


@dataclass(frozen=True, slots=True)
class LabeledMessage:
    """A message with its label for each head; UNKNOWN: not judged."""

    pieces: Pieces
    labels: tuple[int, int]

    @property
    def example(self) -> Example:
        """What the network should say of it."""
        rest = [UNKNOWN] * (len(self.pieces.ids) - 1)
        return Example(self.pieces.ids, tuple([label, *rest] for label in self.labels))


def read_line(line: str) -> LabeledMessage:
    """A labeled line, such as “~ Let's play: I'm a pirate.” or “- thanks”; without a sign, it is said in earnest."""
    labels = SIGNS.get(line[:1])
    return LabeledMessage(pieces_of(line if labels is None else line[2:]), labels or SIGNS["="])


def judge(messages: Sequence[LabeledMessage]) -> Iterator[str]:
    """How many that are made up, or state nothing, are found, and how many of those found are, from each chance on."""
    found = [(message.labels, read_act(message.pieces.text)) for message in messages]
    for head, name in enumerate(("made up", "stating nothing")):
        for least in AT:
            outcomes = [(labels[head] == 1, act[head] >= least) for labels, act in found if labels[head] != UNKNOWN]
            right, all_, said = (
                outcomes.count((True, True)),
                sum(one for one, _ in outcomes),
                sum(one for _, one in outcomes),
            )
            if all_:
                yield (
                    f"from {least:.2f}: of {all_} {name} {100 * right / all_:.1f} % found; "
                    f"precision {100 * right / max(1, said):.1f} %"
                )
