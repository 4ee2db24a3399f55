"""A few cases of each part of the memory evaluation, as CI runs them: whatever passes today must keep passing."""

from collections.abc import Iterator

import pytest

from chat.evaluation.cases import load_matrix, load_scenarios
from chat.evaluation.deletion import KINDS, run_kind
from chat.evaluation.matrix import run_case
from chat.evaluation.person import Worker
from chat.evaluation.scenarios import run_scenario
from chat.evaluation.scope import load_scope_cases, run_scope_case
from tests.chat.conftest import Provider

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def worker(provider: Provider) -> Iterator[Worker]:
    with Worker() as worker:
        yield worker


@pytest.mark.parametrize("kind", ["fact", "rejected fact"])
def test_what_was_forgotten_or_rejected_comes_back_by_no_way(worker: Worker, kind: str) -> None:
    assert {step.name: step.failures for step in run_kind(kind, worker) if step.failures} == {}


def test_every_kind_of_memory_can_be_forgotten_and_is_evaluated() -> None:
    assert {*KINDS} >= {"fact", "message", "conversation", "document", "episode", "profile line", "upload", "topic"}


def test_a_correction_holds_in_every_column(worker: Worker) -> None:
    case = next(case for case in load_matrix() if case.case == "replacement")
    row = run_case(case, "months", worker, accept=True)
    assert {column: wrong for column, wrong in row.failures.items() if wrong} == {}


def test_most_scenarios_and_scopes_hold(worker: Worker) -> None:
    scenarios = [scenario for scenario in load_scenarios() if not scenario.held_out][::12]
    outcomes = [run_scenario(scenario, worker, accept=True) for scenario in scenarios]
    assert sum(outcome.passed for outcome in outcomes) > len(outcomes) / 2, [
        (outcome.id, outcome.failures) for outcome in outcomes
    ]
    cases = [scope_case for scope_case in load_scope_cases() if not scope_case.held_out][::15]
    scopes = [run_scope_case(case, worker) for case in cases]
    assert sum(not scope.failures for scope in scopes) > len(scopes) / 2, [
        (scope.id, scope.failures) for scope in scopes
    ]
