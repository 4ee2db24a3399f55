"""Fits adapters and a head to examples: gradients by hand, Adam (Kingma and Ba 2015)."""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from memory.embeddings.graph import HEADS, LAYERS
from memory.embeddings.limits import DIMENSION
from memory.embeddings.published import Array, embedded, published
from memory.network.adapted import (
    KEY,
    LINEAR,
    MIXED,
    NARROW,
    NORMS,
    QUERY,
    RANK,
    SCALE,
    VALUE,
    WIDE,
    Weights,
    passed,
    scores,
    softmax,
)
from memory.network.pieces import Joined

EPOCHS: Final = 8
RATE: Final = 1e-3
"""Highest learning rate; it rises over the first tenth of the steps and falls to 0."""
BATCH: Final = 16
"""Messages a step."""
DROPPED: Final = 0.1
"""Share of each adapter's input that a step leaves out."""
SMOOTHING: Final = 0.05
"""Share of a target that is spread over all labels."""
DECAY: Final = 0.001
STEEPEST: Final = 1.0
"""Length to which a longer gradient is cut."""
MOMENTS: Final = (0.9, 0.999)

type Arrays = dict[str, Array]


@dataclass(frozen=True, slots=True)
class Head:
    """A part of the head: how many labels it chooses among for each piece."""

    outputs: int
    weight: float
    """Of its loss."""


@dataclass(frozen=True, slots=True)
class Example:
    """A text in pieces, and the label of each piece for each part of the head; -1 where it doesn't matter."""

    ids: Sequence[int]
    targets: tuple[Sequence[int], ...]
    segments: Sequence[int] = ()
    """1 for the pieces of the second text of a pair; empty: a single text."""

    @classmethod
    def of_pair(cls, pair: Joined, label: int) -> Self:
        """Two texts that are read together, and their label, which the first piece should get."""
        return cls(pair.ids, ([label, *[-1] * (len(pair.ids) - 1)],), pair.segments)


def fit(
    examples: Sequence[Example],
    heads: Sequence[Head],
    report: Callable[[int, float], None],
    *,
    epochs: int = EPOCHS,
    seed: int = 1,
    adapters: Weights | None = None,
    first: int = 0,
) -> Arrays:
    """The adapters and the head for these examples. `report` gets the mean loss of each epoch.

    `adapters`: what to start from: those of a related task, or all that was fitted before. `first`: the first layer
    that is fitted; those below it stay as they are, so that each example passes them once.
    """
    numbers, chance = np.random.default_rng(seed), random.Random(seed)  # noqa: S311 -- an order, no secret
    weights = begin(numbers, sum(head.outputs for head in heads), adapters)
    optimizer = Adam(weights, epochs * math.ceil(len(examples) / BATCH), RATE)
    below = [_below(example, weights, first) for example in examples]

    def dropout(shape: tuple[int, ...]) -> Array:
        return (numbers.random(shape, dtype=np.float32) > DROPPED) / np.float32(1 - DROPPED)

    for epoch in range(epochs):
        losses = []
        for batch in batches([len(example.ids) for example in examples], chance):
            states = _stacked([below[number] for number in batch])
            loss, gradients = _gradients([examples[number] for number in batch], states, heads, weights, dropout, first)
            losses.append(loss)
            optimizer.step(weights, gradients)
        report(epoch, sum(losses) / len(losses))
    return weights


def begin(numbers: np.random.Generator, outputs: int, adapters: Weights | None = None) -> Arrays:
    """Adapters that add nothing yet and a head that knows nothing, or copies of the given ones."""
    weights: Arrays = {}
    for layer in range(LAYERS):
        for name in LINEAR:
            wide, narrow = published()[f"encoder.layer.{layer}.{name}.weight"].shape
            weights[f"{layer}.{name}.down"] = numbers.standard_normal((narrow, RANK)) / math.sqrt(narrow)
            weights[f"{layer}.{name}.up"] = np.zeros((RANK, wide))
    weights["head.weight"] = numbers.standard_normal((DIMENSION, outputs)) * 0.02
    weights["head.bias"] = np.zeros(outputs)
    weights |= {name: value.copy() for name, value in (adapters or {}).items()}
    return {name: value.astype(np.float32) for name, value in weights.items()}


def _below(example: Example, weights: Weights, first: int) -> Array:
    """The states of an example's pieces that the layer `first` is given: (pieces, 384)."""
    ids, segments = np.array([example.ids]), np.array([example.segments or [0] * len(example.ids)])
    states: Array = passed(embedded(ids, segments), np.ones(ids.shape), weights, range(first))[0]
    return states


def _stacked(rows: Sequence[Array]) -> Array:
    """States of texts in one array, with zeros behind the shorter ones: (texts, longest, 384)."""
    stacked = np.zeros((len(rows), max(map(len, rows)), DIMENSION), np.float32)
    for number, row in enumerate(rows):
        stacked[number, : len(row)] = row
    return stacked


def batches(lengths: Sequence[int], chance: random.Random) -> Iterator[list[int]]:
    """The numbers of all examples in random order, those of about one length together."""
    order = sorted(range(len(lengths)), key=lambda number: lengths[number] + 8 * chance.random())
    found = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
    chance.shuffle(found)
    yield from found


def padded(rows: Sequence[Sequence[int]], filler: int) -> Array:
    """Rows of one length: (rows, longest)."""
    longest = max(map(len, rows))
    return np.array([[*row, *[filler] * (longest - len(row))] for row in rows])


