"""What someone states in a message, marked word by word: where they live, what they work as, what has ended.

A tag says of a stretch of words which attribute they give, whether it is so, no longer so or ends here, and whether it
is the user's or someone else's. What is asked, planned, played or supposed has no tag.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np

from memory.embeddings.published import Array
from memory.network.adapted import softmax
from memory.network.pieces import Pieces, pieces_of, windows, words_of
from memory.network.reader import read_scores
from recall.cpu_limit import CpuLimit

LABELS: Final = (
    *("home", "origin", "job", "employer", "study", "name", "age", "birthday", "partner"),
    *("diet", "allergy", "pet", "car", "zone", "plays", "likes", "dislikes"),
)
STATES: Final = ("now", "not", "end")
"""It is so; it is not or no longer so; something ends that isn't named."""
WHOSE: Final = ("user", "other")
OUTPUTS: Final = (1 + len(LABELS), len(STATES), len(WHOSE))
"""Of the head: no label or one of LABELS, then STATES, then WHOSE."""
WEIGHTS: Final = Path(__file__).with_name("weights.safetensors")
MAX_CHARS: Final = 4_000
"""Characters of a text that is read; a longer one is hardly a message about the user."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A stretch of a text and what it states."""

    start: int
    end: int
    label: str
    """One of LABELS."""
    state: Literal["now", "not", "end"]
    other: bool
    """Whether it is of someone else, or of an animal."""
    sure: float
    """Probability of the label, 0 to 1."""


def tags_in(text: str, limit: CpuLimit) -> Iterator[Tag]:
    """The tags of a text, in their order; none of a text longer than MAX_CHARS.

    Raises:
        TookTooLongError: the text used up its processor time.
    """
    for start, part in windows(text) if len(text) <= MAX_CHARS else ():
        limit.check()
        pieces = pieces_of(part)
        for tag in tags_of(pieces, read_scores(WEIGHTS, pieces.ids)):
            yield Tag(start + tag.start, start + tag.end, tag.label, tag.state, tag.other, tag.sure)


def tags_of(pieces: Pieces, outputs: Array) -> Iterator[Tag]:
    """The tags that the head's scores (pieces, outputs) make of a text: neighboring words of one label are one tag."""
    labels, states, whose = (softmax(part) for part in np.split(outputs, np.cumsum(OUTPUTS)[:-1], axis=-1))
    run: list[int] = []
    last = 0
    for word in [*words_of(pieces.text, pieces.places), []]:
        label = int(labels[word].mean(0).argmax()) if word else 0
        if run and label != last:
            state = STATES[int(states[run].mean(0).argmax())]
            other = bool(whose[run].mean(0).argmax())
            start, end = pieces.places[run[0]][0], pieces.places[run[-1]][1]
            yield Tag(start, end, LABELS[last - 1], state, other, float(labels[run, last].mean()))  # type: ignore[arg-type]
            run = []
        if label:
            run += word
        last = label
