"""all-MiniLM-L6-v2 with low-rank adapters (LoRA, Hu et al. 2021) in NumPy: a score of each label for each piece.

A `weights.safetensors` is what training added: two thin matrices beside each of the network's, and a head. It is NumPy
because training needs the gradients, which ONNX Runtime doesn't have; `reader.py` reads texts with the result.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from safetensors.numpy import load_file, save_file

from memory.embeddings.graph import HEADS, LAYERS
from memory.embeddings.limits import DIMENSION
from memory.embeddings.published import Array, normalized, published

type Weights = Mapping[str, Array]

RANK: Final = 32
SCALE: Final = 2.0
"""Factor on what an adapter adds."""
QUERY, KEY, VALUE, MIXED, WIDE, NARROW = LINEAR = (
    *("attention.self.query", "attention.self.key", "attention.self.value"),
    *("attention.output.dense", "intermediate.dense", "output.dense"),
)
"""The matrices of a layer, as the published file names them."""
NORMS: Final = ("attention.output.LayerNorm", "output.LayerNorm")
_NEVER: Final = -1e9
"""Added to the score of what isn't to be looked at."""


def trained(path: Path) -> Weights:
    """Adapters and a head from their file, which has them in half precision."""
    return {name: value.astype(np.float32) for name, value in load_file(path).items()}


def save(weights: Weights, path: Path) -> None:
    """Write adapters and a head as `trained` reads them."""
    save_file({name: value.astype(np.float16) for name, value in weights.items()}, path)


def mixed(before: Weights, after: Weights, share: float) -> Weights:
    """Weights between those before and after a further fitting. `share`: of those after, 0 to 1.

    The middle does better than both, on what is new as on what isn't (Wortsman et al., 2022, “Robust fine-tuning of
    zero-shot models”).
    """
    return {name: (1 - share) * value + share * after[name] for name, value in before.items()}


def scores(
    states: Array,
    mask: Array,
    weights: Weights,
    seen: dict[str, Any] | None = None,
    dropout: Any = None,
    *,
    first: int = 0,
) -> Array:
    """The head's scores: (texts, pieces, 384) → (texts, pieces, outputs).

    `mask`: 1 where a text has a piece, else 0. `seen` collects what the gradients need; `dropout` is for training.
    `first`: the layer whose input `states` is.
    """
    keep = {} if seen is None else seen
    keep["states"] = states = passed(states, mask, weights, range(first, LAYERS), seen, dropout)
    result: Array = states @ weights["head.weight"] + weights["head.bias"]
    return result


def passed(
    states: Array,
    mask: Array,
    weights: Weights,
    layers: range,
    seen: dict[str, Any] | None = None,
    dropout: Any = None,
) -> Array:
    """The states after these layers; the other arguments as for `scores`."""
    hidden = ((1 - mask) * _NEVER)[:, None, None, :].astype(np.float32)
    keep = {} if seen is None else seen
    for number in layers:
        states = _layer(states, hidden, number, weights, keep, dropout)
        if seen is None:
            keep.clear()
    return states


def softmax(values: Array) -> Array:
    """Shares that add up to 1 along the last axis."""
    raised = np.exp(values - values.max(-1, keepdims=True))
    result: Array = raised / raised.sum(-1, keepdims=True)
    return result


def normal_share(values: Array) -> Array:
    """The standard normal distribution function, to six digits (Abramowitz and Stegun 7.1.26)."""
    size = np.abs(values) / math.sqrt(2)
    part = 1 / (1 + 0.3275911 * size)
    series = part * (
        0.254829592 + part * (-0.284496736 + part * (1.421413741 + part * (-1.453152027 + part * 1.061405429)))
    )
    result: Array = 0.5 * (1 + np.sign(values) * (1 - series * np.exp(-size * size)))
    return result


def _layer(states: Array, hidden: Array, number: int, weights: Weights, seen: dict[str, Any], dropout: Any) -> Array:
    texts, pieces, _ = states.shape

    def linear(values: Array, name: str) -> Array:
        return _linear(values, f"{number}.{name}", weights, seen, dropout)

    query, key, value = (
        linear(states, name).reshape(texts, pieces, HEADS, -1).transpose(0, 2, 1, 3) for name in (QUERY, KEY, VALUE)
    )
    looks = softmax(query @ key.transpose(0, 1, 3, 2) / math.sqrt(DIMENSION / HEADS) + hidden)
    mixed = (looks @ value).transpose(0, 2, 1, 3).reshape(texts, pieces, DIMENSION)
    states, first = normalized(states + linear(mixed, MIXED), f"encoder.layer.{number}.{NORMS[0]}")
    wide = linear(states, WIDE)
    share = normal_share(wide)
    states, second = normalized(states + linear(wide * share, NARROW), f"encoder.layer.{number}.{NORMS[1]}")
    seen[str(number)] = (query, key, value, looks, first, wide, share, second)
    return states


def _linear(values: Array, name: str, weights: Weights, seen: dict[str, Any], dropout: Any) -> Array:
    base = published()
    kept = dropout(values.shape) if dropout else None
    inputs = values if kept is None else values * kept
    thin = inputs @ weights[f"{name}.down"]
    seen[name] = (inputs, thin, kept)
    result: Array = (
        values @ base[f"encoder.layer.{name}.weight"].T
        + base[f"encoder.layer.{name}.bias"]
        + np.float32(SCALE) * (thin @ weights[f"{name}.up"])
    )
    return result
