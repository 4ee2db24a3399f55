"""The network is the published one until it is trained, and its gradients are those of its loss."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory.answers import answers
from memory.embeddings.limits import MINILM
from memory.embeddings.port import embedder
from memory.embeddings.published import embedded
from memory.librarian.tagger.tags import OUTPUTS, WEIGHTS
from memory.network.adapted import mixed, normal_share, save, scores, softmax, trained
from memory.network.pieces import pieces_of
from memory.network.reader import read_first, read_scores
from memory.network.training import backwards, begin

TEXT = "The keys to a flat in Ghent have lain on my desk since Saturday."


def test_without_training_its_mean_state_is_the_published_models_vector() -> None:
    ids = np.array([pieces_of(TEXT).ids])
    seen: dict[str, Any] = {}

    scores(embedded(ids), np.ones(ids.shape), begin(np.random.default_rng(1), 3), seen)

    mean = seen["states"][0].mean(0)
    assert mean / np.linalg.norm(mean) == pytest.approx(embedder(MINILM).embed([TEXT])[0], abs=2e-5)


def test_what_pads_a_batch_changes_no_score() -> None:
    short = pieces_of("I live in Ghent.").ids
    weights = trained(WEIGHTS)
    alone = scores(embedded(np.array([short])), np.ones((1, len(short))), weights)
    padded, mask = np.array([[*short, 0, 0, 0]]), np.array([[1] * len(short) + [0] * 3])

    together = scores(embedded(padded), mask, weights)

    assert together[0, : len(short)] == pytest.approx(alone[0], abs=1e-4)


def test_the_gradients_are_those_of_the_scores() -> None:
    numbers = np.random.default_rng(1)
    weights = {
        name: value.astype(np.float64) + 0.02 * numbers.standard_normal(value.shape)
        for name, value in begin(numbers, sum(OUTPUTS)).items()
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


def test_the_mean_of_two_fittings_is_read_as_they_are(tmp_path: Path) -> None:
    before = trained(WEIGHTS)
    after = {name: value + 0.5 for name, value in before.items()}
    save(mixed(before, after, 0.5), tmp_path / "mean.safetensors")
    mean = trained(tmp_path / "mean.safetensors")
    assert mean.keys() == before.keys()
    for name, value in mean.items():
        np.testing.assert_allclose(value, before[name] + 0.25, rtol=0, atol=2e-3)


def test_the_distribution_function_is_right_to_six_digits() -> None:
    values = np.array([-3.0, -1.0, 0.0, 0.5, 2.0])
    assert normal_share(values) == pytest.approx([0.0013499, 0.1586553, 0.5, 0.6914625, 0.9772499], abs=1e-6)
    assert softmax(np.array([0.0, 0.0, 1000.0])) == pytest.approx([0, 0, 1])


def test_the_quantized_graph_scores_as_the_network_does() -> None:
    ids = pieces_of(TEXT).ids
    whole = scores(embedded(np.array([ids])), np.ones((1, len(ids))), trained(WEIGHTS))[0]

    quantized = read_scores(WEIGHTS, ids)

    assert np.abs(quantized - whole).mean() < 0.2
    assert list(quantized[:, : OUTPUTS[0]].argmax(1)) == list(whole[:, : OUTPUTS[0]].argmax(1))


def test_the_first_piece_alone_scores_as_it_does_among_all() -> None:
    pair = answers.join("Where are my keys?", TEXT)
    states, mask = embedded(np.array([pair.ids]), np.array([pair.segments])), np.ones((1, len(pair.ids)))
    whole = scores(states, mask, trained(answers.WEIGHTS))[0, 0]

    alone = read_first(answers.WEIGHTS, pair.ids, pair.segments)

    assert alone.shape == whole.shape
    assert alone == pytest.approx(whole, abs=0.3)
