"""Facts are stored about “the user” and shown to “you”."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.text.second_person import second_person


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("The user lives in Lyon.", "You live in Lyon."),
        ("The user is allergic to peanuts", "You are allergic to peanuts"),
        ("The user's sister Mary lives in Lisbon.", "Your sister Mary lives in Lisbon."),
        ("The user no longer works at Acme.", "You no longer work at Acme."),
        (
            "The user doesn't eat meat and prefers small restaurants.",
            "You don't eat meat and prefer small restaurants.",
        ),
        ("The user wants to grow tomatoes on their roof terrace.", "You want to grow tomatoes on your roof terrace."),
        ("The user studies law and teaches chess.", "You study law and teach chess."),
        ("An aunt of the user's, Rosa, keeps bees.", "An aunt of yours, Rosa, keeps bees."),
        ("The user misses Porto.", "You miss Porto."),
        ("The user moved to Setúbal in 2026.", "You moved to Setúbal in 2026."),
        ("Mary lives with the user.", "Mary lives with you."),
        ("Mary moved because the user has a spare room.", "Mary moved because you have a spare room."),
        ("The user’s dog is called Rex.", "Your dog is called Rex."),
        (
            "The user wants the assistant to answer them in bullet points.",
            "You want Recall to answer you in bullet points.",
        ),
        (
            "Whenever the user writes in French, the user wants the assistant to correct their mistakes.",
            "Whenever you write in French, you want Recall to correct your mistakes.",
        ),
        (
            "If the assistant is unsure, the user wants it to tell them.",
            "If Recall is unsure, you want it to tell you.",
        ),
        ("The user wants the assistant never to use emojis.", "You want Recall never to use emojis."),
        ("Mary keeps their promises.", "Mary keeps their promises."),
        ("A good user interface is quiet.", "A good user interface is quiet."),
        ("User lives in Lyon.", "You live in Lyon."),
        ("New: the user is a landscape architect.", "New: you are a landscape architect."),
        ("New: the user's dog is called Rex.", "New: your dog is called Rex."),
        ("6 turns. The user wrote: “Hello.”", "6 turns. You wrote: “Hello.”"),
        ("Mary called. The user's dog barked.", "Mary called. Your dog barked."),
        ("The user sings. The user likes tea.", "You sing. You like tea."),
        ("The user wrote: “Where is the user's “the user” page?”", "You wrote: “Where is the user's “the user” page?”"),
        ('The user asked: "Where is the user?"', 'You asked: "Where is the user?"'),
        ("", ""),
    ],
)
def test_a_fact_is_said_to_the_user(stored: str, shown: str) -> None:
    assert second_person(stored) == shown


@given(st.text(max_size=80).filter(lambda text: "user" not in text.lower()))
def test_what_is_not_about_the_user_stays(text: str) -> None:
    assert second_person(text) == text


@given(st.text(max_size=40))
def test_what_was_changed_stays_so(text: str) -> None:
    once = second_person(f"The user likes {text}")
    assert second_person(once) == once or "user" in text.lower()
