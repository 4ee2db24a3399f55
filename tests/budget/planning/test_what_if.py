"""What another plan would cut, computed from a stored receipt the way `fit` would."""

import json
from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from budget.models import Receipt
from budget.planning.fit import PLACEHOLDER_REF, Cut, FitResult, Piece, fit
from budget.planning.history_cut import TurnRange
from budget.planning.items import SIZES_KEPT
from budget.planning.plan import SMALL, STANDARD, ResolvedPlan, Section, resolve
from budget.planning.what_if import pieces_of, preview
from budget.receipts.record import draft_receipt
from tests.budget.pieces import CUTTABLE, larger, piece, plan_of, plans, prompts, stored_cuts, turns
from tests.budget.rows import PLAN as PLAN_OF_ROWS
from tests.budget.rows import answer_of, draft_for

PLAN = plan_of(10_000, history=3_000, memories=1_000, profile=500, task=500)
UNCHANGED = ((), (), None)


def receipt_of(fitted: FitResult, plan: ResolvedPlan = PLAN, not_taken: Iterable[Cut] = ()) -> Receipt:
    """As read back from the database."""
    given: dict[str, Any] = {"user_id": 1, "conversation_id": None, "message_id": 1, "turn": 1, "model": "m"}
    receipt = draft_receipt(**given, plan=plan, fitted=fitted, base_by_class={}, request_digest="", not_taken=not_taken)
    receipt.items = json.loads(json.dumps(receipt.items))
    return receipt


def previewed(pieces: Iterable[Piece], now: ResolvedPlan, then: ResolvedPlan) -> Any:
    before = pieces_of(receipt_of(fit(pieces, now), now))
    return preview(before, then, before.cut_turns)


def smaller(**ceilings: int) -> ResolvedPlan:
    """PLAN with lower ceilings, and a lower total."""
    named = {Section(name): tokens for name, tokens in ceilings.items()}
    less = sum(PLAN.ceilings[section] - tokens for section, tokens in named.items())
    return replace(PLAN, total=PLAN.total - less, ceilings=MappingProxyType({**PLAN.ceilings, **named}))


# By example ---------------------------------------------------------------------------------------------------------


def test_items_that_would_be_cut_are_told_by_name_and_rule_with_the_sums_before_and_after() -> None:
    memories = [piece(Section.MEMORIES, f"fact:{n}", 400, score=n / 10) for n in range(1, 6)]
    question = piece(Section.MESSAGE, "question", 4_900)
    found = previewed([question, *memories], PLAN, plan_of(6_000, memories=1_000))
    assert [(one.label, one.heading, one.tokens, one.rule) for one in found.cut] == [
        ("fact:3", "Recalled memories", 400, "memories give way, lowest score first"),
        ("fact:2", "Recalled memories", 400, "memories give way, lowest score first"),
        ("fact:1", "Recalled memories", 400, "memories give way, lowest score first"),
    ]
    assert (found.before, found.after, found.back) == (6_900, 5_700, ())
    assert found.sentence == "With this budget 3 items (1,200 tokens) would be trimmed."
    assert {str(total.section): total.tokens for total in found.sections}["memories"] == 800


def test_turns_that_would_be_cut_are_one_item_with_their_sum() -> None:
    question = piece(Section.MESSAGE, "question", 1_000)
    sizes = [100, 100, *range(201, 211), 100, 100, 100]
    found = previewed([question, *turns(*sizes)], PLAN, plan_of(3_000, history=2_000))
    assert [(one.ref, one.label, one.tokens) for one in found.cut] == [
        ("turns:3-10", "Turns 3 to 10", sum(range(201, 209)))
    ]
    assert found.sentence == "With this budget 1 item (1,636 tokens) would be trimmed."
    assert found.exact


def test_the_cut_point_stays_and_what_is_cut_beyond_it_is_told_alone() -> None:
    question = piece(Section.MESSAGE, "question", 7_000)
    now = fit([question, *turns(*[200] * 20)], PLAN)
    assert now.cut_turns == TurnRange(3, 15)
    before = pieces_of(receipt_of(now))
    assert before.cut_turns == now.cut_turns
    same_cut = preview(before, larger(PLAN, {Section.HISTORY: 10_000}), before.cut_turns)
    assert (same_cut.cut, same_cut.back, same_cut.refused) == UNCHANGED
    fresh = preview(before, larger(PLAN, {Section.HISTORY: 10_000}), None)
    assert [(one.label, one.tokens) for one in fresh.back] == [("Turns 3 to 15", 2_600)]
    assert fresh.sentence == "With this budget 1 item (2,600 tokens) would be included again."


def test_turns_on_both_sides_of_an_earlier_cut_are_not_told_as_one_run() -> None:
    pieces = turns(*[300] * 9)
    before = pieces_of(receipt_of(fit(pieces, PLAN, TurnRange(4, 5))))
    found = preview(before, plan_of(1_600, history=1_600), before.cut_turns)
    assert [one.label for one in found.cut] == ["Turn 3", "Turn 6"]


def test_a_segment_is_an_item_of_its_own_between_the_turns() -> None:
    segment = Piece(Section.HISTORY, "segment:7", "Summary of turns 3 to 30", 300, turn=3)
    later = [piece(Section.HISTORY, f"turn:{n}", 300, turn=n) for n in range(31, 36)]
    receipt = receipt_of(fit([*turns(100, 100), segment, *later], PLAN))
    assert [item["ref"] for item in receipt.items] == ["turns:1-2", "segment:7", "turns:31-35"]
    before = pieces_of(receipt)
    found = preview(before, plan_of(1_900, history=1_900), None)
    assert [one.label for one in found.cut] == ["Summary of turns 3 to 30", "Turns 31 to 32"]


