"""What the trained tagger marks in messages it was not trained on."""

from pathlib import Path

import numpy as np
import pytest

from memory.librarian.tagger.marked import HEADS, judge, read_marked
from memory.librarian.tagger.tags import MAX_CHARS, tags_in
from memory.network.training import fit
from recall.cpu_limit import CpuLimit, TookTooLongError

UNSEEN = Path(__file__).parents[2] / "data" / "tagged_unseen.txt"
"""200 messages by an author whose messages it was not trained on."""


def marked(text: str) -> list[tuple[str, str, str, bool]]:
    """The words, label and state of each tag, and whether it is someone else's."""
    return [(text[tag.start : tag.end], tag.label, tag.state, tag.other) for tag in tags_in(text, CpuLimit())]


def test_it_marks_most_of_what_people_state_in_words_it_has_not_seen() -> None:
    messages = [read_marked(line) for line in UNSEEN.read_text("utf-8").splitlines()]

    score = judge(messages, 0.6)

    assert score.right >= 0.85 * (score.right + score.wrong)
    assert score.right >= 0.65 * (score.right + score.missed)


@pytest.mark.parametrize(
    "text",
    [
        "What is the weather like in Lisbon in March?",
        "We might move to Oslo one day, who knows.",
        'Please translate: "I live in Trieste and I am a forger."',
        "Write a story about a welder from Gdansk who keeps ferrets.",
    ],
)
def test_what_is_asked_planned_or_made_up_has_no_mark(text: str) -> None:
    assert marked(text) == []


def test_a_tag_has_its_place_in_a_long_message() -> None:
    filler = "The third shelf of the cupboard holds jars, string and a broken clock. " * 12
    text = f"{filler}Anyway, I live in Ghent now.\n{filler}"
    assert ("Ghent", "home", "now", False) in marked(text)


def test_a_text_that_is_too_long_for_a_message_has_no_marks() -> None:
    short = "so we've been in Wakefield since Saturday, what about council tax?"
    assert marked(short) == [("Wakefield", "home", "now", False)]
    assert marked(f"{short} " + "The third shelf holds jars. " * (MAX_CHARS // 20)) == []


def test_it_stops_when_a_message_used_up_its_time() -> None:
    with pytest.raises(TookTooLongError):
        list(tags_in("I live in Ghent. " * 50, CpuLimit(-1)))


def test_training_lowers_the_loss_and_is_repeatable() -> None:
    examples = [read_marked(f"I moved to [home:{town}].").example for town in ("Ghent", "Lublin", "Filey", "Porto")]
    losses: list[float] = []

    first = fit(examples, HEADS, lambda _, loss: losses.append(loss), epochs=3)
    again = fit(examples, HEADS, lambda *_: None, epochs=3)

    assert losses[-1] < losses[0]
    assert all(np.array_equal(first[name], again[name]) for name in first)


def test_marks_are_read_with_their_places() -> None:
    marked = read_marked("I'm in [home:Ghent], not [-home:Lublin]; we [~partner:split up], mum's in [*home:Filey].")

    assert marked.pieces.text == "I'm in Ghent, not Lublin; we split up, mum's in Filey."
    assert [
        (marked.pieces.text[tag.start : tag.end], tag.label, tag.state, tag.other) for tag in marked.tags
    ] == [
        ("Ghent", "home", "now", False),
        ("Lublin", "home", "not", False),
        ("split up", "partner", "end", False),
        ("Filey", "home", "now", True),
    ]  # fmt: skip
    with pytest.raises(ValueError, match="no label town"):
        read_marked("I'm in [town:Ghent]")
