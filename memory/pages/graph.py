"""Layout of the graph of related facts; the shapes are in `graph.svg`.

A tree in columns: the fact itself at the left, then facts one and two links away. Each fact hangs on the one that
reached it first, and each leaf has its own row, so boxes never overlap. Other links are thin lines. Units are SVG
coordinates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from memory.facts.links import STATABLE, Neighbor, Relation, among, neighbors
from memory.models import Fact, FactLink
from memory.text.second_person import second_person

if TYPE_CHECKING:
    from accounts.models import User

MAX_STEPS: Final = 2
"""Facts further away say little about this one."""
MAX_NEIGHBORS: Final = 29
"""Thirty facts with the central one: more are hard to read."""

BOX: Final = (178, 80)
"""Width and height of a fact: three fit into the text column."""
GAP: Final = (40, 12)
"""Between columns, where the lines run, and between rows."""
EDGE: Final = 4
"""Margin for outlines."""
LINE: Final = 25
"""Characters per line of a box."""
LINES: Final = 3
FIRST_LINE: Final = 34
"""Baseline of the statement's first line, from the top of the box; the relation is above it."""
LINE_HEIGHT: Final = 16

RELATIONS: Final[Mapping[str, tuple[str, str]]] = {
    Relation.RELATED_TO: ("related to", "related to"),
    Relation.DEPENDS_ON: ("depends on", "needed by"),
    Relation.CONTRADICTS: ("contradicts", "contradicted by"),
    Relation.SUPERSEDES: ("replaces", "replaced by"),
    Relation.PART_OF: ("part of", "includes"),
    Relation.CAUSED_BY: ("caused by", "led to"),
}
"""Each relation in words, forwards and backwards."""


@dataclass(frozen=True, slots=True)
class Node:
    """A fact in the drawing."""

    fact: Fact
    x: int
    y: int
    lines: Sequence[tuple[int, str]]
    """Its wrapped and shortened statement: the baseline and text of each line."""
    relation: str
    """In words, from its parent; empty for the central fact."""
    parent: int
    """ID of the parent fact; 0: none."""

    @property
    def is_centre(self) -> bool:
        """Whether it is the central fact."""
        return not self.parent


@dataclass(frozen=True, slots=True)
class Edge:
    """A line of the graph."""

    path: str
    """SVG path data."""
    relation: str
    is_tree: bool
    """False: a link outside the tree."""


@dataclass(frozen=True, slots=True)
class LinkView:
    """A link in the list below the graph."""

    first: Fact
    relation: str
    second: Fact
    other: int = 0
    """The fact at its other end, where the user may remove the link; 0: they may not."""


@dataclass(frozen=True, slots=True)
class Graph:
    """The graph, and its links in words."""

    width: int
    height: int
    nodes: Sequence[Node]
    edges: Sequence[Edge]
    links: Sequence[LinkView]
    box_width: int = BOX[0]
    box_height: int = BOX[1]


def build_graph(user: User, fact: Fact) -> Graph | None:
    """The graph around a fact; None: it has no links. Four queries."""
    near = neighbors(user, fact, MAX_STEPS, MAX_NEIGHBORS)
    if not near:
        return None
    return lay_out(fact, near, among(user, [fact.pk, *(neighbor.fact.pk for neighbor in near)]))


def lay_out(fact: Fact, near: Sequence[Neighbor], links: Sequence[FactLink]) -> Graph:
    """Lay out `fact` and its neighbors, the nearest first. Pure."""
    parents = {neighbor.fact.pk: _parent(neighbor) for neighbor in near}
    rows = _rows(fact.pk, parents)
    nodes = {fact.pk: _node(fact, 0, rows[fact.pk], "", 0)}
    for neighbor in near:
        parent = parents[neighbor.fact.pk]
        nodes[neighbor.fact.pk] = _node(
            neighbor.fact, neighbor.steps, rows[neighbor.fact.pk], relation_words(neighbor.link, parent), parent
        )
    shown = [link for link in links if link.from_fact_id in nodes and link.to_fact_id in nodes]
    columns = 1 + max(neighbor.steps for neighbor in near)
    return Graph(
        width=columns * BOX[0] + (columns - 1) * GAP[0] + 2 * EDGE + _outside(shown, nodes),
        height=max(node.y for node in nodes.values()) + BOX[1] + EDGE,
        nodes=list(nodes.values()),
        edges=[_edge(link, nodes, parents) for link in shown],
        links=[
            LinkView(
                nodes[link.from_fact_id].fact,
                RELATIONS[link.relation][0],
                nodes[link.to_fact_id].fact,
                _other_end(link, fact.pk) if link.relation in STATABLE else 0,
            )
            for link in shown
        ],
    )