def test_nothing_would_change_where_there_is_room_enough() -> None:
    found = previewed([piece(Section.MEMORIES, "fact:1", 400, 0.5), *turns(10, 10)], PLAN, smaller(memories=500))
    assert found.sentence == "With this budget nothing would change."
    assert (found.before, found.after) == (420, 420)


def test_what_had_been_cut_comes_back_with_more_room() -> None:
    pieces = [piece(Section.MESSAGE, "question", 9_000), piece(Section.MEMORIES, "fact:1", 3_000, 0.5)]
    found = previewed([*pieces, *turns(10, 10)], PLAN, larger(PLAN, {Section.MEMORIES: 5_000}))
    assert [(one.ref, one.tokens) for one in found.back] == [("fact:1", 3_000)]
    assert found.after - found.before == 3_000


def test_what_retrieval_left_out_is_no_candidate() -> None:
    far = Cut(piece(Section.MEMORIES, "fact:9", 5, 0.1), "below the floor")
    before = pieces_of(receipt_of(fit([piece(Section.MEMORIES, "fact:1", 5, 0.9)], PLAN), not_taken=[far]))
    assert [one.ref for one in before.pieces] == ["fact:1"]


def test_keyed_facts_stay_guarded_in_the_preview() -> None:
    prose = piece(Section.PROFILE, "document:1", 100, 0.9)
    keyed = piece(Section.PROFILE, "fact:1", 100, 0.1, is_protected=True)
    found = previewed([prose, keyed], PLAN, plan_of(150, profile=150))
    assert [one.ref for one in found.cut] == ["document:1"]


def test_receipts_of_before_guarded_was_kept_are_read_as_they_were_meant() -> None:
    pieces = [piece(Section.PROFILE, "document:1", 100, 0.9), piece(Section.PROFILE, "fact:1", 100, is_protected=True)]
    receipt = receipt_of(fit(pieces, PLAN))
    for item in receipt.items:
        item.pop("guarded", None)
    assert [one.is_protected for one in pieces_of(receipt).pieces] == [False, True]


def test_a_budget_that_refuses_says_so() -> None:
    found = previewed([piece(Section.MESSAGE, "question", 2_000)], PLAN, plan_of(1_000))
    assert found.refused is not None
    assert found.sentence == found.refused
    assert found.after == 0


def test_a_run_too_long_to_keep_its_sizes_is_taken_apart_evenly_and_the_preview_says_about() -> None:
    sizes = [n % 7 + 1 for n in range(SIZES_KEPT + 1)]
    before = pieces_of(receipt_of(fit(turns(*sizes), PLAN)))
    assert sum(one.tokens for one in before.pieces) == sum(sizes)
    assert {one.tokens for one in before.pieces} <= {3, 4}
    found = preview(before, plan_of(300, history=300), None)
    assert not found.exact
    assert "(about " in found.sentence


@pytest.mark.django_db
def test_it_works_from_a_stored_receipt(alice: Any) -> None:
    draft_for(answer_of(alice)).save()
    before = pieces_of(Receipt.objects.for_user(alice).get())
    assert before.plan == PLAN_OF_ROWS
    same = preview(before, resolve(STANDARD, 1_000_000), before.cut_turns)
    assert (same.cut, same.back, same.refused) == UNCHANGED
    small = preview(before, resolve(SMALL, 2_000), before.cut_turns)
    assert (small.refused, bool(small.cut)) == (None, True)


# Whatever the prompt ------------------------------------------------------------------------------------------------


def apart(pieces: list[Piece]) -> list[Piece]:
    """Pieces with scores that a receipt stores exactly, and unique refs."""
    return [replace(one, score=None if one.score is None else round(one.score, 4)) for one in pieces]


@given(prompts(), plans, plans, stored_cuts)
def test_the_preview_is_what_fit_itself_would_do(
    pieces: list[Piece], now: ResolvedPlan, then: ResolvedPlan, stored: TurnRange | None
) -> None:
    pieces = apart(pieces)
    now, then = (replace(plan, memory_cap=None) for plan in (now, then))
    first = fit(pieces, now, stored)
    assume(not first.rejection)
    before = pieces_of(receipt_of(first, now))
    assert (before.cut_turns, before.plan) == (first.cut_turns, now)
    found = preview(before, then, first.cut_turns)
    same, other = fit(pieces, now, first.cut_turns), fit(pieces, then, first.cut_turns)
    assert (found.refused, found.before, found.after) == (other.rejection, same.tokens, other.tokens)
    assert [total.tokens for total in found.sections] == [total.tokens for total in other.sections]
    if not other.rejection:
        lost = sum(one.tokens for one in found.cut) - sum(one.tokens for one in found.back)
        assert without_placeholder(same) - lost == without_placeholder(other)


def without_placeholder(fitted: FitResult) -> int:
    return sum(one.tokens for one in fitted.kept if not one.ref.startswith(PLACEHOLDER_REF))


@given(prompts(), plans, st.sampled_from([*CUTTABLE, Section.MESSAGE]), st.integers(0, 2_000))
def test_a_larger_plan_cuts_nothing_and_the_same_plan_changes_nothing(
    pieces: list[Piece], plan: ResolvedPlan, section: Section, more: int
) -> None:
    first = fit(apart(pieces), plan)
    assume(not first.rejection)
    before = pieces_of(receipt_of(first, plan))
    assert preview(before, larger(plan, {section: more}), before.cut_turns).cut == ()
    same = preview(before, plan, before.cut_turns)
    assert (same.cut, same.back, same.refused) == UNCHANGED
