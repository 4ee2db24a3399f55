"""Which questions memories are read beside, and what their odds are."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.answers.answers import chance
from memory.retrieval.query import parse_question
from memory.retrieval.reading import ANSWERED_FROM, LACKS_KIND, MAX_WORDS, is_read, odds, read_beside

NOW = datetime(2026, 11, 28, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "What do I do for work?",
        "Where am I off to in September?",
        "my number plate?",
        "whats my sisters name",
        "name of our vet",
    ],
)
def test_memories_are_read_beside_a_short_question(text: str) -> None:
    assert is_read(parse_question(text, (), NOW), ())


@pytest.mark.parametrize(
    "text",
    [
        "Write a toast for Zaza.",
        "In which order did I mention my trips?",
        "Did I smoke in 2023?",
        f"{'word ' * MAX_WORDS}, is that so?",
    ],
)
def test_a_task_a_list_a_time_that_is_over_and_a_long_message_are_not_read(text: str) -> None:
    assert not is_read(parse_question(text, (), NOW), ())


def test_what_others_say_in_an_imported_chat_and_a_follow_up_are_not_read() -> None:
    assert not is_read(parse_question("When did Ann move?", ("Ann",), NOW), ("Ann",))
    assert not is_read(parse_question("And where does she work?", (), NOW, ("My sister Ann lives in Ghent.",)), ())


@pytest.mark.parametrize(
    ("asked", "said", "other"),
    [
        ("How much do I earn?", "I earned 140k in Victoria.", "Suppose I earned 140k in Victoria."),
        ("How many kids do I have?", "I have four kids.", "And if I had four kids to put through college?"),
        ("Where do I live?", "I live in Cardiff with my gran.", 'Mark the grammar: "I lives in Cardiff with my gran."'),
        ("When is Leila's birthday?", "Leila's birthday is 3 September.", "Sami's birthday is 3 September."),
        ("How old is my parrot?", "My parrot is 31.", "The neighbour's parrot is 31."),
        ("cousin Priya's birthday?", "cousin Priya's is 3 May.", "colleague Priya has her birthday on 3 May."),
        ("What does Omar from work play?", "Omar from work plays the oud.", "my cousin Omar plays the oud"),
        ("What does Amina from the office do?", "Amina from my office is an accountant.", "My sister Amina is a vet."),
        ("How old is cousin Élodie?", "cousin Élodie is 31.", "My friend Élodie is 31."),
        ("When is my birthday?", "My birthday is 3 September.", "Sami's birthday is 3 September."),
        ("Where does my brother live?", "My brother Jo lives in Lisbon.", "My sister Mary lives in Lisbon."),
        ("Where does my brother live?", "My twin Jo lives in Lisbon.", "The user's sister Mary lives in Lisbon."),
        (
            "Am I moving to Dubai?",
            "I'm moving to Dubai.",
            'My mate just texted "I\'m moving to Dubai!!" how do I reply',
        ),
        ("What does my dog eat?", "My poodle eats rice.", "My cat eats rice."),
    ],
)
def test_what_is_supposed_quoted_or_of_someone_else_answers_nothing_of_the_user(
    asked: str, said: str, other: str
) -> None:
    question = parse_question(asked, (), NOW)
    assert odds(read_beside(question, said), 0.4) >= ANSWERED_FROM > odds(read_beside(question, other), 0.4)


@pytest.mark.parametrize(
    ("asked", "said", "other"),
    [
        ("How old is my parrot?", "My parrot is 31.", "My parrot is rather old."),
        ("When is Emil's therapy?", "Emil's therapy is on Thursdays.", "Emil is 5 and has therapy."),
        ("What's our dog's name?", "Our dog is Bisto.", "Our dog is a mongrel; what's in a name?"),
        ("Who is my dentist?", "My dentist is Dr Okafor.", "I was at my dentist, and who else is?"),
        ("What's my boss's name?", "My boss is called Ines.", "My boss is nice. How do I thank him?"),
        ("What's my licence plate?", "My licence plate is KL 4471 B.", "My licence plate fell off on Monday."),
        ("What's my shoe size?", "My shoe size is 41.", "My shoe size is like that of the wool ones."),
        ("Which school does Ivo go to?", "Ivo goes to Acorn school.", "Ivo's school is nice. Can I label socks?"),
    ],
)
def test_what_has_no_number_or_name_where_one_is_asked_for_loses_by_it(asked: str, said: str, other: str) -> None:
    question = parse_question(asked, (), NOW)
    assert odds(read_beside(question, said), 0.3) >= ANSWERED_FROM
    lacking, whole = read_beside(question, other), chance(asked, other)
    assert odds(lacking, 0) == pytest.approx(odds(whole, 0) - LACKS_KIND, abs=0.1)


def test_an_age_in_brackets_is_that_of_the_name_before_it() -> None:
    said = "my brother Samir visits with his kids, Lina (6) and Adam (3)"
    lina, samir = (parse_question(f"How old is {name}?", (), NOW) for name in ("Lina", "Samir"))
    assert odds(read_beside(lina, said), 0.2) >= ANSWERED_FROM > odds(read_beside(samir, said), 0.2)


def test_what_someone_is_quoted_for_answers_who_asks_for_that() -> None:
    question = parse_question("Where does the pupil live?", (), NOW)
    quoted = 'My pupil wrote: "I lives in Cardiff with my gran."'
    assert odds(read_beside(question, quoted), 0.4) >= ANSWERED_FROM


@given(st.floats(0, 1), st.floats(0, 1), st.floats(-1, 1), st.floats(0, 1))
def test_odds_grow_with_the_chance_and_with_the_cosine(
    chance: float, more: float, cosine: float, nearer: float
) -> None:
    assert odds(min(1, chance + more), cosine) >= odds(chance, cosine)
    assert odds(chance, cosine + nearer) >= odds(chance, cosine)
