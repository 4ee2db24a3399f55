"""How many tokens will a model count? The base count of `recall/llm/tokens.py`, times a ratio learned per class of
text.

What a model really counts is learned from the usage it reports (`budget/counting/learning.py`).
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from enum import StrEnum
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import Final

from recall.llm.tokens import count_by_characters, occurrences


class TextClass(StrEnum):
    """What a token of a prompt belongs to: kinds of text whose ratio differs, and is therefore learned separately."""

    PROSE = "prose"
    CODE = "code"
    JSON = "json"
    CHINESE = "chinese"
    JAPANESE = "japanese"
    KOREAN = "korean"
    OTHER = "other"  # all other scripts than Latin
    FIXED = "fixed"  # blueprint and tools, the same in every request: one figure, soon known exactly
    FRAME = "frame"  # what a provider adds around each message
    IMAGE = "image"  # by the provider's own rule


# Before anything is learned: the largest ratio seen for English with the newest tokenizer. Too many tokens counted
# cut a memory too soon; too few break the model's limit.
STARTING_RATIO: Final = 1.7
STARTING_RATIOS: Final[Mapping[TextClass, float]] = MappingProxyType(
    {kind: 1.0 if kind is TextClass.IMAGE else STARTING_RATIO for kind in TextClass}
)

# No run of odd turns may carry a ratio out of what tokenizers do. Below 1: the estimated base counts too many.
LOWEST_RATIO: Final = 0.4
HIGHEST_RATIO: Final = 4.0

MESSAGE_FRAME: Final = 3
"""Base tokens a message costs beside its text: role and ends. Short messages are half of it."""
TOOLS_FRAME: Final = 200
"""Base tokens of the instructions that a provider adds where there are tools (Anthropic says 290 to 350 of its own)."""

# Classification reads this many characters: kinds rarely change after the first page.
SAMPLE: Final = 2_000
# Shares of the characters that are not blank, from chat, code, translations: prose .00–.04, code .05–.20.
CODE_MARKS: Final = b"{}()[];=<>_|&$#\\`"
CODE_SHARE: Final = 0.05
CODE_LEAST: Final = 8  # marks; fewer are the brackets of a short sentence
# No text in a Latin alphabet had more than .10 (Ido, with its quoted names), Chinese with Latin names in it .58.
OTHER_SCRIPT_SHARE: Final = 0.3

MIXED_FROM: Final = 200
"""Characters from which a text of several lines is looked at paragraph by paragraph."""
MIXED_UNTIL: Final = 20_000
"""Characters that are looked at: what follows is taken to be alike."""
REMEMBERED_TEXTS: Final = 4_096
"""Texts whose shares are remembered, by digest: history is looked at once, not once a turn."""
_remembered: dict[bytes, dict[TextClass, float]] = {}


def estimate(base_by_class: Mapping[TextClass, int], ratios: Mapping[TextClass, float]) -> int:
    """The model's own count, expected: each class by its learned ratio, rounded up."""
    return math.ceil(sum(base * ratios.get(kind, STARTING_RATIOS[kind]) for kind, base in base_by_class.items()))


def by_class(text: str, base: int) -> dict[TextClass, int]:
    """The base count of a text, divided among the classes in it: a question above a paste is two texts."""
    if len(text) < MIXED_FROM or "\n" not in text:
        return {classify(text): base}
    key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    shares = _remembered.get(key)
    if shares is None:
        if len(_remembered) >= REMEMBERED_TEXTS:
            _remembered.clear()
        shares = _remembered[key] = _shares(text)
    until = [round(base * so_far) for so_far in accumulate(shares.values(), initial=0.0)]
    return {kind: later - earlier for kind, (earlier, later) in zip(shares, pairwise(until), strict=True)}


def _shares(text: str) -> dict[TextClass, float]:
    """Each class's share of the tokens, by the paragraphs; a fenced block is one."""
    sizes: dict[TextClass, float] = {}
    for part in _PARAGRAPHS.findall(text[:MIXED_UNTIL]):
        kind = classify(part)
        sizes[kind] = sizes.get(kind, 0.0) + count_by_characters(part)
    whole = sum(sizes.values())
    return {kind: size / whole for kind, size in sizes.items()} if whole else {classify(text): 1.0}


def classify(text: str) -> TextClass:
    """The kind of a text, from its first characters: a heuristic of at most 0.1 ms."""
    sample = text[:SAMPLE]
    visible = len(sample) - sample.count(" ") - sample.count("\n")
    if _JSON_START.match(sample):
        return TextClass.JSON
    if not sample.isascii() and len(_OTHER_SCRIPT.findall(sample)) > OTHER_SCRIPT_SHARE * visible:
        return _script(sample, visible)
    marks = occurrences(sample.encode("utf-8", "replace"), CODE_MARKS)
    if "```" in sample or marks > max(CODE_LEAST, CODE_SHARE * visible):
        return TextClass.CODE
    return TextClass.PROSE


def _script(sample: str, visible: int) -> TextClass:
    for kind, letters, share in _SCRIPTS:
        if len(letters.findall(sample)) > share * visible:
            return kind
    return TextClass.OTHER


# Scripts whose ratio is far from all others', the share of the visible characters that tells them, in this order:
# Japanese is half Chinese characters.
_SCRIPTS: Final = (
    (TextClass.JAPANESE, re.compile("[\u3040-\u30ff]"), 0.1),
    (TextClass.CHINESE, re.compile("[\u3400-\u9fff\uf900-\ufaff]"), 0.3),
    (TextClass.KOREAN, re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]"), 0.3),
)


# By its first characters, because parsing a long text costs more than counting it. A list must show a second sign of
# being one: prose has its [1] and [forgotten].
_JSON_START = re.compile(r'\s*(\{\s*["}]|\[\s*([{"]|\[\s*[\[{"\d-]|-?[\d.]+\s*,))')


# Beyond the Latin letters: accented Latin (Vietnamese too) and typographic marks are prose.
_OTHER_SCRIPT = re.compile("[\u0250-\u1dff\u2070-\U0010ffff]")
_PARAGRAPHS = re.compile(r"```.*?(?:```|\Z)|(?:(?!```|\n[ \t]*\n).)+", re.DOTALL)
