"""Days in words: what is one, and what only counts."""

from datetime import date

import pytest

from memory.text.dates import find_date

TODAY = date(2026, 11, 27)


@pytest.mark.parametrize(
    "text",
    ["my niece is in 4th grade", "the 2nd attempt worked", "we live on the 5th floor", "a 19th-century barn"],
)
def test_a_number_before_what_it_counts_is_no_day(text: str) -> None:
    assert find_date(text, TODAY) is None


@pytest.mark.parametrize(
    "text", ["the gig is on the 12th", "the 12th at noon", "on the 12th Ines arrives", "12th, 8pm"]
)
def test_a_number_of_a_day_is_the_next_such_day(text: str) -> None:
    found = find_date(text, TODAY)
    assert found is not None
    assert found.first == found.last == date(2026, 12, 12)


@pytest.mark.parametrize(
    "text",
    [
        "camp july 6-10",
        "camp is from July 6th to the 10th",
        "camp 6–10 July",
        "from 6 to 10 july it is",
        "6th till 10th of July 2027",
    ],
)
def test_days_from_one_to_another_are_all_of_them(text: str) -> None:
    found = find_date(text, TODAY)
    assert found is not None
    assert (found.first, found.last, found.words) == (
        date(2027, 7, 6), date(2027, 7, 10), "from 6 to 10 July 2027",
    )  # fmt: skip


def test_days_that_have_begun_are_these() -> None:
    found = find_date("the fair is on 25-29 November", TODAY)
    assert found is not None
    assert found.words == "from 25 to 29 November 2026"


def test_days_that_were_are_the_last_ones() -> None:
    found = find_date("we were in Rome from 3 to 9 June", TODAY, past=True)
    assert found is not None
    assert found.words == "from 3 to 9 June 2026"


@pytest.mark.parametrize("text", ["off on May 3 to 5 pm", "on May 3-5:30", "May 3 to 2", "on May 3 to 5pm"])
def test_a_time_behind_a_day_is_no_other_day(text: str) -> None:
    found = find_date(text, TODAY)
    assert found is not None
    assert found.first == found.last == date(2027, 5, 3)
