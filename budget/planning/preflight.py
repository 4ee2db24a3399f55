"""Preflight check of every model request: compares the estimated size and its uncertainty with the token limit. Pure.

fits                   expected + margin ≤ limit        send
near the limit         within the margin                have the provider count it, if it can
too long, or unsure    otherwise                        shorten, in pruning order
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

MARGIN_DEVIATIONS: Final = 4.0
"""Standard deviations of the estimate in a margin. In mixed conversations one request in 2,000 was further off, and few
are near a limit."""
MAX_MARGIN: Final = 0.15
"""Fraction of the estimate. Before anything is learned the ratios are uncertain, but already at the high end."""


class Verdict(StrEnum):
    """What to do with a request."""

    SEND = "send"
    COUNT = "count"
    SHORTEN = "shorten"


@dataclass(frozen=True, slots=True)
class PreflightResult:
    """The verdict, and by how many tokens to shorten the request for `SEND`."""

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
    """Tokens reserved for the error of the estimate."""
    return math.ceil(min(MARGIN_DEVIATIONS * uncertainty, MAX_MARGIN * expected))


# Room for tool results ---------------------------------------------------------------------------------------------

ROUND_DIVISOR: Final = 2
"""A round's results may take half of the remaining room: later rounds find room too, so that results already sent and
cached needn't change."""
MIN_HEAD: Final = 120
"""Tokens of a result that are always worth sending: what was found, and where to read the rest."""


@dataclass(frozen=True, slots=True)
class ResultAllocation:
    """Tokens for the results of a round, and for those of the rounds before, oldest first."""

    new: tuple[int, ...]
    older: tuple[int, ...]


def allocate_results(wanted: Sequence[int], older: Sequence[int], room: int) -> ResultAllocation:
    """Divide `room` among a turn's results: `wanted` by new ones, `older` used by those already sent.

    New results are shortened as they arrive. Older ones change only if the new ones would have no head, oldest first
    and down to a head; if not even heads fit, all shrink alike.
    """
    free = room - sum(older)
    need = min(sum(wanted), len(wanted) * MIN_HEAD)
    older = _give(older, need - free)
    free = max(0, room - sum(older))
    return ResultAllocation(_level(wanted, max(free // ROUND_DIVISOR, min(need, free))), tuple(older))


def _give(older: Sequence[int], missing: int) -> list[int]:
    """Older results, shortened to free `missing` tokens: oldest first, to heads, then to nothing."""
    left = list(older)
    for least in (MIN_HEAD, 0):
        for place, tokens in enumerate(left):
            reduction = min(max(0, missing), max(0, tokens - least))
            left[place] -= reduction
            missing -= reduction
    return left


def _level(wanted: Sequence[int], room: int) -> tuple[int, ...]:
    """Each result's tokens: small ones in full, the others equal."""
    shares: dict[int, int] = {}
    for done, place in enumerate(sorted(range(len(wanted)), key=wanted.__getitem__)):
        shares[place] = min(wanted[place], room // (len(wanted) - done))
        room -= shares[place]
    return tuple(shares[place] for place in range(len(wanted)))
