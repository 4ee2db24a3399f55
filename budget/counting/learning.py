"""Learns a model's token ratios from reported usage. Pure: takes a belief and one figure, returns a better belief.

A Kalman filter over the ratios of all text classes at once. A prompt mixes classes and the provider reports only sums,
so each figure informs about a mixture; the covariance tracks which mixtures are known and separates the classes as soon
as two mixtures differ. A mean per class, moved by each turn's error, would never do that.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from budget.counting.estimate import MAX_RATIO, MIN_RATIO, STARTING_RATIOS, TextClass

STARTING_SPREAD: Final = 0.3
"""Standard deviation of a ratio before anything is learned: known tokenizers have ratios of 1.0 to 2.2."""
WITHIN_CLASS: Final[Mapping[TextClass, float]] = MappingProxyType(
    {  # Relative difference of two texts of one class, which can't be learned.
        TextClass.PROSE: 0.05,
        TextClass.CODE: 0.06,
        TextClass.JSON: 0.06,
        TextClass.CHINESE: 0.05,
        TextClass.JAPANESE: 0.06,
        TextClass.KOREAN: 0.06,
        TextClass.OTHER: 0.08,  # Russian and Thai are one class
        TextClass.FIXED: 0.002,  # the same text in each request
        TextClass.FRAME: 0.02,
        TextClass.IMAGE: 0.02,
    }
)
ROUNDING: Final = 2.0
"""Tokens by which any figure may be off, even for short texts."""
DRIFT: Final = 0.004
"""Standard deviation that each figure adds to the ratios it concerns: old knowledge is less certain."""
BELIEVABLE: Final = 4.0
"""Standard deviations: a figure further off (the request had something uncounted) is clipped to this."""

KINDS: Final = tuple(TextClass)
Counts = Mapping[TextClass, int]
Covariance = Mapping[TextClass, Mapping[TextClass, float]]


@dataclass(frozen=True, slots=True)
class Belief:
    """The estimated ratios and their uncertainty."""

    ratios: Mapping[TextClass, float]
    covariance: Covariance
    """Variances on the diagonal; symmetric."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One figure reported by the provider, and the texts it counts."""

    base_by_class: Counts
    tokens: int
    variance: float = 0.0
    """Variance of the figure itself, if an estimate was subtracted from it."""


def unknown() -> Belief:
    """The belief about a model before its first figure."""
    nothing = {kind: {other: STARTING_SPREAD**2 if kind is other else 0.0 for other in KINDS} for kind in KINDS}
    return Belief(STARTING_RATIOS, nothing)


def expected(belief: Belief, base: Counts) -> float:
    """Expected tokens, unrounded."""
    return sum(count * belief.ratios[kind] for kind, count in base.items())


def standard_deviation(belief: Belief, base: Counts) -> float:
    """Standard deviation of the tokens around `expected`: of the ratios, and of texts within their class."""
    known = sum(m * n * belief.covariance[one][other] for one, m in base.items() for other, n in base.items())
    return math.sqrt(max(0.0, known) + _noise(belief, base))


def learn(belief: Belief, figure: Observation) -> Belief:
    """The belief after one more figure."""
    seen = {kind: count for kind, count in figure.base_by_class.items() if count > 0}
    if not seen or figure.tokens <= 0:
        return belief
    before = {
        one: {other: value + (DRIFT**2 if one is other and one in seen else 0.0) for other, value in row.items()}
        for one, row in belief.covariance.items()
    }
    touched = {one: sum(count * before[one][kind] for kind, count in seen.items()) for one in KINDS}
    variance = sum(count * touched[kind] for kind, count in seen.items()) + _noise(belief, seen) + figure.variance
    limit = BELIEVABLE * math.sqrt(variance)
    missed = min(max(figure.tokens - expected(belief, seen), -limit), limit)
    moved = {one: belief.ratios[one] + touched[one] * missed / variance for one in KINDS}
    ratios = {one: min(max(ratio, MIN_RATIO), MAX_RATIO) for one, ratio in moved.items()}
    after = {one: {two: before[one][two] - touched[one] * touched[two] / variance for two in KINDS} for one in KINDS}
    return Belief(ratios, after)


def _noise(belief: Belief, base: Counts) -> float:
    within_class = sum((WITHIN_CLASS[kind] * count * belief.ratios[kind]) ** 2 for kind, count in base.items())
    return within_class + ROUNDING**2
