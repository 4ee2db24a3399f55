"""How does a row of figures become a chart? Pure arithmetic: figures in, shapes in a fixed frame out.

Each chart can be read without colour (patterns, positions and figures tell the same), has a title and a sentence for
those who do not see it, and a table of the very figures it was drawn from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

WIDTH, HEIGHT = 360, 176
"""The frame in the chart's own units: about as many pixels on a phone, so that its letters keep their size there."""
LEFT, RIGHT, TOP, BOTTOM = 52, 8, 10, 20
"""Room around the plot: for the figures of the axis, half a mark, half a letter, and what stands below."""
PLOT_WIDTH, PLOT_HEIGHT = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
TICKS: Final = 4
"""Lines across, at most, beside that of zero: more would be in the way of the columns."""
STEPS: Final = (1, 2, 2.5, 5, 10)
"""A line stands at such a figure, times a power of ten."""
COLUMN: Final = 0.72
"""Share of its place that a column takes."""
WIDEST_COLUMN: Final = 36
"""Units: a chart of two days shall not be two walls."""
FLAT: Final = 1e-9
"""Figures nearer to each other than this are one figure: lines are written with twelve decimals."""
type Told = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Rule:
    """A line across, and its figure."""

    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A column, or a part of one. `look` names its colour and pattern."""

    x: float
    y: float
    width: float
    height: float
    look: str
    title: str

    @property
    def path(self) -> str:
        """The same as a `<path>` takes it."""
        return f"M{self.x} {self.y}h{self.width}v{self.height}h-{self.width}z"


@dataclass(frozen=True, slots=True)
class Dot:
    """A figure of its own; `stem_y`: where the line that carries it begins, if one does."""

    x: float
    y: float
    title: str
    stem_y: float | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """What stands below the plot."""

    x: float
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Key:
    """A line of the legend."""

    look: str
    text: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Shapes, words, and the table behind them."""

    name: str
    """Unique on its page."""
    title: str
    description: str
    """What it shows, and its most telling figures, in a sentence or two."""
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    """The table, first column its row headings, newest last."""
    rules: Sequence[Rule] = ()
    bars: Sequence[Bar] = ()
    lines: Sequence[str] = ()
    """Points of each line, as `<polyline>` takes them."""
    dots: Sequence[Dot] = ()
    labels: Sequence[Label] = ()
    legend: Sequence[Key] = ()

    width: int = field(default=WIDTH, init=False)
    height: int = field(default=HEIGHT, init=False)
    left: int = field(default=LEFT, init=False)
    right: int = field(default=WIDTH - RIGHT, init=False)
    foot: int = field(default=HEIGHT - 6, init=False)

    @property
    def is_empty(self) -> bool:
        return not (self.bars or self.dots)

    @property
    def patterned(self) -> list[tuple[str, str]]:
        """Each look with all its bars as one path, to lay its pattern over them."""
        paths: dict[str, list[str]] = {}
        for bar in self.bars:
            paths.setdefault(bar.look, []).append(bar.path)
        return [(look, "".join(found)) for look, found in paths.items()]


# The three kinds of chart --------------------------------------------------------------------------------------------


def stacked(
    name: str,
    title: str,
    columns: Sequence[tuple[str, Mapping[str, float]]],
    parts: Mapping[str, str],
    told: Told,
    first_head: str,
) -> Chart:
    """One column for each (label, {part: figure}), its parts piled up in the order of `parts` (name → heading).

    Parts that no column has are left out, of the table too.
    """
    shown = {part: heading for part, heading in parts.items() if any(column.get(part) for _, column in columns)}
    sums = [sum(column.get(part, 0) for part in shown) for _, column in columns]
    axis = _Axis(0, max(sums, default=0))
    bars: list[Bar] = []
    for number, (label, column) in enumerate(columns):
        x, width = _place(number, len(columns))
        pile = 0.0
        for part, heading in shown.items():
            value = column.get(part, 0)
            if value:
                top, bottom = axis.y(pile + value), axis.y(pile)
                bars.append(Bar(x, top, width, _r(bottom - top), part, f"{label}, {heading}: {told(value)}"))
            pile += value
    return Chart(
        name,
        title,
        _range("Total", sums, told),
        (first_head, *shown.values(), "Total"),
        [
            (label, *(told(column.get(part, 0)) for part in shown), told(total))
            for (label, column), total in zip(columns, sums, strict=True)
        ],
        rules=axis.rules(told),
        bars=bars,
        labels=_ends([label for label, _ in columns]),
        legend=[Key(part, heading) for part, heading in shown.items()],
    )


