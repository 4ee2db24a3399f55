"""Fits the network to texts that belong together: a question's vector is drawn to those of its answers (InfoNCE, van
den Oord et al. 2018). Only questions pass the network: the vectors of what they are compared with stay as they are.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from memory.embeddings.limits import DIMENSION
from memory.embeddings.published import Array, embedded
from memory.network.adapted import scores, softmax
from memory.network.training import BATCH, DROPPED, Adam, Arrays, backwards, batches, begin, padded

EPOCHS: Final = 2
RATE: Final = 5e-4
SHARPNESS: Final = 20.0
"""Factor on cosines before they become shares."""
NONE: Final = 0.33
"""Cosine that the answers must pass, and all others stay below, where nothing answers."""
FAITHFUL: Final = 1.0
"""Weight of the cosine of a question's vector before and after."""
STRANGERS: Final = 16
"""Vectors of other questions in the batch that each is compared with as well."""


@dataclass(frozen=True, slots=True)
class TrainingQuestion:
    """A question in pieces, its vector before training, and the vectors it is compared with."""

    ids: Sequence[int]
    vector: Array
    others: Array
    """(memories, 384)."""
    answers: Sequence[int]
    """Which of them answer."""
    ignored: Sequence[int] = ()
    """Which of them count as neither right nor wrong."""


def fit(
    examples: Sequence[TrainingQuestion], report: Callable[[int, float], None], *, epochs: int, seed: int = 1
) -> Arrays:
    """The adapters and the head (a matrix, 384 by 384, that starts as the identity) for these questions."""
    numbers, chance = np.random.default_rng(seed), random.Random(seed)  # noqa: S311 -- an order, no secret
    weights = begin(numbers, DIMENSION) | {"head.weight": np.eye(DIMENSION, dtype=np.float32)}
    optimizer = Adam(weights, epochs * math.ceil(len(examples) / BATCH), RATE)

    def dropout(shape: tuple[int, ...]) -> Array:
        return (numbers.random(shape, dtype=np.float32) > DROPPED) / np.float32(1 - DROPPED)

    for epoch in range(epochs):
        losses = []
        for batch in batches([len(example.ids) for example in examples], chance):
            asked = [examples[number] for number in batch]
            seen: dict[str, Any] = {}
            mask = padded([[1] * len(one.ids) for one in asked], 0)
            outputs = scores(embedded(padded([one.ids for one in asked], 0)), mask, weights, seen, dropout)
            share = (mask / mask.sum(-1, keepdims=True))[..., None]
            loss, slopes = _slopes(asked, (outputs * share).sum(1), numbers)
            losses.append(loss)
            optimizer.step(weights, backwards((slopes[:, None, :] * share).astype(np.float32), weights, seen))
        report(epoch, sum(losses) / len(losses))
    return weights


def _slopes(asked: Sequence[TrainingQuestion], means: Array, numbers: np.random.Generator) -> tuple[float, Array]:
    """The mean loss of questions, and its gradient by their vectors before these get length 1: (questions, 384)."""
    lengths = np.linalg.norm(means, axis=-1, keepdims=True)
    vectors = means / lengths
    strangers = np.concatenate([one.others for one in asked])
    loss, slopes = 0.0, np.zeros_like(vectors)
    for number, one in enumerate(asked):
        compared = np.concatenate([one.others, strangers[numbers.integers(0, len(strangers), STRANGERS)]])
        shares = softmax(SHARPNESS * np.append(compared @ vectors[number], NONE))
        shares[list(one.ignored)] = 0
        shares /= shares.sum()
        right = np.zeros(len(shares), bool)
        right[list(one.answers) or -1] = True
        wanted = np.where(right, shares / shares[right].sum(), 0)
        loss -= math.log(shares[right].sum() + 1e-9)
        slopes[number] = SHARPNESS * (shares - wanted)[:-1] @ compared - FAITHFUL * one.vector
    slopes /= len(asked)
    return loss / len(asked), (slopes - (slopes * vectors).sum(-1, keepdims=True) * vectors) / lengths
