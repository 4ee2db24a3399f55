"""What is trimmed first when a prompt doesn't fit, by examples."""

from itertools import pairwise

import pytest

from budget.planning.fit import PRUNING_ORDER, OversizedMessage, Piece, fit
from budget.planning.history_cut import PLACEHOLDER_TOKENS, TurnRange
from budget.planning.plan import LONG, SMALL, STANDARD, Section, resolve
from tests.budget.pieces import cut_refs, piece, plan_of, refs, turns

WINDOW = 1_000_000


def rule_of(section: Section) -> str:
    return next(step.rule for step in PRUNING_ORDER if step.section is section)


def last_resort_of(section: Section) -> str:
    return next(step.last_resort for step in PRUNING_ORDER if step.section is section)


def test_the_pruning_order_is_task_history_memories_profile_role() -> None:
    assert [str(step.section) for step in PRUNING_ORDER] == ["task", "history", "memories", "profile", "role"]
    assert len({rule for step in PRUNING_ORDER for rule in (step.rule, step.last_resort) if rule}) == 7


def test_a_prompt_within_its_plan_is_kept_whole_and_in_the_order_of_the_request() -> None:
    pieces = [
        piece(Section.MESSAGE, "question", 50),
        piece(Section.MEMORIES, "fact:1", 20, 0.5),
        *turns(10, 10),
        piece(Section.SYSTEM_PROMPT, "blueprint", 500),
    ]
    fitted = fit(pieces, resolve(STANDARD, WINDOW))
    assert refs(fitted) == ["blueprint", "turn:1", "turn:2", "fact:1", "question"]
    assert (fitted.cut, fitted.cut_turns, fitted.rejection, fitted.tokens) == ((), None, None, 590)


def test_a_section_may_borrow_what_others_leave_unused() -> None:
    plan = plan_of(1_000, memories=100, profile=900)
    assert refs(fit([piece(Section.MEMORIES, "fact:1", 950)], plan)) == ["fact:1"]


def test_what_was_borrowed_is_given_back_before_anyone_within_a_ceiling_gives() -> None:
    plan = plan_of(300, task=200, memories=100)
    pieces = [piece(Section.TASK, "tool:1", 200, 0.1), *(piece(Section.MEMORIES, f"fact:{n}", 50, n) for n in range(4))]
    assert cut_refs(fit(pieces, plan)) == ["fact:1", "fact:0"]


@pytest.mark.parametrize(
    ("message", "gone"),
    [
        (0, 0),
        (1_000, 1),
        (2_000 - PLACEHOLDER_TOKENS, 2),
        (3_000 - PLACEHOLDER_TOKENS, 3),
        (3_500 - PLACEHOLDER_TOKENS, 4),
        (4_500, 5),
        (5_000, 6),
    ],
)
def test_old_messages_are_cut_before_memories_and_each_section_in_its_turn(message: int, gone: int) -> None:
    """A growing message takes everything in the constant's order, although no section is over its ceiling."""
    plan = plan_of(5_000, task=1_000, history=2_000, memories=1_000, profile=500, role=500)
    middle = [f"turn:{n}" for n in range(3, 8)]
    sections = [["tool"], middle, ["fact:1"], ["prose"], ["turn:1", "turn:2", "turn:8", "turn:9", "turn:10"], ["role"]]
    pieces = [
        piece(Section.TASK, "tool", 1_000),
        *turns(*[200] * 10),
        piece(Section.MEMORIES, "fact:1", 1_000),
        piece(Section.PROFILE, "prose", 500),
        piece(Section.ROLE, "role", 500),
        piece(Section.MESSAGE, "question", message),
    ]
    assert sorted(cut_refs(fit(pieces, plan))) == sorted(ref for section in sections[:gone] for ref in section)


def test_memories_give_way_lowest_score_first() -> None:
    plan = plan_of(100, memories=100)
    pieces = [piece(Section.MEMORIES, f"fact:{n}", 40, score) for n, score in enumerate([0.2, 0.9, 0.5])]
    fitted = fit(pieces, plan)
    assert refs(fitted) == ["fact:1", "fact:2"]
    assert [(one.piece.ref, one.rule) for one in fitted.cut] == [("fact:0", rule_of(Section.MEMORIES))]


