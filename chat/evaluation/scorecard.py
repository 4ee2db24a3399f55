"""The scorecard: the figures of `docs/evaluation.md`, written by `manage.py evaluate-memory --write`.

A run replaces the figures of its parts and engine and leaves the rest of the page, because no run measures them all.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from chat.evaluation.matrix import COLUMNS

PAGE: Final[Path] = settings.BASE_DIR / "docs" / "evaluation.md"
_HEADING: Final = "| What | Engine | Passed |\n|---|---|---|\n"
_FIGURE: Final = re.compile(r"\| ([^|]+) \| (rules|model) \| ([^|]+) \|\n")


def render(engine: str, found: Mapping[str, Sequence[Any]], page: str) -> str:
    """The page with the figures of this run, and the earlier ones that it didn't measure.

    Raises:
        ValueError: the page has no table of figures.
    """
    before, heading, rest = page.partition(_HEADING)
    if not heading:
        raise ValueError("The page has no table of figures.")
    known = {(name, by): figure for name, by, figure in _FIGURE.findall(rest)}
    known |= {(name, engine): figure for part, some in found.items() for name, figure in SUMMARIES[part](some)}
    rows = "".join(f"| {name} | {by} | {figure} |\n" for (name, by), figure in sorted(known.items()))
    return f"{before}{heading}{rows}{_FIGURE.sub('', rest)}"


def _scenarios(outcomes: Sequence[Any]) -> list[tuple[str, str]]:
    return [
        (f"Scenarios{', held out' if held_out else ''}, {variant}", _share([not one.failures for one in some]))
        for held_out in (False, True)
        for variant in ("as is", "accepted")
        if (some := [outcome for outcome in outcomes if (outcome.held_out, outcome.variant) == (held_out, variant)])
    ]


def _matrix(rows: Sequence[Any]) -> list[tuple[str, str]]:
    return [(f"Contradictions, {column}", _share([not row.failures[column] for row in rows])) for column in COLUMNS]


def _deletion(steps: Sequence[Any]) -> list[tuple[str, str]]:
    kinds = dict.fromkeys(step.kind for step in steps)
    held = [all(not step.failures for step in steps if step.kind == kind) for kind in kinds]
    return [("Deletion, kinds of memory", _share(held)), ("Deletion, steps", _share([not s.failures for s in steps]))]


def _scope(outcomes: Sequence[Any]) -> list[tuple[str, str]]:
    return [("Forget scope", _share([not outcome.failures for outcome in outcomes]))]


def _share(passed: Sequence[bool]) -> str:
    return f"{sum(passed)} of {len(passed)}"


SUMMARIES: Final[Mapping[str, Callable[[Sequence[Any]], list[tuple[str, str]]]]] = {
    "scenarios": _scenarios,
    "matrix": _matrix,
    "deletion": _deletion,
    "scope": _scope,
}
