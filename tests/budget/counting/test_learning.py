"""The ratios: within bounds whatever is reported, separated from sums, and certain once they may be."""

import random
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget.counting.estimate import MAX_RATIO, MIN_RATIO, STARTING_RATIO, STARTING_RATIOS, TextClass
from budget.counting.learning import (
    KINDS,
    STARTING_SPREAD,
    Belief,
    Observation,
    expected,
    learn,
    standard_deviation,
    unknown,
)

TRUE = {kind: 1.2 + 0.06 * place for place, kind in enumerate(KINDS)}

counts = st.dictionaries(st.sampled_from(KINDS), st.integers(0, 20_000))
figures = st.builds(Observation, counts, st.integers(-5, 200_000), st.floats(0, 1e6))


def true_tokens(base: Mapping[TextClass, int]) -> int:
    return round(sum(TRUE[kind] * tokens for kind, tokens in base.items()))


def mixtures(seed: int, turns: int) -> list[dict[TextClass, int]]:
    """Contents of the requests of a mixed conversation."""
    chance = random.Random(seed)
    return [
        {kind: chance.randint(20, 2_000) for kind in chance.sample(KINDS, chance.randint(1, 5))} for _ in range(turns)
    ]


def learned(bases: list[dict[TextClass, int]]) -> Belief:
    belief = unknown()
    for base in bases:
        belief = learn(belief, Observation(base, true_tokens(base)))
    return belief


@given(st.lists(figures, max_size=12))
def test_ratios_stay_within_bounds_whatever_is_reported(told: list[Observation]) -> None:
    belief = unknown()
    for figure in told:
        belief = learn(belief, figure)
    assert all(MIN_RATIO <= ratio <= MAX_RATIO for ratio in belief.ratios.values())
    assert all(belief.covariance[kind][kind] > -1e-9 for kind in KINDS)
    assert standard_deviation(belief, dict.fromkeys(KINDS, 100)) > 0


@given(st.permutations(mixtures(1, 14)))
def test_the_order_of_the_same_mixtures_does_not_matter(bases: list[dict[TextClass, int]]) -> None:
    asked = dict.fromkeys(KINDS, 500)
    assert expected(learned(bases), asked) == pytest.approx(true_tokens(asked), rel=0.03)


@pytest.mark.parametrize("true_ratio", [0.8, 1.0, 1.3, 1.5, 1.7, 2.2, 3.0])
def test_a_ratio_settles_within_ten_turns(true_ratio: float) -> None:
    belief = unknown()
    for _ in range(10):
        belief = learn(belief, Observation({TextClass.PROSE: 800}, round(800 * true_ratio)))
    assert belief.ratios[TextClass.PROSE] == pytest.approx(true_ratio, rel=0.02)


@pytest.mark.parametrize("seed", range(5))
def test_classes_are_told_apart_although_only_sums_are_reported(seed: int) -> None:
    belief = learned(mixtures(seed, 30))
    assert {kind: belief.ratios[kind] for kind in KINDS} == pytest.approx(TRUE, rel=0.04)


def test_two_classes_that_always_come_together_are_known_together_only() -> None:
    both = {TextClass.PROSE: 500, TextClass.CODE: 500}
    belief = unknown()
    for _ in range(20):
        belief = learn(belief, Observation(both, 1_400))
    assert expected(belief, both) == pytest.approx(1_400, rel=0.01)
    assert standard_deviation(belief, both) < 0.3 * standard_deviation(unknown(), both)
    assert standard_deviation(belief, {TextClass.PROSE: 500}) > 0.6 * standard_deviation(
        unknown(), {TextClass.PROSE: 500}
    )


def test_one_odd_figure_does_not_throw_a_ratio_that_is_known() -> None:
    belief = learned([{TextClass.PROSE: 800}] * 10)
    odd = learn(belief, Observation({TextClass.PROSE: 800}, 90_000))
    assert odd.ratios[TextClass.PROSE] < belief.ratios[TextClass.PROSE] * 1.1


def test_the_more_is_reported_the_surer_is_the_estimate() -> None:
    base, belief = {TextClass.JSON: 1_000}, unknown()
    spreads = [standard_deviation(belief, base)]
    for _ in range(6):
        belief = learn(belief, Observation(base, 1_300))
        spreads.append(standard_deviation(belief, base))
    assert spreads == sorted(spreads, reverse=True)
    assert spreads[0] == pytest.approx(1_000 * STARTING_SPREAD, rel=0.1)


def test_a_figure_that_is_itself_unsure_teaches_less() -> None:
    base = {TextClass.CODE: 400}
    sure, unsure = (
        learn(unknown(), Observation(base, 480, variance)).ratios[TextClass.CODE] for variance in (0.0, 1e5)
    )
    assert 1.2 < sure < unsure < STARTING_RATIO


def test_a_class_that_was_not_in_the_request_learns_nothing() -> None:
    belief = learn(unknown(), Observation({TextClass.PROSE: 100, TextClass.CODE: 0}, 130))
    assert belief.ratios[TextClass.CODE] == STARTING_RATIOS[TextClass.CODE]


@pytest.mark.parametrize(
    "figure", [Observation({}, 500), Observation({TextClass.PROSE: 0}, 5), Observation({TextClass.PROSE: 9}, 0)]
)
def test_a_request_without_text_or_without_a_figure_teaches_nothing(figure: Observation) -> None:
    assert learn(unknown(), figure) == unknown()
