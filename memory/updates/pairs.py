"""What a message does to a known fact: it still holds, has ended, was never so, or another value takes its place."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from memory.embeddings.published import Array
from memory.network.adapted import softmax
from memory.network.pieces import joined, words_of
from memory.network.reader import load, read_scores
from memory.text.relations import are_of_others

type Outcome = Literal["holds", "ended", "wrong", "replaced"]

OUTCOMES: Final[tuple[Outcome, ...]] = ("holds", "ended", "wrong", "replaced")
OUTPUTS: Final = (len(OUTCOMES), 3)
"""Of the head: an outcome at the first piece; for each other piece whether it is neither, replaced or replacing."""
OLD, NEW = 1, 2
WEIGHTS: Final = Path(__file__).with_name("weights.safetensors")
WINDOW: Final = 96
"""Pieces of a message that are read at once."""
MAX_STATEMENT_PIECES: Final = 48
"""Pieces of a fact that are read."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A known fact and a message in the network's pieces. `segments`: 1 for the message's."""

    fact: str
    message: str
    ids: tuple[int, ...]
    segments: tuple[int, ...]
    places: tuple[tuple[int, int], ...]
    """In the fact or the message; (0, 0) for the pieces around them."""


@dataclass(frozen=True, slots=True)
class Update:
    """What a message does to a fact."""

    outcome: Outcome
    sure: float
    """Probability of the outcome, 0 to 1."""
    old: str = ""
    """The fact's words that are replaced."""
    new: str = ""
    """The message's words that take their place."""
    doubted: float = 0.0
    """Probability that the fact doesn't hold as it is, 0 to 1."""


def load_network() -> None:
    """Load the network, so that no question waits for it."""
    load(WEIGHTS)


def pair_of(fact: str, message: str) -> Pair:
    """The pieces of a fact and a message."""
    pieces = joined(fact, message, (MAX_STATEMENT_PIECES, WINDOW))
    return Pair(fact, message, pieces.ids, pieces.segments, pieces.places)


def doubt(known: str, message: str) -> float:
    """Probability that what was known doesn't hold as it is any more, after a message: 0 to 1."""
    return read(pair_of(known, message)).doubted


def read(pair: Pair) -> Update:
    """What the message does to the fact; nothing, if it is about the same thing of someone else."""
    if are_of_others(pair.fact, pair.message):
        return Update("holds", 1.0)
    outputs = read_scores(WEIGHTS, pair.ids, pair.segments)
    outcomes = softmax(outputs[0, : OUTPUTS[0]])
    best = int(outcomes.argmax())
    outcome, sure, doubted = OUTCOMES[best], float(outcomes[best]), 1 - float(outcomes[0])
    if outcome != "replaced":
        return Update(outcome, sure, doubted=doubted)
    marks = softmax(outputs[: len(pair.ids), OUTPUTS[0] :])
    old, new = (_marked(pair, marks[:, mark], segment) for segment, mark in enumerate((OLD, NEW)))
    return Update(outcome, sure, old, new, doubted)


def _marked(pair: Pair, shares: Array, segment: int) -> str:
    """The stretch of whole words that is most likely marked; empty if none is."""
    text = (pair.fact, pair.message)[segment]
    places = [place if of == segment else (0, 0) for place, of in zip(pair.places, pair.segments, strict=True)]
    words = list(words_of(text, places))
    marked = [float(shares[word].mean()) for word in words]
    best, start, total, at = 0.0, 0, 0.0, slice(0)
    for number, share in enumerate(marked):  # the stretch with the largest sum of shares above one half
        if total <= 0:
            start, total = number, 0.0
        total += share - 0.5
        if total > best:
            best, at = total, slice(start, number + 1)
    chosen = [number for word in words[at] for number in word]
    return text[pair.places[chosen[0]][0] : pair.places[chosen[-1]][1]] if chosen else ""
