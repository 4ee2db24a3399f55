"""A text loses what is forgotten, and nothing else."""

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.redaction import FORGOTTEN, Erasure, WordMatch, words_of

SENTENCES = st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta", "epsilon"]), min_size=2, max_size=5).map(
    " ".join
)
AROUND = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)


def forgetting(*texts: str, words: tuple[str, ...] = ()) -> Erasure:
    erasure = Erasure(1)
    erasure.add_text(*texts)
    erasure.words = set(words)
    return erasure


@given(before=AROUND, text=SENTENCES, after=AROUND)
def test_it_is_gone_wherever_it_stood(before: str, text: str, after: str) -> None:
    erasure = forgetting(text)
    cleaned = erasure.redact(f"{before} {text} {after}")
    assert not erasure.occurs_in(cleaned)
    assert erasure.redact(cleaned) == cleaned


@given(text=AROUND, forgotten=SENTENCES)
def test_a_text_that_does_not_say_it_is_left_alone(text: str, forgotten: str) -> None:
    erasure = forgetting(forgotten)
    if not erasure.occurs_in(text) and FORGOTTEN not in text:
        assert erasure.redact(text) == text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("I live in Porto, gladly.", f"{FORGOTTEN}, gladly."),
        ("i  live\nin “Porto”", f"{FORGOTTEN}”"),
        ("I live in Portobello.", "I live in Portobello."),
        ("Then I live in Porto. I live in Porto.", f"Then {FORGOTTEN}."),
    ],
)
def test_blanks_punctuation_and_case_make_no_difference(text: str, cleaned: str) -> None:
    assert forgetting("I live in Porto.").redact(text) == cleaned


@pytest.mark.parametrize("written", ["Gartenstraße", "GARTENSTRASSE", "GARTENSTRAẞE", "gartenstrasse"])
@pytest.mark.parametrize("found", ["Gartenstraße", "GARTENSTRASSE", "GARTENSTRAẞE", "gartenstrasse"])
def test_a_sharp_s_is_a_double_one(written: str, found: str) -> None:
    text = f"They moved to {found} 4 in May."
    assert forgetting(f"{written} 4").redact(text) == f"They moved to {FORGOTTEN} in May."
    assert forgetting(words=tuple(words_of(written))).redact(text) == f"They moved to {FORGOTTEN} 4 in May."


@pytest.mark.parametrize("forgotten", ["NFC", "NFD"])
@pytest.mark.parametrize("kept", ["NFC", "NFD"])
def test_it_makes_no_difference_how_an_accent_is_encoded(forgotten: Any, kept: Any) -> None:
    name, text = unicodedata.normalize(forgotten, "Zoë Fördé"), unicodedata.normalize(kept, "We met ZOË Fördé there.")
    assert forgetting(name).redact(text) == f"We met {FORGOTTEN} there."
    assert forgetting(words=tuple(words_of(name))).redact(text) == f"We met {FORGOTTEN} there."
    assert forgetting(words=("ford",)).redact(text) == text


def test_a_dotted_capital_i_is_an_i_with_a_dot() -> None:
    assert forgetting(words=tuple(words_of("İzmir"))).redact("In İzmir.") == f"In {FORGOTTEN}."


def test_json_keeps_its_shape_and_what_code_reads() -> None:
    erasure = forgetting("I live in Porto", words=("memories", "porto"))
    erasure.refs = {"fact:7", "document:/profile"}
    value = {
        "withholds": ["message:7:1"],
        "items": [
            {
                "ref": "fact:7",
                "section": "memories",
                "label": "Lives there",
                "tokens": 3,
                "qualifier": "before fact:9 (Lyon)",
            },
            {"ref": "document:/profile:3", "label": "A line", "score": 0.5},
            {"ref": "fact:77", "label": "Likes Porto wine", "url": "/m/1"},
        ],
        "n": [1, None, True],
    }
    assert erasure.redact_json(value) == {
        "withholds": ["message:7:1"],
        "items": [
            {"ref": "fact:7", "section": "memories", "label": FORGOTTEN, "tokens": 3, "qualifier": FORGOTTEN},
            {"ref": "document:/profile:3", "label": FORGOTTEN, "score": 0.5},
            {"ref": "fact:77", "label": f"Likes {FORGOTTEN} wine", "url": "/m/1"},
        ],
        "n": [1, None, True],
    }


@pytest.mark.parametrize(
    ("shown", "left"),
    [
        ("before fact:7 (My sister moved to the old house by the ri)", f"before fact:7 ({FORGOTTEN})"),
        ("waiting (my sister moved to the old), contradicts fact:9", f"waiting ({FORGOTTEN}), contradicts fact:9"),
        ("Notes: my sister moved to the old", f"Notes: {FORGOTTEN}"),
        ("My sister moved to the old town and likes it", "My sister moved to the old town and likes it"),
        ("My sister moved", "My sister moved"),
    ],
)  # fmt: skip
def test_what_is_cut_off_within_it_goes_too(shown: str, left: str) -> None:
    erasure = forgetting("My sister moved to the old house by the river")
    for name in ("label", "qualifier"):
        assert erasure.redact_json({name: shown}) == {name: left}


@pytest.mark.parametrize(
    ("text", "is_repeated"),
    [
        ("She is in Lisbon now.", True),  # its value
        ("Your sister Mary will love it.", True),  # half of its words
        ("Mary had a little lamb.", False),
        ("My sister sends her regards.", False),
        ("", False),
    ],
)
def test_an_answer_repeats_it_by_its_value_or_by_half_of_its_words(text: str, is_repeated: bool) -> None:
    erasure = Erasure(1)
    erasure.sayings = [
        WordMatch(frozenset(words_of("The user's sister Mary lives in Lisbon.")), frozenset(words_of("Lisbon")))
    ]
    assert erasure.is_paraphrased_in(text) is is_repeated


def test_sentences_that_repeat_it_in_other_words_go_too() -> None:
    erasure = forgetting("I moved to Zanzibar")
    erasure.telling = {"zanzibar"}
    text = "I moved to Zanzibar. Zanzibar is hot! Bread is good."
    assert erasure.without_sentences(text) == f"{FORGOTTEN} Bread is good."


def test_a_line_to_be_filled_in_is_looked_for_as_quickly_as_words() -> None:
    erasure = forgetting("Fill in this form: " + "_ " * 40)
    assert not erasure.occurs_in("Fill in: " + "_" * 5_000 + "a"), "the other way to look would never end"
    assert erasure.occurs_in("So fill in this form ____ and sign it")


def test_one_short_word_beside_a_line_to_be_filled_in_stands_for_no_other() -> None:
    assert not forgetting("Form: ______").texts


def test_an_underscore_stands_between_words() -> None:
    erasure = Erasure(1, words={"tamarind"})
    erasure.add_text("the tamarind tree")
    assert erasure.redact("see the_tamarind_tree or this: tamarind_2, tamarinds") == (
        f"see {FORGOTTEN} or this: {FORGOTTEN}_2, tamarinds"
    )
