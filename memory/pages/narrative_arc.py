"""How did it go, drawn? Episodes from left to right in the order they happened, bright ones high, weighty ones large.

The arithmetic of a drawing whose shapes are in an SVG template (seed 004, “narrative arc”). It shows nothing that the
list below it does not say, so it is hidden from screen readers, and a sentence stands in its place. Units are those of
the drawing's own coordinates. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby, pairwise
from typing import Final

MIN_POINTS: Final = 3
"""Two points are no arc."""
WIDTH: Final = 900
HEIGHT: Final = 240
SIDES: Final = 40
TOP: Final = 48
BOTTOM: Final = 196
"""Where a valence of 1 and of −1 stand; the months are told below."""
MIN_RADIUS: Final = 4
MAX_RADIUS: Final = 11
"""Radius of an episode without any significance, and of one that could not have more."""
MIN_MARK_DISTANCE: Final = 120
"""Between two things that are written at the same height: months, stages."""
MAX_TITLE: Final = 26
"""Characters of a title."""
MAX_TITLE_Y: Final = 208
"""No title stands below this: there are the months."""
LETTER_WIDTH: Final = 8
"""Width of a title's character, rather too much than too little."""
LINE_HEIGHT: Final = 18
"""Height of a title, with a little air."""


@dataclass(frozen=True, slots=True)
class Point:
    """An episode to be drawn."""

    link: str
    title: str
    valence: float
    significance: float
    at: datetime
    month: str
    """As it is written below; empty: nowhere."""
    is_key: bool


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of the drawing."""

    left: int
    top: int
    right: int
    bottom: int

    def touches(self, other: Box) -> bool:
        """Whether anything of the one lies on the other."""
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
    """Its title, where there is room for it; else empty."""
    label_y: int = 0
    """Its base line, above the dot or else below it."""
    anchor: str = "middle"
    """Which end of the title stands at the dot: at the sides of the drawing it must not leave it."""

    @property
    def box(self) -> Box:
        """Where its circle is."""
        return Box(self.x - self.radius, self.y - self.radius, self.x + self.radius, self.y + self.radius)


@dataclass(frozen=True, slots=True)
class Mark:
    """Something written at a place of the time axis."""

    x: int
    words: str


@dataclass(frozen=True, slots=True)
class Arc:
    """The drawing, and the same in a sentence."""

    dots: Sequence[Dot]
    line: str
    """SVG path data through all dots."""
    months: Sequence[Mark]
    stages: Sequence[Mark]
    sentence: str
    width: int = WIDTH
    height: int = HEIGHT
    middle: int = (TOP + BOTTOM) // 2
    """Where neither good nor bad stands."""
    right: int = WIDTH - SIDES


def draw_arc(points: Sequence[Point], stages: Iterable[tuple[str, datetime]] = ()) -> Arc | None:
    """Draw the points, which are in the order they happened; None: too few. `stages`: each with when it was reached."""
    if len(points) < MIN_POINTS:
        return None
    places = [_place_x(place, len(points)) for place in range(len(points))]
    dots = _add_titles([_build_dot(point, x) for point, x in zip(points, places, strict=True)])
    months = [Mark(x, month) for month, x in _first_of_months(points, places) if month]
    return Arc(
        dots,
        _draw_line(dots),
        _drop_overlapping(months),
        _drop_overlapping(_place_stages(points, places, stages)),
        describe_arc(points),
    )


def describe_arc(points: Sequence[Point]) -> str:
    """The drawing in words."""
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


def _place_x(place: int, of: int) -> int:
    return SIDES + round(place * (WIDTH - 2 * SIDES) / (of - 1))


def _build_dot(point: Point, x: int) -> Dot:
    y = round((TOP + BOTTOM) / 2 - point.valence * (BOTTOM - TOP) / 2)
    return Dot(point, x, y, round(MIN_RADIUS + point.significance * (MAX_RADIUS - MIN_RADIUS)))


def _add_titles(dots: Sequence[Dot]) -> list[Dot]:
    """The dots, key moments with their titles where those lie on no other dot and no earlier title."""
    taken = [dot.box for dot in dots]
    titled = []
    for dot in dots:
        free = (place for place in _title_positions(dot) if not any(place[1].touches(box) for box in taken))
        found = next(free, None) if dot.point.is_key else None
        titled.append(found[0] if found else dot)
        taken += [found[1]] if found else []
    return titled


def _title_positions(dot: Dot) -> Iterator[tuple[Dot, Box]]:
    """The dot with its title, and where that stands: above, or below if that is not where the months are told."""
    label = _shorten(dot.point.title)
    width = len(label) * LETTER_WIDTH
    anchor = "start" if dot.x < width / 2 else "end" if dot.x > WIDTH - width / 2 else "middle"
    left = {"start": dot.x, "end": dot.x - width, "middle": dot.x - width // 2}[anchor]
    for base in (dot.y - dot.radius - 6, dot.y + dot.radius + LINE_HEIGHT):
        if base <= MAX_TITLE_Y:
            yield replace(dot, label=label, label_y=base, anchor=anchor), _text_box(left, base, width)


def _text_box(left: int, base: int, width: int) -> Box:
    return Box(left, base - LINE_HEIGHT + 4, left + width, base + 4)


def _shorten(title: str) -> str:
    return title if len(title) <= MAX_TITLE else f"{title[: MAX_TITLE - 2].rstrip()} …"


def _draw_line(dots: Sequence[Dot]) -> str:
    """A smooth line: level at each dot, so that it never swings beyond what was felt."""
    curves = []
    for one, other in pairwise(dots):
        middle = (one.x + other.x) // 2
        curves.append(f"C{middle} {one.y} {middle} {other.y} {other.x} {other.y}")
    return f"M{dots[0].x} {dots[0].y}{''.join(curves)}"


def _first_of_months(points: Sequence[Point], places: Sequence[int]) -> list[tuple[str, int]]:
    """Each month with the place of its first point."""
    by_month = groupby(zip(points, places, strict=True), lambda pair: pair[0].month)
    return [(month, next(pairs)[1]) for month, pairs in by_month]


def _place_stages(points: Sequence[Point], places: Sequence[int], stages: Iterable[tuple[str, datetime]]) -> list[Mark]:
    """Each stage that was reached while these episodes happened, before the first one that came after."""
    marks = []
    for stage, at in stages:
        later = next((place for place, point in enumerate(points) if point.at >= at), 0)
        if later:
            marks.append(Mark((places[later - 1] + places[later]) // 2, stage.capitalize()))
    return marks


def _drop_overlapping(marks: Iterable[Mark]) -> list[Mark]:
    """Those that can be written without touching the one before."""
    kept: list[Mark] = []
    for mark in marks:
        if not kept or mark.x - kept[-1].x >= MIN_MARK_DISTANCE:
            kept.append(mark)
    return kept
