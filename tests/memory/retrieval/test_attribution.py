"""Nothing is recalled where someone other than the person a question names said what it asks about."""

from dataclasses import dataclass

import pytest

from accounts.models import User
from memory.retrieval.attribution import MIN_MARGIN, attribution_margin
from memory.retrieval.query import Question, parse_question
from memory.retrieval.ranking import WEAK
from memory.retrieval.recall import RetrievalResult, retrieve
from tests.memory.retrieval.test_recall import NOW, remember, talk, texts

PAIR = ("Caroline", "Melanie")


@dataclass
class Said:
    author: str
    text: str


def margin(question: str, *said: tuple[str, str], meaning: float = 0.5) -> float | None:
    asked: Question = parse_question(question, PAIR, NOW)
    parts = {"keyword": 0.0, "semantic": meaning, "answer": 0.0}
    return attribution_margin(asked, [(Said(*one), parts) for one in said])


MELANIE = ("Melanie", "I ran a charity race for mental health last Saturday.")
OTHERS = [("Caroline", "I went to the lake with friends."), ("Melanie", "My kids love clay.")]


def test_a_statement_counts_for_the_one_who_made_it() -> None:
    hers = margin("When did Melanie run a charity race?", MELANIE, *OTHERS)
    not_hers = margin("When did Caroline run a charity race?", MELANIE, *OTHERS)

    assert hers is not None
    assert not_hers is not None
    assert not_hers < MIN_MARGIN < hers


def test_what_is_said_of_you_counts_for_the_one_who_is_spoken_to() -> None:
    said = ("Melanie", "You ran such a good charity race!")

    assert (margin("When did Caroline run a charity race?", said, *OTHERS) or 0) > 0


def test_a_question_counts_for_no_one() -> None:
    said = ("Caroline", "Did you run the charity race?")

    assert (margin("When did Caroline run a charity race?", said, MELANIE) or 0) < MIN_MARGIN


@pytest.mark.parametrize("question", ["When was the charity race?", "When did Melanie and Caroline run?"])
def test_a_question_that_names_no_single_speaker_has_no_margin(question: str) -> None:
    assert margin(question, MELANIE, *OTHERS) is None


def rules(found: RetrievalResult) -> set[str]:
    return {str(cut.rule) for cut in found.cut}


def chat(user: User) -> None:
    talk(
        user,
        "What did you do on Saturday, Melanie?",
        "I ran a charity race for mental health on Saturday, Caroline!",
        "I went to the lake with friends.",
        "My kids love to make pots of clay.",
        authors=PAIR,
    )


def test_nothing_is_recalled_for_what_the_person_never_said(alice: User) -> None:
    chat(alice)

    found = retrieve(alice, "Which charity race did Caroline run for mental health?", now=NOW)

    assert found.kept == ()
    assert "said by others" in rules(found)


def test_what_the_person_said_is_recalled(alice: User) -> None:
    chat(alice)

    found = retrieve(alice, "Which charity race did Melanie run for mental health?", now=NOW)

    assert "I ran a charity race for mental health on Saturday, Caroline!" in texts(found)


def test_an_explicit_search_shows_what_others_said(alice: User) -> None:
    chat(alice)

    found = retrieve(alice, "Which charity race did Caroline run for mental health?", now=NOW, strong=WEAK)

    assert found.kept


def test_a_fact_about_the_person_is_not_silenced(alice: User) -> None:
    chat(alice)
    remember(alice, "Caroline ran a charity race in May.")

    found = retrieve(alice, "Which charity race did Caroline run for mental health?", now=NOW)

    assert texts(found) == ["Caroline ran a charity race in May."]
