"""How the estimate learns a model's own token counts, turn by turn."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from budget.counting import calibration
from budget.counting.estimate import STARTING_RATIO, TextClass
from budget.counting.learning import Observation
from budget.models import Calibration

MODEL = "claude-sonnet-5-5"
Capture = Callable[..., AbstractContextManager[Any]]

pytestmark = pytest.mark.django_db


def observe(base: dict[TextClass, int], actual: int, capture: Capture) -> None:
    """One turn, with what happens after its commit."""
    with capture(execute=True):
        calibration.observe(MODEL, [Observation(base, actual)])


def test_an_unknown_model_starts_at_the_starting_ratio() -> None:
    assert calibration.ratios(MODEL) == {}
    assert calibration.estimate_for(MODEL, {TextClass.PROSE: 100}) == 100 * STARTING_RATIO


def test_ten_turns_bring_the_estimate_within_three_percent(django_capture_on_commit_callbacks: Capture) -> None:
    truth = {TextClass.PROSE: 1.25, TextClass.CODE: 1.6}
    for turn in range(20):
        kind = TextClass.CODE if turn % 2 else TextClass.PROSE
        observe({kind: 500 + turn}, round(truth[kind] * (500 + turn)), django_capture_on_commit_callbacks)
    for kind, ratio in truth.items():
        assert calibration.estimate_for(MODEL, {kind: 1_000}) == pytest.approx(1_000 * ratio, rel=0.03)


def test_what_was_learned_is_stored_per_model_and_class_with_its_error(
    django_capture_on_commit_callbacks: Capture,
) -> None:
    observe({TextClass.PROSE: 1_000}, 1_360, django_capture_on_commit_callbacks)
    row = Calibration.objects.get(model__startswith=MODEL)
    assert (row.text_class, row.samples) == ("prose", 1)
    assert 1.36 < row.ratio < STARTING_RATIO
    assert row.error == pytest.approx(0.25)


def test_the_error_is_the_mean_over_the_turns(django_capture_on_commit_callbacks: Capture) -> None:
    for _ in range(2):
        before = calibration.estimate_for(MODEL, {TextClass.JSON: 1_000})
        observe({TextClass.JSON: 1_000}, 1_000, django_capture_on_commit_callbacks)
    row = Calibration.objects.get(model__startswith=MODEL)
    assert row.samples == 2
    assert row.error == pytest.approx(((STARTING_RATIO - 1) + (before / 1_000 - 1)) / 2)


def test_learning_is_one_statement_however_many_classes(
    django_assert_num_queries: Any, django_capture_on_commit_callbacks: Capture
) -> None:
    calibration.ratios(MODEL)
    with django_assert_num_queries(1):
        observe(dict.fromkeys(TextClass, 100), 500, django_capture_on_commit_callbacks)
    with django_assert_num_queries(1):
        observe(dict.fromkeys(TextClass, 100), 500, django_capture_on_commit_callbacks)
    assert Calibration.objects.count() == len(TextClass)


def test_another_process_learns_on_from_what_is_stored(django_capture_on_commit_callbacks: Capture) -> None:
    observe({TextClass.PROSE: 100}, 120, django_capture_on_commit_callbacks)
    here = calibration.ratios(MODEL), calibration.belief(MODEL)
    calibration.forget_known_ratios()
    assert (calibration.ratios(MODEL), calibration.belief(MODEL)) == here
    observe({TextClass.PROSE: 100}, 120, django_capture_on_commit_callbacks)
    assert Calibration.objects.get(model__startswith=MODEL).samples == 2


def test_a_turn_that_is_rolled_back_teaches_nothing() -> None:
    calibration.observe(MODEL, [Observation({TextClass.PROSE: 100}, 120)])  # the test's transaction never commits
    assert calibration.ratios(MODEL) == {}


@pytest.mark.parametrize(("base", "actual"), [({}, 100), ({TextClass.PROSE: 0}, 100), ({TextClass.PROSE: 100}, 0)])
def test_nothing_counted_or_nothing_reported_teaches_nothing(base: dict[TextClass, int], actual: int) -> None:
    calibration.observe(MODEL, [Observation(base, actual)])
    assert not Calibration.objects.exists()


def test_ratios_to_the_estimated_base_count_are_kept_apart(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Capture
) -> None:
    for exact in (True, False):
        monkeypatch.setattr(calibration, "exact", lambda exact=exact: exact)
        observe({TextClass.PROSE: 100}, 120 if exact else 90, django_capture_on_commit_callbacks)
    assert sorted(Calibration.objects.values_list("model", flat=True)) == [MODEL, f"{MODEL} [estimated]"]


def test_the_longest_model_name_has_room_for_the_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "exact", lambda: False)
    calibration.observe("m" * 80, [Observation({TextClass.PROSE: 100}, 120)])
    assert len(Calibration.objects.get().model) == 80
