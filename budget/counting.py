"""How many tokens a text has: a base count, and the learned ratio that turns it into a model's own figure.

The base count is tiktoken's o200k_base, which is another maker's vocabulary: it undercounts Claude. What a model really
counts is learned turn by turn from the usage it reports. Where the vocabulary cannot be had (`recall/vocabulary.py`
says when), characters are counted instead and the pages say "estimated".
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import string
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final

import tiktoken

from recall import vocabulary


class Source(StrEnum):
    """What the base count rests on. Ratios learned on one do not fit the other."""

    O200K = "o200k"
    ESTIMATED = "estimated"


class TextClass(StrEnum):
    """The kinds of text whose ratio differs, and is therefore learned separately."""

    PROSE = "prose"
    CODE = "code"
    JSON = "json"
    OTHER = "other"  # other scripts than Latin


# Before anything is learned: the largest ratio seen for English with the newest tokenizer. Too many tokens counted
# cut a memory too soon; too few break the model's limit.
STARTING_RATIO: Final = 1.7

# Each turn moves the ratio this far towards what was observed: after ten turns 3 % of the first error is left, and
# a turn that was off by 10 % moves the estimate by 3 %.
LEARNING_STEP: Final = 0.3

# One turn with something uncounted in it (an image, a tool's hidden prompt) must not throw the ratio far ...
LARGEST_CHANGE: Final = 2.0
# ... and no run of such turns may carry it out of what tokenizers do. Below 1: the estimated base counts too many.
LOWEST_RATIO: Final = 0.4
HIGHEST_RATIO: Final = 4.0

# Tokens per character where there is no vocabulary, by kind of UTF-8 byte. Chosen never to undercount chat, code and
# JSON, which come out half too high; the learned ratio takes that back. Of the 97 languages of Django's translations,
# seven are undercounted, all ones that tokenizers hardly know: by a fifth at most (Kabyle).
CHARACTER_WEIGHTS: Final = (
    (string.ascii_letters.encode(), 0.3),
    (string.digits.encode(), 1.0),
    (b" \t", 0.12),
    (bytes(range(0xC2, 0xCC)), 1.2),  # first byte of a Latin letter with an accent
    (bytes(range(0xCC, 0xE0)), 0.55),  # of Greek, Cyrillic, Hebrew, Arabic
    (bytes(range(0xE0, 0xF0)), 1.0),  # of Chinese, Japanese, Korean, Indian and all other scripts
    (bytes(range(0xF0, 0xF8)), 3.0),  # of emoji
    (bytes(range(0x80, 0xC0)), 0.0),  # following bytes
)
OTHER_CHARACTER_WEIGHT: Final = 1.0  # punctuation, line ends, control characters

# tiktoken is handed at most this much at once: a megabyte of spaces makes it panic, one of letters takes a second.
WINDOW: Final = 4_000

# Texts whose count is remembered: what stands in every prompt (blueprint, profile) is counted once. Kept by digest, so
# that nothing of a forgotten text stays in memory. Short ones are counted as fast as they are found.
REMEMBERED_TEXTS: Final = 4_096
REMEMBERED_FROM: Final = 400  # characters

# Classification reads this many characters: kinds rarely change after the first page.
SAMPLE: Final = 2_000
# Shares of the characters that are not blank, from chat, code, translations: prose .00–.04, code .05–.20.
CODE_MARKS: Final = b"{}()[];=<>_|&$#\\`"
CODE_SHARE: Final = 0.05
CODE_LEAST: Final = 8  # marks; fewer are the brackets of a short sentence
# No text in a Latin alphabet had more than .10 (Ido, with its quoted names), Chinese with Latin names in it .58.
OTHER_SCRIPT_SHARE: Final = 0.3


def count(text: str) -> int:
    """Base tokens of a text, whatever is in it: control tokens and broken Unicode are text like any other.

    8,000 tokens take 3 ms, and 0.04 ms when counted before; a megabyte of anything takes at most half a second.
    Never goes to the network.
    """
    return counter().count(text)


def source() -> Source:
    """What `count` rests on in this process; decided at the first call."""
    return counter().source


def exact() -> bool:
    """Whether `count` has the vocabulary. If not, the page says "estimated"."""
    return source() is Source.O200K


def count_by_class(texts: Iterable[str]) -> dict[TextClass, int]:
    """Base tokens of several texts, as `estimate` takes them."""
    totals: dict[TextClass, int] = {}
    for text in texts:
        kind = classify(text)
        totals[kind] = totals.get(kind, 0) + count(text)
    return totals


def estimate(base_by_class: Mapping[TextClass, int], ratios: Mapping[TextClass, float]) -> int:
    """The model's own count, expected: each class by its learned ratio, rounded up."""
    return math.ceil(sum(base * ratios.get(kind, STARTING_RATIO) for kind, base in base_by_class.items()))


