"""Limits: what counts against a limit, which limit applies, and what the user is told when it is reached."""

import threading
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from budget.models import Limit, UsageDay
from budget.receipts.record import State, TurnOutcome, finalize_receipt
from budget.spending import limits, usage
from budget.spending.limits import InvalidLimitError, LimitStatus, Per, What, check_limits, limit_statuses, set_limit
from chat.models import Message
from tests.budget.rows import MODEL, Figures, answer_of, draft_for

pytestmark = pytest.mark.django_db


@pytest.fixture
def late_in_november(monkeypatch: pytest.MonkeyPatch) -> datetime:
    """30 November, 23:30 in Lisbon: already December in Tokyo."""
    now = datetime(2026, 11, 30, 23, 30, tzinfo=UTC)
    monkeypatch.setattr(timezone, "now", lambda: now)
    return now


def used(user: Any, day: date | None = None, **figures: Any) -> None:
    UsageDay.objects.create(user=user, day=day or usage.today(user), model=MODEL, **figures)


def writing(user: Any, began: datetime | None = None) -> Message:
    """An answer in progress."""
    answer = answer_of(user)
    if began is not None:
        Message.objects.filter(pk=answer.pk).update(created_at=began)
    return answer


def the_only(user: Any) -> LimitStatus:
    (one,) = limit_statuses(user)
    return one


# What is said -------------------------------------------------------------------------------------------------------


def test_without_limits_nothing_is_ever_enough(alice: Any, django_assert_num_queries: Any) -> None:
    used(alice, turns=1_000_000)
    with django_assert_num_queries(1):
        assert check_limits(alice) is None
    assert limit_statuses(alice) == []


@pytest.mark.parametrize(
    ("turns", "state"), [(0, "ok"), (7, "ok"), (8, "warn"), (9, "warn"), (10, "stop"), (11, "stop")]
)
def test_a_limit_warns_from_four_fifths_and_stops_when_it_is_reached(alice: Any, turns: int, state: str) -> None:
    set_limit(alice, What.TURNS, Per.DAY, Decimal(10))
    used(alice, turns=turns)
    one = the_only(alice)
    assert (str(one.state), one.used, one.share) == (state, Decimal(turns), turns / 10)
    assert (check_limits(alice) is not None) == (state == "stop")


@pytest.mark.parametrize(
    ("what", "per", "amount", "figures", "sentence"),
    [
        (
            What.TURNS,
            Per.DAY,
            "50",
            {"turns": 50},
            "You've used 50 of 50 turns today. The limit resets at midnight. Change it under Usage.",
        ),
        (
            What.TOKENS,
            Per.MONTH,
            "1200000",
            {
                "input_tokens": 200_000,
                "cache_read_tokens": 900_000,
                "cache_write_tokens": 99_000,
                "output_tokens": 1_500,
            },
            "You've used 1,200,500 of 1,200,000 tokens this month. The limit resets on 1 December. "
            "Change it under Usage.",
        ),
        (
            What.MONEY,
            Per.MONTH,
            "2.50",
            {"cost": Decimal("2.504999")},
            "You've used $2.50 of $2.50 this month. The limit resets on 1 December. Change it under Usage.",
        ),
    ],
)
def test_the_sentence_names_the_limit_what_is_used_when_it_is_free_and_where_to_change_it(
    alice: Any, late_in_november: datetime, what: What, per: Per, amount: str, figures: Any, sentence: str
) -> None:
    set_limit(alice, what, per, Decimal(amount))
    used(alice, **figures)
    assert check_limits(alice) == sentence


def test_of_two_limits_that_are_reached_the_one_that_stops_for_longer_is_told(
    alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 11, 15, 12, tzinfo=UTC))
    for per in Per:
        set_limit(alice, What.TURNS, per, Decimal(3))
    used(alice, turns=3)
    assert "on 1 December" in (check_limits(alice) or "")


def test_a_limit_of_nothing_stops_everything(alice: Any) -> None:
    set_limit(alice, What.MONEY, Per.DAY, Decimal(0))
    assert (the_only(alice).share, the_only(alice).state) == (1.0, "stop")


