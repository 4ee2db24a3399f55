"""A long text is named by its words, not by its formatting."""

import pytest

from recall.text import in_a_line, whole_number, with_links_by_their_words


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "# Boats\n\n22 November 2026. [Open the conversation](/c/1)\n- A **red** one",
            "Boats: 22 November 2026. A red one",
        ),
        ("## Which one?\nThe red\n# Boats", "Which one? The red Boats"),
        ("> said `so`\n* and so", "said so and so"),
        ("2 * 3 - 1 and a_b_c [sic] (yes)", "2 * 3 - 1 and a_b_c [sic] (yes)"),
        ("![a boat](https://example.org/boat.png) there", "a boat there"),
        ("", ""),
    ],
)
def test_marks_of_form_are_left_out_and_words_stay(text: str, line: str) -> None:
    assert in_a_line(text, 200) == line


def test_it_is_no_longer_than_it_may_be() -> None:
    assert in_a_line("word " * 1_000, 12) == "word word wo"


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
