"""The network is the published one until it is trained, and its gradients are those of its loss."""

from typing import Any

import numpy as np
import pytest

from memory.embeddings.limits import MINILM
from memory.embeddings.port import embedder
from memory.librarian.tagger import network
from memory.librarian.tagger.network import embedded, scores, softmax
from memory.librarian.tagger.tags import OUTPUTS, pieces_of
from memory.librarian.tagger.training import backwards, begin, read_marked

TEXT = "The keys to a flat in Ghent have lain on my desk since Saturday."


def test_without_training_its_mean_state_is_the_published_models_vector() -> None:
    ids = np.array([pieces_of(TEXT).ids])
    seen: dict[str, Any] = {}

    scores(embedded(ids), np.ones(ids.shape), begin(np.random.default_rng(1)), seen)

    mean = seen["states"][0].mean(0)
    assert mean / np.linalg.norm(mean) == pytest.approx(embedder(MINILM).embed([TEXT])[0], abs=2e-5)


def test_what_pads_a_batch_changes_no_score() -> None:
    short = pieces_of("I live in Ghent.").ids
    weights = network.trained()
    alone = scores(embedded(np.array([short])), np.ones((1, len(short))), weights)
    padded, mask = np.array([[*short, 0, 0, 0]]), np.array([[1] * len(short) + [0] * 3])

    together = scores(embedded(padded), mask, weights)

    assert together[0, : len(short)] == pytest.approx(alone[0], abs=1e-4)


def test_the_gradients_are_those_of_the_scores() -> None:
    numbers = np.random.default_rng(1)
    weights = {
        name: value.astype(np.float64) + 0.02 * numbers.standard_normal(value.shape)
        for name, value in begin(numbers).items()
    }
    states, mask = numbers.standard_normal((2, 7, 384)), np.ones((2, 7))
    mask[1, 5:] = 0
    slopes = numbers.standard_normal((2, 7, sum(OUTPUTS))) * mask[..., None]
    seen: dict[str, Any] = {}
    scores(states, mask, weights, seen)
    gradients = backwards(slopes, weights, seen)

    for name in ("0.attention.self.query.down", "2.intermediate.dense.up", "5.output.dense.down", "head.weight"):
        place = tuple(int(numbers.integers(0, size)) for size in weights[name].shape)
        at = weights[name][place]
        costs = []
        for step in (1e-3, -1e-3):
            weights[name][place] = at + step
            costs.append(float((scores(states, mask, weights) * slopes).sum()))
        weights[name][place] = at
        assert (costs[0] - costs[1]) / 2e-3 == pytest.approx(gradients[name][place], rel=1e-2, abs=1e-4)


def test_the_distribution_function_is_right_to_six_digits() -> None:
    values = np.array([-3.0, -1.0, 0.0, 0.5, 2.0])
    assert network.normal_share(values) == pytest.approx([0.0013499, 0.1586553, 0.5, 0.6914625, 0.9772499], abs=1e-6)
    assert softmax(np.array([0.0, 0.0, 1000.0])) == pytest.approx([0, 0, 1])


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
