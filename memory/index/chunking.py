"""Splits texts into passages: between sections if possible, else paragraphs, sentences, then words."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from django.conf import settings
from semantic_text_splitter import MarkdownSplitter, TextSplitter

from memory.embeddings.limits import PIECES
from recall.llm.tokens import count_tokens

ROOM: Final = PIECES - 2
"""Maximum word pieces of a passage with its heading: the embedding model adds one at each end."""
HEADING_PIECES: Final = 40
"""Maximum word pieces for headings, so that a deep outline leaves room for the text."""
HEADING_CHARACTERS: Final = 400
"""Width of the column."""
HEADING_MARK: Final = " › "
MAX_PASSAGE_CHARS: Final = 8_000
"""The model reads at most 16,000 characters, and blanks count as no piece."""
WINDOW: Final = 8_000
"""Characters given to the splitter at once: its time grows with the square of the number of small items (a table, a
list,
one long word)."""
COMMON_WORDS: Final = 8_192
"""Words whose counts a process keeps: most words of an answer are in others, too."""
COMMON_CHARS: Final = 16
"""Of a word that is kept. It has only small letters, as hardly a name and no key or number has."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a text, the headings above it (outermost first), and its base tokens without them."""

    text: str
    heading: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Measure:
    """Maximum length of a passage and of the overlap with the one before; base tokens."""

    tokens: int
    overlap: int


def chunk_text(text: str, *, is_markdown: bool, story: bool = False) -> list[Passage]:
    """The passages of a text, in order; none for a blank text. A story has no overlap."""
    chosen = settings.ENVIRONMENT
    if story:
        return cut(text, Measure(chosen.story_chunk_size, 0), is_markdown=is_markdown)
    return cut(text, Measure(chosen.rag_chunk_size, chosen.rag_chunk_overlap), is_markdown=is_markdown)


def cut(text: str, measure: Measure, *, is_markdown: bool) -> list[Passage]:
    """Split `text` so that no passage exceeds `measure` or, with its heading, the embedding model's input."""
    outline = _Outline(text if is_markdown else "")
    scale = _Scale(ROOM - outline.room, measure.tokens)
    whole = text.strip()
    if scale.fits(whole):
        return [Passage(whole, outline.above(len(text) - len(text.lstrip())), count_tokens(whole))] if whole else []
    found = []
    for start, end, repeated in _spans(text, measure, scale, outline, is_markdown=is_markdown):
        passage = text[repeated:end].strip()
        found.append(Passage(passage, outline.above(start), count_tokens(passage)))
    return found


def _spans(
    text: str, measure: Measure, scale: _Scale, outline: _Outline, *, is_markdown: bool
) -> Iterator[tuple[int, int, int]]:
    """Start and end of each passage, and where its overlap starts."""
    splitter = MarkdownSplitter if is_markdown else TextSplitter
    cutter = splitter.from_callback(scale.size, measure.tokens - measure.overlap)
    earlier: int | None = None
    for offset, window in _windows(text, outline):
        for place, piece in cutter.chunk_indices(window):
            start = offset + place
            if not piece.strip():
                continue
            # No overlap across headings: the repeated text would appear under the wrong heading.
            alone = earlier is None or measure.overlap == 0 or outline.begins_at(start)
            yield start, start + len(piece), start if alone else scale.back(text, earlier or 0, start, measure.overlap)
            earlier = start


