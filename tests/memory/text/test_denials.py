"""What a message denies, and what it says holds instead, is read from ordinary sentences."""

import pytest

from memory.text.denials import find_phrase, read_denials, read_shifts


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("It's Limerick I live in, not Galway", "Galway", "Limerick"),
        ("scratch that, I'm not in Leeds, I'm in Bradford", "Leeds", "Bradford"),
        ("not Nantes but Rennes", "Nantes", "Rennes"),
        ("I used to live in Brno, now it's Ostrava", "Brno", "Ostrava"),
        ("sorry, Bisto rather than Biscuit", "Biscuit", "Bisto"),
        ("Sold the Fabia yesterday and picked up a used Mazda 3.", "Fabia", "Mazda 3"),
        ("Bought a Fairphone 5 to replace the Pixel 6.", "Pixel 6", "Fairphone 5"),
        ("We called off the Iceland trip. Going to the Azores instead.", "Iceland trip", "Azores"),
        ("We renamed the app from Larkspur to Wrenbook.", "Larkspur", "Wrenbook"),
        ("Not a barista any more, I run the roastery now: I'm the head roaster.", "barista", "head roaster"),
        ("I said Portuguese, I meant Spanish", "Portuguese", "Spanish"),
        ("It isn't the 12th, it's the 14th of May", "12th", "14th of May"),
        ("the meeting moved from 9:30 to 10:15", "9:30", "10:15"),
        ("Not Tuesday, Wednesday!", "Tuesday", "Wednesday"),
        ("We're not going to Rome after all", "Rome", ""),
        ("Got rid of the piano last year", "piano", ""),
        ("the doctor says no Berlin for me this year", "Berlin", ""),
        ("I'm not allergic to kiwi any more! The cashews and latex ones stay.", "kiwi", ""),
        ("Gave up on keto, it was making me miserable.", "keto", ""),
        ("It is not a Fabia, it is an Octavia.", "Fabia", "Octavia"),
        ("Her name isn't Mary, it's Marta", "Mary", "Marta"),
    ],
)
def test_a_denial_is_read_with_what_holds_instead(text: str, old: str, new: str) -> None:
    assert [(found.old, found.new) for found in read_denials(text)] == [(old, new)]


@pytest.mark.parametrize(
    "text",
    [
        "Isn't it Galway?",
        "If I left Acme, would I keep the laptop?",
        "I live in Limerick and love it",
        "Why did you not say so?",
    ],
)
def test_questions_suppositions_and_plain_statements_deny_nothing(text: str) -> None:
    assert read_denials(text) == []


def test_a_month_is_no_supposition() -> None:
    assert [found.old for found in read_denials("I left Acme in May.")] == ["Acme"]


def test_a_new_date_is_read_with_what_it_is_of() -> None:
    assert [found[:2] for found in read_shifts("The wedding got pushed back to August 30.")] == [
        ("the wedding", "August 30")
    ]


def test_a_phrase_is_found_by_its_names_where_its_other_words_differ() -> None:
    text = "The user is planning a trip to Iceland in June."
    place = find_phrase(text, "Iceland trip")
    assert place is not None
    assert text[slice(*place)] == "Iceland"
    assert find_phrase(text, "Azores") is None
