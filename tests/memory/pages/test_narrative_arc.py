"""The arc of the timeline: episodes drawn in the order they happened, and told in a sentence."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import User
from chat.models import Conversation
from chat.prompt.user_context import stages_reached
from memory.models import Episode, Fact
from memory.pages.narrative_arc import BOTTOM, HEIGHT, LETTER_WIDTH, TOP, WIDTH, Box, Dot, Point, draw_arc

type SignIn = Callable[[User], Client]

DAY = datetime(2026, 9, 1, 12, tzinfo=UTC)


def point(title: str = "One", valence: float = 0.0, days: int = 0, **fields: Any) -> Point:
    at = DAY + timedelta(days=days)
    given = {"significance": 0.5, "month": f"{at:%B %Y}", "is_key": False, **fields}
    return Point("#episode-1", title, valence, at=at, **given)


def tell(user: User, title: str, days: int = 0, **fields: Any) -> Episode:
    made: Episode = Episode.objects.create(
        user=user, title=title, summary=f"How {title} went.", happened_at=DAY + timedelta(days=days), **fields
    )
    return made


def title_of(dot: Dot) -> Box:
    """Where the title of a dot is drawn, with the letters as wide as the drawing takes them to be."""
    width = len(dot.label) * LETTER_WIDTH
    left = dot.x - {"start": 0, "middle": width // 2, "end": width}[dot.anchor]
    return Box(left, dot.label_y - 11, left + width, dot.label_y + 3)


def test_two_episodes_are_no_arc() -> None:
    assert draw_arc([point(), point()]) is None
    assert draw_arc([point(), point(), point()]) is not None


def test_bright_stands_high_and_weighty_is_large() -> None:
    drawn = draw_arc([point(valence=-1.0, significance=0.0), point(), point(valence=1.0, significance=1.0)])
    assert drawn is not None
    low, middle, high = drawn.dots
    assert (low.y, middle.y, high.y) == (BOTTOM, drawn.middle, TOP)
    assert low.radius < middle.radius < high.radius
    assert low.x < middle.x < high.x


def test_it_is_told_in_words() -> None:
    drawn = draw_arc([point("A long week", -0.3), point("Took the job", 0.8, is_key=True), point("The flat", 0.1)])
    assert drawn is not None
    assert drawn.sentence == (
        "From “A long week” to “The flat”. High point: “Took the job”. "
        "Low point: “A long week”. Key moment: “Took the job”."
    )


def test_what_was_neither_good_nor_bad_is_not_called_so() -> None:
    drawn = draw_arc([point("A"), point("B"), point("C")])
    assert drawn is not None
    assert drawn.sentence == "From “A” to “C”."


def test_a_month_is_written_where_it_begins() -> None:
    drawn = draw_arc([point(days=0), point(days=1), point(days=40), point(days=41), point(days=100)])
    assert drawn is not None
    assert [mark.words for mark in drawn.months] == ["September 2026", "October 2026", "December 2026"]
    assert drawn.ends == ("September 2026", "December 2026")


def test_a_chart_of_one_month_has_no_ends_to_name() -> None:
    drawn = draw_arc([point(days=0), point(days=1), point(days=2)])
    assert drawn is not None
    assert drawn.ends == ()


def test_a_stage_stands_between_the_episodes_before_and_after_it() -> None:
    stages = [("DEVELOPING", DAY - timedelta(days=9)), ("COMFORTABLE", DAY + timedelta(days=5))]
    drawn = draw_arc([point(days=0), point(days=10), point(days=20)], [*stages, ("TRUSTED", DAY + timedelta(days=99))])
    assert drawn is not None
    assert [mark.words for mark in drawn.stages] == ["Comfortable"], "not what was reached before or after all of them"
    assert drawn.dots[0].x < drawn.stages[0].x < drawn.dots[1].x


def test_the_acquaintance_grows_with_the_conversations(alice: User, bob: User) -> None:
    alice.date_joined = DAY
    for n in range(20):
        Conversation.objects.create(user=alice, started_at=DAY + timedelta(days=n))
    Conversation.objects.create(user=bob, started_at=DAY)
    Fact.objects.create(user=bob, statement="Bob paints.", status="active", recorded_at=DAY)
    assert stages_reached(alice) == [("DEVELOPING", DAY + timedelta(days=1))], "nothing is known of her"
    for n in range(5):
        Fact.objects.create(user=alice, statement=f"{n}", status="active", recorded_at=DAY + timedelta(days=3 + 10 * n))
    assert stages_reached(alice) == [
        ("DEVELOPING", DAY + timedelta(days=1)),
        ("COMFORTABLE", DAY + timedelta(days=4)),
        ("TRUSTED", DAY + timedelta(days=43)),
    ]
    assert stages_reached(bob) == []


def test_the_timeline_draws_what_it_lists(alice: User, bob: User, sign_in: SignIn) -> None:
    first = tell(alice, "The first", valence=-0.5)
    tell(alice, "The second", 1, significance=0.9)
    tell(alice, "The third", 2, kind="pivot")
    tell(bob, "Bob's own", 1)
    client = sign_in(alice)

    page = client.get("/memory/timeline").content.decode()

    drawing = page.split('<svg class="arc"')[1].split("</svg>")[0]
    assert f'<a href="#episode-{first.pk}" tabindex="-1"' in drawing
    assert drawing.count("<circle") == 3
    assert "own" not in page
    assert "From “The first” to “The third”." in page
    assert '<svg class="arc"' not in client.get("/memory/timeline?kind=pivot").content.decode()


def test_a_story_is_drawn_in_the_order_of_its_turns(alice: User, sign_in: SignIn) -> None:
    conversation = Conversation.objects.create(user=alice, title="The shop")
    for turn in (3, 1, 2):
        tell(alice, f"Turn {turn}", conversation=conversation, first_turn=turn, last_turn=turn)

    page = sign_in(alice).get(f"/memory/timeline/{conversation.pk}").content.decode()

    assert "From “Turn 1” to “Turn 3”." in page


def test_hostile_titles_stay_titles(alice: User, sign_in: SignIn) -> None:
    for n in range(3):
        tell(alice, "<script>alert(1)</script>", n, significance=0.9)
    assert "<script>alert" not in sign_in(alice).get("/memory/timeline").content.decode()


def test_many_episodes_take_as_many_statements_as_three(
    alice: User, sign_in: SignIn, django_assert_num_queries: Any
) -> None:
    client = sign_in(alice)
    for n in range(3):
        tell(alice, f"Episode {n}", n)
    client.get("/memory/timeline")
    with django_assert_num_queries(10):
        client.get("/memory/timeline")
    for n in range(30):
        tell(alice, f"More {n}", n)
    with django_assert_num_queries(10):
        client.get("/memory/timeline")


# The drawing, pure -----------------------------------------------------------------------------------------------

points = st.builds(
    point,
    title=st.text(max_size=60),
    valence=st.floats(-1, 1),
    significance=st.floats(0, 1),
    days=st.integers(0, 2000),
    is_key=st.booleans(),
)


@given(given_points=st.lists(points, min_size=3, max_size=50))
def test_nothing_leaves_the_drawing_and_no_two_titles_touch(given_points: list[Point]) -> None:
    drawn = draw_arc(sorted(given_points, key=lambda one: one.at))
    assert drawn is not None
    for dot in drawn.dots:
        assert 0 <= dot.x - dot.radius < dot.x + dot.radius <= WIDTH
        assert 0 <= dot.y - dot.radius < dot.y + dot.radius <= HEIGHT
    titles = [title_of(dot) for dot in drawn.dots if dot.label]
    assert all(0 <= title.left < title.right <= WIDTH and 0 < title.top < title.bottom < HEIGHT for title in titles)
    assert not any(one.touches(other) for one, other in combinations(titles, 2))
    assert not any(title.touches(dot.box) for title in titles for dot in drawn.dots)


def test_a_title_that_has_no_room_above_stands_below() -> None:
    drawn = draw_arc(
        [point(), point("A pump that works", 0.9, 1, is_key=True), point("A new home", 0.6, 2, is_key=True)]
    )
    crowded = draw_arc(
        [point(days=n) for n in range(8)] + [point(f"The {n}th key moment", 0.5, n, is_key=True) for n in (8, 9)]
    )
    assert drawn is not None
    assert crowded is not None
    assert all(dot.label_y < dot.y for dot in drawn.dots if dot.label)
    assert [dot.label_y > dot.y for dot in crowded.dots if dot.label] == [False, True]


@pytest.mark.parametrize("count", [3, 50])
def test_the_arc_begins_at_one_side_and_ends_at_the_other(count: int) -> None:
    drawn = draw_arc([point(days=n) for n in range(count)])
    assert drawn is not None
    assert drawn.dots[0].x == WIDTH - drawn.dots[-1].x
