"""Token counting: a text's base count by tiktoken's o200k_base, or estimated from its characters, on the high side.

o200k_base is another maker's vocabulary and undercounts Claude; `budget/counting/estimate.py` turns the base count into
a model's own count. Without the vocabulary (`recall/process/token_vocabulary.py`), pages say "estimated".
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import string
import threading
from collections import OrderedDict
from enum import StrEnum
from pathlib import Path
from typing import Final

import tiktoken

from recall.load_once import LoadOnce
from recall.process import token_vocabulary


class Source(StrEnum):
    """How the base count is made. Ratios learned on one don't fit the other."""

    O200K = "o200k"
    ESTIMATED = "estimated"


# Tokens per character without a vocabulary, by kind of UTF-8 byte. Chosen never to undercount chat, code and JSON,
# which come out half too high; the learned ratio corrects that. Of the 97 languages of Django's translations, seven
# that tokenizers hardly know are undercounted, by a fifth at most (Kabyle).
CHARACTER_WEIGHTS: Final = (
    (string.ascii_letters.encode(), 0.3),
    (string.digits.encode(), 1.0),
    (b" \t", 0.12),
    (bytes(range(0xC2, 0xCC)), 1.2),  # first byte of a Latin letter with an accent
    (bytes(range(0xCC, 0xE0)), 0.55),  # Greek, Cyrillic, Hebrew, Arabic
    (bytes(range(0xE0, 0xF0)), 1.0),  # Chinese, Japanese, Korean, Indian and all other scripts
    (bytes(range(0xF0, 0xF8)), 3.0),  # emoji
    (bytes(range(0x80, 0xC0)), 0.0),  # continuation bytes
)
OTHER_CHARACTER_WEIGHT: Final = 1.0  # punctuation, line ends, control characters

# Characters passed to tiktoken at once: a megabyte of spaces makes it panic, one of letters takes a second.
WINDOW: Final = 4_000

# Counts are cached for texts that are in every prompt (system prompt, profile). By digest, so that no forgotten text
# stays in memory. Short texts are counted as fast as they are looked up.
REMEMBERED_TEXTS: Final = 4_096
REMEMBERED_FROM: Final = 400  # characters


def count_tokens(text: str) -> int:
    """Base tokens of any text; control tokens and broken Unicode count as text.

    8,000 tokens take 3 ms, or 0.04 ms from the cache; a megabyte of anything takes at most half a second. Never uses
    the network.
    """
    return counter().count(text)


def source() -> Source:
    """How this process counts; decided at the first call."""
    return counter().source


def exact() -> bool:
    """Whether counts use the vocabulary. If not, the page says "estimated"."""
    return source() is Source.O200K


@LoadOnce
def counter() -> TokenCounter:
    """The counter of this process; the first call loads the vocabulary (half a second, 50 MB)."""
    from django.conf import settings

    return TokenCounter(Path(settings.TIKTOKEN_CACHE_DIR))


class TokenCounter:
    """Counts base tokens, with the vocabulary if the folder has it. Thread-safe."""

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
    """A base count without the vocabulary, on the high side (`CHARACTER_WEIGHTS`)."""
    content = text.encode("utf-8", "replace")
    others, tokens = len(content), 0.0
    for kind, weight in CHARACTER_WEIGHTS:
        found = occurrences(content, kind)
        tokens += found * weight
        others -= found
    return math.ceil(tokens + others * OTHER_CHARACTER_WEIGHT)


def occurrences(content: bytes, kind: bytes) -> int:
    """The number of bytes of this kind, fifty times as fast as a loop."""
    return len(content) - len(content.translate(None, kind))


def _encoding(folder: Path) -> tiktoken.Encoding | None:
    # Check first: tiktoken would download a missing or damaged vocabulary.
    if not token_vocabulary.is_present(folder):
        return None
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    encoding = tiktoken.get_encoding(token_vocabulary.ENCODING)
    encoding._mergeable_ranks = {}  # 200,000 Python objects, 27 MB, that only pickling reads
    return encoding


def _count(encoding: tiktoken.Encoding, text: str) -> int:
    # "ordinary": what looks like a control token in a user's text is text.
    if len(text) <= WINDOW:
        return len(encoding.encode_ordinary(text))
    return sum(len(encoding.encode_ordinary(window)) for window in _WINDOWS.findall(text))


# Split before whitespace, as the vocabulary does; else wherever the window ends.
_WINDOWS = re.compile(rf"(?s:.{{1,{WINDOW}}}(?=\s|\Z)|.{{1,{WINDOW}}})")
