"""Retrieval metrics: how much evidence is among the first items, and within a token budget. Pure.

The figures of one question are shares, 0–1; means over questions are percentages. Questions of the category
`adversarial` ask for something that was never said: no total includes them.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

RECALL_AT: Final = (3, 5, 10, 20)
HIT_AT: Final = (5, 10)
ALL_AT: Final = (10,)
GAIN_AT: Final = 10
INSIDE_TOKENS: Final = (800, 2000, 5000)
"""About as many tokens as `small`, a tight `standard` and the `standard` plan leave for recalled memories."""
MIN_LINE_TOKENS: Final = 12
"""Tokens: no line fits into less, so the filling ends."""

MEASURES: Final = (
    *(f"R@{k}" for k in RECALL_AT),
    *(f"hit@{k}" for k in HIT_AT),
    *(f"all@{k}" for k in ALL_AT),
    f"NDCG@{GAIN_AT}",
    *(f"B{tokens}" for tokens in INSIDE_TOKENS),
)
"""The measures in the order of the table."""

ADVERSARIAL: Final = "adversarial"
ANSWERABLE: Final = "answerable"
"""The total of all categories except the adversarial one."""

type Figures = Mapping[str, float]
"""Measure → value."""


def measure[Item: Hashable](
    evidence: Collection[Item], ranked: Sequence[Item], tokens: Mapping[Item, int]
) -> dict[str, float]:
    """Every measure of one question. `tokens`: of each item's line; items without an entry take no room.

    `evidence` must not be empty, and an item may be in `ranked` only once.
    """
    figures = {f"R@{k}": recall(evidence, ranked, k) for k in RECALL_AT}
    figures |= {f"hit@{k}": float(recall(evidence, ranked, k) > 0) for k in HIT_AT}
    figures |= {f"all@{k}": float(recall(evidence, ranked, k) == 1) for k in ALL_AT}
    figures[f"NDCG@{GAIN_AT}"] = gain(evidence, ranked, GAIN_AT)
    return figures | {f"B{room}": inside(evidence, ranked, tokens, room) for room in INSIDE_TOKENS}


def recall[Item: Hashable](evidence: Collection[Item], ranked: Sequence[Item], k: int) -> float:
    """Share of the evidence among the first `k`."""
    return len(set(evidence) & set(ranked[:k])) / len(evidence)


def gain[Item: Hashable](evidence: Collection[Item], ranked: Sequence[Item], k: int) -> float:
    """Normalized discounted cumulative gain of the first `k`; each item is either evidence or not."""
    found = sum(1 / math.log2(rank + 2) for rank, item in enumerate(ranked[:k]) if item in evidence)
    return found / sum(1 / math.log2(rank + 2) for rank in range(min(k, len(evidence))))


def inside[Item: Hashable](
    evidence: Collection[Item], ranked: Sequence[Item], tokens: Mapping[Item, int], room: int
) -> float:
    """Share of the evidence within `room` tokens, filled best first; an item that no longer fits is skipped."""
    used = got = 0
    for item in ranked:
        if item not in tokens:
            continue
        if used + tokens[item] <= room:
            used += tokens[item]
            got += item in evidence
        elif room - used < MIN_LINE_TOKENS:
            break
    return got / len(evidence)


@dataclass(frozen=True, slots=True)
class Mean:
    """Means over the questions of one category, or over all that can be answered."""

    questions: int
    figures: Figures
    """Measure → mean in percent."""


def by_category(measured: Iterable[tuple[str, Figures]]) -> dict[str, Mean]:
    """Means of all categories except the adversarial one as `ANSWERABLE`, then by category, `ADVERSARIAL` last."""
    groups: dict[str, list[Figures]] = defaultdict(list)
    for category, figures in measured:
        groups[category].append(figures)
    means = {category: mean(groups[category]) for category in sorted(groups, key=lambda c: (c == ADVERSARIAL, c))}
    answerable = [figures for category, rows in groups.items() if category != ADVERSARIAL for figures in rows]
    return {ANSWERABLE: mean(answerable)} | means if answerable else means


def mean(rows: Sequence[Figures]) -> Mean:
    """The mean of every measure over `rows` (at least one), which all have the same measures."""
    return Mean(len(rows), {name: per_cent([row[name] for row in rows]) for name in rows[0]})


def per_cent(shares: Sequence[float]) -> float:
    """The mean of `shares` in percent; 0 if there are none. Summed in the scorer's order, so that both round alike."""
    return 100 * sum(shares) / len(shares) if shares else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of the values don't exceed (nearest rank); 0 if there are none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0
