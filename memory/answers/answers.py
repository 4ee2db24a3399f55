"""How likely a memory answers a question."""

from pathlib import Path
from typing import Final

from memory.network.adapted import softmax
from memory.network.pieces import Joined, joined
from memory.network.reader import load_first, read_first

NEITHER, ANSWERS, HELPS = OUTPUTS = range(3)
"""Of the head, at the first piece: one alone says what is asked, or a good answer heeds it."""
WEIGHTS: Final = Path(__file__).with_name("weights.safetensors")
MAX_PIECES: Final = (40, 112)
"""Pieces of a question and of a memory that are read."""


def load_network() -> None:
    """Load the network, so that no question waits for it."""
    load_first(WEIGHTS)


def chance(question: str, memory: str) -> float:
    """The probability that the memory answers the question, 0 to 1."""
    pair = join(question, memory)
    return float(softmax(read_first(WEIGHTS, pair.ids, pair.segments))[ANSWERS])


def join(question: str, memory: str) -> Joined:
    """The pieces of a question and a memory."""
    return joined(question, memory, MAX_PIECES)
