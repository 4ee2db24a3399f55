"""Token estimates: the base count of `recall/llm/tokens.py` times a ratio learned per text class.

The ratios are learned from the usage a model reports (`budget/counting/learning.py`).
"""

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
    """Kinds of text whose token ratios differ and are learned separately."""

    PROSE = "prose"
    CODE = "code"
    JSON = "json"
    CHINESE = "chinese"
    JAPANESE = "japanese"
    KOREAN = "korean"
    OTHER = "other"  # all scripts but Latin
    FIXED = "fixed"  # system prompt and tools, the same in every request: soon known exactly
    FRAME = "frame"  # what a provider adds around each message
    IMAGE = "image"  # by the provider's own rule


# Before anything is learned: the largest ratio seen for English with the newest tokenizer. Overestimating cuts a memory
# too soon; underestimating breaks the model's limit.
STARTING_RATIO: Final = 1.7
STARTING_RATIOS: Final[Mapping[TextClass, float]] = MappingProxyType(
    {kind: 1.0 if kind is TextClass.IMAGE else STARTING_RATIO for kind in TextClass}
)

# Bounds that real tokenizers stay within. Below 1: the estimated base count is too high.
MIN_RATIO: Final = 0.4
MAX_RATIO: Final = 4.0

MESSAGE_FRAME: Final = 3
"""Base tokens a message costs beside its text: role and delimiters; half of a short message."""
TOOLS_FRAME: Final = 200
"""Base tokens of the instructions a provider adds when there are tools (Anthropic says 290 to 350 of its own)."""

# Classification reads this many characters: kinds rarely change after the first page.
SAMPLE: Final = 2_000
# Shares of non-blank characters, measured on chat, code and translations: prose .00–.04, code .05–.20.
CODE_MARKS: Final = b"{}()[];=<>_|&$#\\`"
CODE_SHARE: Final = 0.05
CODE_LEAST: Final = 8  # marks; fewer may be brackets in a short sentence
# No text in a Latin alphabet had more than .10 (Ido, with its quoted names), Chinese with Latin names in it .58.
OTHER_SCRIPT_SHARE: Final = 0.3

MIXED_FROM: Final = 200
"""Characters from which a multi-line text is classified by paragraph."""
MIXED_UNTIL: Final = 20_000
"""Characters that are classified; the rest is assumed to be the same."""
REMEMBERED_TEXTS: Final = 4_096
"""Texts whose shares are cached, by digest: history is classified once, not every turn."""
_remembered: dict[bytes, dict[TextClass, float]] = {}


def estimate(base_by_class: Mapping[TextClass, int], ratios: Mapping[TextClass, float]) -> int:
    """The model's expected count: each class by its learned ratio, rounded up."""
    return math.ceil(sum(base * ratios.get(kind, STARTING_RATIOS[kind]) for kind, base in base_by_class.items()))


def by_class(text: str, base: int) -> dict[TextClass, int]:
    """The base count of a text, split by class: a question above a paste is two texts."""
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
    """Each class's share of the tokens, by paragraph; a fenced block is one paragraph."""
    sizes: dict[TextClass, float] = {}
    for part in _PARAGRAPHS.findall(text[:MIXED_UNTIL]):
        kind = classify(part)
        sizes[kind] = sizes.get(kind, 0.0) + count_by_characters(part)
    whole = sum(sizes.values())
    return {kind: size / whole for kind, size in sizes.items()} if whole else {classify(text): 1.0}


def classify(text: str) -> TextClass:
    """The class of a text, by a heuristic on its first characters; at most 0.1 ms."""
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


# Scripts with a very different ratio, and the share of visible characters that identifies them. Japanese first: half of
# its characters are Chinese.
_SCRIPTS: Final = (
    (TextClass.JAPANESE, re.compile("[\u3040-\u30ff]"), 0.1),
    (TextClass.CHINESE, re.compile("[\u3400-\u9fff\uf900-\ufaff]"), 0.3),
    (TextClass.KOREAN, re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]"), 0.3),
)


# By its first characters, because parsing a long text costs more than counting it. A list needs a second sign: prose
# contains [1] and [forgotten].
_JSON_START = re.compile(r'\s*(\{\s*["}]|\[\s*([{"]|\[\s*[\[{"\d-]|-?[\d.]+\s*,))')


# Beyond Latin; accented Latin (also Vietnamese) and typographic marks count as prose.
_OTHER_SCRIPT = re.compile("[\u0250-\u1dff\u2070-\U0010ffff]")
_PARAGRAPHS = re.compile(r"```.*?(?:```|\Z)|(?:(?!```|\n[ \t]*\n).)+", re.DOTALL)