def test_the_fullest_limit_comes_first(alice: Any) -> None:
    set_limit(alice, What.TURNS, Per.DAY, Decimal(10))
    set_limit(alice, What.TURNS, Per.MONTH, Decimal(6))
    used(alice, turns=3)
    assert [(status.per, status.share) for status in limit_statuses(alice)] == [
        ("month", 0.5),
        ("day", 0.3),
    ]


# Which limit counts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("own", "staffs", "by_staff"), [(5, 9, False), (9, 5, True), (5, 5, True)])
def test_the_smaller_of_what_staff_and_the_person_set_counts(alice: Any, own: int, staffs: int, by_staff: bool) -> None:
    Limit.objects.create(user=alice, what=What.TURNS, per=Per.DAY, amount=own)
    Limit.objects.create(user=alice, what=What.TURNS, per=Per.DAY, amount=staffs, set_by_staff=True)
    one = the_only(alice)
    assert (int(one.amount), one.by_staff) == (5, by_staff)
    assert ("Only an administrator can raise" in one.sentence) is by_staff


def test_a_person_cannot_raise_or_remove_what_staff_set(alice: Any) -> None:
    set_limit(alice, What.TOKENS, Per.DAY, Decimal(1_000), by_staff=True)
    with pytest.raises(InvalidLimitError, match=r"^The administrator's limit is 1,000 tokens per day\.$"):
        set_limit(alice, What.TOKENS, Per.DAY, Decimal(1_001))
    set_limit(alice, What.TOKENS, Per.DAY, Decimal(900))
    assert the_only(alice).amount == 900
    set_limit(alice, What.TOKENS, Per.DAY, None)
    assert (int(the_only(alice).amount), the_only(alice).by_staff) == (1_000, True)


def test_setting_a_limit_again_replaces_it(alice: Any) -> None:
    for amount in (5, 7):
        set_limit(alice, What.TURNS, Per.DAY, Decimal(amount))
    assert the_only(alice).amount == 7


@pytest.mark.parametrize(
    ("what", "amount"),
    [(What.TURNS, "-1"), (What.TURNS, "NaN"), (What.TURNS, "1e12"), (What.TURNS, "1.5"), (What.MONEY, "Infinity")],
)
def test_what_is_no_limit_is_refused(alice: Any, what: What, amount: str) -> None:
    with pytest.raises(InvalidLimitError):
        set_limit(alice, what, Per.DAY, Decimal(amount))
    assert not Limit.objects.exists()


# Day and month where the person is ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("zone", "day_used", "month_used", "free"),
    [
        ("Europe/Lisbon", 1, 1, (date(2026, 12, 1), date(2026, 12, 1))),
        ("Asia/Tokyo", 2, 2, (date(2026, 12, 2), date(2027, 1, 1))),
    ],
)
def test_day_and_month_are_those_of_the_persons_time_zone(
    alice: Any, late_in_november: datetime, zone: str, day_used: int, month_used: int, free: tuple[date, date]
) -> None:
    alice.time_zone = zone
    used(alice, date(2026, 11, 30), turns=1)
    used(alice, date(2026, 12, 1), turns=2)
    Limit.objects.filter(user=alice).delete()
    UsageDay.objects.filter(day__gt=usage.today(alice)).delete()  # no one has used tomorrow
    for per in Per:
        set_limit(alice, What.TURNS, per, Decimal(10))
    found = {status.per: status for status in limit_statuses(alice)}
    assert (int(found[Per.DAY].used), int(found[Per.MONTH].used)) == (day_used, month_used)
    assert (found[Per.DAY].free_on, found[Per.MONTH].free_on) == free


def test_yesterdays_use_counts_for_the_month_alone(alice: Any, late_in_november: datetime) -> None:
    used(alice, date(2026, 11, 29), turns=4)
    used(alice, date(2026, 10, 31), turns=100)
    for per in Per:
        set_limit(alice, What.TURNS, per, Decimal(10))
    assert {status.per: status.used for status in limit_statuses(alice)} == {"day": 0, "month": 4}


