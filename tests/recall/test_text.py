"""A long text is named by its words, not by its formatting."""

import pytest

from recall.text import whole_number, with_links_by_their_words


def test_a_link_is_read_by_its_words() -> None:
    text = "Three turns.\n[Open the conversation](/c/1f) ![A map](/m.png) [not a link] (aside)"
    assert with_links_by_their_words(text) == "Three turns.\n A map [not a link] (aside)"


@pytest.mark.parametrize(
    ("text", "number"),
    [("7", 7), ("007", 7), ("9" * 18, 10**18 - 1), ("", None), ("-1", None), ("1e3", None), ("²", None), ("٣", None),
     ("9" * 19, None), ("1" * 5_000, None)],
)  # fmt: skip
def test_a_number_is_one_that_a_column_holds(text: str, number: int | None) -> None:
    assert whole_number(text) == number
