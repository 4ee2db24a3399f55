"""How likely a statement is worth keeping: the message says it, of the right person, and it will matter for weeks."""

from pathlib import Path
from typing import Final

from memory.network.adapted import softmax
from memory.network.pieces import Joined, joined
from memory.network.reader import read_first

KEEP, JUNK, WRONG = OUTPUTS = range(3)
"""Of the head, at the first piece. Junk is said, but passes or matters to no one; what is wrong isn't said so."""
WEIGHTS: Final = Path(__file__).with_name("weights.safetensors")
MAX_PIECES: Final = (48, 112)
"""Pieces of a statement and of a message that are read."""
AROUND: Final = 250
"""Characters of a message that are read before and behind the statement's words, if it is longer."""


def worth(statement: str, message: str, quote: str) -> float:
    """The probability that the statement is worth keeping. `quote`: the message's words that it was read in."""
    pair = join(statement, around(message, quote))
    return float(softmax(read_first(WEIGHTS, pair.ids, pair.segments))[KEEP])


def join(statement: str, message: str) -> Joined:
    """The pieces of a statement and a message."""
    return joined(statement, message, MAX_PIECES)


def around(message: str, quote: str) -> str:
    """The words of a message around the quote."""
    at = max(0, message.find(quote))
    return message[max(0, at - AROUND) : at + len(quote) + AROUND]
