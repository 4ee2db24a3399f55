"""What a user's message does: states something of the user's world, states nothing, or makes something up.

A small network tells; its two heads read the same states, at the first piece.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from memory.network.adapted import softmax
from memory.network.pieces import Pieces, pieces_of
from memory.network.reader import load, read_scores
from memory.network.training import Example, Head

WEIGHTS: Final = Path(__file__).with_name("weights.safetensors")
HEADS: Final = (Head(2, 1.0), Head(2, 1.0))
"""In earnest or made up; stating something of the user's world, or nothing."""
UNKNOWN: Final = -1
SIGNS: Final = {"=": (0, UNKNOWN), "~": (1, UNKNOWN), "+": (0, 0), "-": (UNKNOWN, 1)}
"""What a labeled line starts with, and its label for each head."""
AT: Final = (0.5, 0.7, 0.8, 0.9, 0.95)
"""Probabilities from which messages are judged."""
EMPTY_FROM: Final = 0.9
"""Probability from which a message states nothing: 78 of 100 that do reach it, and 97 of 100 that reach it do
(`tests/memory/data/stating_dev.txt`, on which it was chosen); of authors who just wrote talks 70 and 79."""
MAX_EMPTY: Final = 40
"""Words of a message that may state nothing; a longer one has more to say."""
CACHED: Final = 1_024
"""Messages that a process remembers: index, librarian and documents ask for the same."""


class SpeechAct(NamedTuple):
    """How likely a message makes something up, and how likely it states nothing of the user's world: 0 to 1."""

    made_up: float
    empty: float


def load_network() -> None:
    """Load the network, so that no answer waits for it, within its transaction."""
    load(WEIGHTS, ())


@lru_cache(maxsize=CACHED)
def read_act(text: str) -> SpeechAct:
    """What a message does, by its beginning. `text`: the user's own words in it."""
    scores = read_scores(WEIGHTS, pieces_of(text).ids, whole=())[0]
    return SpeechAct(float(softmax(scores[:2])[1]), float(softmax(scores[2:])[1]))


def states_nothing(text: str) -> bool:
    """Whether a message states nothing that a later question could be answered from."""
    return bool(text.strip()) and len(text.split()) <= MAX_EMPTY and read_act(text).empty >= EMPTY_FROM


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
