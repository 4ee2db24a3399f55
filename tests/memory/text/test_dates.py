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