def relation_words(link: FactLink, first: int) -> str:
    """The relation in words, seen from the fact `first`."""
    return RELATIONS[link.relation][link.from_fact_id != first]


def _other_end(link: FactLink, of: int) -> int:
    """The fact that the link connects with this one; 0: the link is between two others."""
    ends = {link.from_fact_id, link.to_fact_id} - {of}
    return ends.pop() if len(ends) == 1 else 0


def _parent(neighbor: Neighbor) -> int:
    """The fact that it was reached from."""
    return neighbor.link.from_fact_id if neighbor.link.to_fact_id == neighbor.fact.pk else neighbor.link.to_fact_id


def _rows(root: int, parents: Mapping[int, int]) -> dict[int, float]:
    """Fact → row: leaves below each other, parents in the middle of their children."""
    below: dict[int, list[int]] = defaultdict(list)
    for pk, parent in parents.items():
        below[parent].append(pk)
    rows: dict[int, float] = {}
    leaves = 0

    def place(pk: int) -> None:
        nonlocal leaves
        for child in below[pk]:
            place(child)
        if below[pk]:
            rows[pk] = (rows[below[pk][0]] + rows[below[pk][-1]]) / 2
        else:
            rows[pk] = leaves
            leaves += 1

    place(root)
    return rows


def _node(fact: Fact, column: int, row: float, relation: str, parent: int) -> Node:
    x = EDGE + column * (BOX[0] + GAP[0])
    y = EDGE + round(row * (BOX[1] + GAP[1]))
    lines = [
        (y + FIRST_LINE + place * LINE_HEIGHT, words)
        for place, words in enumerate(wrap_statement(second_person(fact.statement)))
    ]
    return Node(fact, x, y, lines, relation, parent)


def wrap_statement(statement: str) -> list[str]:
    """A statement wrapped and shortened to fit a box."""
    lines = wrap(statement, LINE, break_long_words=True)
    if len(lines) <= LINES:
        return lines
    return [*lines[: LINES - 1], f"{lines[LINES - 1][: LINE - 2].rstrip()} …"]


def _edge(link: FactLink, nodes: Mapping[int, Node], parents: Mapping[int, int]) -> Edge:
    first, second = nodes[link.from_fact_id], nodes[link.to_fact_id]
    left, right = sorted((first, second), key=lambda node: (node.x, node.y))
    is_tree = parents.get(right.fact.pk) == left.fact.pk
    path = _across(left, right) if left.x != right.x else _beside(left, right)
    return Edge(path, RELATIONS[link.relation][0], is_tree)


def _across(left: Node, right: Node) -> str:
    """A curve from the right edge of one box to the left edge of another, horizontal at both ends."""
    x, y = left.x + BOX[0], left.y + BOX[1] // 2
    end_x, end_y = right.x, right.y + BOX[1] // 2
    middle = (x + end_x) // 2
    return f"M{x} {y}C{middle} {y} {middle} {end_y} {end_x} {end_y}"


def _beside(upper: Node, lower: Node) -> str:
    """A curve between two boxes of one column, through the gap at their right."""
    x = upper.x + BOX[0]
    y, end_y = upper.y + BOX[1] // 2, lower.y + BOX[1] // 2
    bow = x + GAP[0] // 2
    return f"M{x} {y}C{bow} {y} {bow} {end_y} {x} {end_y}"


def _outside(links: Iterable[FactLink], nodes: Mapping[int, Node]) -> int:
    """Extra width for curves at the right of the last column."""
    last = max(node.x for node in nodes.values())
    curves = (link for link in links if nodes[link.from_fact_id].x == nodes[link.to_fact_id].x == last)
    return GAP[0] // 2 if any(curves) else 0
