"""What a receipt records of a turn, from the draft to the last figure."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import assume, given

from budget.counting.estimate import TextClass
from budget.models import Calibration, Receipt
from budget.planning.fit import Cut, FitResult, Piece, fit
from budget.planning.history_cut import PLACEHOLDER_TOKENS, TurnRange
from budget.planning.items import list_items
from budget.planning.plan import ResolvedPlan, Section
from budget.receipts.forgetting import answers_using
from budget.receipts.record import TurnOutcome, close_abandoned, draft_receipt, finalize_receipt
from tests.budget.pieces import plan_of, plans, prompts, stored_cuts, turns
from tests.budget.rows import MODEL, PLAN, Figures, a_prompt, answer_of, draft_for

State = Receipt.State


def ending(*rounds: Figures, state: State = State.COMPLETE, text: str = "In Lisbon.", **more: Any) -> TurnOutcome:
    return TurnOutcome(state, rounds, text, **more)


# The draft ----------------------------------------------------------------------------------------------------------


@given(prompts(), plans, stored_cuts)
def test_the_sum_of_the_parts_equals_the_whole(
    pieces: list[Piece], plan: ResolvedPlan, stored: TurnRange | None
) -> None:
    fitted = fit(pieces, plan, stored)
    assume(not fitted.rejection)
    receipt = draft_receipt(
        user_id=1,
        conversation_id=None,  # type: ignore[arg-type]
        message_id=1,
        turn=1,
        model=MODEL,
        plan=plan,
        fitted=fitted,
        base_by_class={},
        request_digest="",
    )
    for kept, column in ((True, "tokens"), (False, "cut_tokens")):
        by_section = dict.fromkeys(Section, 0)
        for item in receipt.items:
            if item["kept"] is kept:
                by_section[item["section"]] += item["tokens"]
        assert by_section == {total["section"]: total[column] for total in receipt.sections}
    assert receipt.estimated_input == sum(total["tokens"] for total in receipt.sections)
    assert sum(p.tokens for p in pieces) == sum(
        item["tokens"] for item in receipt.items if not item["ref"].startswith("left-out")
    )


@pytest.mark.django_db
def test_a_draft_holds_every_candidate_with_its_score_parts_its_rule_and_its_source(alice: Any) -> None:
    answer = answer_of(alice)
    near = Cut(Piece(Section.MEMORIES, "fact:9", "Mary likes tea.", 6, score=0.2), "below the floor")
    draft_for(answer, not_taken=(near,)).save()
    receipt = Receipt.objects.for_user(alice).get(message=answer)
    recalled = next(item for item in receipt.items if item["ref"] == "fact:12")
    assert recalled == {
        "ref": "fact:12",
        "section": "memories",
        "label": "The user's sister Mary lives in Lisbon.",
        "tokens": 15,
        "score": 0.8123,
        "parts": {"semantic": 0.9, "name_match": 0.5},
        "kept": True,
        "rule": "",
        "url": "/m/7",
    }
    cut = [(item["ref"], item["rule"]) for item in receipt.items if not item["kept"]]
    assert cut == [
        ("document:/reference/long", "memories give way, lowest score first"),
        ("fact:9", "below the floor"),
    ]
    assert (receipt.state, receipt.plan, receipt.plan_total) == ("open", "standard", 40_000)
    assert (receipt.base_by_class, receipt.timings) == ({"prose": 1_000}, {"retrieve": 3.21})


@pytest.mark.django_db
@pytest.mark.django_db
@pytest.mark.parametrize("fits", [None, 0.6], ids=["stood there anyway", "was called for"])
def test_a_line_of_the_profile_counts_as_recalled_where_the_question_called_for_it(
    alice: Any, fits: float | None
) -> None:
    line = Piece(Section.PROFILE, "fact:7", "The user sings.", 6, score=0.3, relevance=fits)
    receipt = draft_for(answer_of(alice), fit([line, Piece(Section.MESSAGE, "question", "Do I sing?", 9)], PLAN))
    receipt.save()

    assert answers_using(alice, ["fact:7"]) == {receipt.message_id: fits is not None}


def test_a_receipt_is_found_by_a_memory_it_carried(alice: Any) -> None:
    draft_for(answer_of(alice)).save()
    naming = Receipt.objects.filter(items__contains=[{"ref": "fact:12", "kept": True}])
    assert naming.count() == 1
    assert not Receipt.objects.filter(items__contains=[{"ref": "fact:1"}]).exists()


def test_sections_stand_in_order_with_ceiling_tokens_and_what_was_cut() -> None:
    sections = {total["section"]: total for total in draft_unsaved().sections}
    assert list(sections) == [str(section) for section in Section]
    assert sections["memories"] == {
        "section": "memories",
        "ceiling": 5_000,
        "tokens": 15,
        "cut_tokens": 40_000,
        "items": 1,
        "cut": 1,
    }
    assert sections["boundaries"]["ceiling"] is None


def draft_unsaved() -> Receipt:
    given: dict[str, Any] = {"user_id": 1, "conversation_id": None, "message_id": 1, "turn": 1, "model": MODEL}
    return draft_receipt(**given, plan=PLAN, fitted=a_prompt(), base_by_class={}, request_digest="")


def test_a_long_history_is_a_handful_of_items() -> None:
    fitted: FitResult = fit(turns(*[100] * 1_000), plan_of(2_000, history=2_000))
    listed = list_items(fitted.kept, fitted.cut)
    assert [(item["label"], item["tokens"], item["kept"]) for item in listed] == [
        ("Turns 1 to 2", 200, True),
        ("Note: turns 3 to 993 left out", PLACEHOLDER_TOKENS, True),
        ("Turns 994 to 1000", 700, True),
        ("Turns 3 to 993", 99_100, False),
    ]


# The end of a turn --------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_figures_of_all_tool_rounds_are_added_up(alice: Any) -> None:
    receipt = draft_for(answer_of(alice))
    receipt.save()
    first = Figures(input=400, cache_read=10_000, cache_write_1h=600, output=50)
    second = Figures(input=80, cache_read=11_000, cache_write_5m=300, output=250)
    finalize_receipt(receipt, ending(first, second, stop_reason="end_turn", timings={"total": 812.345}))
    receipt = Receipt.objects.get(message=receipt.message_id)
    assert (receipt.state, receipt.stop_reason, receipt.usage_is_estimated) == ("complete", "end_turn", False)
    assert (receipt.input_tokens, receipt.cache_read_tokens) == (480, 21_000)
    assert (receipt.cache_write_tokens, receipt.output_tokens) == (900, 300)
    assert receipt.total_input == 480 + 21_000 + 900
    assert [one["output"] for one in receipt.rounds] == [50, 250]
    # 480 × 2 + 21,000 × 0.10 + 300 × 2.50 + 600 × 4 + 300 × 10, in millionths of a dollar
    assert receipt.cost == Decimal("0.009210")
    assert receipt.cost_uncached == Decimal("0.047760")
    assert receipt.timings == {"retrieve": 3.21, "total": 812.3}


@pytest.mark.django_db
def test_each_request_of_a_turn_is_priced_by_its_own_size(alice: Any) -> None:
    receipt = draft_for(answer_of(alice), model="claude-haiku-5-5")
    finalize_receipt(receipt, ending(Figures(input=100_000), Figures(input=100_001)))
    receipt = Receipt.objects.get(message=receipt.message_id)
    assert receipt.cost == Decimal("0.01") + Decimal("0.05")


@pytest.mark.django_db
def test_a_stopped_turns_output_is_estimated_from_its_text_and_marked(alice: Any) -> None:
    receipt = draft_for(answer_of(alice))
    started = Figures(input=500, output=1, final=False)
    finalize_receipt(receipt, ending(started, state=State.STOPPED, text="word " * 200, stop_reason="stopped"))
    receipt = Receipt.objects.get(message=receipt.message_id)
    assert (receipt.state, receipt.usage_is_estimated) == ("stopped", True)
    assert receipt.input_tokens == 500
    assert 200 <= receipt.output_tokens <= 500
    assert receipt.rounds[0]["estimated"] is True


@pytest.mark.django_db
def test_what_earlier_rounds_wrote_is_not_counted_twice_when_the_last_one_broke_off(alice: Any) -> None:
    receipt = draft_for(answer_of(alice))
    rounds = Figures(input=500, output=300), Figures(input=50, output=2, final=False)
    finalize_receipt(receipt, ending(*rounds, state=State.STOPPED, text="word " * 100))
    assert [one["output"] for one in receipt.rounds] == [300, 2]


@pytest.mark.django_db
def test_a_turn_stopped_before_any_figure_came_books_its_estimated_input(alice: Any) -> None:
    receipt = draft_for(answer_of(alice))
    finalize_receipt(receipt, ending(state=State.STOPPED, text=""))
    receipt = Receipt.objects.get(message=receipt.message_id)
    assert receipt.usage_is_estimated
    assert receipt.input_tokens == receipt.estimated_input > 0
    assert receipt.output_tokens == 0


@pytest.mark.django_db
def test_a_request_that_was_refused_cost_nothing(alice: Any) -> None:
    receipt = draft_for(answer_of(alice))
    finalize_receipt(receipt, ending(state=State.FAILED, text=""))
    receipt = Receipt.objects.get(message=receipt.message_id)
    assert (receipt.state, receipt.total_input, receipt.rounds) == ("failed", 0, [])
    assert (receipt.cost, receipt.usage_is_estimated) == (Decimal(0), False)


@pytest.mark.django_db
def test_a_model_without_a_price_has_no_cost(alice: Any) -> None:
    receipt = draft_for(answer_of(alice), model="llama3.3:70b")
    finalize_receipt(receipt, ending(Figures(input=10, output=10)))
    receipt = Receipt.objects.get(message=receipt.message_id)
    assert (receipt.cost, receipt.cost_uncached) == (None, None)


@pytest.mark.django_db
@pytest.mark.parametrize("offline", [True, False])
def test_what_the_offline_demo_answered_is_marked(alice: Any, settings: Any, offline: bool) -> None:
    settings.IS_OFFLINE = offline
    receipt = draft_for(answer_of(alice))
    finalize_receipt(receipt, ending(Figures(input=10)))
    assert [one["demo"] for one in receipt.rounds] == [offline]


@pytest.mark.django_db
def test_booking_teaches_the_estimate_from_the_first_request_only(alice: Any) -> None:
    first = Figures(input=200, cache_read=1_000, cache_write_1h=100)
    finalize_receipt(draft_for(answer_of(alice)), ending(first, Figures(input=9_000)))
    row = Calibration.objects.get()
    assert (row.text_class, row.samples) == (TextClass.PROSE, 1)
    assert row.error == pytest.approx(0.4 / 1.3, abs=0.001)


@pytest.mark.django_db
def test_a_receipt_whose_draft_was_never_saved_is_saved_with_the_answer(alice: Any) -> None:
    answer = answer_of(alice)
    finalize_receipt(draft_for(answer), ending(Figures(input=10)))
    assert Receipt.objects.get(message=answer).state == "complete"


@pytest.mark.django_db
def test_booking_twice_changes_nothing_twice_and_keeps_the_first_draft(alice: Any) -> None:
    answer = answer_of(alice)
    draft_for(answer).save()
    for _ in range(2):
        finalize_receipt(draft_for(answer, request_digest="e" * 64), ending(Figures(input=10, output=5)))
    receipt = Receipt.objects.get(message=answer)
    assert (receipt.input_tokens, receipt.output_tokens, receipt.request_digest) == (10, 5, "d" * 64)


@pytest.mark.django_db
def test_booking_takes_four_statements(alice: Any, django_assert_num_queries: Any) -> None:
    finalize_receipt(draft_for(answer_of(alice)), ending(Figures(input=10)))  # reads the prices and the ratios
    receipt = draft_for(answer_of(alice))
    receipt.save()
    with django_assert_num_queries(4):  # its current state, the receipt, the counter, the ratios
        finalize_receipt(receipt, ending(Figures(input=10)))


@pytest.mark.django_db
def test_an_answer_whose_process_died_is_booked_with_what_was_saved_of_it(alice: Any) -> None:
    answer = answer_of(alice, text="word " * 100)
    draft_for(answer).save()
    close_abandoned(answer.pk)
    receipt = Receipt.objects.get(message=answer)
    assert (receipt.state, receipt.stop_reason, receipt.usage_is_estimated) == ("stopped", "process_ended", True)
    assert receipt.input_tokens == receipt.estimated_input
    assert receipt.output_tokens >= 100


@pytest.mark.django_db
def test_a_closed_receipt_is_not_closed_again_as_abandoned(alice: Any) -> None:
    answer = answer_of(alice)
    finalize_receipt(draft_for(answer), ending(Figures(input=10)))
    close_abandoned(answer.pk)
    assert Receipt.objects.get(message=answer).state == "complete"


@pytest.mark.django_db
def test_an_abandoned_answer_without_a_receipt_is_no_error(alice: Any) -> None:
    close_abandoned(answer_of(alice).pk)
    assert not Receipt.objects.exists()
