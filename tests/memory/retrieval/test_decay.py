"""Memories fade by the formula of seed 004, the same in Python and in the database."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import User
from memory.consolidation.consolidate import fading
from memory.models import Fact
from memory.retrieval.decay import ARCHIVED_BELOW, ARCHIVED_FROM_AGE, decay

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
DAY = timedelta(days=1)

ages = st.timedeltas(min_value=timedelta(), max_value=timedelta(days=40_000))
uses = st.integers(0, 1_000)
shares = st.floats(0, 1)


@pytest.mark.parametrize(
    ("days", "times", "left"),
    [
        (0, 0, 1.0),
        (30, 0, 0.5),
        (60, 0, 0.25),
        (15, 0, 0.7071),
        (30, 1, 0.6),
        (30, 5, 1.0),
        (30, 50, 1.0),
        (60, 50, 0.75),
        (365, 0, 0.0002),
        (365, 5, 0.5002),
        (0, 5, 1.0),
        (-3, 0, 1.0),
    ],
)
def test_what_is_left_of_a_memory_is(days: int, times: int, left: float) -> None:
    assert decay(days * DAY, times) == pytest.approx(left, abs=0.00005)


@given(ages, uses)
def test_it_lies_between_0_and_1(unused: timedelta, times: int) -> None:
    assert 0.0 <= decay(unused, times) <= 1.0


@given(ages, ages, uses)
def test_it_never_grows_with_time(one: timedelta, other: timedelta, times: int) -> None:
    assert decay(max(one, other), times) <= decay(min(one, other), times)


@given(ages, uses, uses)
def test_it_never_shrinks_with_use(unused: timedelta, one: int, other: int) -> None:
    assert decay(unused, max(one, other)) >= decay(unused, min(one, other))


@pytest.mark.parametrize(
    ("importance", "age", "unused", "times", "faded"),
    [
        (0.5, 30, None, 0, True),  # .5 × .5
        (0.5, 29, None, 0, False),  # too young
        (0.6, 30, None, 0, False),  # exactly .3 stays
        (0.6, 31, None, 0, True),
        (0.8, 42, None, 0, False),
        (0.8, 43, None, 0, True),
        (0.5, 400, 1, 1, False),  # used yesterday
        (0.5, 400, 400, 5, True),  # often used, long ago: .5 × .5
        (0.9, 400, 400, 5, False),
        (0.0, 400, 0, 99, True),
    ],
)
def test_the_verdict_is(alice: User, importance: float, age: int, unused: int | None, times: int, faded: bool) -> None:
    Fact.objects.create(
        user=alice,
        statement="It rained.",
        status="active",
        source="imported",
        importance=importance,
        recorded_at=NOW - age * DAY,
        last_used_at=None if unused is None else NOW - unused * DAY,
        times_used=times,
    )
    assert fading(Fact.objects.for_user(alice), NOW).exists() is faded


@given(
    rows=st.lists(
        st.tuples(shares, st.integers(0, 4_000_000), st.none() | st.integers(0, 4_000_000), st.integers(0, 20)),
        min_size=1,
        max_size=20,
    )
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_database_decays_as_the_ranking_does(alice: User, rows: list[tuple[float, int, int | None, int]]) -> None:
    # Half a minute off any exact minute, so that no rounding of the last digit decides at the very limit.
    kept: list[dict[str, Any]] = [
        {
            "importance": importance,
            "recorded_at": NOW - timedelta(minutes=age, seconds=30),
            "last_used_at": None if unused is None else NOW - timedelta(minutes=unused, seconds=30),
            "times_used": times,
        }
        for importance, age, unused, times in rows
    ]
    facts = Fact.objects.bulk_create(
        Fact(user=alice, statement="It rained.", status="active", source="imported", **row) for row in kept
    )
    expected = {
        fact.pk
        for fact, row in zip(facts, kept, strict=True)
        if row["recorded_at"] <= NOW - ARCHIVED_FROM_AGE
        and row["importance"] * decay(NOW - (row["last_used_at"] or row["recorded_at"]), row["times_used"])
        < ARCHIVED_BELOW
    }
    of_these = Fact.objects.for_user(alice).filter(pk__in=[fact.pk for fact in facts])
    assert set(fading(of_these, NOW).values_list("pk", flat=True)) == expected
