"""Image tokens and the size at which a model sees an image, by the provider's rule.

One token for each square of `PATCH` pixels, partial ones included. An image over its model's limits is first scaled
down, keeping its proportions, until both limits of the model's tier hold. (Provider's documentation, "Vision" and
"Coordinates and image resizing", 2026; the older rule, width × height / 750, is the same grid without its edges.)

Only a file's extracted text is counted: sending a PDF would add an image per page (about 1,600 tokens), three times its
text.
"""

from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

PATCH: Final = 28
"""Side of the square that costs one token, in pixels."""


@dataclass(frozen=True, slots=True)
class Tier:
    """A model tier's limits for one image, after scaling."""

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
"""Model names start with one of these; Opus 4.7 and later see more. An unknown model is treated like those:
overestimating cuts a memory too soon, underestimating breaks the model's limit."""


def tier_of(model: str) -> Tier:
    """The limits of `model`."""
    return STANDARD if model.startswith(STANDARD_MODELS) else HIGH


def image_tokens(width: int, height: int, model: str) -> int:
    """Tokens of an image of this size in pixels. Raises ValueError for an empty one."""
    if width < 1 or height < 1:
        raise ValueError(f"an image can't have {width} × {height} pixels")
    return _squares(*scaled(width, height, tier_of(model)))


def scaled(width: int, height: int, tier: Tier) -> tuple[int, int]:
    """The size at which a model of this tier sees the image: its own, or the largest within both limits."""
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
    """The shorter side when the longer one has `side` pixels."""
    return max(1, round(side * short / long))
