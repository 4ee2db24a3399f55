"""How many tokens is an image, and how large does the model see it? By the provider's rule.

The provider lays a grid over an image: one token for each square of `PATCH` pixels, parts of one included. An image
that is larger than its model takes is first scaled down, its proportions kept, until both limits of the model's tier
hold. (Its documentation, "Vision" and "Coordinates and image resizing", 2026; the older rule of thumb, width × height
/ 750, is the same grid without its edges.) What the picture shows or how large its file is does not count.

Of a file the text that is read out of it is counted, as any other: the provider would add an image of each page of a
PDF (some 1,600 tokens); its text alone says what it says for a third of that.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

PATCH: Final = 28
"""Pixels: the side of the square that costs one token."""


@dataclass(frozen=True, slots=True)
class Tier:
    """What a model takes of one image, after scaling."""

    longest_side: int
    """Pixels."""
    most_tokens: int


STANDARD: Final = Tier(longest_side=1_568, most_tokens=1_568)
HIGH: Final = Tier(longest_side=2_576, most_tokens=4_784)
STANDARD_MODELS: Final = (
    "claude-opus-4-6",
    "claude-opus-4-5",
    "claude-sonnet-4-6",
    "claude-sonnet-4-5",
    "claude-haiku-4-5",
)
"""By the beginning of their names; Opus 4.7 and all that came later see more. A model that is not known is taken for
one of those: too many tokens counted cut a memory too soon, too few break the model's limit."""


def tier_of(model: str) -> Tier:
    """The limits of `model`."""
    return STANDARD if model.startswith(STANDARD_MODELS) else HIGH


def image_tokens(width: int, height: int, model: str) -> int:
    """Tokens of an image of so many pixels. Raises ValueError for one without area."""
    if width < 1 or height < 1:
        raise ValueError(f"an image of {width} × {height} pixels is none")
    return _squares(*scaled(width, height, tier_of(model)))


def scaled(width: int, height: int, tier: Tier) -> tuple[int, int]:
    """Width and height at which a model of this tier sees the image: its own, or the largest that hold both limits."""
    if _holds(width, height, tier):
        return width, height
    long, short = max(width, height), min(width, height)

    def too_large(side: int) -> bool:
        return not _holds(side, _other(side, long, short), tier)

    largest = max(1, bisect_left(range(1, long), True, key=too_large))
    other = _other(largest, long, short)
    return (largest, other) if width >= height else (other, largest)


def _holds(width: int, height: int, tier: Tier) -> bool:
    sides = -(-width // PATCH) * PATCH, -(-height // PATCH) * PATCH
    return max(sides) <= tier.longest_side and _squares(width, height) <= tier.most_tokens


def _squares(width: int, height: int) -> int:
    return -(-width // PATCH) * -(-height // PATCH)


def _other(side: int, long: int, short: int) -> int:
    """The shorter side that belongs to a longer one of `side` pixels."""
    return max(1, round(side * short / long))