def _gradients(
    batch: Sequence[Example], states: Array, heads: Sequence[Head], weights: Arrays, dropout: Any, first: int
) -> tuple[float, Arrays]:
    """The loss of a batch, and the gradient of each array of `weights` from the layer `first` on."""
    mask = padded([[1] * len(example.ids) for example in batch], 0)
    seen: dict[str, Any] = {}
    logits = scores(states, mask, weights, seen, dropout, first=first)
    slopes, loss, start = np.zeros_like(logits), 0.0, 0
    for head, targets in zip(heads, zip(*(example.targets for example in batch), strict=True), strict=True):
        part = np.s_[..., start : start + head.outputs]
        cost, slopes[part] = _cross_entropy(logits[part], padded(targets, -1))
        loss += head.weight * cost
        slopes[part] *= head.weight
        start += head.outputs
    return loss, backwards(slopes, weights, seen, first)


def _cross_entropy(logits: Array, targets: Array) -> tuple[float, Array]:
    """The mean loss where a target is not negative, and its gradient."""
    counts = targets >= 0
    many = max(1, int(counts.sum()))
    shares, width = softmax(logits), logits.shape[-1]
    wanted = np.full(logits.shape, SMOOTHING / width, np.float32)
    np.put_along_axis(wanted, np.maximum(targets, 0)[..., None], 1 - SMOOTHING + SMOOTHING / width, -1)
    loss = -(wanted * np.log(shares + 1e-9)).sum(-1)[counts].sum() / many
    return float(loss), (shares - wanted) * counts[..., None] / many


def backwards(slopes: Array, weights: Arrays, seen: dict[str, Any], first: int = 0) -> Arrays:
    """The gradients of the head and of the adapters from the layer `first` on, given those of the scores."""
    gradients: Arrays = {
        "head.weight": _flat(seen["states"]).T @ _flat(slopes),
        "head.bias": _flat(slopes).sum(0),
    }
    slopes = slopes @ weights["head.weight"].T
    for layer in reversed(range(first, LAYERS)):
        slopes = _layer_backwards(slopes, layer, weights, seen, gradients)
    return gradients


def _flat(values: Array) -> Array:
    return values.reshape(-1, values.shape[-1])


def _layer_backwards(slopes: Array, layer: int, weights: Arrays, seen: dict[str, Any], gradients: Arrays) -> Array:
    query, key, value, looks, first, wide, share, second = seen[str(layer)]
    texts, _, pieces, _ = query.shape

    def linear(values: Array, name: str) -> Array:
        return _linear_backwards(values, f"{layer}.{name}", weights, seen, gradients)

    def joined(values: Array) -> Array:
        return values.transpose(0, 2, 1, 3).reshape(texts, pieces, DIMENSION)

    slopes = _normalized_backwards(slopes, second, f"encoder.layer.{layer}.{NORMS[1]}")
    density = np.exp(-wide * wide / 2) / math.sqrt(2 * math.pi)
    slopes = slopes + linear(linear(slopes, NARROW) * (share + wide * density), WIDE)
    slopes = _normalized_backwards(slopes, first, f"encoder.layer.{layer}.{NORMS[0]}")
    mixed = linear(slopes, MIXED).reshape(texts, pieces, HEADS, -1).transpose(0, 2, 1, 3)
    seeing = mixed @ value.transpose(0, 1, 3, 2)
    seeing = looks * (seeing - (seeing * looks).sum(-1, keepdims=True)) / math.sqrt(DIMENSION / HEADS)
    return (
        slopes
        + linear(joined(seeing @ key), QUERY)
        + linear(joined(seeing.transpose(0, 1, 3, 2) @ query), KEY)
        + linear(joined(looks.transpose(0, 1, 3, 2) @ mixed), VALUE)
    )


def _normalized_backwards(slopes: Array, seen: tuple[Array, Array], name: str) -> Array:
    even, scale = seen
    slopes = slopes * published()[f"{name}.weight"]
    across = slopes.mean(-1, keepdims=True) + even * (slopes * even).mean(-1, keepdims=True)
    result: Array = (slopes - across) * scale
    return result


def _linear_backwards(slopes: Array, name: str, weights: Arrays, seen: dict[str, Any], gradients: Arrays) -> Array:
    logits, thin, kept = seen[name]
    added = slopes * np.float32(SCALE)
    gradients[f"{name}.up"] = _flat(thin).T @ _flat(added)
    narrow = added @ weights[f"{name}.up"].T
    gradients[f"{name}.down"] = _flat(logits).T @ _flat(narrow)
    through = narrow @ weights[f"{name}.down"].T
    result: Array = slopes @ published()[f"encoder.layer.{name}.weight"] + (through if kept is None else through * kept)
    return result


class Adam:
    """Adam with a rate that rises and falls, and a cut for steep gradients."""

    def __init__(self, weights: Arrays, steps: int, rate: float) -> None:
        self._mean = {name: np.zeros_like(value) for name, value in weights.items()}
        self._square = {name: np.zeros_like(value) for name, value in weights.items()}
        self._steps, self._done, self._rate = steps, 0, rate

    def step(self, weights: Arrays, gradients: Arrays) -> None:
        """Change the weights in place."""
        steepness = math.sqrt(sum(float((value * value).sum()) for value in gradients.values()))
        cut = min(1.0, STEEPEST / (steepness + 1e-9))
        first, second = MOMENTS
        done = self._done = self._done + 1
        rate = self._rate * min(1.0, 10 * done / self._steps) * max(0.0, 1 - done / self._steps)
        for name, gradient in gradients.items():
            mean = self._mean[name] = first * self._mean[name] + (1 - first) * cut * gradient
            square = self._square[name] = second * self._square[name] + (1 - second) * (cut * gradient) ** 2
            size = np.sqrt(square / (1 - second**done)) + 1e-8
            weights[name] -= (rate * (mean / (1 - first**done) / size + DECAY * weights[name])).astype(np.float32)
