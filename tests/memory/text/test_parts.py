"""Leaving a part of a sentence out: the rest is a sentence again."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.text.parts import blank_parts, parts_of, without_parts


@pytest.mark.parametrize(
    ("text", "number", "left"),
    [
        ("The user lives in Porto and works at Acme.", 0, "The user works at Acme."),
        ("The user lives in Porto and works at Acme.", 1, "The user lives in Porto."),
        ("The user has two cats and a dog named Rex.", 1, "The user has two cats."),
        ("Leo is a pilot, and his wife teaches maths.", 0, "His wife teaches maths."),
        ("The user speaks French, Polish and Welsh.", 0, "The user speaks Polish and Welsh."),
        ("The user speaks French, Polish and Welsh.", 1, "The user speaks French and Welsh."),
        ("The tag is K-7; the bins go out on Tuesday.", 0, "The bins go out on Tuesday."),
        ("The user is allergic to nuts and shellfish.", 0, "The user is allergic to shellfish."),
        ("Mara and Joel live in Porto.", 0, "Joel lives in Porto."),
        ("Mara, Ann and Joel are nurses.", 1, "Mara and Joel are nurses."),
        ("- Milk\n- Bread\n", 0, "- Bread"),
    ],
)
def test_the_rest_is_a_sentence(text: str, number: int, left: str) -> None:
    assert without_parts(text, {number}) == left


@pytest.mark.parametrize(
    "text",
    [
        "Ann, who is a nurse, lives in Rome.",
        "The shop opens between 9 and 5.",
        "Marks and Spencer is closed.",
        "He plans a party, on a boat.",
    ],
)
def test_what_belongs_together_is_one_part(text: str) -> None:
    assert len(parts_of(text)) == 1


@given(st.text(alphabet="ab .,;\n\u00e9\u4e00-", max_size=60))
def test_parts_are_in_order_and_leaving_all_of_them_out_leaves_nothing(text: str) -> None:
    parts = parts_of(text)
    assert all(one.end <= other.start for one, other in itertools.pairwise(parts))
    assert without_parts(text, {part.number for part in parts}) == ""
    assert blank_parts(text, (), "x") == text
