"""Secrets that no shape gives away, marked by a small network: “the gate wants 4471#”, “use Tulip!88 on the tablet”."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from memory.embeddings.published import Array
from memory.network.adapted import softmax
from memory.network.pieces import Pieces, pieces_of, windows
from memory.network.reader import load, read_scores
from memory.secrets.governed import NAMES_SECRET, is_named_secret, is_something_else
from memory.text.user_text import Span

OUTPUTS: Final = 2
"""Of the head, for each piece: it belongs to no secret, or to one."""
WEIGHTS: Final = Path(__file__).with_name("weights.safetensors")
MASKED: Final = "Xk7#mQ29"
"""What the network reads for a masked secret, as long: in a text that is masked again, nothing else is the password."""
SURE_FROM: Final = 0.5
"""Mean probability from which a stretch of words is a secret."""
SURE_OF_WORDS: Final = 0.65
"""The same of ordinary words beside a value: what says “code” there is said of the value."""
MIN_DIGITS: Final = 4
"""Characters of a word with a digit that is a secret without a word that says so."""
GROUPED_DIGITS: Final = 6
"""Digits of several words that together are a number: “19 04 62”."""
_YEAR: Final = re.compile(r"(?:19|20)\d\d,?")
_STOP: Final = re.compile(r"[.!?]\s")
_SIGNS: Final = re.compile(r"[\d_#@!$%*+=]")
_EMPHASIS: Final = re.compile(r"(?<![\w*~])(\*{1,3}|_{1,3}|~~)(?=[^\s*_~])([^\n]{1,200}?)(?<=[^\s*_~])\1(?![\w*~])")
"""Markdown's marks around words; within a word they may be part of a secret."""
_AROUND: Final = "\"'“”‘’`()<>,;:.!?"
"""What may surround a secret without being part of it. Inside a secret, it is part of it."""


def load_network() -> None:
    """Load the network, so that no message waits for it."""
    load(WEIGHTS, ())


def learned_secrets(text: str) -> Iterator[Span]:
    """The places of the secrets in a text, in their order."""
    for start, part in windows(_EMPHASIS.sub(_without_marks, text)):
        pieces = pieces_of(part)
        found = [
            (first, last, sure)
            for first, last, sure in marked(pieces, read_scores(WEIGHTS, pieces.ids, whole=()))
            if sure >= SURE_FROM and not is_something_else(part, first, last)
        ]
        has_value = MASKED in text or any(not _is_plain(part[first:last]) for first, last, _ in found)
        for first, last, sure in found:
            if not _is_plain(part[first:last]) or (
                is_named_secret(part, first)
                if (has_value and sure < SURE_OF_WORDS) or _STOP.search(part, first, last)
                else NAMES_SECRET.search(text)
            ):
                yield start + first, start + last


def _without_marks(found: re.Match[str]) -> str:
    """The words with spaces in place of the marks, so that every place stays what it is."""
    gap = " " * len(found[1])
    return f"{gap}{found[2]}{gap}"


def _is_plain(words: str) -> bool:
    """Whether it looks like ordinary words, a small number, a year among words, or a model's name: “Volvo V60”."""
    among = [word.strip(_AROUND) for word in words.split() if not _YEAR.fullmatch(word)] or words.split()
    short = all(_SIGNS.search(word) is None or (len(word) < MIN_DIGITS and word.isalnum()) for word in among)
    return short and sum(map(str.isdigit, words)) < GROUPED_DIGITS


def marked(pieces: Pieces, outputs: Array) -> Iterator[tuple[int, int, float]]:
    """The stretches of words that the head's scores (pieces, 2) mark: their places and mean probability."""
    shares = softmax(outputs)[:, 1]
    run: list[int] = []
    for word in [*_words(pieces), []]:
        if word and float(shares[word].max()) >= 0.5:
            run += word
            continue
        if run:
            start, end = pieces.places[run[0]][0], pieces.places[run[-1]][1]
            words = pieces.text[start:end]
            start += len(words) - len(words.lstrip(_AROUND))
            end -= len(words) - len(words.rstrip(_AROUND))
            if start < end:
                yield start, end, float(shares[run].mean())
        run = []


def _words(pieces: Pieces) -> Iterator[list[int]]:
    """The numbers of the pieces of each word; a word ends at white space only, as in “Tr0m!bone-22”."""
    word: list[int] = []
    for number, (start, end) in enumerate(pieces.places):
        if start == end:
            continue
        if word and pieces.places[word[-1]][1] != start:
            yield word
            word = []
        word.append(number)
    if word:
        yield word