def test_a_smaller_memory_does_not_overtake_a_better_one_that_has_no_room() -> None:
    plan = plan_of(100, memories=100)
    pieces = [piece(Section.MEMORIES, "best", 60, 0.9), piece(Section.MEMORIES, "big", 60, 0.8)]
    pieces.append(piece(Section.MEMORIES, "small", 10, 0.7))
    assert refs(fit(pieces, plan)) == ["best"]


def test_a_memory_cap_forbids_memories_to_borrow() -> None:
    pieces = [piece(Section.MEMORIES, f"fact:{n}", 300, n) for n in range(5)]
    assert refs(fit(pieces, resolve(STANDARD, WINDOW, memory_cap=800))) == ["fact:3", "fact:4"]
    assert len(refs(fit(pieces, resolve(STANDARD, WINDOW)))) == 5


@pytest.mark.parametrize("cap", [0, 50, 300])
def test_what_changed_in_the_profile_stands_beside_the_memory_cap(cap: int) -> None:
    update = piece(Section.MEMORIES, "update:0", 60, 2.0, is_protected=True)
    recalled = [piece(Section.MEMORIES, f"fact:{n}", 100, n / 10) for n in range(5)]
    fitted = fit([update, *recalled], resolve(STANDARD, WINDOW, memory_cap=cap))
    assert "update:0" in refs(fitted)
    assert sum(one.tokens for one in fitted.kept if not one.is_protected) == cap // 100 * 100


def test_profile_prose_goes_least_important_first_and_keyed_facts_stay() -> None:
    plan = plan_of(200, profile=200)
    pieces = [
        piece(Section.PROFILE, "prose:goals", 100, 0.9),
        piece(Section.PROFILE, "prose:people", 100, 0.4),
        piece(Section.PROFILE, "fact:1", 100, 0.5, is_protected=True),
    ]
    fitted = fit(pieces, plan)
    assert refs(fitted) == ["prose:goals", "fact:1"]
    assert fitted.cut[0].rule == rule_of(Section.PROFILE)


def test_a_keyed_fact_is_cut_only_when_all_else_is_and_the_rule_says_so() -> None:
    plan = plan_of(1_000, profile=500, memories=500)
    pieces = [
        piece(Section.PROFILE, "fact:1", 100, 0.5, is_protected=True),
        piece(Section.PROFILE, "fact:2", 100, 0.8, is_protected=True),
        piece(Section.PROFILE, "prose", 100, 1.0),
        piece(Section.MEMORIES, "fact:3", 100, 1.0),
        piece(Section.MESSAGE, "question", 850),
    ]
    fitted = fit(pieces, plan)
    assert refs(fitted) == ["fact:2", "question"]
    rules = {one.piece.ref: one.rule for one in fitted.cut}
    assert rules == {
        "fact:3": rule_of(Section.MEMORIES),
        "prose": rule_of(Section.PROFILE),
        "fact:1": last_resort_of(Section.PROFILE),
    }


def test_role_instructions_are_the_last_to_go() -> None:
    plan = plan_of(1_000, role=200)
    pieces = [piece(Section.ROLE, "role", 200), piece(Section.PROFILE, "fact:1", 100, is_protected=True)]
    assert refs(fit([*pieces, piece(Section.MESSAGE, "question", 800)], plan)) == ["role", "question"]
    fitted = fit([*pieces, piece(Section.MESSAGE, "question", 801)], plan)
    assert refs(fitted) == ["question"]
    assert fitted.cut[-1].rule == rule_of(Section.ROLE)


# History ------------------------------------------------------------------------------------------------------------


def test_history_gives_way_in_its_middle_down_to_half_of_its_ceiling_in_one_step() -> None:
    fitted = fit(turns(*[100] * 21), plan_of(2_000, history=2_000))
    # 1,000 tokens: five outer turns, the placeholder, and four turns of the former middle
    assert refs(fitted) == ["turn:1", "turn:2", *(f"turn:{n}" for n in range(15, 22))]
    assert fitted.cut_turns == TurnRange(3, 14)
    assert {one.rule for one in fitted.cut} == {rule_of(Section.HISTORY)}