def _windows(text: str, outline: _Outline) -> Iterator[tuple[int, str]]:
    """The text in windows of at most WINDOW characters, each with its offset, cut at the highest possible heading."""
    start = 0
    while len(text) - start > WINDOW:
        end = outline.last_before(start + WINDOW)
        if end <= start + WINDOW // 2:
            end = _break_before(text, start + WINDOW // 2, start + WINDOW)
        yield start, text[start:end]
        start = end
    yield start, text[start:]


def _break_before(text: str, first: int, last: int) -> int:
    """The place after the last blank line in between, else line break, else blank, else `last`."""
    for mark in ("\n\n", "\n", " "):
        place = text.rfind(mark, first, last)
        if place >= 0:
            return place + len(mark)
    return last


# Counting --------------------------------------------------------------------------------------------------------

# Chinese, Japanese and Korean use no blanks; the model treats each character as a word.
_IDEOGRAPH: Final = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_WORDS: Final = re.compile(rf"[{_IDEOGRAPH}]|[^\s{_IDEOGRAPH}]{{1,64}}")
"""A longer word (a key, an embedded image, a sentence in Thai) is counted in parts."""
_SENTENCE_START: Final = re.compile(r"(?<=[.!?…。！？])[\"”’)\]]*\s+|\n\s*|(?<=[。！？])")


class _Scale:
    """Counts a text word by word with a cache: a hundred times as fast as counting each candidate."""

    def __init__(self, pieces: int, tokens: int) -> None:
        self._pieces = pieces
        self._tokens = tokens
        self._known: dict[str, tuple[int, int]] = {}

    def fits(self, text: str) -> bool:
        """Whether the text fits one passage; a long one isn't counted."""
        return len(text) <= MAX_PASSAGE_CHARS and self.size(text) <= self._tokens

    def size(self, text: str) -> int:
        """Base tokens, or its share of the limit on word pieces or characters, whichever is more."""
        known, pieces = self._known, 0
        tokens = text.count("\n") + text.count("\n ") + text.count(" " * 16)  # single blanks go with their words
        for word in _WORDS.findall(text):
            counts = known.get(word)
            if counts is None:
                counts = known[word] = self._count(word)
            tokens += counts[0]
            pieces += counts[1]
        by_pieces = -(-pieces * self._tokens // self._pieces)
        return max(tokens, by_pieces, len(text) * self._tokens // MAX_PASSAGE_CHARS)

    def back(self, text: str, first: int, start: int, overlap: int) -> int:
        """Start of the last whole sentences, else words, of `text[first:start]` that fit into `overlap`."""
        begins = start
        for word in reversed(list(_WORDS.finditer(text, max(first, start - MAX_PASSAGE_CHARS // 8), start))):
            if self.size(text[word.start() : start]) > overlap:
                break
            begins = word.start()
        sentence = _SENTENCE_START.search(text, begins, start)
        if begins == first or sentence is None or sentence.end() == start:
            return begins
        return sentence.end()

    def _count(self, word: str) -> tuple[int, int]:
        is_common = len(word) <= COMMON_CHARS and word.isalpha() and word.islower()
        return _common_size(word) if is_common else _size(word)


def _size(word: str) -> tuple[int, int]:
    """Base tokens and word pieces."""
    return count_tokens(word if len(word) == 1 else f" {word}"), _pieces(word)


_common_size: Final = lru_cache(COMMON_WORDS)(_size)


# Headings --------------------------------------------------------------------------------------------------------

_LINES: Final = re.compile(
    r"^ {0,3}(?:(?P<fence>`{3,}|~{3,})"
    r"|(?P<marks>\#{1,6})(?:[ \t]+(?P<title>[^\n]*?))?(?:[ \t]+\#+)?[ \t]*$"
    r"|(?P<over>[^\s>#*+\-=`~|][^\n]*)\n {0,3}(?P<under>=+|-+)[ \t]*$)",
    re.MULTILINE,
)


NOWHERE: Final = -1
"""Index of a missing heading."""


@dataclass(frozen=True, slots=True)
class _Heading:
    place: int
    level: int
    title: str
    pieces: int
    """Word pieces of the title and its separator."""
    parent: int
    """Index of the heading above it, or NOWHERE."""


class _Outline:
    """The headings of a Markdown text."""

    def __init__(self, text: str) -> None:
        self._headings = _headings(text)
        self._places = [heading.place for heading in self._headings]
        longest = max(
            (sum(heading.pieces for heading in self._chain(at)) for at in range(len(self._headings))), default=0
        )
        self.room = longest
        """Word pieces reserved for the headings above a passage."""

    def begins_at(self, place: int) -> bool:
        """Whether a heading starts here."""
        at = self._last(place)
        return at != NOWHERE and self._places[at] == place

    def last_before(self, place: int) -> int:
        """Start of the last heading before `place`; 0 if there is none."""
        at = self._last(place - 1)
        return 0 if at == NOWHERE else self._places[at]

    def above(self, place: int) -> str:
        """The titles above `place`, outermost first, without a heading that starts there."""
        at = self._last(place)
        if at != NOWHERE and self._places[at] == place:
            at = self._headings[at].parent
        return HEADING_MARK.join(heading.title for heading in self._chain(at))

    def _last(self, place: int) -> int:
        return bisect_right(self._places, place) - 1

    def _chain(self, at: int) -> list[_Heading]:
        """The heading and those above it, outermost first; only the innermost ones that fit."""
        chain: list[_Heading] = []
        pieces = characters = 0
        while at != NOWHERE:
            heading = self._headings[at]
            pieces += heading.pieces
            characters += len(heading.title) + len(HEADING_MARK)
            if pieces > HEADING_PIECES or characters > HEADING_CHARACTERS:
                break
            if heading.title:
                chain.insert(0, heading)
            at = heading.parent
        return chain


def _headings(text: str) -> list[_Heading]:
    found: list[_Heading] = []
    known: dict[str, int] = {}
    for place, level, title in _titles(text):
        parent = len(found) - 1
        while parent != NOWHERE and found[parent].level >= level:
            parent = found[parent].parent
        if title not in known:
            known[title] = _pieces(title) + 1
        found.append(_Heading(place, level, title, known[title], parent))
    return found


def _titles(text: str) -> Iterator[tuple[int, int, str]]:
    """Place, level and title of each heading outside fenced code."""
    fence = ""
    for line in _LINES.finditer(text):
        if mark := line["fence"]:
            # A fence is closed by one of the same kind and at least the same length.
            fence = ("" if mark.startswith(fence) else fence) if fence else mark
        elif not fence and line["marks"]:
            yield line.start(), len(line["marks"]), (line["title"] or "").strip()
        elif not fence and line["over"]:
            yield line.start(), 1 if line["under"].startswith("=") else 2, line["over"].strip()


def _pieces(text: str) -> int:
    # imported late: it loads ONNX Runtime, which not every process needs
    from memory.embeddings.published import whole_tokenizer

    return len(whole_tokenizer().encode(text, add_special_tokens=False).ids)
