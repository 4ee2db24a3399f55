"""The retrieval evaluation as a text table, one block per category, and as figures with names for `--record`."""

from collections.abc import Iterator
from typing import Final

from memory.evaluation.retrieval.baselines import DENSE
from memory.evaluation.retrieval.metrics import ADVERSARIAL, ANSWERABLE, MEASURES, Mean
from memory.evaluation.retrieval.run import Evaluation

NAME_WIDTH: Final = 26
WIDTH: Final = 8
"""Characters of a figure's column: `NDCG@10` and a gap."""
RECORDED: Final = ("R@5", "R@10", "B800")


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
        for system, mean in means.items():
            yield _row(f"  {system}", tuple(f"{mean.figures[name]:.1f}" for name in MEASURES))
        yield ""


def _title(category: str, mean: Mean) -> str:
    name = {ANSWERABLE: "all answerable", ADVERSARIAL: "adversarial (apart)"}.get(category, category)
    return f"{name}, {mean.questions}"


def _row(name: str, cells: tuple[str, ...]) -> str:
    return f"{name:<{NAME_WIDTH}}" + "".join(f"{cell:>{WIDTH}}" for cell in cells)


def _recalled(evaluation: Evaluation) -> Iterator[str]:
    recalled = evaluation.recalled
    yield (
        f"Recalled (top-K, floor applied): {recalled.mean_memories:.1f} memories a question;"
        f" evidence among them for {recalled.with_evidence:.1f} % of the answerable questions."
    )
    yield (
        f"Useful share: {recalled.useful_share:.1f} % of the recalled memories are labeled evidence;"
        f" R@10 lost where nothing is recalled: {recalled.lost_to_silence:.1f} points."
    )
    if recalled.for_adversarial is not None:
        yield (
            f"Anything recalled at all for adversarial questions: {recalled.for_adversarial:.1f} %."
            f" Of {recalled.silences} silences {recalled.right_silences} are right."
        )


def _times(evaluation: Evaluation) -> Iterator[str]:
    yield (
        f"Retrieval, embedding included: p50 {evaluation.latency.p50:.1f} ms, p95 {evaluation.latency.p95:.1f} ms;"
        f" import and indexing: {evaluation.indexing_seconds:.1f} s."
    )


def figures(evaluation: Evaluation) -> dict[str, tuple[float, str]]:
    """Name → value and unit: every system in total, Recall by category, and what prompts would contain."""
    own, *others = evaluation.systems.values()
    systems = ("Recall", *list(evaluation.systems)[1:])
    found: dict[str, tuple[float, str]] = {
        "conversations": (evaluation.conversations, ""),
        "answerable questions": (own[ANSWERABLE].questions, ""),
    }
    for system, by_category in zip(systems, (own, *others), strict=True):
        found |= _recorded(system, by_category[ANSWERABLE])
    for category in [each for each in own if each != ANSWERABLE]:
        found |= {f"{category}, questions": (own[category].questions, "")} | _recorded(category, own[category])
    recalled = evaluation.recalled
    found |= {
        "recalled, with evidence": (recalled.with_evidence, "%"),
        "recalled, useful share": (recalled.useful_share, "%"),
        "recalled, lost to silence": (recalled.lost_to_silence, "points"),
        "silences": (recalled.silences, ""),
        "right silences": (recalled.right_silences, ""),
    }
    if recalled.for_adversarial is not None:
        found["recalled, for adversarial"] = (recalled.for_adversarial, "%")
    return found | {"p50": (evaluation.latency.p50, "ms"), "p95": (evaluation.latency.p95, "ms")}


def ratios(evaluation: Evaluation) -> dict[str, float]:
    """What plain dense search finds of the evidence over what Recall does: smaller is better."""
    own = next(iter(evaluation.systems.values()))[ANSWERABLE].figures
    dense = evaluation.systems.get(DENSE)
    return (
        {f"dense over Recall, {name}": dense[ANSWERABLE].figures[name] / own[name] for name in RECORDED}
        if dense
        else {}
    )


def _recorded(name: str, mean: Mean) -> dict[str, tuple[float, str]]:
    return {f"{name}, {measure}": (mean.figures[measure], "%") for measure in RECORDED}
