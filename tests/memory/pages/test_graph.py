"""The small graph of linked facts: who is in it, where each stands, and that the list beside it says the same."""

from collections.abc import Callable, Iterator
from itertools import combinations, pairwise
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import User
from memory.facts.links import Neighbor, Relation, link
from memory.models import Fact, FactLink
from memory.pages.graph import (
    BOX,
    LINE,
    LINES,
    MAX_NEIGHBORS,
    RELATIONS,
    Graph,
    Node,
    build_graph,
    lay_out,
    wrap_statement,
)

type SignIn = Callable[[User], Client]


def know(user: User, statement: str, **fields: Any) -> Fact:
    made: Fact = Fact.objects.create(user=user, statement=statement, **{"status": "active", **fields})
    return made


def node_of(shown: Graph, fact: Fact) -> Node:
    return next(node for node in shown.nodes if node.fact.pk == fact.pk)


def test_a_fact_that_stands_alone_has_no_graph(alice: User, sign_in: SignIn) -> None:
    alone = know(alice, "The user sings.")
    assert build_graph(alice, alone) is None
    assert "Related facts" not in sign_in(alice).get(f"/memory/facts/{alone.pk}").content.decode()


def test_a_relation_reads_from_the_fact_one_came_from(alice: User) -> None:
    job, move, flat = (know(alice, name) for name in ("The job.", "The move.", "The flat."))
    link(alice.pk, move.pk, Relation.CAUSED_BY, job.pk, 0.9)
    link(alice.pk, flat.pk, Relation.DEPENDS_ON, move.pk, 0.8)

    shown = build_graph(alice, move)
    assert shown is not None
    assert node_of(shown, job).relation == "caused by"
    assert node_of(shown, flat).relation == "needed by"
    assert node_of(shown, move).is_centre
    assert [(one.first.statement, one.relation, one.second.statement) for one in shown.links] == [
        ("The move.", "caused by", "The job."),
        ("The flat.", "depends on", "The move."),
    ]


def test_every_relation_has_words_both_ways() -> None:
    assert set(RELATIONS) == set(FactLink.Relation.values)


def test_two_steps_are_drawn_and_a_third_is_not(alice: User) -> None:
    chain = [know(alice, f"Fact {n}.") for n in range(4)]
    for one, other in pairwise(chain):
        link(alice.pk, one.pk, Relation.RELATED_TO, other.pk, 0.5)

    shown = build_graph(alice, chain[0])

    assert shown is not None
    assert [node.fact for node in shown.nodes] == chain[:3]
    assert [node.x for node in shown.nodes] == sorted({node.x for node in shown.nodes})


def test_of_many_the_strongest_are_drawn(alice: User, django_assert_num_queries: Any) -> None:
    centre = know(alice, "The centre.")
    for n in range(MAX_NEIGHBORS + 5):
        link(alice.pk, centre.pk, Relation.RELATED_TO, know(alice, f"Fact {n}.").pk, n / 100)

    with django_assert_num_queries(4):
        shown = build_graph(alice, centre)

    assert shown is not None
    assert len(shown.nodes) == MAX_NEIGHBORS + 1
    assert {node.fact.statement for node in shown.nodes} == {"The centre."} | {
        f"Fact {n}." for n in range(5, MAX_NEIGHBORS + 5)
    }


def test_links_besides_the_tree_are_thin_lines_and_stand_in_the_list(alice: User) -> None:
    centre, left, right = (know(alice, name) for name in ("Centre.", "Left.", "Right."))
    for one, other in ((centre, left), (centre, right), (left, right)):
        link(alice.pk, one.pk, Relation.RELATED_TO, other.pk, 0.5)

    shown = build_graph(alice, centre)

    assert shown is not None
    assert sorted(edge.is_tree for edge in shown.edges) == [False, True, True]
    assert len(shown.links) == 3


def test_no_fact_of_another_person_is_in_it(alice: User, bob: User) -> None:
    mine, his = know(alice, "Mine."), know(bob, "His.")
    FactLink.objects.create(user=bob, from_fact=his, to_fact=mine)
    FactLink.objects.create(user=alice, from_fact=mine, to_fact=his)
    assert build_graph(alice, mine) is None


def test_the_page_draws_links_one_can_follow_and_says_them_in_words(alice: User, sign_in: SignIn) -> None:
    job, move = know(alice, "The user works at Cascade."), know(alice, "The user moved.", status="superseded")
    link(alice.pk, move.pk, Relation.CAUSED_BY, job.pk, 0.9)

    page = sign_in(alice).get(f"/memory/facts/{job.pk}").content.decode()

    drawing = page.split('<svg class="graph"')[1].split("</svg>")[0]
    assert f'<a href="/memory/facts/{move.pk}" class="graph-node graph-node-superseded"' in drawing
    assert "<title>led to: You moved. (Replaced)</title>" in drawing
    assert "Show as list (1 link)" in page


# Where they stand, pure ------------------------------------------------------------------------------------------


@st.composite
def surroundings(draw: st.DrawFn) -> tuple[Fact, list[Neighbor], list[FactLink]]:
    """A fact, those around it in two steps, and links among them all."""
    first = draw(st.integers(1, 10))
    steps = [1] * first + [2] * draw(st.integers(0, MAX_NEIGHBORS - first))
    facts = [Fact(pk=pk, statement="word " * draw(st.integers(1, 40))) for pk in range(1, len(steps) + 2)]
    near = []
    for fact, step in zip(facts[1:], steps, strict=True):
        parent = 1 if step == 1 else draw(st.integers(2, first + 1))
        ends = (parent, fact.pk) if draw(st.booleans()) else (fact.pk, parent)
        near.append(Neighbor(fact, step, FactLink(from_fact_id=ends[0], to_fact_id=ends[1])))
    pairs = st.tuples(st.integers(1, len(facts)), st.integers(1, len(facts))).filter(lambda ends: ends[0] != ends[1])
    more = [FactLink(from_fact_id=a, to_fact_id=b) for a, b in draw(st.lists(pairs, max_size=10))]
    return facts[0], near, [one.link for one in near] + more


def boxes(shown: Graph) -> Iterator[tuple[int, int, int, int]]:
    for node in shown.nodes:
        yield node.x, node.y, node.x + BOX[0], node.y + BOX[1]


@given(around=surroundings())
def test_no_two_boxes_touch_and_all_stand_in_the_drawing(around: tuple[Fact, list[Neighbor], list[FactLink]]) -> None:
    shown = lay_out(*around)

    assert len(shown.nodes) == len(around[1]) + 1
    assert len(shown.edges) == len(shown.links) == len(around[2])
    for left, top, right, bottom in boxes(shown):
        assert 0 <= left < right <= shown.width
        assert 0 <= top < bottom <= shown.height
    for one, other in combinations(boxes(shown), 2):
        assert one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1]


@given(text=st.text(max_size=200))
def test_a_statement_never_leaves_its_box(text: str) -> None:
    lines = wrap_statement(text)
    assert len(lines) <= LINES
    assert all(len(line) <= LINE for line in lines)


@pytest.mark.parametrize(("text", "lines"), [("Short.", ["Short."]), ("", [])])
def test_what_fits_is_shown_whole(text: str, lines: list[str]) -> None:
    assert wrap_statement(text) == lines
