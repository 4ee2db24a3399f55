"""The retrieval evaluation as a text table: Recall and the baselines, one block per category."""

from collections.abc import Iterator
from typing import Final

from memory.evaluation.retrieval.metrics import ADVERSARIAL, ANSWERABLE, MEASURES, Mean
from memory.evaluation.retrieval.run import Evaluation

NAME_WIDTH: Final = 26
WIDTH: Final = 8
"""Characters of a figure's column: `NDCG@10` and a gap."""


def render(evaluation: Evaluation) -> str:
    """The whole report of one file, as plain text; figures in percent, times in milliseconds."""
    return "\n".join([*_head(evaluation), "", *_blocks(evaluation), *_recalled(evaluation), *_times(evaluation)])


def _head(evaluation: Evaluation) -> Iterator[str]:
    yield (
        f"{evaluation.file}: conversations: {evaluation.conversations}, turns or messages: {evaluation.items:,},"
        f" questions: {evaluation.questions}. Figures in per cent, means over questions."
    )
    yield "R@k: evidence among the first k; B800: evidence inside the first 800 tokens of 4 characters."


def _blocks(evaluation: Evaluation) -> Iterator[str]:
    for category in next(iter(evaluation.systems.values())):
        means = {system: by_category[category] for system, by_category in evaluation.systems.items()}
        yield _row(_title(category, next(iter(means.values()))), MEASURES)
        yield from (_row(f"  {system}", _figures(mean)) for system, mean in means.items())
        yield ""


def _title(category: str, mean: Mean) -> str:
    name = {ANSWERABLE: "all answerable", ADVERSARIAL: "adversarial (apart)"}.get(category, category)
    return f"{name}, {mean.questions}"


def _figures(mean: Mean) -> tuple[str, ...]:
    return tuple(f"{mean.figures[name]:.1f}" for name in MEASURES)


def _row(name: str, cells: tuple[str, ...]) -> str:
    return f"{name:<{NAME_WIDTH}}" + "".join(f"{cell:>{WIDTH}}" for cell in cells)


def _recalled(evaluation: Evaluation) -> Iterator[str]:
    recalled = evaluation.recalled
    yield (
        f"Recalled (top-K, floor applied): {recalled.mean_memories:.1f} memories a question;"
        f" evidence among them for {recalled.with_evidence:.1f} % of the answerable questions."
    )
    yield (
        f"Useful share: {recalled.useful_share:.1f} % of the recalled memories are labelled evidence;"
        f" R@10 lost where nothing is recalled: {recalled.lost_to_silence:.1f} points."
    )
    if recalled.for_adversarial is not None:
        yield f"Anything recalled at all for adversarial questions: {recalled.for_adversarial:.1f} %."


def _times(evaluation: Evaluation) -> Iterator[str]:
    yield (
        f"Retrieval, embedding included: p50 {evaluation.latency.p50:.1f} ms, p95 {evaluation.latency.p95:.1f} ms;"
        f" import and indexing: {evaluation.indexing_seconds:.1f} s."
    )
