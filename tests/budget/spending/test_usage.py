"""A user's usage is counted once, on the day their turn started in their time zone, and summed for them alone."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from budget.models import Receipt, UsageDay
from budget.receipts.record import TurnOutcome, close_abandoned, finalize_receipt
from budget.spending import usage
from budget.spending.usage import UsageTotals
from tests.budget.rows import MODEL, Figures, answer_of, draft_for

pytestmark = pytest.mark.django_db

State = Receipt.State
TURN = Figures(input=400, cache_read=10_000, cache_write_5m=300, cache_write_1h=600, output=50)


def answered(user: Any, *rounds: Figures, state: State = State.COMPLETE, text: str = "", **more: Any) -> Receipt:
    receipt = draft_for(answer_of(user), **more)
    receipt.save()
    finalize_receipt(receipt, TurnOutcome(state, rounds, text))
    return receipt


def on(user: Any, day: date, model: str = MODEL, **used: Any) -> None:
    UsageDay.objects.create(user=user, day=day, model=model, **used)


# Counting -----------------------------------------------------------------------------------------------------------


def test_turns_of_a_day_and_a_model_are_one_row(alice: Any) -> None:
    for _ in range(3):
        answered(alice, TURN)
    answered(alice, TURN, model="claude-haiku-5-5")
    row = UsageDay.objects.get(model=MODEL)
    assert (row.turns, row.input_tokens, row.cache_read_tokens) == (3, 1_200, 30_000)
    assert (row.cache_write_tokens, row.output_tokens, row.tokens) == (2_700, 150, 34_050)
    # 400 × 2 + 10,000 × 0.10 + 300 × 2.50 + 600 × 4 + 50 × 10, in millionths of a dollar; without caching 11,300 × 2
    assert (row.cost, row.cost_uncached) == (3 * Decimal("0.005450"), 3 * Decimal("0.023100"))
    assert UsageDay.objects.count() == 2


def test_a_turn_booked_twice_counts_once(alice: Any) -> None:
    answer = answer_of(alice)
    for _ in range(2):
        finalize_receipt(draft_for(answer), TurnOutcome(State.COMPLETE, (TURN,), ""))
    assert (usage.of_day(alice).turns, usage.of_day(alice).input_tokens) == (1, 400)


def test_an_answer_thought_dead_that_ends_after_all_counts_once_with_its_last_figures(alice: Any) -> None:
    answer = answer_of(alice)
    receipt = draft_for(answer)
    receipt.save()
    close_abandoned(answer.pk)
    assert usage.of_day(alice).input_tokens == receipt.estimated_input > 400
    finalize_receipt(draft_for(answer), TurnOutcome(State.COMPLETE, (TURN,), ""))
    close_abandoned(answer.pk)
    used = usage.of_day(alice)
    assert (used.turns, used.input_tokens, used.tokens) == (1, 400, 11_350)
    assert used.cost == Decimal("0.005450")


def test_a_turn_that_failed_before_it_used_anything_is_not_counted(alice: Any) -> None:
    answered(alice, state=State.FAILED)
    assert not UsageDay.objects.exists()
    answered(alice, Figures(input=5, final=False), state=State.FAILED)
    assert usage.of_day(alice).turns == 1


def test_a_turn_without_a_price_is_told_apart(alice: Any) -> None:
    answered(alice, TURN, model="llama3.3:70b")
    used = usage.of_day(alice)
    assert (used.turns, used.unpriced, used.cost, used.tokens) == (1, 1, Decimal(0), 11_350)


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("Europe/Lisbon", date(2026, 11, 30)),
        ("Asia/Tokyo", date(2026, 12, 1)),
        ("America/New_York", date(2026, 11, 30)),
    ],
)
def test_a_turn_belongs_to_the_day_it_began_on_where_the_person_is(alice: Any, zone: str, day: date) -> None:
    alice.time_zone = zone
    alice.save()
    receipt = draft_for(answer_of(alice))
    receipt.save()
    Receipt.objects.update(created_at=datetime(2026, 11, 30, 23, 59, tzinfo=UTC))
    finalize_receipt(receipt, TurnOutcome(State.COMPLETE, (TURN,), ""))
    assert UsageDay.objects.get().day == day


def test_a_receipt_written_down_only_at_the_end_counts_today(alice: Any) -> None:
    finalize_receipt(draft_for(answer_of(alice)), TurnOutcome(State.COMPLETE, (TURN,), ""))
    assert UsageDay.objects.get().day == usage.today(alice)


def test_what_was_used_outlives_the_conversation(alice: Any) -> None:
    answered(alice, TURN).conversation.delete()
    assert not Receipt.objects.exists()
    assert usage.of_day(alice).turns == 1


def test_a_summary_counts_its_tokens_and_their_price_but_no_turn(alice: Any) -> None:
    usage.add_background(alice.pk, "claude-haiku-5-5", 10_000, 1_000)
    usage.add_background(alice.pk, "claude-haiku-5-5", 0, 0)
    used = usage.of_day(alice)
    assert (used.turns, used.tokens, used.unpriced) == (0, 11_000, 0)
    assert used.cost == used.cost_uncached == Decimal("0.0015")


def test_a_summary_by_a_model_without_a_price_is_told_apart_as_turns_are(alice: Any) -> None:
    usage.add_background(alice.pk, "llama3.3:70b", 10_000, 1_000)
    usage.add_background(alice.pk, "llama3.3:70b", 4_000, 400, calls=2)
    usage.add_background(alice.pk, "llama3.3:70b", 0, 0)
    used = usage.of_day(alice)
    assert (used.turns, used.tokens, used.unpriced, used.cost) == (0, 15_400, 3, Decimal(0))


def test_a_counter_never_falls_below_zero(alice: Any) -> None:
    when = datetime(2026, 11, 30, 12, tzinfo=UTC)
    for _ in range(2):
        usage.count(alice.pk, MODEL, when, UsageTotals(input_tokens=-5, output_tokens=3))
    row = UsageDay.objects.get()
    assert (row.input_tokens, row.output_tokens) == (0, 6)


# Adding up ----------------------------------------------------------------------------------------------------------


def test_each_sum_is_one_statement(alice: Any, django_assert_num_queries: Any) -> None:
    today = usage.today(alice)
    for ask in (
        lambda: usage.of_day(alice),
        lambda: usage.of_month(alice),
        lambda: usage.by_model(alice, today),
        lambda: usage.series(alice, 30),
    ):
        with django_assert_num_queries(1):
            ask()


def test_a_month_is_the_calendar_month_all_models_together(alice: Any) -> None:
    for day in (date(2026, 1, 31), date(2026, 2, 1), date(2026, 2, 28), date(2026, 3, 1)):
        on(alice, day, turns=1, input_tokens=10)
    on(alice, date(2026, 2, 28), model="claude-haiku-5-5", turns=5, cache_read_tokens=30)
    february = usage.of_month(alice, date(2026, 2, 14))
    assert (february.turns, february.total_input, february.from_cache) == (7, 50, 0.6)
    assert usage.of_day(alice, date(2026, 2, 28)).turns == 6


def test_models_come_dearest_first(alice: Any) -> None:
    day = date(2026, 2, 1)
    on(alice, day, model="free", turns=1, input_tokens=900)
    on(alice, day, model="dear", turns=1, cost=Decimal(2))
    on(alice, date(2026, 2, 2), model="dear", turns=2, cost=Decimal(1))
    on(alice, date(2026, 1, 31), model="old", turns=1)
    found = usage.by_model(alice, day)
    assert {model: used.turns for model, used in found.items()} == {"dear": 3, "free": 1}
    assert list(found) == ["dear", "free"]


def test_a_series_ends_today_and_has_every_day(alice: Any) -> None:
    today = usage.today(alice)
    on(alice, today, turns=2)
    on(alice, today, model="claude-haiku-5-5", turns=1)
    days = usage.series(alice, 7)
    assert [day.toordinal() - today.toordinal() for day, _ in days] == [-6, -5, -4, -3, -2, -1, 0]
    assert [used.turns for _, used in days] == [0, 0, 0, 0, 0, 0, 3]


def test_what_caching_saved_is_the_difference_and_may_be_a_loss(alice: Any) -> None:
    on(alice, date(2026, 2, 1), cost=Decimal("0.20"), cost_uncached=Decimal("1.00"))
    on(alice, date(2026, 2, 2), cost=Decimal("0.30"), cost_uncached=Decimal("0.25"))
    assert usage.of_month(alice, date(2026, 2, 1)).saved == Decimal("0.75")
    assert usage.of_day(alice, date(2026, 2, 2)).saved == Decimal("-0.05")


def test_what_bob_used_is_not_alices(alice: Any, bob: Any) -> None:
    answered(bob, TURN)
    today = usage.today(alice)
    assert usage.of_day(alice) == usage.of_month(alice) == usage.NOTHING
    assert usage.by_model(alice, today) == {}
    assert usage.series(alice, 1) == [(today, usage.NOTHING)]
