"""The baselines rank as the methods they are named after."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from memory.embeddings.limits import Vectors
from memory.embeddings.scale import BUILT_IN
from memory.evaluation.retrieval.baselines import (
    ALL_WORDS,
    ANY_WORD,
    BASELINES,
    bm25,
    by_bm25,
    by_full_text,
    by_meaning,
    fuse,
    rank_all,
    words_of,
)

ITEMS = (
    "Ana: My kettle is red and the kettle sings.",
    "Ben: The car is red.",
    "Ana: I went swimming.",
)


class ByFirstLetter:
    """An embedder whose vector only depends on a text's first letter."""

    name = "by first letter"
    scale = BUILT_IN

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.eye(26, dtype=np.float32)[[ord(text[0].lower()) - ord("a") for text in texts]]

    def embed_question(self, text: str) -> Vectors:
        vector: Vectors = self.embed([text])[0]
        return vector


def test_bm25_is_its_formula() -> None:
    score = bm25([Counter(cat=2, dog=1), Counter(dog=1), Counter(fish=1)])
    # “cat” is in one of three; the item has 3 words where the mean is 5/3
    rarity = math.log(1 + 2.5 / 1.5)
    expected = rarity * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / (5 / 3)))
    assert score(["cat"]) == {0: pytest.approx(expected)}
    assert score(["cow"]) == {}


def test_fusion_prefers_what_both_have_high() -> None:
    assert fuse([[0, 1, 2], [1, 2, 3]]) == [1, 2, 0, 3]
    # 1/62 + 1/61 against 1/61 + 1/63: second and first beats first and third
    assert fuse([[0, 1], [1, 2, 0]], k=60) == [1, 0, 2]


def test_meaning_ranks_every_item_and_keeps_the_order_of_equals() -> None:
    assert by_meaning(ITEMS, ["Anything", "Bees"], ByFirstLetter()) == [[0, 2, 1], [1, 0, 2]]


@pytest.mark.django_db
def test_words_are_stems_with_their_counts_and_without_stop_words() -> None:
    assert words_of(ITEMS[:1]) == [Counter(kettl=2, ana=1, red=1, sing=1)]


@pytest.mark.django_db
def test_bm25_finds_other_forms_of_a_word_and_leaves_out_what_has_none() -> None:
    assert by_bm25(ITEMS, ["Which kettles are red?", "Who swims?", "Where is the ferry?"]) == [[0, 1], [2], []]


@pytest.mark.django_db
def test_full_text_and_asks_for_every_word() -> None:
    assert by_full_text(ITEMS, ["red kettle", "red kettle swimming"], ALL_WORDS) == [[0], []]


@pytest.mark.django_db
def test_full_text_or_asks_for_any_word() -> None:
    assert by_full_text(ITEMS, ["red kettle", "and the"], ANY_WORD) == [[0, 1], []]


@pytest.mark.django_db
@pytest.mark.parametrize("question", ["it's a \\ b & c | !d <-> 'e", "see x.org/?a=1&b=2", "nul \x00 byte", ""])
def test_a_question_is_never_syntax(question: str) -> None:
    assert by_full_text(ITEMS, [question], ANY_WORD) == [[]]
    assert by_full_text(ITEMS, [question], ALL_WORDS) == [[]]


@pytest.mark.django_db
def test_every_baseline_answers_every_question() -> None:
    orders = rank_all(ITEMS, ["A red kettle?", "Swimming"], ByFirstLetter())
    assert tuple(orders) == BASELINES
    assert {name: [order[:1] for order in found] for name, found in orders.items()} == {
        "dense": [[0], [0]],
        "full text AND": [[0], [2]],
        "full text OR": [[0], [2]],
        "BM25": [[0], [2]],
        "RRF of dense and BM25": [[0], [2]],
    }
