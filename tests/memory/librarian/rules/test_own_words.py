"""Facts typed by the user, as they are shown, and as they are stored."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.librarian.rules.own_words import as_stored
from memory.text.second_person import second_person

LYON = "The user lives in Lyon."
NO_MEAT = "The user doesn't eat meat and prefers small restaurants."


@pytest.mark.parametrize(
    ("known", "typed", "stored"),
    [
        (LYON, "You live in Lyon.", LYON),
        (LYON, "You live in Nantes.", "The user lives in Nantes."),
        (LYON, "You live in Lyon with your dog.", "The user lives in Lyon with their dog."),
        (LYON, "You moved to Nantes.", "The user moved to Nantes."),
        (LYON, "You go to Lyon every week.", "The user goes to Lyon every week."),
        (LYON, "You no longer live in Lyon.", "The user no longer lives in Lyon."),
        (LYON, "You used to live in Lyon.", "The user used to live in Lyon."),
        (LYON, "You are from Lyon.", "The user is from Lyon."),
        (LYON, "You're from Lyon.", "The user is from Lyon."),
        (LYON, "I live in Nantes.", "The user lives in Nantes."),
        (LYON, "My flat is in Lyon.", "The user's flat is in Lyon."),
        (LYON, "The user lives in Nantes.", "The user lives in Nantes."),
        (LYON, "Lyon, since 2019.", "Lyon, since 2019."),
        (NO_MEAT, "You don't eat fish and prefer small restaurants.", NO_MEAT.replace("meat", "fish")),
        (NO_MEAT, "You don't eat meat and prefer quiet restaurants.", NO_MEAT.replace("small", "quiet")),
        ("The user's sister lives in Lyon.", "Your sister lives in Nantes.", "The user's sister lives in Nantes."),
        ("The user's sister lives in Lyon.", "Your brother lives in Lyon.", "The user's brother lives in Lyon."),
        ("Mary lives with the user.", "Mary lives near you.", "Mary lives near the user."),
        ("Mary left.", "Mary left because you have a cat.", "Mary left because the user has a cat."),
        ("The user likes the song “You and Me”.", "You like the song “You and Me” a lot.",
         "The user likes the song “You and Me” a lot."),
        ("", "You play the cello.", "The user plays the cello."),
        ("", "All of it", "All of it"),
    ],
)  # fmt: skip
def test_what_was_typed_about_you_is_stored_about_the_user(known: str, typed: str, stored: str) -> None:
    assert as_stored(typed, known) == stored


WORDS = st.lists(
    st.sampled_from(("the", "user", "user's", "lives", "and", "you", "your", "their", "in", "Lyon", "is", "not", "I")),
    max_size=9,
)


@given(WORDS)
def test_what_is_saved_unchanged_stays(words: list[str]) -> None:
    known = " ".join(words)
    assert as_stored(second_person(known), known) == known


@given(WORDS, WORDS)
def test_a_statement_in_the_second_person_is_shown_as_it_was_typed(words: list[str], others: list[str]) -> None:
    typed = " ".join(["You", "live", *[word for word in words if word not in {"the", "user", "user's", "I"}]])
    shown = second_person(as_stored(typed, " ".join(others)))
    assert shown == typed
