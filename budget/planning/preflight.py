"""May this request be sent? Pure: what it is expected to have, how sure that is, and the limit. Asked before each one.

surely fits            expected + margin ≤ limit        send
near the limit         the margin decides               let the provider count it, where it can
too long, or too near  nobody can tell                  shorten: what gives way first, first
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

SURE: Final = 4.0
"""Standard deviations of the estimate that make a margin. Over mixed conversations one request in 2,000 was further
off than that, and few of them stand near a limit."""
LARGEST_MARGIN: Final = 0.15
"""Of the estimate. Before anything is learned the ratios are unsure, but already at the high end."""


class Verdict(StrEnum):
    """What is done with a request."""

    SEND = "send"
    COUNT = "count"
    SHORTEN = "shorten"


@dataclass(frozen=True, slots=True)
class PreflightResult:
    """The verdict, and by how many tokens the request must become shorter for it to be `SEND`."""

    verdict: Verdict
    over: int = 0


def check_estimate(expected: int, uncertainty: float, limit: int, *, can_count: bool) -> PreflightResult:
    """The decision on an estimate whose standard deviation is `uncertainty`; all in tokens."""
    margin = margin_of(expected, uncertainty)
    over = max(0, expected + margin - limit)
    if not over:
        return PreflightResult(Verdict.SEND)
    if can_count and expected - margin <= limit:
        return PreflightResult(Verdict.COUNT, over)
    return PreflightResult(Verdict.SHORTEN, over)


def check_counted(counted: int, limit: int) -> PreflightResult:
    """The decision on the provider's own count."""
    return PreflightResult(Verdict.SHORTEN, counted - limit) if counted > limit else PreflightResult(Verdict.SEND)


def margin_of(expected: int, uncertainty: float) -> int:
    """Tokens that are kept free for what the estimate may be off."""
    return math.ceil(min(SURE * uncertainty, LARGEST_MARGIN * expected))


# What the results of tools may take --------------------------------------------------------------------------------

KEPT_FOR_LATER: Final = 2
"""The results of one round may take one half of the room that is left for all rounds: later ones find room as well,
so that what was sent, and stands in the cache, need not be changed."""
LEAST_HEAD: Final = 120
"""Tokens of a result that are always worth sending: it says what was found, and the line where the whole is."""


@dataclass(frozen=True, slots=True)
class Allotted:
    """Tokens for the results of a round, and for those of the rounds before, oldest first."""

    new: tuple[int, ...]
    older: tuple[int, ...]


def allocate_results(wanted: Sequence[int], older: Sequence[int], room: int) -> Allotted:
    """Share `room` among the results of a turn: `wanted` by the new ones, `older` taken by those already sent.

    New results are shortened as they arrive. Older ones are changed only where the new ones would have no head, the
    oldest first and to a head of their own; if not even heads have room, all shrink alike.
    """
    free = room - sum(older)
    need = min(sum(wanted), len(wanted) * LEAST_HEAD)
    older = _give(older, need - free)
    free = max(0, room - sum(older))
    return Allotted(_level(wanted, max(free // KEPT_FOR_LATER, min(need, free))), tuple(older))


def _give(older: Sequence[int], missing: int) -> list[int]:
    """Older results, shortened to free `missing` tokens: first to heads, oldest first, then to nothing."""
    left = list(older)
    for least in (LEAST_HEAD, 0):
        for place, tokens in enumerate(left):
            given = min(max(0, missing), max(0, tokens - least))
            left[place] -= given
            missing -= given
    return left


def _level(wanted: Sequence[int], room: int) -> tuple[int, ...]:
    """What each gets: small ones all, the others the same."""
    shares: dict[int, int] = {}
    for done, place in enumerate(sorted(range(len(wanted)), key=wanted.__getitem__)):
        shares[place] = min(wanted[place], room // (len(wanted) - done))
        room -= shares[place]
    return tuple(shares[place] for place in range(len(wanted)))
