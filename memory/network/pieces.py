"""Texts in the network's pieces: what it reads at once, and which pieces are a word."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memory.embeddings.published import whole_tokenizer

WINDOW: Final = 128
"""Pieces that are read at once: a message of ordinary length. The networks were trained on no longer texts."""
AROUND: Final = 2
"""Pieces around a text's own: its start and its end."""
_LINES: Final = re.compile(r"^[^\S\n]*+\S[^\n]*(?:\n|$)", re.MULTILINE)
_ENDS: Final = re.compile(r"(?<=[.!?])\s+")

type Places = Sequence[tuple[int, int]]


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


@dataclass(frozen=True, slots=True)
class Joined:
    """Two texts in the network's pieces. `segments`: 1 for those of the second."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]
    places: tuple[tuple[int, int], ...]
    """In the first or the second text; (0, 0) for the pieces around them."""


def joined(first: str, second: str, longest: tuple[int, int]) -> Joined:
    """The pieces of two texts that are read together, of each at most so many."""
    begin, end = whole_tokenizer().encode(first), whole_tokenizer().encode(second)
    split, most = longest
    ids = (*begin.ids[:split], *end.ids[1:most])
    count = len(begin.ids[:split])
    return Joined(ids, (*[0] * count, *[1] * (len(ids) - count)), (*begin.offsets[:split], *end.offsets[1:most]))


def windows(text: str, most: int = WINDOW) -> Iterator[tuple[int, str]]:
    """Stretches of whole sentences of at most so many pieces, with their places."""
    ends = sorted({*(found.end() for found in _ENDS.finditer(text)), *(found.end() for found in _LINES.finditer(text))})
    begins = [begin for begin, end in whole_tokenizer().encode(text).offsets if end > begin]
    start = last = 0
    for end in [*ends, len(text)]:
        if last > start and bisect_left(begins, end) - bisect_left(begins, start) > most - AROUND:
            yield start, text[start:last]
            start = last
        last = end
    if text[start:last].strip():
        yield start, text[start:last]


def words_of(text: str, places: Places) -> Iterator[list[int]]:
    """The numbers of the pieces of each word, such as “Hobley's”; other punctuation is a word, too."""
    word: list[int] = []
    for number, (start, end) in enumerate(places):
        if start == end:
            continue
        touches = word and places[word[-1]][1] == start and text[places[word[0]][0]].isalnum()
        if word and not (touches and (text[start].isalnum() or text[start] in "'’")):
            yield word
            word = []
        word.append(number)
    if word:
        yield word
