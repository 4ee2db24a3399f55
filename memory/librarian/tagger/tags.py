"""What someone states in a message, marked word by word: where they live, what they work as, what has ended.

A tag says of a stretch of words which attribute they give, whether it is so, no longer so or ends here, and whether it
is the user's or someone else's. What is asked, planned, played or supposed has no tag.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from memory.embeddings.minilm import whole_tokenizer
from memory.librarian.tagger.network import Array, embedded, scores, softmax, trained
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
WINDOW: Final = 128
"""Pieces that are read at once: a message of ordinary length. The network was trained on no longer texts."""
LONGEST: Final = 4_000
"""Characters of a text that is read; a longer one is hardly a message about the user."""
_LINES: Final = re.compile(r"[^\n]*\S[^\n]*(?:\n|$)")
_ENDS: Final = re.compile(r"(?<=[.!?])\s+")


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


@dataclass(frozen=True, slots=True)
class Pieces:
    """A text in the network's pieces: their ids, and their places in the text. The first and the last have none."""

    text: str
    ids: tuple[int, ...]
    places: tuple[tuple[int, int], ...]


def pieces_of(text: str) -> Pieces:
    """The pieces of a text."""
    encoded = whole_tokenizer().encode(text)
    return Pieces(text, tuple(encoded.ids[:WINDOW]), tuple(encoded.offsets[:WINDOW]))


def tags_in(text: str, limit: CpuLimit) -> Iterator[Tag]:
    """The tags of a text, in their order; none of a text longer than LONGEST.

    Raises:
        TookTooLongError: the text used up its processor time.
    """
    for start, part in _windows(text) if len(text) <= LONGEST else ():
        limit.check()
        pieces = pieces_of(part)
        ids = np.array([pieces.ids])
        given = scores(embedded(ids), np.ones(ids.shape), trained())[0]
        for tag in tags_of(pieces, given):
            yield Tag(start + tag.start, start + tag.end, tag.label, tag.state, tag.other, tag.sure)


def _windows(text: str) -> Iterator[tuple[int, str]]:
    """Stretches of whole sentences of at most WINDOW pieces, with their places."""
    ends = sorted({*(found.end() for found in _ENDS.finditer(text)), *(found.end() for found in _LINES.finditer(text))})
    start = last = 0
    for end in [*ends, len(text)]:
        if last > start and len(whole_tokenizer().encode(text[start:end]).ids) > WINDOW:
            yield start, text[start:last]
            start = last
        last = end
    if text[start:last].strip():
        yield start, text[start:last]


def tags_of(pieces: Pieces, given: Array) -> Iterator[Tag]:
    """The tags that the head's scores (pieces, outputs) make of a text: neighboring words of one label are one tag."""
    labels, states, whose = (softmax(part) for part in np.split(given, np.cumsum(OUTPUTS)[:-1], axis=-1))
    run: list[int] = []
    last = 0
    for word in [*_words(pieces), []]:
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


def _words(pieces: Pieces) -> Iterator[list[int]]:
    """The numbers of the pieces of each word, such as “Hobley's”; other punctuation is a word."""
    word: list[int] = []
    for number, (start, end) in enumerate(pieces.places):
        if start == end:
            continue
        touches = word and pieces.places[word[-1]][1] == start and pieces.text[pieces.places[word[0]][0]].isalnum()
        joins = touches and (pieces.text[start].isalnum() or pieces.text[start] in "'’")
        if word and not joins:
            yield word
            word = []
        word.append(number)
    if word:
        yield word
