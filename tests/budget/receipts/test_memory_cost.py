"""What a memory costs, and which could be retired: never one that may have decided an answer."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from budget.planning.plan import Section
from budget.receipts.memory_cost import (
    BEST_RANKS,
    IMPORTANT,
    LISTED,
    MIN_TOKENS,
    MIN_USES,
    PERIOD,
    MemoryUsage,
    economy,
    labels,
    spent_since,
    why_retire,
)
from tests.budget.dashboard_rows import item, month_of_turns

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def spent(ref: str = "fact:1", **more: Any) -> MemoryUsage:
    """A memory that was included often, cost much, and was never among the best."""
    common: dict[str, Any] = {"section": Section.MEMORIES, "times": MIN_USES, "tokens": 900}
    return MemoryUsage(ref, **{**common, "last_used": NOW, "best_place": BEST_RANKS + 1, **more})


# The judgement -------------------------------------------------------------------------------------------------------


def test_a_memory_that_only_ever_came_along_could_be_retired_and_the_reason_says_how_it_stood() -> None:
    assert why_retire(spent(times=12, best_place=7), 0.4, 5_000) == (
        "Sent in 12 prompts, but never among the 3 best matches (best rank 7)."
    )


@pytest.mark.parametrize(
    ("it", "importance", "all_tokens"),
    [
        pytest.param(spent(best_place=BEST_RANKS), 0.4, 5_000, id="it was once among the best"),
        pytest.param(spent(times=MIN_USES - 1), 0.4, 5_000, id="it was seen too seldom to tell"),
        pytest.param(spent(tokens=MIN_TOKENS - 1), 0.4, 5_000, id="it costs next to nothing"),
        pytest.param(spent(tokens=900), 0.4, 1_000_000, id="it costs next to nothing beside all others"),
        pytest.param(spent(), IMPORTANT, 5_000, id="it is important"),
        pytest.param(spent(section=Section.PROFILE, best_place=None), IMPORTANT, 5_000, id="an important profile fact"),
        pytest.param(
            spent("document:/profile/goals", section=Section.PROFILE, best_place=None), None, 5_000, id="own prose"
        ),
    ],
)
def test_a_memory_is_kept_when(it: MemoryUsage, importance: float | None, all_tokens: int) -> None:
    assert why_retire(it, importance, all_tokens) == ""


def test_a_document_has_no_importance_and_is_judged_by_its_place() -> None:
    assert why_retire(spent("chunk:4"), None, 5_000)


def test_a_profile_fact_is_judged_by_its_importance() -> None:
    reason = why_retire(spent(section=Section.PROFILE, best_place=None, times=40), 0.5, 5_000)
    assert reason == "Included in 40 prompts automatically, with importance 3 of 5."


def test_the_dearest_come_first_with_their_share_and_a_cheap_one_beyond_the_list_is_still_counted() -> None:
    cheap = [spent(f"fact:{n}", tokens=1) for n in range(2, 2 + LISTED)]
    found = economy([*cheap, spent("fact:1", tokens=60)], turns=9, importance={})
    assert (found.turns, found.memories, found.tokens, len(found.worths)) == (9, LISTED + 1, LISTED + 60, LISTED)
    assert found.worths[0].spent.ref == "fact:1"
    assert found.worths[0].share == pytest.approx(60 / (LISTED + 60))


def test_nothing_spent_is_no_share_of_nothing() -> None:
    found = economy([], turns=0, importance={})
    assert (found.tokens, list(found.worths), list(found.to_retire)) == (0, [], [])


# Adding up -----------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_tokens_times_and_best_place_are_added_up_over_the_prompts(alice: Any) -> None:
    month_of_turns(
        alice,
        3,
        [
            item("fact:1", Section.MEMORIES, 20, score=0.9, label="Mary lives in Lisbon", url="/m/7"),
            item("fact:2", Section.MEMORIES, 30, score=0.4),
            item("fact:3", Section.PROFILE, 11, score=0.8),
            item("turns:1-2", Section.HISTORY, 999),
            item("fact:4", Section.MEMORIES, 500, score=0.3, kept=False, rule="below the score"),
            item("update:0", Section.MEMORIES, 40, score=1.0),
        ],
    )
    rows, turns = spent_since(alice, timezone.now() - PERIOD)
    found = {row.ref: row for row in rows}
    assert turns == 3
    assert set(found) == {"fact:1", "fact:2", "fact:3"}, "neither what was cut, nor history, nor an update"
    assert (found["fact:1"].times, found["fact:1"].tokens, found["fact:1"].best_place) == (3, 60, 1)
    told = labels(alice, economy(rows, turns, {}).worths)
    assert told["fact:1"] == ("Mary lives in Lisbon", "/m/7")
    assert (found["fact:2"].best_place, found["fact:3"].best_place) == (2, None)


@pytest.mark.django_db
def test_what_is_older_than_the_period_or_beyond_the_latest_turns_or_somebody_elses_is_not_counted(
    alice: Any, bob: Any
) -> None:
    now = timezone.now()
    month_of_turns(alice, 2, [item("fact:1", Section.MEMORIES, 20)], until=now - timedelta(days=40), days=0)
    month_of_turns(alice, 5, [item("fact:2", Section.MEMORIES, 20)], until=now, days=1)
    month_of_turns(bob, 5, [item("fact:3", Section.MEMORIES, 20)], until=now, days=1)
    rows, turns = spent_since(alice, now - PERIOD, turns=4)
    assert [(row.ref, row.times) for row in rows] == [("fact:2", 4)]
    assert turns == 4


@pytest.mark.django_db
def test_turns_without_a_memory_are_no_turns_of_any(alice: Any) -> None:
    assert spent_since(alice, timezone.now() - PERIOD) == ([], 0)
