"""When the topic has shifted: the policy, and its figures with the real embedding model on labeled conversations."""

import json
from typing import Any

import numpy as np
import pytest

from chat.compaction.topic_shift import (
    CALIBRATIONS,
    MIN_EARLIER_MESSAGES,
    SHIFTED_MESSAGES,
    Calibration,
    has_shifted,
    has_topic,
    measure_distances,
)
from memory.embeddings.port import MODELS, embedder
from recall.environment import BASE_DIR

LABELLED: list[dict[str, Any]] = json.loads((BASE_DIR / "tests/chat/data" / "topic_shift.json").read_text())
FAR = Calibration(apart=0.7)


@pytest.mark.parametrize(
    ("measured", "shifted"),
    [
        ([0.8, 0.9], True),
        ([0.7, 0.7], True),
        ([0.1, 0.8, 0.9], True),
        ([0.9, 0.69], False),  # came back
        ([0.69, 0.9], False),  # one message may be an aside
        ([0.9, 0.9, 0.1], False),
        ([0.9], False),
        ([], False),
    ],
)
def test_the_topic_shifts_when_two_messages_running_fall_away(measured: list[float], shifted: bool) -> None:
    assert has_shifted(measured, FAR) is shifted


def test_with_a_model_that_nobody_measured_the_topic_never_shifts() -> None:
    assert CALIBRATIONS.get("some-new-model") is None
    assert not has_shifted([1.9, 1.9], None)


def test_every_model_that_comes_with_recall_is_measured() -> None:
    assert set(CALIBRATIONS) == set(MODELS)


def test_a_distance_is_that_from_the_nearest_message_before() -> None:
    before = [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0]]
    vectors = np.array([*before, [1, 0, 0], [0, 0, 1]], dtype=np.float32)
    assert measure_distances(vectors) == pytest.approx([0, 1])


def test_the_second_message_of_a_new_topic_is_not_compared_with_the_first() -> None:
    vectors = np.array([*[[1, 0]] * 4, [0, 1], [0, 1]], dtype=np.float32)
    assert measure_distances(vectors) == pytest.approx([1, 1])


def test_a_conversation_just_begun_has_no_topic_to_leave() -> None:
    vectors = np.eye(MIN_EARLIER_MESSAGES + SHIFTED_MESSAGES - 1, dtype=np.float32)
    assert measure_distances(vectors) == []
    assert not has_shifted(measure_distances(vectors), FAR)


@pytest.mark.parametrize(
    ("message", "telling"),
    [
        ("Thanks!", False),
        ("And how much does it cost?", False),
        ("What about that one?", False),
        ("Why?", False),
        ("What should I pack for a week of hiking in Norway?", True),
        ("Which cheese goes with a dry Riesling?", True),
        ("Please write a cover letter: it should say that I have kept the books of a bakery for eight years.", True),
    ],
)
def test_thanks_and_follow_ups_have_no_topic_of_their_own(message: str, telling: bool) -> None:
    assert has_topic(message) is telling


@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_calibration_tells_topics_apart(name: str) -> None:
    """No pair that stays is taken for a shift; three in four that leave are recognized, and every far one."""
    stays = [judged(name, talk["segment"], pair) for talk in LABELLED for pair in talk["on"]]
    near = [judged(name, talk["segment"], talk["near"]) for talk in LABELLED]
    far = [judged(name, talk["segment"], talk["far"]) for talk in LABELLED]
    assert (len(stays), len(near) + len(far)) == (32, 32)
    assert sum(stays) == 0
    assert sum(far) == 16
    assert sum(near) + sum(far) >= 24


def judged(name: str, before: list[str], last: list[str]) -> bool:
    return has_shifted(measure_distances(embedder(name).embed([*before, *last])), CALIBRATIONS[name])
