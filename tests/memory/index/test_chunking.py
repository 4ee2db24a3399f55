"""A text is split where its author would, never longer than the index takes; every passage records its place."""

import time
from itertools import pairwise

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from memory.embeddings.limits import PIECES
from memory.embeddings.published import whole_tokenizer
from memory.index.chunking import Measure, Passage, chunk_text, cut
from recall.llm.tokens import count_tokens

MEASURE = Measure(tokens=60, overlap=10)
SENTENCE = "The old boat drifts slowly past the quiet mill and nobody asks where it is going tonight. "
BOOK = "\n\n".join(
    f"# Chapter {chapter}\n\n" + "\n\n".join(f"## Part {chapter}.{part}\n\n{SENTENCE * 12}" for part in range(3))
    for chapter in range(4)
)


def pieces(passage: Passage) -> int:
    """Word pieces as the embedding model sees them, with the heading and the two markers."""
    text = f"{passage.heading}: {passage.text}" if passage.heading else passage.text
    return len(whole_tokenizer().encode(text).ids)


def test_a_short_text_is_one_passage() -> None:
    assert chunk_text("  A short note.\n", is_markdown=False) == [
        Passage("A short note.", "", count_tokens("A short note."))
    ]


@pytest.mark.parametrize("text", ["", "  \n\n\t"])
def test_a_blank_text_has_no_passage(text: str) -> None:
    assert chunk_text(text, is_markdown=True) == []


def test_every_passage_carries_the_headings_above_it() -> None:
    found = chunk_text(BOOK, is_markdown=True)

    for passage in found:
        inside = [line for line in passage.text.splitlines() if line.startswith("#")]
        if not inside:
            chapter, _, part = passage.heading.partition(" › ")
            assert part.removeprefix("Part ").startswith(chapter.removeprefix("Chapter "))
    assert {passage.heading for passage in found} >= {"Chapter 2 › Part 2.1", "Chapter 3"}


def test_a_heading_within_code_is_none() -> None:
    text = f"# Real\n\n```\n# not one\n```\n\n{SENTENCE * 30}"

    assert chunk_text(text, is_markdown=True)[-1].heading == "Real"


def test_a_heading_that_is_underlined_is_one() -> None:
    text = f"Roses\n=====\n\nWatering\n--------\n\n{SENTENCE * 30}"

    assert chunk_text(text, is_markdown=True)[-1].heading == "Roses › Watering"


def test_plain_text_has_no_headings() -> None:
    assert {passage.heading for passage in chunk_text(BOOK, is_markdown=False)} == {""}


def test_a_passage_repeats_the_end_of_the_one_before() -> None:
    text = " ".join(f"Sentence number {number} is about the garden." for number in range(60))

    found = cut(text, MEASURE, is_markdown=False)

    for before, after in pairwise(found):
        repeated = after.text[: after.text.index(".") + 1]
        assert repeated in before.text
        assert repeated.startswith("Sentence")


def test_nothing_is_repeated_across_a_heading() -> None:
    for passage in chunk_text(BOOK, is_markdown=True):
        if "# " in passage.text:
            assert passage.text.startswith("#")


def test_a_story_repeats_nothing() -> None:
    paragraphs = [f"Paragraph {number}. {SENTENCE * 4}".strip() for number in range(20)]

    found = chunk_text("\n\n".join(paragraphs), is_markdown=True, story=True)

    assert "\n\n".join(passage.text for passage in found) == "\n\n".join(paragraphs)


def test_no_word_is_lost() -> None:
    words = [f"word{number}" for number in range(3_000)]

    found = chunk_text(" ".join(words), is_markdown=False)

    assert set(words) <= {word for passage in found for word in passage.text.split()}


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=600)


@given(st.lists(texts, max_size=8), st.booleans())
@hypothesis_settings(max_examples=60)
def test_no_passage_is_longer_than_the_index_takes(parts: list[str], is_markdown: bool) -> None:
    for passage in cut("\n\n".join(parts), MEASURE, is_markdown=is_markdown):
        assert passage.text.strip()
        assert pieces(passage) <= PIECES


@pytest.mark.parametrize("is_markdown", [True, False])
@pytest.mark.parametrize(
    "text",
    [BOOK, "x" * 50_000, "天地玄黄宇宙洪荒" * 2_000, "| a | b |\n" * 3_000, "  - point\n" * 3_000, "👩‍👩‍👧" * 2_000],
    ids=["book", "one word", "no blanks", "table", "list", "emoji"],
)
def test_what_is_cut_keeps_both_limits(text: str, is_markdown: bool) -> None:
    found = chunk_text(text, is_markdown=is_markdown)

    assert max(pieces(passage) for passage in found) <= PIECES
    assert max(passage.tokens for passage in found) <= settings.ENVIRONMENT.rag_chunk_size


def test_the_operator_chooses_the_length(monkeypatch: pytest.MonkeyPatch) -> None:
    longer = chunk_text(BOOK, is_markdown=True)
    monkeypatch.setattr(settings.ENVIRONMENT, "rag_chunk_size", 80)

    shorter = chunk_text(BOOK, is_markdown=True)

    assert max(passage.tokens for passage in shorter) <= 80 < max(passage.tokens for passage in longer)


HOSTILE = {
    "one word": "a" * 300_000,
    "nested quotes": "> " * 100_000,
    "brackets": "[" * 200_000,
    "headings": "# a\n" * 50_000,
    "headings of the second level": "## a\n" * 50_000,
    "blanks": " " * 1_000_000 + "x",
    "unclosed code": "```\n" + "x\n" * 100_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_is_cut_in_bounded_time(text: str) -> None:
    started = time.process_time()

    chunk_text(text, is_markdown=True)

    assert time.process_time() - started < 10


def test_cutting_is_a_small_part_of_indexing() -> None:
    """A book is indexed at 60 passages per second or more: splitting alone must be several times as fast."""
    book = "\n\n".join([BOOK] * 20)
    started = time.process_time()

    found = chunk_text(book, is_markdown=True)

    assert len(found) / (time.process_time() - started) > 300