def test_the_placeholder_stands_where_the_turns_stood_and_is_counted() -> None:
    fitted = fit(turns(*[100] * 21), plan_of(2_000, history=2_000))
    placeholder = fitted.kept[2]
    assert placeholder.tokens == PLACEHOLDER_TOKENS
    assert placeholder.label == "Note: turns 3 to 14 left out"
    assert fitted.tokens == 9 * 100 + PLACEHOLDER_TOKENS


def test_the_cut_point_stays_for_many_turns() -> None:
    plan, cut, cut_points = plan_of(2_000, history=2_000), None, []
    for length in range(1, 101):
        fitted = fit(turns(*[100] * length), plan, cut)
        cut = fitted.cut_turns
        cut_points.append(cut)
    changes = [now for before, now in pairwise(cut_points) if before != now]
    assert changes[0] == TurnRange(3, 14)
    assert len(changes) <= 100 // 10
    assert all(change is not None and change.first == 3 for change in changes)


def test_a_cut_that_suffices_is_kept_though_more_would_fit() -> None:
    fitted = fit(turns(*[100] * 12), plan_of(2_000, history=2_000), TurnRange(3, 6))
    assert fitted.cut_turns == TurnRange(3, 6)
    assert refs(fitted) == ["turn:1", "turn:2", *(f"turn:{n}" for n in range(7, 13))]


def test_a_cut_that_no_longer_suffices_grows_forwards() -> None:
    fitted = fit(turns(*[100] * 30), plan_of(2_000, history=2_000), TurnRange(3, 8))
    assert fitted.cut_turns == TurnRange(3, 23)


def test_a_cut_that_would_hide_the_last_turns_of_a_shorter_branch_is_forgotten() -> None:
    fitted = fit(turns(*[100] * 8), plan_of(2_000, history=2_000), TurnRange(3, 14))
    assert fitted.cut_turns is None
    assert len(refs(fitted)) == 8


def test_both_halves_of_a_turn_go_together() -> None:
    pieces = [
        piece(Section.HISTORY, f"{side}:{n}", 50, turn=n) for n in range(1, 22) for side in ("question", "answer")
    ]
    fitted = fit(pieces, plan_of(2_000, history=2_000))
    assert fitted.cut_turns == TurnRange(3, 14)
    assert len(fitted.cut) == 24


def test_the_first_two_and_last_three_turns_outlast_memories_and_profile_prose() -> None:
    pieces = [
        *turns(*[200] * 8),
        piece(Section.MEMORIES, "fact:1", 300, 1.0),
        piece(Section.PROFILE, "prose", 300, 1.0),
    ]
    fitted = fit([*pieces, piece(Section.MESSAGE, "question", 800)], plan_of(2_000, history=1_000, memories=1_000))
    assert refs(fitted) == ["turn:1", "turn:2", "turn:6", "turn:7", "turn:8", "question"]


def test_before_a_message_is_refused_the_oldest_turns_go_and_the_latest_last() -> None:
    fitted = fit([*turns(*[200] * 8), piece(Section.MESSAGE, "question", 500)], plan_of(1_000, history=500))
    assert refs(fitted) == ["turn:7", "turn:8", "question"]
    assert fitted.cut_turns == TurnRange(1, 6)
    assert [one.rule for one in fitted.cut].count(last_resort_of(Section.HISTORY)) == 3


def test_without_room_for_the_placeholder_all_turns_and_the_placeholder_go() -> None:
    fitted = fit([*turns(200, 200), piece(Section.MESSAGE, "question", 950)], plan_of(1_000, history=500))
    assert [p.ref for p in fitted.kept] == ["question"]
    assert fitted.cut_turns == TurnRange(1, 2)


def test_turns_out_of_order_or_without_number_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="turn number"):
        piece(Section.HISTORY, "turn:1", 1)
    with pytest.raises(ValueError, match="ascending order"):
        fit(turns(1, 1)[::-1], plan_of(100))


@pytest.mark.parametrize("wrong", [{"tokens": -1}, {"tokens": 1, "score": float("nan")}])
def test_a_piece_without_proper_size_or_score_is_a_mistake(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="fact:1"):
        Piece(Section.MEMORIES, "fact:1", "", **wrong)  # type: ignore[arg-type]


# Segments: summaries in the history ---------------------------------------------------------------------------------