def learn(ratio: float, observed_ratio: float) -> float:
    """The ratio after one more turn, whose own ratio was ``observed_ratio``."""
    believable = min(max(observed_ratio, ratio / LARGEST_CHANGE), ratio * LARGEST_CHANGE)
    moved = ratio + LEARNING_STEP * (believable - ratio)
    return min(max(moved, LOWEST_RATIO), HIGHEST_RATIO)


def learn_from_turn(
    ratios: Mapping[TextClass, float], base_by_class: Mapping[TextClass, int], reported: int
) -> dict[TextClass, float]:
    """All ratios after a turn of several classes, of which the model reported only the sum.

    Each class in it is taken to have been off by the same factor; turns of different mixtures tell them apart.
    """
    present = {kind: ratios.get(kind, STARTING_RATIO) for kind, base in base_by_class.items() if base > 0}
    expected = sum(base_by_class[kind] * ratio for kind, ratio in present.items())
    if not present or reported <= 0:
        return dict(ratios)
    return {**ratios, **{kind: learn(ratio, ratio * reported / expected) for kind, ratio in present.items()}}


def classify(text: str) -> TextClass:
    """The kind of a text, from its first characters: a heuristic of at most 0.1 ms."""
    sample = text[:SAMPLE]
    visible = len(sample) - sample.count(" ") - sample.count("\n")
    if _JSON_START.match(sample):
        return TextClass.JSON
    if not sample.isascii() and len(_OTHER_SCRIPT.findall(sample)) > OTHER_SCRIPT_SHARE * visible:
        return TextClass.OTHER
    marks = _occurrences(sample.encode("utf-8", "replace"), CODE_MARKS)
    if "```" in sample or marks > max(CODE_LEAST, CODE_SHARE * visible):
        return TextClass.CODE
    return TextClass.PROSE


# By its first characters, because parsing a long text costs more than counting it. A list must show a second sign of
# being one: prose has its [1] and [forgotten].
_JSON_START = re.compile(r'\s*(\{\s*["}]|\[\s*([{"]|\[\s*[\[{"\d-]|-?[\d.]+\s*,))')


# Beyond the Latin letters: accented Latin (Vietnamese too) and typographic marks are prose.
_OTHER_SCRIPT = re.compile("[\u0250-\u1dff\u2070-\U0010ffff]")


_loading = threading.Lock()


def counter() -> TokenCounter:
    """The counter of this process; the first call loads the vocabulary (half a second, 50 MB)."""
    with _loading:
        return _load()


@cache
def _load() -> TokenCounter:
    from django.conf import settings

    return TokenCounter(Path(settings.TIKTOKEN_CACHE_DIR))


class TokenCounter:
    """Counts base tokens, with the vocabulary if the folder holds it. Safe to use from several threads."""

    def __init__(self, vocabulary_folder: Path) -> None:
        self._encoding = _encoding(vocabulary_folder)
        self.source = Source.ESTIMATED if self._encoding is None else Source.O200K
        self._remembered: OrderedDict[bytes, int] = OrderedDict()
        self._remembering = threading.Lock()

    def count(self, text: str) -> int:
        if self._encoding is None:
            return count_by_characters(text)
        if len(text) < REMEMBERED_FROM:
            return _count(self._encoding, text)
        return self._count_once(self._encoding, text)

    def _count_once(self, encoding: tiktoken.Encoding, text: str) -> int:
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        with self._remembering:
            if key in self._remembered:
                self._remembered.move_to_end(key)
                return self._remembered[key]
        counted = _count(encoding, text)
        with self._remembering:
            self._remembered[key] = counted
            if len(self._remembered) > REMEMBERED_TEXTS:
                self._remembered.popitem(last=False)
        return counted


def count_by_characters(text: str) -> int:
    """A base count without a vocabulary, on the high side (`CHARACTER_WEIGHTS`)."""
    content = text.encode("utf-8", "replace")
    others, tokens = len(content), 0.0
    for kind, weight in CHARACTER_WEIGHTS:
        found = _occurrences(content, kind)
        tokens += found * weight
        others -= found
    return math.ceil(tokens + others * OTHER_CHARACTER_WEIGHT)


def _occurrences(content: bytes, kind: bytes) -> int:
    """How many bytes of the content are of this kind; fifty times as fast as a loop."""
    return len(content) - len(content.translate(None, kind))


def _encoding(folder: Path) -> tiktoken.Encoding | None:
    # Checked first, because tiktoken itself would download a vocabulary that is missing or damaged.
    if not vocabulary.is_present(folder):
        return None
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    return tiktoken.get_encoding(vocabulary.ENCODING)


def _count(encoding: tiktoken.Encoding, text: str) -> int:
    # "ordinary": what looks like a control token in somebody's text is text.
    if len(text) <= WINDOW:
        return len(encoding.encode_ordinary(text))
    return sum(len(encoding.encode_ordinary(window)) for window in _WINDOWS.findall(text))


# Before a blank where there is one, as the vocabulary itself cuts; else wherever the window ends.
_WINDOWS = re.compile(rf"(?s:.{{1,{WINDOW}}}(?=\s|\Z)|.{{1,{WINDOW}}})")
