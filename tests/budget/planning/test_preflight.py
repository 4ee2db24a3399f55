"""Before each request: sent if it certainly fits, counted near the limit, shortened beyond it; and room for results."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget.planning.preflight import (
    MARGIN_DEVIATIONS,
    MAX_MARGIN,
    MIN_HEAD,
    Verdict,
    allocate_results,
    check_counted,
    check_estimate,
    margin_of,
)

LIMIT = 7_000
tokens = st.integers(0, 50_000)
unsure = st.floats(0, 5_000)
STRICTER = [Verdict.SEND, Verdict.COUNT, Verdict.SHORTEN]

CASES = [
    # expected, uncertainty, can count → verdict, over
    (6_000, 100.0, True, Verdict.SEND, 0),
    (6_600, 100.0, True, Verdict.SEND, 0),  # to the token
    (6_601, 100.0, True, Verdict.COUNT, 1),
    (6_601, 100.0, False, Verdict.SHORTEN, 1),
    (7_400, 100.0, True, Verdict.COUNT, 800),
    (7_401, 100.0, True, Verdict.SHORTEN, 801),
    (7_000, 0.0, False, Verdict.SEND, 0),
    (7_001, 0.0, True, Verdict.SHORTEN, 1),
    (6_000, 9_000.0, True, Verdict.SEND, 0),  # nothing is learned yet: the margin is bounded
]


@pytest.mark.parametrize(("expected", "uncertainty", "can_count", "verdict", "over"), CASES)
def test_the_estimate_decides_and_near_the_limit_the_provider(
    expected: int, uncertainty: float, can_count: bool, verdict: Verdict, over: int
) -> None:
    checked = check_estimate(expected, uncertainty, LIMIT, can_count=can_count)
    assert (checked.verdict, checked.over) == (verdict, over)


@given(tokens, unsure, tokens, tokens, unsure, tokens, st.booleans())
def test_more_expected_less_sure_or_less_room_is_never_judged_more_leniently(
    expected: int, uncertainty: float, limit: int, more: int, less_sure: float, less_room: int, can_count: bool
) -> None:
    here = check_estimate(expected, uncertainty, limit, can_count=can_count)
    for stricter in (
        check_estimate(expected + more, uncertainty, limit, can_count=can_count),
        check_estimate(expected, uncertainty, limit - less_room, can_count=can_count),
        check_estimate(expected, uncertainty, limit, can_count=False),
    ):
        assert STRICTER.index(stricter.verdict) >= STRICTER.index(here.verdict)
        assert stricter.over >= here.over
    wider = check_estimate(expected, uncertainty + less_sure, limit, can_count=can_count)
    assert wider.over >= here.over
    if here.verdict is not Verdict.SEND:
        assert wider.verdict is not Verdict.SEND


@given(tokens, unsure, tokens)
def test_what_is_sent_uncounted_fits_with_its_margin(expected: int, uncertainty: float, limit: int) -> None:
    margin = margin_of(expected, uncertainty)
    assert margin >= min(MARGIN_DEVIATIONS * uncertainty, MAX_MARGIN * expected)
    sent = check_estimate(expected, uncertainty, limit, can_count=True).verdict is Verdict.SEND
    assert sent == (expected + margin <= limit)


@given(tokens, tokens)
def test_the_providers_own_count_decides_exactly(counted: int, limit: int) -> None:
    checked = check_counted(counted, limit)
    assert (checked.verdict is Verdict.SEND) == (counted <= limit)
    assert counted - checked.over <= limit


# The results of tools ----------------------------------------------------------------------------------------------

results = st.lists(st.integers(0, 9_000), max_size=8)


@given(results, results, st.integers(0, 12_000))
def test_results_never_take_more_than_their_room_and_none_grows(wanted: list[int], older: list[int], room: int) -> None:
    allotted = allocate_results(wanted, older, room)
    assert all(0 <= got <= asked for got, asked in zip(allotted.new, wanted, strict=True))
    assert all(0 <= left <= had for left, had in zip(allotted.older, older, strict=True))
    assert sum(allotted.new) + sum(allotted.older) <= max(room, 0)


@given(results, results, st.integers(0, 12_000), st.integers(0, 4_000))
def test_more_room_never_shows_less(wanted: list[int], older: list[int], room: int, more: int) -> None:
    little, much = allocate_results(wanted, older, room), allocate_results(wanted, older, room + more)
    assert sum(much.older) >= sum(little.older)
    assert sum(much.new) + sum(much.older) >= sum(little.new) + sum(little.older)


def test_a_result_that_fits_easily_is_sent_whole() -> None:
    assert allocate_results([900, 300], [], 4_000).new == (900, 300)


def test_verbose_results_of_one_round_share_half_the_room() -> None:
    assert allocate_results([9_000, 300, 9_000], [], 4_000).new == (850, 300, 850)


def test_what_was_sent_before_stays_as_it_is_while_the_new_results_have_room_for_a_head() -> None:
    allotted = allocate_results([9_000], [2_000, 1_000], 3_300)
    assert allotted.older == (2_000, 1_000)
    assert allotted.new == (150,)


def test_older_results_give_way_before_newer_ones_the_oldest_first() -> None:
    allotted = allocate_results([9_000], [2_000, 1_000], 3_000)
    assert allotted.older == (2_000 - MIN_HEAD, 1_000)
    assert allotted.new == (MIN_HEAD,)


def test_eight_rounds_of_verbose_results_hold_the_ceiling_and_each_has_a_head() -> None:
    sent: list[int] = []
    for _ in range(8):
        allotted = allocate_results([9_000], sent, 4_000)
        sent = [*allotted.older, *allotted.new]
        assert sum(sent) <= 4_000
    assert min(sent) >= MIN_HEAD