def test_an_answer_begun_before_midnight_belongs_to_that_day(alice: Any, late_in_november: datetime) -> None:
    writing(alice, late_in_november - timedelta(days=1))
    writing(alice, late_in_november)
    for per in Per:
        set_limit(alice, What.TURNS, per, Decimal(10))
    assert {status.per: status.used for status in limit_statuses(alice)} == {"day": 1, "month": 2}


# Answers that are being written ---------------------------------------------------------------------------------------


def test_an_answer_that_is_being_written_is_a_turn_and_then_is_counted_once(alice: Any) -> None:
    set_limit(alice, What.TURNS, Per.DAY, Decimal(10))
    answer = writing(alice)
    assert the_only(alice).used == 1
    Message.objects.filter(pk=answer.pk).update(status=Message.Status.COMPLETE)
    finalize_receipt(draft_for(answer), TurnOutcome(State.COMPLETE, (Figures(input=10),), ""))
    assert the_only(alice).used == 1


def test_it_is_reckoned_at_a_mean_turn_of_the_month(alice: Any) -> None:
    used(alice, turns=4, input_tokens=8_000, output_tokens=2_000, cost=Decimal("0.40"))
    writing(alice)
    set_limit(alice, What.TOKENS, Per.DAY, Decimal(20_000))
    set_limit(alice, What.MONEY, Per.DAY, Decimal(1))
    assert {status.what: status.used for status in limit_statuses(alice)} == {
        "tokens": 12_500,
        "money": Decimal("0.5"),
    }


def test_a_months_first_turn_is_reckoned_at_something(alice: Any) -> None:
    writing(alice)
    set_limit(alice, What.TOKENS, Per.DAY, Decimal(20_000))
    set_limit(alice, What.MONEY, Per.DAY, Decimal(1))
    assert {status.what: status.used for status in limit_statuses(alice)} == dict(limits.FIRST_TURN)


def test_what_bob_uses_and_limits_is_not_alices(alice: Any, bob: Any) -> None:
    set_limit(alice, What.TURNS, Per.DAY, Decimal(2))
    set_limit(bob, What.TOKENS, Per.MONTH, Decimal(1))
    used(bob, turns=50, input_tokens=50)
    writing(bob)
    assert int(the_only(alice).used) == 0
    assert check_limits(alice) is None
    assert check_limits(bob) is not None


def test_a_check_is_two_statements_and_a_standing_too(alice: Any, django_assert_num_queries: Any) -> None:
    for what in What:
        for per in Per:
            set_limit(alice, what, per, Decimal(100))
    for ask in (check_limits, limit_statuses):
        with django_assert_num_queries(2):
            ask(alice)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("what", "amount"), [(What.TURNS, 4), (What.TOKENS, 4 * limits.FIRST_TURN[What.TOKENS])])
def test_sixteen_sends_at_once_do_not_pass_a_limit_of_four(alice: Any, what: What, amount: Decimal) -> None:
    set_limit(alice, what, Per.DAY, Decimal(amount))
    at_once, answers = threading.Barrier(16), []

    def send() -> None:
        at_once.wait()
        try:
            with transaction.atomic():
                refused = check_limits(alice)
                if refused is None:
                    writing(alice)
            answers.append(refused)
        finally:
            connection.close()

    threads = [threading.Thread(target=send) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(answers) == 16
    assert answers.count(None) == Message.objects.filter(status="streaming").count() == 4


@pytest.mark.parametrize("hair", ["0.00001", "1E-999999", "2.50001"])
def test_a_limit_of_money_is_never_rounded_to_another_one(alice: Any, hair: str) -> None:
    with pytest.raises(InvalidLimitError, match="at most 4 decimal places"):
        set_limit(alice, What.MONEY, Per.DAY, Decimal(hair))
    set_limit(alice, What.MONEY, Per.DAY, Decimal("2.500000"))
    assert the_only(alice).amount == Decimal("2.5")