def a_compacted_history() -> list[Piece]:
    """Two first turns, two segments for turns 3 to 40, and turns 41 to 46; 300 tokens each."""
    numbered = {"turn:1": 1, "turn:2": 2, "segment:7": 3, "segment:8": 21} | {f"turn:{n}": n for n in range(41, 47)}
    return [piece(Section.HISTORY, ref, 300, turn=number) for ref, number in numbered.items()]


def test_segments_stand_between_the_first_turns_and_the_later_ones() -> None:
    assert refs(fit(a_compacted_history(), plan_of(4_000, history=4_000))) == [one.ref for one in a_compacted_history()]


def test_the_oldest_segments_give_way_before_newer_ones_and_before_turns() -> None:
    fitted = fit(a_compacted_history(), plan_of(2_900, history=2_500))
    assert fitted.cut_turns is not None
    assert cut_refs(fitted)[:2] == ["segment:7", "segment:8"]
    assert refs(fitted)[:2] == ["turn:1", "turn:2"]
    assert refs(fitted)[-3:] == ["turn:44", "turn:45", "turn:46"]


def test_a_segment_is_never_one_of_the_outer_turns_while_there_are_turns_around_it() -> None:
    fitted = fit(a_compacted_history(), plan_of(1_500 + PLACEHOLDER_TOKENS, history=500))
    assert refs(fitted) == ["turn:1", "turn:2", "turn:44", "turn:45", "turn:46"]
    assert {one.rule for one in fitted.cut} == {rule_of(Section.HISTORY)}


# Refusing -----------------------------------------------------------------------------------------------------------


def test_a_message_that_is_too_long_is_refused_in_a_sentence_with_both_figures() -> None:
    pieces = [
        piece(Section.SYSTEM_PROMPT, "blueprint", 3_000),
        piece(Section.MESSAGE, "question", 45_000),
        *turns(10, 10),
    ]
    fitted = fit(pieces, resolve(STANDARD, WINDOW))
    assert fitted.rejection == (
        "Your message is too long: about 45,000 tokens. The plan “standard” has room for 33,000 "
        "with this model. Shorten it, or save it as a document and ask about it."
    )
    assert (fitted.kept, fitted.cut) == ((), ())


def test_a_message_that_is_too_long_may_be_kept_as_a_document_where_a_question_about_it_fits() -> None:
    long = piece(Section.MESSAGE, "question", 45_000)
    roomy = fit([piece(Section.SYSTEM_PROMPT, "blueprint", 3_000), long], resolve(STANDARD, WINDOW)).too_long
    tight = fit([piece(Section.SYSTEM_PROMPT, "blueprint", 35_900), long], resolve(STANDARD, WINDOW))
    assert roomy == OversizedMessage(tokens=45_000, room=33_000)
    assert roomy.can_be_kept
    assert tight.too_long == OversizedMessage(tokens=45_000, room=100)
    assert not tight.too_long.can_be_kept
    assert tight.rejection is not None
    assert tight.rejection.endswith("Shorten it, or choose a larger plan.")


def test_instructions_that_do_not_fit_are_no_fault_of_the_message() -> None:
    pieces = [piece(Section.SYSTEM_PROMPT, "blueprint", 3_000), piece(Section.MESSAGE, "question", 5)]
    assert fit(pieces, resolve(SMALL, 2_000)).too_long is None


def test_the_longest_message_that_fits_is_not_refused() -> None:
    pieces = [
        piece(Section.SYSTEM_PROMPT, "blueprint", 3_000),
        piece(Section.MESSAGE, "question", 33_000),
        *turns(10, 10),
    ]
    fitted = fit(pieces, resolve(STANDARD, WINDOW))
    assert fitted.rejection is None
    assert fitted.tokens == 36_000


def test_a_window_too_small_for_the_instructions_is_told_as_that() -> None:
    pieces = [piece(Section.SYSTEM_PROMPT, "blueprint", 3_000), piece(Section.MESSAGE, "question", 5)]
    refused = fit(pieces, resolve(SMALL, 2_000)).rejection
    assert refused is not None
    assert refused.startswith("The instructions alone need about 3,000 tokens. The plan “small” allows 1,750")


def test_a_thousand_long_turns_fit_into_the_long_plan() -> None:
    fitted = fit(turns(*[500] * 1_000), resolve(LONG, WINDOW))
    assert fitted.cut_turns is not None
    assert 29_400 - 500 <= sum(p.tokens for p in fitted.kept) <= 29_400