def within(
    name: str,
    title: str,
    columns: Sequence[tuple[str, float, float]],
    heads: tuple[str, str, str],
    told: Told,
) -> Chart:
    """One column for each (label, part, whole): the part is solid and stands inside the hollow whole, or beyond it."""
    axis = _Axis(0, max((max(part, whole) for _, part, whole in columns), default=0))
    bars: list[Bar] = []
    for number, (label, part, whole) in enumerate(columns):
        x, width = _place(number, len(columns))
        sentence = f"{label}: {told(part)}; {heads[2].lower()} {told(whole)}"
        for value, look in ((whole, "whole"), (part, "part")):
            if value > 0:
                top = axis.y(value)
                bars.append(Bar(x, top, width, _r(axis.y(0) - top), look, sentence))
    return Chart(
        name,
        title,
        f"{_range(heads[1], [part for _, part, _ in columns], told)} {heads[2]}: {told(sum(c[2] for c in columns))}, "
        f"compared with {told(sum(c[1] for c in columns))}.",
        heads,
        [(label, told(part), told(whole)) for label, part, whole in columns],
        rules=axis.rules(told),
        bars=bars,
        labels=_ends([label for label, _, _ in columns]),
        legend=[Key("part", heads[1]), Key("whole", heads[2])],
    )


def points(
    name: str,
    title: str,
    values: Sequence[tuple[str, float | None]],
    heads: tuple[str, str],
    told: Told,
    *,
    most: float | None = None,
    stems: bool = False,
) -> Chart:
    """One dot for each (label, figure); None: there is nothing to show. Either joined by a line, or each on a stem
    from zero, for figures that may be below it.

    `most`: the axis's end, if it is known beforehand, such as 100 %.
    """
    known = [value for _, value in values if value is not None]
    axis = _Axis(min([0, *known]), max([0, *known]) if most is None else most)
    dots: list[Dot] = []
    for number, (label, value) in enumerate(values):
        if value is not None:
            x, width = _place(number, len(values))
            stem = axis.y(0) if stems else None
            dots.append(Dot(_r(x + width / 2), axis.y(value), f"{label}: {told(value)}", stem))
    return Chart(
        name,
        title,
        _range(heads[1], known, told),
        heads,
        [(label, "–" if value is None else told(value)) for label, value in values],
        rules=axis.rules(told),
        lines=[] if stems or len(dots) < 2 else [" ".join(f"{dot.x},{dot.y}" for dot in dots)],
        dots=dots,
        labels=_ends([label for label, _ in values]),
    )


# The frame ----------------------------------------------------------------------------------------------------------


class _Axis:
    """From the lowest line to the highest; both at round figures."""

    def __init__(self, low: float, high: float) -> None:
        self.step = _step(high - low)
        self.low = math.floor(low / self.step + 1e-9) * self.step
        self.high = max(math.ceil(high / self.step - 1e-9) * self.step, self.low + self.step)

    def y(self, value: float) -> float:
        return _r(TOP + PLOT_HEIGHT * (self.high - value) / (self.high - self.low))

    def rules(self, told: Told) -> list[Rule]:
        number = round((self.high - self.low) / self.step)
        figures = [round(self.low + self.step * n, 12) for n in range(number + 1)]
        return [Rule(self.y(figure), told(figure)) for figure in figures]


def _step(span: float) -> float:
    """The distance between two lines, so that there are at most TICKS of them."""
    if span <= FLAT:
        return 1.0
    power = 10.0 ** math.floor(math.log10(span / TICKS))
    return next(step * power for step in STEPS if step * power >= span / TICKS - power * 1e-9)


def _place(number: int, of: int) -> tuple[float, float]:
    """Left edge and width of a column."""
    place = PLOT_WIDTH / of
    width = min(place * COLUMN, WIDEST_COLUMN)
    return _r(LEFT + place * number + (place - width) / 2), _r(width)


def _ends(labels: Sequence[str]) -> list[Label]:
    """The first and the last label: those between can be counted, or read in the table."""
    if len(labels) == 1:
        return [Label(LEFT + PLOT_WIDTH / 2, labels[0], "middle")]
    return [Label(LEFT, labels[0], "start"), Label(WIDTH - RIGHT, labels[-1], "end")] if labels else []


def _range(what: str, values: Iterable[float], told: Told) -> str:
    found = list(values)
    if not found:
        return "No data yet."
    if len(found) == 1:
        return f"{what}: {told(found[0])}."
    return f"{what}: {told(min(found))} to {told(max(found))}, latest {told(found[-1])}."


def _r(value: float) -> float:
    """Tenths of a unit are finer than the eye, and keep the page small."""
    return round(value, 1)
