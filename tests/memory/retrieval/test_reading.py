"""Which questions memories are read beside, and what their odds are."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.retrieval.query import parse_question
from memory.retrieval.reading import MAX_WORDS, is_read, odds

NOW = datetime(2026, 11, 28, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["What do I do for work?", "my number plate?", "whats my sisters name", "name of our vet"]
)
def test_memories_are_read_beside_a_short_question(text: str) -> None:
    assert is_read(parse_question(text, (), NOW), ())


@pytest.mark.parametrize(
    "text",
    [
        "Write a toast for Zaza.",
        "In which order did I mention my trips?",
        f"{'word ' * MAX_WORDS}, is that so?",
    ],
)
def test_a_task_a_list_and_a_long_message_are_not_read(text: str) -> None:
    assert not is_read(parse_question(text, (), NOW), ())


def test_what_others_say_in_an_imported_chat_and_a_follow_up_are_not_read() -> None:
    assert not is_read(parse_question("When did Ann move?", ("Ann",), NOW), ("Ann",))
    assert not is_read(parse_question("And where does she work?", (), NOW, ("My sister Ann lives in Ghent.",)), ())


@given(st.floats(0, 1), st.floats(0, 1), st.floats(-1, 1), st.floats(0, 1))
def test_odds_grow_with_the_chance_and_with_the_cosine(
    chance: float, more: float, cosine: float, nearer: float
) -> None:
    assert odds(min(1, chance + more), cosine) >= odds(chance, cosine)
    assert odds(chance, cosine + nearer) >= odds(chance, cosine)
