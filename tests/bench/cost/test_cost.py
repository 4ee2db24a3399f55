"""The cost of a conversation, by the code that sends real ones, at forty turns: `bench/cost/__main__.py` has more.

The figures are those of the targets from 200 turns on, with the tolerance that forty turns need: the first requests
write the cache that the later ones read.
"""

import pytest

from bench.cost.compare import OPTIMUM, RECALL, STATIC_SHARE, UNCACHED, Result, compare

TURNS = 40
MAX_OF_FULL = 25.0
"""Percentage of the whole history without a cache; 14 to 19 were measured."""
MAX_OF_OPTIMUM = 1.25


@pytest.fixture(scope="module", params=["at one go", "with tools"])
def result(request: pytest.FixtureRequest) -> Result:
    return compare(request.param, "standard", TURNS)


def test_what_never_changes_comes_from_the_cache(result: Result) -> None:
    of_all, of_alive = result.static[TURNS]
    assert of_all >= STATIC_SHARE
    assert of_alive == 100.0
    assert result.again[TURNS][0] >= STATIC_SHARE


def test_it_costs_a_fifth_of_the_whole_history_at_most(result: Result) -> None:
    mine, full = result.rows[TURNS, RECALL], result.rows[TURNS, UNCACHED]
    assert max(mine.cost[model] / full.cost[model] for model in mine.cost) <= MAX_OF_FULL / 100


def test_it_is_near_the_cheapest_schedule_there_is(result: Result) -> None:
    mine, best = result.rows[TURNS, RECALL], result.rows[TURNS, OPTIMUM]
    assert max(mine.cost[model] / best.cost[model] for model in mine.cost) <= MAX_OF_OPTIMUM


def test_history_was_folded_on_the_way(result: Result) -> None:
    assert sum(result.folds.values()) >= 1
