"""What a sentence changes of what is known without naming the value, and what it leaves alone."""

import pytest

from memory.librarian.changes.attribute_changes import find_changed, states_attribute
from memory.librarian.changes.fact_words import words_of
from memory.models.kinds import Kind
from tests.memory.librarian.test_corrections import known

FACTS = (
    known(1, "The user is allergic to walnuts.", "user/allergy:walnuts", "yes"),
    known(2, "The user does not eat or drink lamb.", "user/diet:lamb", "no"),
    known(3, "The user's daughter Edda is allergic to milk.", "edda/allergy:milk", "yes"),
    known(4, "The user's physio is called Runa.", "user/physio/name", "Runa"),
    known(5, "The user works at Bosch.", "user/employer", "Bosch"),
    known(6, "The user works as a clerk.", "user/job", "clerk"),
    known(7, "The user is pescatarian.", "user/diet", "pescatarian"),
    known(8, "The user is selling their sailing boat in June.", kind=Kind.GOAL),
    known(9, "The user plans to walk the Camino.", kind=Kind.GOAL),
    known(10, "The user uses Evernote for recipes."),
    known(11, "The user plays chess with Ole."),
    known(12, "The user's kitten Pip hides in boxes."),
    known(13, "The user was 41 years old in March 2025.", "user/age", "41"),
    known(14, "Nora studies law.", "nora/studies", "law"),
    known(15, "The user is single.", "user/relationship", "single"),
    known(16, "The user's surname is Holt.", "user/surname", "Holt"),
)


def read(text: str) -> list[tuple[int, str]]:
    return [(changed.fact.fact_id, changed.new) for changed in find_changed(text, words_of(text), FACTS)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("turns out I've outgrown the walnut thing", (1, "")),
        ("there's no walnut allergy, the test was clear", (1, "")),
        ("lamb is fine for me these days", (2, "")),
        ("Edda's milk allergy is gone", (3, "")),
        ("I've found a new physio, Dr. Sand, closer to home", (4, "Dr. Sand")),
        ("we switched physios in May", (4, "")),
        ("I'm my own boss since March, self-employed and happy", (5, "")),
        ("they've made me office manager!", (6, "office manager")),
        ("I've become vegan since Easter", (7, "vegan")),
        ("we decided to hang on to the boat", (8, "")),
        ("change of plans: no Camino this year", (9, "")),
        ("the kids have renamed the kitten Mochi", (12, "Mochi")),
        ("big day today im 42 haha", (13, "42")),
        ("Nora has switched to economics", (14, "economics")),
        ("I've met someone on the train", (15, "")),
        ("I've taken my married surname, Okoro", (16, "Okoro")),
        ("moved all my recipes over to Paprika", (10, "Paprika")),
    ],
)
def test_a_sentence_changes_the_fact_it_is_about(text: str, expected: tuple[int, str]) -> None:
    assert read(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "walnuts are still not fine for me",
        "my nephew can eat walnuts",
        "is there a lamb dish that is fine for a party of ten",
        "I'm looking for a new physio",
        "maybe I'll go freelance one day",
        "my cousin went freelance",
        "a vegan cake please",
        "we're keeping the tent",
        "my boss was made manager of the year by the mayor",
        "switched the lights off",
        "im 20 minutes late",
        "my sister has met someone",
        "renamed the file notes",
        "I might move my recipes to Paprika",
    ],
)
def test_other_sentences_change_nothing(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("statement", "is_of_partner"),
    [
        ("The user's girlfriend Tess likes plants.", True),
        ("The user's wife Ines works nights.", True),
        ("The user's sister Tess likes plants.", False),
        ("The user likes plants.", False),
    ],
)
def test_what_was_said_of_a_partner_belongs_to_that_partner(statement: str, is_of_partner: bool) -> None:
    assert states_attribute(statement, "user/partner") is is_of_partner
