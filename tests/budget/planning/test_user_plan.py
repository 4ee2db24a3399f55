"""A user's own plan: what may be changed, what is refused with which message, and what applies when it no
longer fits."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget.models import BudgetPlan
from budget.planning.plan import LONG, PLANS, SMALL, STANDARD, ResolvedPlan, Section, resolve
from budget.planning.user_plan import (
    MOVABLE,
    InvalidPlanError,
    plan_for,
    reset_to_default,
    resolve_stored,
    save,
    validate_plan,
)

WINDOW = 200_000


def errors_of(*choice: Any, **more: Any) -> dict[str, str]:
    with pytest.raises(InvalidPlanError) as refused:
        validate_plan(*choice, **more)
    return refused.value.errors


# What may be chosen -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLANS)
def test_a_preset_by_itself_is_the_preset(name: str) -> None:
    assert validate_plan(name, None, None, {}) is PLANS[name]


def test_what_is_set_to_the_presets_own_figures_is_not_moved() -> None:
    assert validate_plan("standard", 40_000, 4_000, {"history": 10_000}) is PLANS["standard"]


def test_a_moved_ceiling_takes_from_the_message() -> None:
    mine = resolve(validate_plan("standard", None, None, {"history": 11_000}), WINDOW)
    assert mine.name == "standard (yours)"
    assert mine.ceilings[Section.HISTORY] == 11_000
    assert mine.ceilings[Section.MESSAGE] == resolve(STANDARD, WINDOW).ceilings[Section.MESSAGE] - 1_000


def test_a_section_of_the_long_plan_that_is_not_moved_keeps_its_share() -> None:
    mine = resolve(validate_plan("long", None, None, {"history": 38_000}), WINDOW)
    assert (mine.ceilings[Section.HISTORY], mine.ceilings[Section.MEMORIES]) == (38_000, 24_000)


@pytest.mark.parametrize(
    ("choice", "errors"),
    [
        (("huge", None, None, {}), {"preset": "No plan named “huge”. Choose small, standard, long."}),
        (
            ("standard", None, None, {"history": 12_000}),
            {
                "ceilings": "The sections need 34,500 tokens, the answer 4,000, your message at least 2,000. That's "
                "500 more than the total of 40,000."
            },
        ),
        (
            ("small", 7_000, None, {}),
            {
                "ceilings": "The sections need 7,000 tokens, the answer 1,000. "
                "That's 1,000 more than the total of 7,000."
            },
        ),
        (
            ("small", None, 100, {"history": 100}),
            {
                "history": "Earlier messages: at least 500 tokens are needed, not 100.",
                "output_reserve": "The answer has 100 tokens but needs at least 500.",
            },
        ),
        (
            ("long", 30_500, None, {}),
            {"history": "Earlier messages: at least 500 tokens are needed, not 300."},
        ),
        (
            ("small", 3_000_000, None, {}),
            {"total": "3,000,000 tokens is too much: any model takes at most 2,000,000."},
        ),
        (
            ("small", -1, 10.5, {"task": True, "role": "many", "message": 5, "moon": 5}),
            {
                "total": "Enter a whole number of tokens, 0 or more.",
                "output_reserve": "Enter a whole number of tokens, 0 or more.",
                "task": "Enter a whole number of tokens, 0 or more.",
                "role": "Enter a whole number of tokens, 0 or more.",
                "message": "No such section.",
                "moon": "No such section.",
            },
        ),
    ],
    ids=[
        "preset",
        "sum",
        "total below the preset's sum",
        "too small",
        "shares too small",
        "beyond any model",
        "no sizes",
    ],
)
def test_each_wrong_value_is_told_in_one_sentence(choice: Any, errors: dict[str, str]) -> None:
    assert errors_of(*choice) == errors


def test_a_total_beyond_the_models_window_is_refused_where_the_window_is_known() -> None:
    told = errors_of("small", 50_000, None, {}, window=32_000)
    assert told == {"total": "50,000 tokens is too much: this model takes at most 32,000."}
    assert validate_plan("small", 32_000, None, {}, window=32_000).total == 32_000


@given(
    st.sampled_from(sorted(PLANS)),
    st.none() | st.integers(0, 300_000),
    st.none() | st.integers(0, 50_000),
    st.dictionaries(st.sampled_from([str(section) for section in MOVABLE]), st.integers(0, 100_000)),
    st.integers(0, 300_000),
    st.none() | st.integers(0, 5_000),
)
def test_whatever_is_chosen_it_is_refused_or_its_sum_is_its_total_within_every_window(
    preset: str, total: int | None, reserve: int | None, ceilings: dict[str, int], window: int, cap: int | None
) -> None:
    try:
        plan = validate_plan(preset, total, reserve, ceilings)
    except InvalidPlanError:
        return
    mine = resolve(plan, window, cap)
    assert sum(mine.ceilings.values()) + mine.output_reserve == mine.total <= window
    assert min(mine.ceilings.values()) >= 0
    assert resolve(plan, plan.total).ceilings[Section.MESSAGE] >= PLANS[preset].message_minimum


# What is kept, and what holds -----------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_who_chose_nothing_has_the_default_plan(alice: Any, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        assert plan_for(alice, WINDOW) == resolve(STANDARD, WINDOW)


@pytest.mark.django_db
def test_a_saved_plan_holds_for_its_owner_and_nobody_else(alice: Any, bob: Any) -> None:
    save(alice, "small", 9_000, None, {"history": 4_000})
    assert (plan_for(alice, WINDOW).name, plan_for(alice, WINDOW).total) == ("small (yours)", 9_000)
    assert plan_for(bob, WINDOW) == resolve(STANDARD, WINDOW)


@pytest.mark.django_db
def test_only_what_was_moved_is_stored_and_a_second_choice_replaces_the_first(alice: Any) -> None:
    save(alice, "long", None, None, {})
    save(alice, "standard", 40_000, 3_000, {"history": 10_000, "role": 400})
    stored = BudgetPlan.objects.get()
    assert (stored.preset, stored.total, stored.output_reserve) == ("standard", None, 3_000)
    assert stored.ceilings == {"role": 400}


@pytest.mark.django_db
def test_a_choice_that_cannot_hold_leaves_the_earlier_one(alice: Any) -> None:
    save(alice, "small", None, None, {})
    with pytest.raises(InvalidPlanError):
        save(alice, "standard", None, None, {"history": 100_000})
    assert plan_for(alice, WINDOW) == resolve(SMALL, WINDOW)


@pytest.mark.django_db
def test_going_back_to_the_default_touches_only_the_persons_own_plan(alice: Any, bob: Any) -> None:
    for person in (alice, bob):
        save(person, "long", None, None, {})
    reset_to_default(alice)
    assert (plan_for(alice, WINDOW).name, plan_for(bob, WINDOW).name) == ("standard", "long")


@pytest.mark.parametrize(
    ("stored", "preset"),
    [
        (BudgetPlan(preset="small", ceilings={"moon": 5}), SMALL),
        (BudgetPlan(preset="small", ceilings={"history": "many"}), SMALL),
        (BudgetPlan(preset="standard", total=9_000), STANDARD),
        (BudgetPlan(preset="gone"), STANDARD),
    ],
    ids=["a section that is unknown", "no number", "a preset that grew", "a preset that is gone"],
)
def test_a_stored_plan_that_holds_no_more_gives_way_to_its_preset_and_says_so(stored: BudgetPlan, preset: Any) -> None:
    mine = resolve_stored(stored, WINDOW)
    assert (mine.name, mine.ceilings) == (preset.name, resolve(preset, WINDOW).ceilings)
    assert mine.note.startswith("Your plan doesn't fit this model. ")
    assert mine.note.endswith(f"Until you change it, “{preset.name}” is used.")


def test_an_own_plan_shrinks_with_the_window_and_says_so() -> None:
    mine = resolve_stored(BudgetPlan(preset="standard", total=60_000), 30_000)
    assert (mine.total, mine.ceilings[Section.HISTORY]) == (30_000, 5_000)
    assert mine.note == "Your plan of 60,000 tokens is reduced to this model's limit of 30,000."


def test_an_own_plan_that_would_shrink_below_its_needs_gives_way_to_its_preset() -> None:
    stored = BudgetPlan(preset="long", total=128_000, ceilings={"history": 1_000})
    assert resolve_stored(stored, 128_000).name == "long (yours)"
    mine = resolve_stored(stored, 32_000)
    assert mine.name == LONG.name
    assert "Earlier messages: at least 500 tokens are needed, not 250." in mine.note


def test_a_preset_without_a_change_shrinks_in_silence() -> None:
    assert resolve_stored(BudgetPlan(preset="long"), 32_000) == resolve(LONG, 32_000)


@pytest.mark.django_db
def test_the_operators_cap_on_memories_holds_in_every_plan(alice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from django.conf import settings

    monkeypatch.setattr(settings.ENVIRONMENT, "rag_per_turn_memory_budget_tokens", 800)
    seen: list[ResolvedPlan] = []
    for preset, ceilings in (("standard", {}), ("standard", {"memories": 6_000}), ("long", {})):
        save(alice, preset, None, None, ceilings)
        seen.append(plan_for(alice, WINDOW))
    assert [(mine.memory_cap, mine.ceilings[Section.MEMORIES]) for mine in seen] == [(800, 800)] * 3


@pytest.mark.parametrize("ceilings", [[1], "history", 7])
def test_a_stored_row_whose_ceilings_are_no_table_gives_way_to_its_preset(ceilings: Any) -> None:
    mine = resolve_stored(BudgetPlan(preset="small", ceilings=ceilings), WINDOW)
    assert mine.name == SMALL.name
    assert "Name each ceiling by its section." in mine.note
