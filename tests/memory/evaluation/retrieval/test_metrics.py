"""The metrics agree with the scorer of the evaluation data."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.evaluation.retrieval.metrics import (
    ADVERSARIAL,
    ANSWERABLE,
    MEASURES,
    by_category,
    gain,
    inside,
    measure,
    per_cent,
    percentile,
    recall,
)

TEN_TOKENS_EACH = dict.fromkeys("abcdefghij", 10)


def test_recall_is_the_share_of_the_evidence_among_the_first() -> None:
    assert recall({"a", "b", "c"}, "axbyc", 1) == pytest.approx(1 / 3)
    assert recall({"a", "b", "c"}, "axbyc", 3) == pytest.approx(2 / 3)
    assert recall({"a", "b", "c"}, "axbyc", 5) == 1
    assert recall({"a"}, "", 5) == 0


def test_the_gain_counts_a_later_find_for_less() -> None:
    # ideal for two: 1/log2(2) + 1/log2(3); found at ranks 2 and 4: 1/log2(3) + 1/log2(5)
    expected = (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3))
    assert gain({"b", "d"}, "abcd", 10) == pytest.approx(expected)
    assert gain({"b", "d"}, "bdac", 10) == 1


def test_an_item_that_no_longer_fits_is_skipped_and_a_smaller_one_taken() -> None:
    tokens = {"a": 60, "big": 50, "c": 25}
    assert inside({"c"}, ["a", "big", "c"], tokens, 100) == 1
    assert inside({"big"}, ["a", "big", "c"], tokens, 100) == 0


def test_filling_ends_when_no_line_fits_into_what_is_left() -> None:
    tokens = {"a": 89, "big": 50, "tiny": 5}
    assert inside({"tiny"}, ["a", "big", "tiny"], tokens, 100) == 0
    assert inside({"tiny"}, ["a", "big", "tiny"], {**tokens, "a": 88}, 100) == 1


def test_an_item_nobody_knows_takes_no_room() -> None:
    assert inside({"a"}, ["unknown", "a"], {"a": 10}, 10) == 1


def test_one_question_has_every_measure() -> None:
    figures = measure({"a", "j"}, "abcdefghij", TEN_TOKENS_EACH)
    assert tuple(figures) == MEASURES
    assert figures["R@3"] == figures["R@5"] == 0.5
    assert figures["hit@5"] == 1
    assert figures["all@10"] == figures["R@10"] == 1
    assert figures["B800"] == 1


def test_means_are_by_category_in_per_cent_with_adversarial_questions_apart() -> None:
    means = by_category(
        [
            ("temporal", {"R@5": 1.0}),
            (ADVERSARIAL, {"R@5": 0.25}),
            ("multi-hop", {"R@5": 0.5}),
            ("temporal", {"R@5": 0.0}),
        ]
    )
    assert list(means) == [ANSWERABLE, "multi-hop", "temporal", ADVERSARIAL]
    assert {category: (mean.questions, mean.figures["R@5"]) for category, mean in means.items()} == {
        ANSWERABLE: (3, 50.0),
        "multi-hop": (1, 50.0),
        "temporal": (2, 50.0),
        ADVERSARIAL: (1, 25.0),
    }


def test_nothing_answerable_has_no_total() -> None:
    assert list(by_category([(ADVERSARIAL, {"R@5": 1.0})])) == [ADVERSARIAL]


def test_a_percentile_is_a_value_that_was_measured() -> None:
    times = [5.0, 1.0, 4.0, 2.0, 3.0]
    assert percentile(times, 0.5) == 3
    assert percentile(times, 0.95) == 5
    assert percentile([7.0], 0.5) == 7
    assert percentile([], 0.95) == 0


def test_the_mean_of_nothing_is_zero() -> None:
    assert per_cent([]) == 0


@given(st.permutations("abcdefghij"), st.sets(st.sampled_from("abcdefghij"), min_size=1))
def test_no_measure_leaves_its_bounds_and_looking_further_never_finds_less(
    ranked: list[str], evidence: set[str]
) -> None:
    figures = measure(evidence, ranked, TEN_TOKENS_EACH)
    assert all(0 <= value <= 1 + 1e-9 for value in figures.values())
    assert figures["R@3"] <= figures["R@5"] <= figures["R@10"] <= figures["R@20"]
    assert figures["all@10"] <= figures["R@10"] <= figures["hit@10"]


@given(st.permutations("abcdefghij"), st.sets(st.sampled_from("abcdefghij"), min_size=1))
def test_evidence_before_everything_else_is_a_perfect_ranking(ranked: list[str], evidence: set[str]) -> None:
    perfect = sorted(ranked, key=lambda item: item not in evidence)
    assert measure(evidence, perfect, TEN_TOKENS_EACH)["NDCG@10"] == pytest.approx(1)
