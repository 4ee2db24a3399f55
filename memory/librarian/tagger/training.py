"""Fits the tagger's adapters to marked messages: gradients by hand, Adam (Kingma and Ba 2015).

A marked message is a line with the values in brackets: `I'm in [home:Ghent] now, not in [-home:Lublin]`,
`we [~partner:split up]`, `mum's in [*home:Filey]`. What has no mark is as important: questions, plans, stories.
"""

import math
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from memory.embeddings.limits import DIMENSION
from memory.embeddings.minilm import HEADS, LAYERS
from memory.librarian.tagger.network import (
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
    Array,
    embedded,
    published,
    scores,
    softmax,
)
from memory.librarian.tagger.tags import LABELS, OUTPUTS, STATES, Pieces, Tag, pieces_of, tags_of

EPOCHS: Final = 8
RATE: Final = 1e-3
"""Highest learning rate; it rises over the first tenth of the steps and falls to 0."""
BATCH: Final = 16
"""Messages a step."""
DROPPED: Final = 0.1
"""Share of each adapter's input that a step leaves out."""
SMOOTHING: Final = 0.05
"""Share of a target that is spread over all labels."""
WEIGHTS: Final = (1.0, 0.3, 0.3)
"""Of the three parts of OUTPUTS in the loss."""
DECAY: Final = 0.001
STEEPEST: Final = 1.0
"""Length to which a longer gradient is cut."""
MOMENTS: Final = (0.9, 0.999)
SIGNS: Final = {"": "now", "-": "not", "~": "end"}
_MARK: Final = re.compile(r"\[([-~]?)(\*?)([a-z]+):([^\[\]]+)\]")

type Arrays = dict[str, Array]


@dataclass(frozen=True, slots=True)
class MarkedMessage:
    """A message, and the tags it should be given."""

    pieces: Pieces
    tags: Sequence[Tag]


def read_marked(line: str) -> MarkedMessage:
    """A line of marked text.

    Raises:
        ValueError: an unknown label.
    """
    text, tags, at = "", [], 0
    for mark in _MARK.finditer(line):
        sign, star, label, words = mark.groups()
        if label not in LABELS:
            raise ValueError(f"There is no label {label}: {line}")
        text += line[at : mark.start()]
        tags.append(Tag(len(text), len(text) + len(words), label, SIGNS[sign], bool(star), 1.0))  # type: ignore[arg-type]
        text += words
        at = mark.end()
    return MarkedMessage(pieces_of(text + line[at:]), tags)


def fit(
    messages: Sequence[MarkedMessage], report: Callable[[int, float], None], *, epochs: int = EPOCHS, seed: int = 1
) -> Arrays:
    """The adapters and the head for these messages. `report` is told the mean loss of each epoch."""
    numbers, chance = np.random.default_rng(seed), random.Random(seed)  # noqa: S311 -- an order, no secret
    weights = begin(numbers)
    optimizer = _Adam(weights, epochs * math.ceil(len(messages) / BATCH))

    def dropout(shape: tuple[int, ...]) -> Array:
        return (numbers.random(shape, dtype=np.float32) > DROPPED) / np.float32(1 - DROPPED)

    for epoch in range(epochs):
        losses = []
        for batch in _batches(messages, chance):
            loss, gradients = _gradients(batch, weights, dropout)
            losses.append(loss)
            optimizer.step(weights, gradients)
        report(epoch, sum(losses) / len(losses))
    return weights


def begin(numbers: np.random.Generator) -> Arrays:
    """Adapters that add nothing yet, and a head that knows nothing."""
    weights: Arrays = {}
    for layer in range(LAYERS):
        for name in LINEAR:
            wide, narrow = published()[f"encoder.layer.{layer}.{name}.weight"].shape
            weights[f"{layer}.{name}.down"] = numbers.standard_normal((narrow, RANK)) / math.sqrt(narrow)
            weights[f"{layer}.{name}.up"] = np.zeros((RANK, wide))
    weights["head.weight"] = numbers.standard_normal((DIMENSION, sum(OUTPUTS))) * 0.02
    weights["head.bias"] = np.zeros(sum(OUTPUTS))
    return {name: value.astype(np.float32) for name, value in weights.items()}


def _batches(messages: Sequence[MarkedMessage], chance: random.Random) -> Iterator[list[MarkedMessage]]:
    """All messages in random order, those of about one length together."""
    order = sorted(messages, key=lambda message: len(message.pieces.ids) + 8 * chance.random())
    batches = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
    chance.shuffle(batches)
    yield from batches


def padded(rows: Sequence[Sequence[int]], filler: int) -> Array:
    """Rows of one length: (rows, longest)."""
    longest = max(map(len, rows))
    return np.array([[*row, *[filler] * (longest - len(row))] for row in rows])


def _targets(message: MarkedMessage) -> tuple[list[int], list[int], list[int]]:
    """What the head should say of each piece: label, state and whose; -1 where it doesn't matter."""
    places = message.pieces.places
    labels = [0 if start < end else -1 for start, end in places]
    states, whose = [-1] * len(places), [-1] * len(places)
    for tag in message.tags:
        for number, (start, end) in enumerate(places):
            if start < end and start < tag.end and end > tag.start:
                labels[number] = 1 + LABELS.index(tag.label)
                states[number], whose[number] = STATES.index(tag.state), int(tag.other)
    return labels, states, whose


