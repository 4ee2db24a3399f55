"""Where does each fact of a small graph stand? The arithmetic of a drawing whose shapes are in an SVG template.

A tree of columns: the fact one asks for at the left, then those one step away, then those two. Each fact hangs on the
one by which it was reached first; a row is as high as a box, so nothing overlaps however many there are. Links besides
those of the tree are thin lines. Units are those of the drawing's own coordinates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from memory.facts.links import Neighbour, Relation, among, neighbours
from memory.models import Fact, FactLink

if TYPE_CHECKING:
    from accounts.models import User

MAX_STEPS: Final = 2
"""Beyond, the drawing tells more of others than of this one."""
MAX_NEIGHBORS: Final = 29
"""Facts beside the one: with it thirty, which is what an eye takes in."""

BOX: Final = (178, 80)
"""Width and height of a fact: three stand side by side in a column of text."""
GAP: Final = (40, 12)
"""Between columns, in which lines run, and between rows."""
EDGE: Final = 4
"""Around everything, for outlines."""
LINE: Final = 25
"""Characters of a line of a box."""
LINES: Final = 3
FIRST_LINE: Final = 34
"""Of the statement, from the upper edge of the box: above it stands the relation."""
LINE_HEIGHT: Final = 16

RELATIONS: Final[Mapping[str, tuple[str, str]]] = {
    Relation.RELATED_TO: ("related to", "related to"),
    Relation.DEPENDS_ON: ("depends on", "needed by"),
    Relation.CONTRADICTS: ("contradicts", "contradicted by"),
    Relation.SUPERSEDES: ("replaces", "replaced by"),
    Relation.PART_OF: ("part of", "includes"),
    Relation.CAUSED_BY: ("caused by", "led to"),
}
"""Each relation as it reads from its first fact to its second, and the other way round."""


@dataclass(frozen=True, slots=True)
class Node:
    """A fact in the drawing."""

    fact: Fact
    x: int
    y: int
    lines: Sequence[tuple[int, str]]
    """Its statement, cut to what the box holds: where each line stands, and its words."""
    relation: str
    """As it reads from the fact it hangs on; empty for the one in question."""
    parent: int
    """Id of that fact; 0: none."""

    @property
    def is_centre(self) -> bool:
        """The fact one asked for."""
        return not self.parent


@dataclass(frozen=True, slots=True)
class Edge:
    """A line of the drawing."""

    path: str
    """SVG path data."""
    relation: str
    is_tree: bool
    """False: one besides the tree."""


@dataclass(frozen=True, slots=True)
class LinkView:
    """A link as the list beside the drawing tells it."""

    one: Fact
    relation: str
    other: Fact


@dataclass(frozen=True, slots=True)
class Graph:
    """The drawing, and the same in words."""

    width: int
    height: int
    nodes: Sequence[Node]
    edges: Sequence[Edge]
    said: Sequence[LinkView]
    box_width: int = BOX[0]
    box_height: int = BOX[1]


def build_graph(user: User, fact: Fact) -> Graph | None:
    """The facts around one of the user's; None: it stands alone. Four statements, however many there are."""
    near = neighbours(user, fact, MAX_STEPS, MAX_NEIGHBORS)
    if not near:
        return None
    return lay_out(fact, near, among(user, [fact.pk, *(one.fact.pk for one in near)]))


def lay_out(fact: Fact, near: Sequence[Neighbour], links: Sequence[FactLink]) -> Graph:
    """Lay out `fact` and the ones `near` it, the nearest first. Pure."""
    parents = {one.fact.pk: _parent(one) for one in near}
    rows = _rows(fact.pk, parents)
    nodes = {fact.pk: _node(fact, 0, rows[fact.pk], "", 0)}
    for one in near:
        parent = parents[one.fact.pk]
        nodes[one.fact.pk] = _node(one.fact, one.steps, rows[one.fact.pk], relation_words(one.link, parent), parent)
    shown = [one for one in links if one.from_fact_id in nodes and one.to_fact_id in nodes]
    columns = 1 + max(one.steps for one in near)
    return Graph(
        width=columns * BOX[0] + (columns - 1) * GAP[0] + 2 * EDGE + _outside(shown, nodes),
        height=max(node.y for node in nodes.values()) + BOX[1] + EDGE,
        nodes=list(nodes.values()),
        edges=[_edge(one, nodes, parents) for one in shown],
        said=[
            LinkView(nodes[one.from_fact_id].fact, RELATIONS[one.relation][0], nodes[one.to_fact_id].fact)
            for one in shown
        ],
    )


def relation_words(link: FactLink, first: int) -> str:
    """The relation as it reads from the fact `first` to the other one."""
    return RELATIONS[link.relation][link.from_fact_id != first]


def _parent(one: Neighbour) -> int:
    """The fact by which it was reached."""
    return one.link.from_fact_id if one.link.to_fact_id == one.fact.pk else one.link.to_fact_id


def _rows(root: int, parents: Mapping[int, int]) -> dict[int, float]:
    """Fact → row: those on which nothing hangs one below the other, the others in the middle of what hangs on them."""
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
        (y + FIRST_LINE + place * LINE_HEIGHT, words) for place, words in enumerate(wrap_statement(fact.statement))
    ]
    return Node(fact, x, y, lines, relation, parent)


def wrap_statement(statement: str) -> list[str]:
    """A statement as a box holds it."""
    lines = wrap(statement, LINE, break_long_words=True)
    if len(lines) <= LINES:
        return lines
    return [*lines[: LINES - 1], f"{lines[LINES - 1][: LINE - 2].rstrip()} …"]


def _edge(link: FactLink, nodes: Mapping[int, Node], parents: Mapping[int, int]) -> Edge:
    one, other = nodes[link.from_fact_id], nodes[link.to_fact_id]
    left, right = sorted((one, other), key=lambda node: (node.x, node.y))
    is_tree = parents.get(right.fact.pk) == left.fact.pk
    path = _across(left, right) if left.x != right.x else _beside(left, right)
    return Edge(path, RELATIONS[link.relation][0], is_tree)


def _across(left: Node, right: Node) -> str:
    """From the right edge of one box to the left edge of another, level at both ends."""
    x, y = left.x + BOX[0], left.y + BOX[1] // 2
    end_x, end_y = right.x, right.y + BOX[1] // 2
    middle = (x + end_x) // 2
    return f"M{x} {y}C{middle} {y} {middle} {end_y} {end_x} {end_y}"


def _beside(upper: Node, lower: Node) -> str:
    """Between two boxes of a column: a bow through the gap at their right."""
    x = upper.x + BOX[0]
    y, end_y = upper.y + BOX[1] // 2, lower.y + BOX[1] // 2
    bow = x + GAP[0] // 2
    return f"M{x} {y}C{bow} {y} {bow} {end_y} {x} {end_y}"


def _outside(links: Iterable[FactLink], nodes: Mapping[int, Node]) -> int:
    """Room at the right for the bows of the last column."""
    last = max(node.x for node in nodes.values())
    bows = (one for one in links if nodes[one.from_fact_id].x == nodes[one.to_fact_id].x == last)
    return GAP[0] // 2 if any(bows) else 0
