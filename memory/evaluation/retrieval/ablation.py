"""What each part and each kind of question is worth: the same questions without it, over conversations.

Differences are means over conversations with their standard deviation, never one total: what helps in one conversation
and harms in another is not worth its place.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import mean, stdev
from typing import Final

from memory.evaluation.datasets import Conversation
from memory.evaluation.retrieval import metrics
from memory.evaluation.retrieval.run import Product, temporary_user
from memory.retrieval.ranking import Part, RankingProfile

RECALL_AT: Final = (5, 10)
WHOLE: Final = "nothing"
"""The change that is none."""
FACTORS: Final = (0.0, 0.5, 2.0)
"""Of a part's weight. Half and twice say whether the weight is on a slope."""
GAIN: Final = 0.25
"""Points by which a change must be better elsewhere to be chosen: less is chance."""

type Figures = tuple[float, ...]
"""Of one conversation, the recall at RECALL_AT in percent."""


def variants(profile: RankingProfile) -> dict[str, RankingProfile]:
    """The profile as it is (WHOLE), with other weights, and without each kind of question."""
    changed = {
        f"{part} × {factor:g}": replace(
            profile, weights=_scaled(profile.weights, part, factor), chats=_scaled(profile.chats, part, factor)
        )
        for part in profile.weights
        for factor in FACTORS
    }
    without = {
        f"kind “{kind.name}”": replace(profile, kinds=tuple(other for other in profile.kinds if other != kind))
        for kind in profile.kinds
    }
    return {WHOLE: profile, **changed, "weights of chats": replace(profile, chats={}), **without}


def _scaled(weights: Mapping[Part, float], scaled: Part, factor: float) -> dict[Part, float]:
    return {part: factor * weight if part == scaled else weight for part, weight in weights.items()}


def compare(
    conversations: Sequence[Conversation], products: Mapping[str, Product], tell: Callable[[str], None]
) -> dict[str, list[Figures]]:
    """Each product's figures, by conversation. Each conversation is stored and indexed once, by the first product."""
    first = next(iter(products.values()))
    figures: dict[str, list[Figures]] = {name: [] for name in products}
    for conversation in conversations:
        with temporary_user() as user:
            item_of = {message: item for item, message in first.store(user, conversation).items()}
            first.index(user)
            for name, product in products.items():
                tell(f"{conversation.id}: {name}")
                found = []
                for question in conversation.questions:
                    if question.evidence and question.category != metrics.ADVERSARIAL:
                        ranked = product.ask(user, question.text, conversation.ended_at).ranked
                        items = [item_of[message] for message in ranked if message in item_of]
                        found.append([metrics.recall(question.evidence, items, k) for k in RECALL_AT])
                figures[name].append(tuple(100 * mean(column) for column in zip(*found, strict=True)))
    return figures


def differences(figures: Mapping[str, Sequence[Figures]]) -> dict[str, list[Figures]]:
    """What each change gains in each conversation; of WHOLE, its figures; and what is gained by choosing elsewhere."""
    whole = figures[WHOLE]
    gained = {
        name: [_difference(other, own) for other, own in zip(by_conversation, whole, strict=True)]
        for name, by_conversation in figures.items()
        if name != WHOLE
    }
    chosen, kept = _chosen_elsewhere(figures)
    return {WHOLE: list(whole), **gained, f"chosen on all others ({chosen})": kept}


def render(file: str, figures: Mapping[str, Sequence[Figures]]) -> Iterator[str]:
    """The lines of a Markdown table: what changes without a part or a kind, or with another weight."""
    yield f"| {file}: change | R@5 | R@10 |"
    yield "|---|---|---|"
    for name, rows in differences(figures).items():
        cells = [f"{middle:{'' if name == WHOLE else '+'}.1f} ± {spread:.1f}" for middle, spread in _spreads(rows)]
        yield f"| {name} | {' | '.join(cells)} |"


def kept_figures(figures: Mapping[str, Sequence[Figures]]) -> dict[str, tuple[float, str]]:
    """The same for `bench/results`: name → points and unit."""
    return {
        f"{name.partition(' (')[0]}, R@{k}{sign}": (value, "%" if name == WHOLE else "points")
        for name, rows in differences(figures).items()
        for k, spread in zip(RECALL_AT, _spreads(rows), strict=True)
        for sign, value in zip(("", ", ±"), spread, strict=True)
    }


def _chosen_elsewhere(figures: Mapping[str, Sequence[Figures]]) -> tuple[str, list[Figures]]:
    """The change that is best on all conversations but one, and what it gains in that one; for each of them."""
    whole, names, gained = figures[WHOLE], [], []
    for left_out in range(len(whole)):
        others = [number for number in range(len(whole)) if number != left_out]
        score = {name: mean(sum(own[number]) / 2 for number in others) for name, own in figures.items()}
        best = max(score, key=lambda name: score[name])
        if score[best] - score[WHOLE] < GAIN:
            best = WHOLE
        names.append(best)
        gained.append(_difference(figures[best][left_out], whole[left_out]))
    return ", ".join(dict.fromkeys(names)), gained


def _difference(other: Figures, own: Figures) -> Figures:
    return tuple(one - before for one, before in zip(other, own, strict=True))


def _spreads(rows: Sequence[Figures]) -> list[tuple[float, float]]:
    """Mean and standard deviation of each column."""
    return [(mean(values), stdev(values) if len(values) > 1 else 0.0) for values in zip(*rows, strict=True)]