def _gradients(batch: Sequence[MarkedMessage], weights: Arrays, dropout: Any) -> tuple[float, Arrays]:
    """The loss of a batch, and the gradient of each array of `weights`."""
    ids = padded([message.pieces.ids for message in batch], 0)
    mask = padded([[1] * len(message.pieces.ids) for message in batch], 0)
    seen: dict[str, Any] = {}
    given = scores(embedded(ids), mask, weights, seen, dropout)
    slopes, loss, start = np.zeros_like(given), 0.0, 0
    columns = zip(OUTPUTS, WEIGHTS, zip(*map(_targets, batch), strict=True), strict=True)
    for width, weight, targets in columns:
        part = np.s_[..., start : start + width]
        cost, slopes[part] = _cross_entropy(given[part], padded(targets, -1))
        loss += weight * cost
        slopes[part] *= weight
        start += width
    return loss, backwards(slopes, weights, seen)


def _cross_entropy(given: Array, targets: Array) -> tuple[float, Array]:
    """The mean loss where a target is not negative, and its gradient."""
    counts = targets >= 0
    many = max(1, int(counts.sum()))
    shares, width = softmax(given), given.shape[-1]
    wanted = np.full(given.shape, SMOOTHING / width, np.float32)
    np.put_along_axis(wanted, np.maximum(targets, 0)[..., None], 1 - SMOOTHING + SMOOTHING / width, -1)
    loss = -(wanted * np.log(shares + 1e-9)).sum(-1)[counts].sum() / many
    return float(loss), (shares - wanted) * counts[..., None] / many


def backwards(slopes: Array, weights: Arrays, seen: dict[str, Any]) -> Arrays:
    """The gradients of the adapters and the head, given those of the scores."""
    gradients: Arrays = {
        "head.weight": _flat(seen["states"]).T @ _flat(slopes),
        "head.bias": _flat(slopes).sum(0),
    }
    slopes = slopes @ weights["head.weight"].T
    for layer in reversed(range(LAYERS)):
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
    given, thin, kept = seen[name]
    added = slopes * np.float32(SCALE)
    gradients[f"{name}.up"] = _flat(thin).T @ _flat(added)
    narrow = added @ weights[f"{name}.up"].T
    gradients[f"{name}.down"] = _flat(given).T @ _flat(narrow)
    through = narrow @ weights[f"{name}.down"].T
    result: Array = slopes @ published()[f"encoder.layer.{name}.weight"] + (through if kept is None else through * kept)
    return result


class _Adam:
    """Adam with a rate that rises and falls, and a cut for steep gradients."""

    def __init__(self, weights: Arrays, steps: int) -> None:
        self._mean = {name: np.zeros_like(value) for name, value in weights.items()}
        self._square = {name: np.zeros_like(value) for name, value in weights.items()}
        self._steps, self._done = steps, 0

    def step(self, weights: Arrays, gradients: Arrays) -> None:
        """Change the weights in place."""
        steepness = math.sqrt(sum(float((value * value).sum()) for value in gradients.values()))
        cut = min(1.0, STEEPEST / (steepness + 1e-9))
        first, second = MOMENTS
        done = self._done = self._done + 1
        rate = RATE * min(1.0, 10 * done / self._steps) * max(0.0, 1 - done / self._steps)
        for name, gradient in gradients.items():
            mean = self._mean[name] = first * self._mean[name] + (1 - first) * cut * gradient
            square = self._square[name] = second * self._square[name] + (1 - second) * (cut * gradient) ** 2
            size = np.sqrt(square / (1 - second**done)) + 1e-8
            weights[name] -= (rate * (mean / (1 - first**done) / size + DECAY * weights[name])).astype(np.float32)


# Judging -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Score:
    """How many tags were right (label, state and whose, over some of the words), wrong and missed."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    def __str__(self) -> str:
        precision = 100 * self.right / max(1, self.right + self.wrong)
        recall = 100 * self.right / max(1, self.right + self.missed)
        return f"precision {precision:.1f} %, recall {recall:.1f} % of {self.right + self.missed}"


def judge(messages: Sequence[MarkedMessage], weights: Arrays, least: float) -> Score:
    """The score of tags that are at least so sure."""
    score = Score()
    for message in messages:
        ids = np.array([message.pieces.ids])
        given = scores(embedded(ids), np.ones(ids.shape), weights)[0]
        found = [tag for tag in tags_of(message.pieces, given) if tag.sure >= least]
        for wanted in message.tags:
            same = next((tag for tag in found if _is_same(tag, wanted)), None)
            if same is None:
                score.missed += 1
            else:
                found.remove(same)
                score.right += 1
        score.wrong += len(found)
    return score


def _is_same(tag: Tag, wanted: Tag) -> bool:
    overlaps = tag.start < wanted.end and tag.end > wanted.start
    return overlaps and (tag.label, tag.state, tag.other) == (wanted.label, wanted.state, wanted.other)
