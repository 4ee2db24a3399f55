"""What a topic means: whole identifiers, names, dates and words; neighbors stay."""

import pytest

from memory.forgetting.scope import Verdict, decide, read_topic, settle, with_aliases

MEANT, PART, NEIGHBOR = Verdict.MEANT, Verdict.PART, Verdict.NEIGHBOR


@pytest.mark.parametrize(
    ("topic", "text", "verdict"),
    [
        ("the code heron-9", "The shed opens with heron-9.", MEANT),
        ("the code heron-9", "The user has 9 herons to count.", NEIGHBOR),
        ("the code heron-9", "Heron-90 opens the garage.", NEIGHBOR),
        ("room 12", "The meeting is in room 12.", MEANT),
        ("room 12", "The user ordered 12 chairs.", NEIGHBOR),
        ("bob@example.com", "Write to bob@example.com.", MEANT),
        ("bob@example.com", "Write to bob.jones@example.com.", NEIGHBOR),
        ("everything about my ex Tom", "Tom moved to Leeds.", MEANT),
        ("everything about my ex Tom", "The user's boss Tom is in Leeds.", NEIGHBOR),
        ("everything about my ex Tom", "The user likes tomatoes.", NEIGHBOR),
        ("Blue-Door Ltd", "BLUE_DOOR LTD sent a bill.", MEANT),
        ("my niece Joy", "Cooking is a joy to the user.", NEIGHBOR),
        ("that I like olives", "The user likes olives.", MEANT),
        ("that I like olives", "The user doesn't like olives.", NEIGHBOR),
        ("that I don't eat pork", "The user eats pork.", NEIGHBOR),
        ("that Iris is a vet", "Iris's sister is a vet.", NEIGHBOR),
        ("my 2019 trip", "The user went to Peru in 2019.", MEANT),
        ("my 2019 trip", "The user went to Peru in 2021.", NEIGHBOR),
        ("what I said about the move", "The user is moving house in May.", MEANT),
        ("that I work at Initech", "The user lives in Ghent and works at Initech.", PART),
        ("the handle marlin", "The handle marlin_dev belongs to Ana.", NEIGHBOR),
        ("likes cilantro", "The user hates cilantro.", NEIGHBOR),
        ("version 2.1", "Version 21 is far away.", NEIGHBOR),
        ("the meeting with Dr. Chen", "The user has a meeting with Dr. Chen on Tuesday.", MEANT),
        ("my aunt Ines", "The user's aunt Ines is a nurse and lives in Rome.", MEANT),
    ],
)
def test_what_is_meant_goes_and_its_neighbor_stays(topic: str, text: str, verdict: Verdict) -> None:
    assert decide(read_topic(topic), text).verdict == verdict


def test_another_script_is_the_same_name_where_a_text_says_so() -> None:
    topic = with_aliases(read_topic("Dmitri"), ["The plumber is Дмитрий (Dmitri)."])

    assert decide(topic, "Дмитрий came late.").verdict == MEANT
    assert decide(read_topic("Dmitri"), "Дмитрий came late.").verdict == NEIGHBOR


@pytest.mark.parametrize("text", ["🙂", "?!", ""])
def test_a_text_without_a_word_is_not_meant(text: str) -> None:
    assert decide(read_topic("Dmitri"), text).verdict == NEIGHBOR


@pytest.mark.parametrize(
    ("topic", "meant", "neighbor"),
    [
        ("Acme", "Acme pays on time.", "Acme Labs is a supplier."),
        ("Emma's morning class", "Emma has a morning class.", "Emma has an evening class."),
        (
            "the penicillin allergy",
            "The user is allergic to penicillin.",
            "The user isn't allergic to penicillin drops.",
        ),
    ],
)
def test_what_is_further_off_stays_where_something_is_clearly_meant(topic: str, meant: str, neighbor: str) -> None:
    read = read_topic(topic)

    first, second = settle(read, [decide(read, meant), decide(read, neighbor)])

    assert (first.verdict, second.verdict) == (MEANT, NEIGHBOR)


def test_everything_about_a_thing_includes_what_denies_it() -> None:
    read = read_topic("everything about the penicillin allergy")

    both = settle(
        read, [decide(read, text) for text in ("I'm allergic to penicillin.", "I'm not allergic to penicillin.")]
    )

    assert [one.verdict for one in both] == [MEANT, MEANT]


def test_a_fact_is_found_by_its_key() -> None:
    assert decide(read_topic("my job"), "The user is a welder.", "user job welder").verdict == MEANT
