"""How far the prediction of a request is from the provider's count: whole conversations against the offline server,
whose tokenizer is deliberately different. Prose, code, JSON, seven languages, changing mixtures, cuts."""

from collections.abc import Iterator
from itertools import pairwise
from statistics import mean

import pytest
from django.db import transaction

from budget.counting import calibration
from budget.models import Calibration
from budget.planning.plan import SMALL, STANDARD, Plan, resolve
from recall.llm import tokens
from recall.llm.tokens import Source
from tests.chat.simulated_talk import Predicted, Talk, replay

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("shaped_secrets_only")]

SEEDS = range(3)
TURNS = 50
LEARNED_BY = 10
"""The error counts from this turn on."""


class ByCharacters:
    """The base count of a machine without the vocabulary."""

    source = Source.ESTIMATED
    count = staticmethod(tokens.count_by_characters)


@pytest.fixture(autouse=True)
def _fresh_ratios(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(transaction, "on_commit", lambda work, **_: work())  # the test's transaction never commits
    calibration.forget_known_ratios()
    yield
    calibration.forget_known_ratios()


def talks(plan: Plan, *, caching: bool = True, checking: bool = False) -> Iterator[Predicted]:
    """Consecutive conversations, each with a model nothing is known about."""
    longest = 4_000 if plan is STANDARD else 500
    for seed in SEEDS:
        Calibration.objects.all().delete()
        calibration.forget_known_ratios()
        yield from replay(
            Talk(seed, longest=longest), TURNS, resolve(plan, 1_000_000), caching=caching, checking=checking
        )


def p95(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


def errors(requests: Iterator[Predicted]) -> list[float]:
    return [request.error for request in requests if request.turn >= LEARNED_BY]


@pytest.mark.parametrize("plan", [STANDARD, SMALL], ids=lambda plan: plan.name)
def test_from_the_tenth_turn_on_the_prediction_is_within_three_per_cent(plan: Plan) -> None:
    if not tokens.exact():
        pytest.skip("the vocabulary is not on this machine: python -m recall.process.token_vocabulary")
    assert p95(errors(talks(plan))) <= 0.03


def test_a_server_without_a_cache_is_predicted_as_well() -> None:
    if not tokens.exact():
        pytest.skip("the vocabulary is not on this machine: python -m recall.process.token_vocabulary")
    assert p95(errors(talks(STANDARD, caching=False))) <= 0.03


def test_without_the_vocabulary_the_prediction_is_a_little_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "counter", lambda: ByCharacters)
    off = errors(talks(STANDARD))
    assert p95(off) <= 0.04
    assert mean(off) <= 0.015


@pytest.mark.parametrize("exact", [True, False], ids=["vocabulary", "characters"])
@pytest.mark.parametrize("caching", [True, False], ids=["cached", "uncached"])
def test_no_prompt_passes_its_limit_although_nobody_can_count(
    exact: bool, caching: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not exact:
        monkeypatch.setattr(tokens, "counter", lambda: ByCharacters)
    requests = list(talks(SMALL, caching=caching, checking=True))
    assert max(request.actual / request.available for request in requests) <= 1.0
    assert max(request.actual / request.available for request in requests) > 0.9, "the limit was never near"


def test_what_the_provider_counted_before_is_known_exactly_and_only_the_rest_is_estimated() -> None:
    requests = list(replay(Talk(1, longest=500), 12, resolve(STANDARD, 1_000_000)))
    for before, now in pairwise(requests):
        assert now.known > before.known
        assert now.known == now.counted_of_it
    assert requests[0].known == 0
