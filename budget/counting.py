"""How many tokens will a model count? The base count of `recall/tokens.py`, times a ratio learned per class of text.

What a model really counts is learned turn by turn from the usage it reports.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

from recall.tokens import count, occurrences


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

# Classification reads this many characters: kinds rarely change after the first page.
SAMPLE: Final = 2_000
# Shares of the characters that are not blank, from chat, code, translations: prose .00–.04, code .05–.20.
CODE_MARKS: Final = b"{}()[];=<>_|&$#\\`"
CODE_SHARE: Final = 0.05
CODE_LEAST: Final = 8  # marks; fewer are the brackets of a short sentence
# No text in a Latin alphabet had more than .10 (Ido, with its quoted names), Chinese with Latin names in it .58.
OTHER_SCRIPT_SHARE: Final = 0.3


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
    marks = occurrences(sample.encode("utf-8", "replace"), CODE_MARKS)
    if "```" in sample or marks > max(CODE_LEAST, CODE_SHARE * visible):
        return TextClass.CODE
    return TextClass.PROSE


# By its first characters, because parsing a long text costs more than counting it. A list must show a second sign of
# being one: prose has its [1] and [forgotten].
_JSON_START = re.compile(r'\s*(\{\s*["}]|\[\s*([{"]|\[\s*[\[{"\d-]|-?[\d.]+\s*,))')


# Beyond the Latin letters: accented Latin (Vietnamese too) and typographic marks are prose.
_OTHER_SCRIPT = re.compile("[\u0250-\u1dff\u2070-\U0010ffff]")
