"""What a user's message does: states something of the user's world, states nothing, or makes something up.

A small network tells; its two heads read the same states, at the first piece.
"""

from pathlib import Path
from typing import Final, NamedTuple

from memory.network.adapted import softmax
from memory.network.pieces import pieces_of
from memory.network.reader import load_first, read_first
from memory.text.remembered import remembered

WEIGHTS: Final = Path(__file__).with_name("weights.safetensors")
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
    load_first(WEIGHTS)


@remembered(CACHED)
def read_act(text: str) -> SpeechAct:
    """What a message does, by its beginning. `text`: the user's own words in it."""
    scores = read_first(WEIGHTS, pieces_of(text).ids)
    return SpeechAct(float(softmax(scores[:2])[1]), float(softmax(scores[2:])[1]))


def states_nothing(text: str) -> bool:
    """Whether a message states nothing that a later question could be answered from."""
    return bool(text.strip()) and len(text.split()) <= MAX_EMPTY and read_act(text).empty >= EMPTY_FROM
