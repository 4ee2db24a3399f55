"""A question is read once: whom it names, which time it means, what it asks for, and in which words it is searched."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.retrieval.query import (
    CONTEXT_WORDS,
    QUESTION_ENDS,
    YEARS_BACK,
    Period,
    ends,
    in_third_person,
    parse_question,
    periods,
    without_names,
    words_as_written,
)
from memory.text.message_kinds import is_small_talk

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
TODAY = NOW.date()
SPEAKERS = ("Caroline", "Jo", "Mary Ann Smith")


# Names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "speakers", "searched"),
    [
        ("When did Caroline paint?", {"Caroline"}, "When did paint?"),
        ("what is caroline's plan", {"Caroline"}, "what is plan"),
        ("Does Jo like Joanna’s cat?", {"Jo"}, "Does like Joanna’s cat?"),
        ("Where is Mary Ann Smith?", {"Mary Ann Smith"}, "Where is ?"),
        ("Where is Mary now?", {"Mary Ann Smith"}, "Where is now?"),
        ("Where is my sister Eve?", set(), "Where is my sister Eve?"),
    ],
)
def test_the_names_of_speakers_are_noted_and_not_searched_for(question: str, speakers: set[str], searched: str) -> None:
    asked = parse_question(question, SPEAKERS, NOW)

    assert asked.speakers == speakers
    assert asked.keyword_query == searched


def test_a_name_is_a_word_and_no_pattern() -> None:
    assert without_names("C++ (Jo) said a.b", ["C++ (Jo)", "a.b"]) == "said"


# Persons ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "put"),
    [
        ("Where does my sister live?", "Where does the user's sister live?"),
        ("What am I allergic to?", "What is the user allergic to?"),
        ("I'm hungry", "the user is hungry"),
        ("Tell me about us", "Tell the user about the user"),
        ("What is a monad?", "What is a monad?"),
    ],
)
def test_a_question_is_put_in_the_third_person_as_facts_are(question: str, put: str) -> None:
    assert in_third_person(question) == put
    assert parse_question(question, (), NOW).semantic_query == put


# Times -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("What happened on 7 May 2023?", date(2023, 5, 7), date(2023, 5, 7)),
        ("And on May 7th, 2023?", date(2023, 5, 7), date(2023, 5, 7)),
        ("the 3rd of June 2023", date(2023, 6, 3), date(2023, 6, 3)),
        ("Sept. 9, 2023", date(2023, 9, 9), date(2023, 9, 9)),
        ("on 2023-02-28", date(2023, 2, 28), date(2023, 2, 28)),
        ("in 2023-02", date(2023, 2, 1), date(2023, 2, 28)),
        ("in December 2023", date(2023, 12, 1), date(2023, 12, 31)),
        ("31 February 2023", date(2023, 2, 28), date(2023, 2, 28)),
        ("back in 2022", date(2022, 1, 1), date(2022, 12, 31)),
        ("what did I say yesterday", TODAY - timedelta(days=1), TODAY - timedelta(days=1)),
        ("three weeks ago", TODAY - timedelta(days=24), TODAY - timedelta(days=18)),
        ("December 9999", date(9999, 12, 1), date(9999, 12, 30)),
    ],
)
def test_a_time_in_the_question_is_understood(question: str, first: date, last: date) -> None:
    (period,) = periods(question, TODAY)

    assert (period.first, period.last, period.yearly) == (first, last, False)


@pytest.mark.parametrize(
    "question",
    [
        "May I ask something?",
        "the march of time",
        "a decent meal",
        "room 4711",
        "in 0000-00",
        "marching on",
    ],
)
def test_what_only_looks_like_a_date_is_none(question: str) -> None:
    assert list(periods(question, TODAY)) == []


@pytest.mark.parametrize("year", [1999, 2023, 2024])
def test_a_month_without_a_year_is_that_month_of_any_year(year: int) -> None:
    (period,) = periods("What did we do in May?", TODAY)

    assert period.match(date(year, 5, 1)) == period.match(date(year, 5, 31)) == 1
    assert period.match(date(year, 6, 10)) > period.match(date(year, 7, 10)) > period.match(date(year, 9, 10))


def test_new_years_eve_is_told_in_january() -> None:
    (period,) = periods("On 31 December?", TODAY)

    assert period.match(date(2024, 1, 1)) > 0.8


days = st.dates(date(1970, 1, 1), date(2100, 1, 1))


@given(days, st.integers(0, 400), days, st.integers(0, 400), st.booleans())
def test_the_further_a_day_lies_after_a_period_the_less_it_matches(
    first: date, length: int, when: date, later: int, yearly: bool
) -> None:
    period = Period(first, first + timedelta(days=length), yearly)

    assert 0 <= period.match(when) <= 1
    if not yearly and when >= period.last:
        assert period.match(when + timedelta(days=later)) <= period.match(when)


@given(days, st.integers(0, 400), days, st.booleans())
def test_a_day_within_the_time_or_shortly_after_it_is_one_on_which_it_is_told(
    first: date, length: int, when: date, yearly: bool
) -> None:
    period = Period(first, first + timedelta(days=length), yearly)

    is_told = any(earliest <= when <= latest for earliest, latest in period.reporting_days(when.year))

    if period.match(when) == 1:
        assert is_told
    if is_told:
        assert period.match(when) > 0.36


@pytest.mark.parametrize(
    ("question", "last"),
    [("on 7 May 2023", date(2023, 5, 12)), ("in May 2023", date(2023, 6, 20)), ("December 9999", date.max)],
)
def test_what_happened_is_told_for_some_days_and_of_a_longer_time_for_longer(question: str, last: date) -> None:
    (period,) = periods(question, TODAY)

    ((first, latest),) = period.reporting_days(TODAY.year)

    assert (first, latest) == (period.first, last)


def test_a_day_without_a_year_is_told_in_each() -> None:
    (period,) = periods("On 31 December?", TODAY)

    told = list(period.reporting_days(TODAY.year))

    assert told[-2:] == [(date(year, 12, 31), date(year + 1, 1, 5)) for year in (TODAY.year - 1, TODAY.year)]
    assert len(told) == YEARS_BACK + 1
    assert [first.year for first, _ in Period(TODAY, TODAY, yearly=True).reporting_days(2)] == [1, 2]


@pytest.mark.parametrize(
    ("question", "latest", "time"),
    [
        ("Where do I work now?", True, False),
        ("When did I start?", False, True),
        ("What year was that?", False, True),
        ("Do I know when to stop?", False, False),
    ],
)
def test_what_is_asked_for_is_noted(question: str, latest: bool, time: bool) -> None:
    asked = parse_question(question, (), NOW)

    assert (asked.wants_latest, asked.wants_time) == (latest, time)


# Small talk ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Hi there!",
        "Good morning, how are you today?",
        "Thanks, that helps a lot.",
        "Ok, great.",
        "haha nice",
        "yes please",
    ],
)
def test_small_talk_is_no_question(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "What is my job?",
        "What's my job?",
        "How am I?",
        "What do I love?",
        "Good morning Mary",
        "Thanks, and my flight?",
        "おはよう",
    ],
)
def test_what_may_be_answered_from_memory_is_no_small_talk(text: str) -> None:
    assert not is_small_talk(text)


# What was said before --------------------------------------------------------------------------------------------


def test_a_question_that_refers_to_what_was_said_takes_its_names_and_words_along() -> None:
    asked = parse_question(
        "And where does she work?", (), NOW, ["I met my sister Mary yesterday.", "How nice, in Lisbon?"]
    )

    assert asked.context.split()[:2] == ["Lisbon", "Mary"]
    assert "sister" in asked.context
    assert asked.keyword_query == "And where does she work?"
    assert asked.semantic_query == f"And where does she work? ({asked.context})"


def test_a_question_that_stands_on_its_own_takes_nothing_along() -> None:
    assert parse_question("Where does Mary work?", (), NOW, ["I like tea."]).context == ""


def test_no_more_than_some_words_are_taken_along() -> None:
    said = " ".join(f"word{letter}x" for letter in "abcdefghijklmnopqrstuvw")

    assert len(parse_question("What about it?", (), NOW, [said]).context.split()) == CONTEXT_WORDS


# Any text --------------------------------------------------------------------------------------------------------


def test_of_a_long_message_its_beginning_and_its_end_are_the_question() -> None:
    long = "Please translate: " + "x" * 50_000 + " Where does my sister live?"

    assert ends(long).startswith("Please translate: x")
    assert ends(long).endswith("Where does my sister live?")
    assert len(ends(long)) <= 2 * QUESTION_ENDS + 1


@given(st.text(), st.lists(st.text(min_size=1, max_size=20), max_size=3), st.lists(st.text(), max_size=3))
def test_any_text_can_be_read(text: str, authors: list[str], context: list[str]) -> None:
    asked = parse_question(text, authors, NOW, context)

    assert "\x00" not in asked.keyword_query + asked.context + asked.semantic_query
    assert asked.speakers <= set(authors)


@given(st.text(max_size=80), st.text(alphabet=st.characters(max_codepoint=127), max_size=80))
def test_the_words_of_plain_english_are_those_that_any_text_has(any_text: str, plain: str) -> None:
    beyond = f"{any_text} é"  # read by the pattern
    assert words_as_written(f"{plain} {beyond}") == [*words_as_written(plain), *words_as_written(beyond)]


@pytest.mark.parametrize(
    ("question", "asks_past"),
    [
        ("Do I still live in Leeds?", True),
        ("and am I still on the board?", True),
        ("Which tablets do I still take?", False),
        ("What do we still pay for?", False),
        ("Where did I live before?", True),
    ],
)
def test_what_still_holds_is_asked_of_now(question: str, asks_past: bool) -> None:
    assert parse_question(question, (), NOW).asks_past is asks_past
