"""Layout of the timeline's mood chart; the shapes are in `arc.svg`.

Episodes run from left to right in time, bright ones high, significant ones large. The list below says the same, so the
chart is hidden from screen readers, which get a sentence instead. Units are SVG coordinates. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby, pairwise
from typing import Final

MIN_POINTS: Final = 3
"""With fewer points there is no chart."""
WIDTH: Final = 900
HEIGHT: Final = 240
SIDES: Final = 40
TOP: Final = 48
BOTTOM: Final = 196
"""The y of valence 1 and −1; the months are below."""
MIN_RADIUS: Final = 4
MAX_RADIUS: Final = 11
"""Radius at significance 0 and 1."""
MIN_MARK_DISTANCE: Final = 120
"""Between two month or stage labels."""
MAX_TITLE: Final = 26
"""Characters of a title."""
MAX_TITLE_Y: Final = 208
"""Lowest baseline of a title; the months are below."""
LETTER_WIDTH: Final = 8
"""Width of a title's character, rounded up."""
LINE_HEIGHT: Final = 18
"""Height of a title with spacing."""


@dataclass(frozen=True, slots=True)
class Point:
    """An episode to draw."""

    link: str
    title: str
    valence: float
    significance: float
    at: datetime
    month: str
    """Its label; empty: none."""
    is_key: bool


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of the drawing."""

    left: int
    top: int
    right: int
    bottom: int

    def touches(self, other: Box) -> bool:
        """Whether the rectangles overlap."""
        beside = self.right <= other.left or other.right <= self.left
        return not (beside or self.bottom <= other.top or other.bottom <= self.top)


@dataclass(frozen=True, slots=True)
class Dot:
    """An episode in the drawing."""

    point: Point
    x: int
    y: int
    radius: int
    label: str = ""
    """Its title; empty if there is no room."""
    label_y: int = 0
    """Its baseline, above or below the dot."""
    anchor: str = "middle"
    """SVG text-anchor that keeps the title inside the chart."""

    @property
    def box(self) -> Box:
        """The rectangle around its circle."""
        return Box(self.x - self.radius, self.y - self.radius, self.x + self.radius, self.y + self.radius)


@dataclass(frozen=True, slots=True)
class Mark:
    """A label on the time axis."""

    x: int
    words: str


@dataclass(frozen=True, slots=True)
class Arc:
    """The chart and its description."""

    dots: Sequence[Dot]
    line: str
    """SVG path data through all dots."""
    months: Sequence[Mark]
    stages: Sequence[Mark]
    sentence: str
    ends: Sequence[str]
    """The first and the last month; empty: there is one month, or none is shown."""
    width: int = WIDTH
    height: int = HEIGHT
    middle: int = (TOP + BOTTOM) // 2
    """The y of valence 0."""
    right: int = WIDTH - SIDES


def draw_arc(points: Sequence[Point], stages: Iterable[tuple[str, datetime]] = ()) -> Arc | None:
    """The chart of points in time order; None: too few. `stages`: names with the time each was reached."""
    if len(points) < MIN_POINTS:
        return None
    places = [SIDES + round(place * (WIDTH - 2 * SIDES) / (len(points) - 1)) for place in range(len(points))]
    dots = _add_titles([_build_dot(point, x) for point, x in zip(points, places, strict=True)])
    months = [Mark(x, month) for month, x in _first_of_months(points, places) if month]
    return Arc(
        dots,
        _draw_line(dots),
        _drop_overlapping(months),
        _drop_overlapping(_place_stages(points, places, stages)),
        describe_arc(points),
        (points[0].month, points[-1].month) if points[0].month != points[-1].month else (),
    )


def describe_arc(points: Sequence[Point]) -> str:
    """The chart in words."""
    best, worst = max(points, key=lambda point: point.valence), min(points, key=lambda point: point.valence)
    keys = [point.title for point in points if point.is_key]
    sentences = [f"From “{points[0].title}” to “{points[-1].title}”."]
    if best.valence > 0:
        sentences.append(f"High point: “{best.title}”.")
    if worst.valence < 0:
        sentences.append(f"Low point: “{worst.title}”.")
    if keys:
        sentences.append(f"Key moment{'s' if len(keys) > 1 else ''}: {', '.join(f'“{title}”' for title in keys)}.")
    return " ".join(sentences)


def _build_dot(point: Point, x: int) -> Dot:
    y = round((TOP + BOTTOM) / 2 - point.valence * (BOTTOM - TOP) / 2)
    return Dot(point, x, y, round(MIN_RADIUS + point.significance * (MAX_RADIUS - MIN_RADIUS)))


def _add_titles(dots: Sequence[Dot]) -> list[Dot]:
    """The dots, with titles for key moments where they overlap no dot or earlier title."""
    taken = [dot.box for dot in dots]
    titled = []
    for dot in dots:
        free = (place for place in _title_positions(dot) if not any(place[1].touches(box) for box in taken))
        found = next(free, None) if dot.point.is_key else None
        titled.append(found[0] if found else dot)
        taken += [found[1]] if found else []
    return titled


def _title_positions(dot: Dot) -> Iterator[tuple[Dot, Box]]:
    """The dot with its title above, or below if that stays clear of the months."""
    label = _shorten(dot.point.title)
    width = len(label) * LETTER_WIDTH
    anchor = "start" if dot.x < width / 2 else "end" if dot.x > WIDTH - width / 2 else "middle"
    left = {"start": dot.x, "end": dot.x - width, "middle": dot.x - width // 2}[anchor]
    for base in (dot.y - dot.radius - 6, dot.y + dot.radius + LINE_HEIGHT):
        if base <= MAX_TITLE_Y:
            box = Box(left, base - LINE_HEIGHT + 4, left + width, base + 4)
            yield replace(dot, label=label, label_y=base, anchor=anchor), box


def _shorten(title: str) -> str:
    return title if len(title) <= MAX_TITLE else f"{title[: MAX_TITLE - 2].rstrip()} …"


def _draw_line(dots: Sequence[Dot]) -> str:
    """A smooth line, horizontal at each dot, so that it never overshoots."""
    curves = []
    for left, right in pairwise(dots):
        middle = (left.x + right.x) // 2
        curves.append(f"C{middle} {left.y} {middle} {right.y} {right.x} {right.y}")
    return f"M{dots[0].x} {dots[0].y}{''.join(curves)}"


def _first_of_months(points: Sequence[Point], places: Sequence[int]) -> list[tuple[str, int]]:
    """Each month with the x of its first point."""
    by_month = groupby(zip(points, places, strict=True), lambda pair: pair[0].month)
    return [(month, next(pairs)[1]) for month, pairs in by_month]


def _place_stages(points: Sequence[Point], places: Sequence[int], stages: Iterable[tuple[str, datetime]]) -> list[Mark]:
    """Each stage reached during these episodes, placed before the next episode."""
    marks = []
    for stage, at in stages:
        later = next((place for place, point in enumerate(points) if point.at >= at), 0)
        if later:
            marks.append(Mark((places[later - 1] + places[later]) // 2, stage.capitalize()))
    return marks


def _drop_overlapping(marks: Iterable[Mark]) -> list[Mark]:
    """The labels without those too close to the previous one."""
    kept: list[Mark] = []
    for mark in marks:
        if not kept or mark.x - kept[-1].x >= MIN_MARK_DISTANCE:
            kept.append(mark)
    return kept
