"""The plans contain what their table says, and shrink with a model's window."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget.planning.plan import (
    DEFAULT_PLAN,
    NEVER_CUT,
    PLANS,
    SHARED_CEILING,
    STANDARD,
    Percent,
    Plan,
    Section,
    resolve,
)

BIG_WINDOW = 1_000_000


@pytest.mark.parametrize(
    ("name", "blueprint", "role", "profile", "history", "memories", "task", "message", "reserve", "total"),
    [
        ("small", 1_000, 200, 1_200, 3_000, 800, 800, 0, 1_000, 8_000),
        ("standard", 8_000, 500, 5_000, 10_000, 5_000, 4_000, 3_500, 4_000, 40_000),
        ("long", 8_000, 1_000, 5_000, 58_800, 39_200, 8_000, 0, 8_000, 128_000),
    ],
)
def test_each_plan_resolves_to_its_row_of_the_table(
    name: str,
    blueprint: int,
    role: int,
    profile: int,
    history: int,
    memories: int,
    task: int,
    message: int,
    reserve: int,
    total: int,
) -> None:
    plan = resolve(PLANS[name], BIG_WINDOW)
    assert plan.ceilings == {
        Section.SYSTEM_PROMPT: blueprint,
        Section.ROLE: role,
        Section.PROFILE: profile,
        Section.HISTORY: history,
        Section.MEMORIES: memories,
        Section.TASK: task,
        Section.MESSAGE: message,
    }
    assert (plan.output_reserve, plan.total) == (reserve, total)


def test_standard_is_the_default() -> None:
    assert DEFAULT_PLAN is PLANS["standard"]


@given(st.sampled_from(sorted(PLANS)), st.integers(0, 2_000_000), st.none() | st.integers(0, 50_000))
def test_ceilings_and_reserve_together_are_the_total_and_never_exceed_the_window(
    name: str, window: int, memory_cap: int | None
) -> None:
    plan = resolve(PLANS[name], window, memory_cap)
    assert sum(plan.ceilings.values()) + plan.output_reserve == plan.total <= min(window, PLANS[name].total)
    assert sum(plan.ceilings.values()) == plan.available
    assert min(plan.ceilings.values()) >= 0


def test_a_smaller_window_shrinks_every_ceiling_alike() -> None:
    half, whole = resolve(STANDARD, 20_000), resolve(STANDARD, BIG_WINDOW)
    assert {section: ceiling * 2 for section, ceiling in half.ceilings.items()} == whole.ceilings
    assert half.output_reserve * 2 == whole.output_reserve


def test_a_memory_cap_lowers_the_ceiling_and_leaves_the_rest_to_the_message() -> None:
    capped, free = resolve(STANDARD, BIG_WINDOW, memory_cap=800), resolve(STANDARD, BIG_WINDOW)
    assert capped.ceilings[Section.MEMORIES] == 800
    assert capped.ceilings[Section.MESSAGE] == free.ceilings[Section.MESSAGE] + 4_200


def test_a_plan_that_leaves_the_message_too_little_is_refused_with_both_figures() -> None:
    ceilings: dict[Section, int | Percent] = dict.fromkeys(STANDARD.ceilings, 0)
    ceilings |= {Section.HISTORY: 9_500, Section.MEMORIES: Percent(0)}
    plan = Plan("mine", total=10_000, output_reserve=0, ceilings=ceilings, message_minimum=2_000)
    with pytest.raises(ValueError, match="leaves 500 tokens for the message, which needs 2,000"):
        resolve(plan, BIG_WINDOW)


def test_every_section_has_a_heading_and_a_ceiling_of_its_own_or_a_shared_one() -> None:
    own = set(resolve(STANDARD, BIG_WINDOW).ceilings)
    assert own | set(SHARED_CEILING) == set(Section)
    assert not own & set(SHARED_CEILING)
    assert len({section.heading for section in Section}) == len(Section)


def test_what_is_never_cut_is_the_fixed_text_the_clock_and_the_question() -> None:
    assert {Section.SYSTEM_PROMPT, Section.BOUNDARIES, Section.CLOCK, Section.MESSAGE} == NEVER_CUT


def test_sections_stand_in_the_order_of_the_request() -> None:
    assert [str(section) for section in Section] == [
        "blueprint",
        "boundaries",
        "role",
        "profile",
        "history",
        "memories",
        "task",
        "clock",
        "message",
    ]


def test_each_memory_section_names_its_tier() -> None:
    tiers = {section.value: section.tier for section in Section if section.tier}
    assert tiers == {
        "profile": "semantic",
        "history": "short-term",
        "memories": "semantic and episodic",
        "task": "working",
    }
