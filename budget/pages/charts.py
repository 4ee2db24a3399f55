"""Charts: figures in, shapes in a fixed frame out. Pure.

Each chart is readable without color (patterns, positions and figures say the same), has a title and a sentence for
screen readers, and a table of its figures.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

WIDTH, HEIGHT = 360, 176
"""The frame in chart units: about one pixel each on a phone, so that text keeps its size there."""
LEFT, RIGHT, TOP, BOTTOM = 60, 8, 10, 20
"""Margins: axis figures, half a mark, half a letter, and the labels below."""
PLOT_WIDTH, PLOT_HEIGHT = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
TICKS: Final = 4
"""Maximum grid lines beside zero."""
STEPS: Final = (1, 2, 2.5, 5, 10)
"""Grid steps, times a power of ten."""
COLUMN_SHARE: Final = 0.72
"""Share of its slot that a column fills."""
MAX_COLUMN_WIDTH: Final = 36
"""Units: a chart of two days shouldn't be two wide blocks."""
FLAT: Final = 1e-9
"""Values closer than this are equal: grid lines have twelve decimals."""
FIGURE: Final = re.compile(r"^(\D*[\d,]+)(?:\.(\d+))?(%?)$")
"""A sum of money or a percentage: the figures of an axis, except zero, have equally many decimals."""
type Format = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Rule:
    """A grid line and its figure."""

    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A column or a part of one. `look` names its color and pattern."""

    x: float
    y: float
    width: float
    height: float
    look: str
    title: str

    @property
    def path(self) -> str:
        """The bar as path data for a `<path>`."""
        return f"M{self.x} {self.y}h{self.width}v{self.height}h-{self.width}z"


@dataclass(frozen=True, slots=True)
class Dot:
    """A single figure; `stem_y`: where its stem starts, if it has one."""

    x: float
    y: float
    title: str
    stem_y: float | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """A label below the plot."""

    x: float
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Key:
    """A legend entry."""

    look: str
    text: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Shapes, texts and the data table."""

    name: str
    """Unique on its page."""
    title: str
    description: str
    """A sentence or two with its main figures."""
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    """The table; first column: row headings; newest last."""
    rules: Sequence[Rule] = ()
    bars: Sequence[Bar] = ()
    lines: Sequence[str] = ()
    """Points of each line, for a `<polyline>`."""
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
        """Each look with all its bars as one path, for the pattern overlay."""
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
    format_value: Format,
    first_head: str,
) -> Chart:
    """One column per (label, {part: figure}), stacked in the order of `parts` (name → heading).

    Parts that no column has are left out, in the table too.
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
                bars.append(Bar(x, top, width, _r(bottom - top), part, f"{label}, {heading}: {format_value(value)}"))
            pile += value
    return Chart(
        name,
        title,
        _range("Total", sums, format_value),
        (first_head, *shown.values(), "Total"),
        [
            (label, *(format_value(column.get(part, 0)) for part in shown), format_value(total))
            for (label, column), total in zip(columns, sums, strict=True)
        ],
        rules=axis.rules(format_value),
        bars=bars,
        labels=_ends([label for label, _ in columns]),
        legend=[Key(part, heading) for part, heading in shown.items()],
    )


def within(
    name: str,
    title: str,
    columns: Sequence[tuple[str, float, float]],
    heads: tuple[str, str, str],
    keys: Mapping[str, str],
    format_value: Format,
    format_rest: Format,
) -> Chart:
    """One column per (label, part, whole): the part, and on top what the whole has above it (hollow, `rest`) or what it
    has above the whole (`excess`).

    `keys`: legend entries of `part`, `rest`, `excess`, and of `base`, the part where another column has an excess.
    `format_rest`: the whole minus the part, in words.
    """
    axis = _Axis(0, max((max(part, whole) for _, part, whole in columns), default=0))
    bars: list[Bar] = []
    for number, (label, part, whole) in enumerate(columns):
        x, width = _place(number, len(columns))
        sentence = f"{label}: {format_value(part)}. {heads[2]}: {format_rest(whole - part)}"
        for low, high, look in ((part, whole, "rest"), (0.0, min(part, whole), "part"), (whole, part, "excess")):
            if high > low:
                top = axis.y(high)
                bars.append(Bar(x, top, width, _r(axis.y(low) - top), look, sentence))
    parts = [part for _, part, _ in columns]
    in_total, rest = sum(parts), sum(whole for _, _, whole in columns) - sum(parts)
    lead = (
        f"{_range(heads[1], parts, format_value)}{f' In total {format_value(in_total)}.' if len(columns) > 1 else ''}"
    )
    looks = {bar.look for bar in bars}
    return Chart(
        name,
        title,
        f"{lead} {heads[2]}: {format_rest(rest)}." if columns else lead,
        heads,
        [(label, format_value(part), format_rest(whole - part)) for label, part, whole in columns],
        rules=axis.rules(format_value),
        bars=bars,
        labels=_ends([label for label, _, _ in columns]),
        legend=[
            Key(look, keys["base" if look == "part" and "excess" in looks else look])
            for look in ("part", "rest", "excess")
            if look in looks
        ],
    )


def points(
    name: str,
    title: str,
    values: Sequence[tuple[str, float | None]],
    heads: tuple[str, str],
    format_value: Format,
    *,
    most: float | None = None,
    stems: bool = False,
) -> Chart:
    """One dot per (label, figure); None: no figure. Joined by a line, or each on a stem from zero, for signed figures.

    `most`: the end of the axis, if it is known, such as 100%.
    """
    known = [value for _, value in values if value is not None]
    axis = _Axis(min([0, *known]), max([0, *known]) if most is None else most)
    dots: list[Dot] = []
    for number, (label, value) in enumerate(values):
        if value is not None:
            x, width = _place(number, len(values))
            stem = axis.y(0) if stems else None
            dots.append(Dot(_r(x + width / 2), axis.y(value), f"{label}: {format_value(value)}", stem))
    return Chart(
        name,
        title,
        _range(heads[1], known, format_value),
        heads,
        [(label, "–" if value is None else format_value(value)) for label, value in values],
        rules=axis.rules(format_value),
        lines=[] if stems or len(dots) < 2 else [" ".join(f"{dot.x},{dot.y}" for dot in dots)],
        dots=dots,
        labels=_ends([label for label, _ in values]),
    )


# The frame ----------------------------------------------------------------------------------------------------------


class _Axis:
    """An axis between two round figures."""

    def __init__(self, low: float, high: float) -> None:
        self.step = _step(high - low)
        self.low = math.floor(low / self.step + 1e-9) * self.step
        self.high = max(math.ceil(high / self.step - 1e-9) * self.step, self.low + self.step)

    def y(self, value: float) -> float:
        return _r(TOP + PLOT_HEIGHT * (self.high - value) / (self.high - self.low))

    def rules(self, format_value: Format) -> list[Rule]:
        number = round((self.high - self.low) / self.step)
        figures = [round(self.low + self.step * n, 12) for n in range(number + 1)]
        texts = [format_value(figure) for figure in figures]
        most = max((len(found[2] or "") for text in texts if (found := FIGURE.match(text))), default=0)

        def level(found: re.Match[str]) -> str:
            return f"{found[1]}.{found[2] or '':0<{most}}{found[3]}"

        return [
            Rule(self.y(figure), FIGURE.sub(level, text) if figure and most else text)
            for figure, text in zip(figures, texts, strict=True)
        ]


def _step(span: float) -> float:
    """The distance between grid lines, for at most TICKS of them."""
    if span <= FLAT:
        return 1.0
    power = 10.0 ** math.floor(math.log10(span / TICKS))
    return next(step * power for step in STEPS if step * power >= span / TICKS - power * 1e-9)


def _place(number: int, of: int) -> tuple[float, float]:
    """Left edge and width of a column."""
    place = PLOT_WIDTH / of
    width = min(place * COLUMN_SHARE, MAX_COLUMN_WIDTH)
    return _r(LEFT + place * number + (place - width) / 2), _r(width)


def _ends(labels: Sequence[str]) -> list[Label]:
    """The first and last label; the table has the others."""
    if len(labels) == 1:
        return [Label(LEFT + PLOT_WIDTH / 2, labels[0], "middle")]
    return [Label(LEFT, labels[0], "start"), Label(WIDTH - RIGHT, labels[-1], "end")] if labels else []


def _range(what: str, values: Iterable[float], format_value: Format) -> str:
    found = list(values)
    if not found:
        return "No data yet."
    if len(found) == 1:
        return f"{what}: {format_value(found[0])}."
    return f"{what}: {format_value(min(found))} to {format_value(max(found))}, latest {format_value(found[-1])}."


def _r(value: float) -> float:
    """Round to tenths of a unit: finer than visible, and keeps the page small."""
    return round(value, 1)
