"""Reads texts with a trained network: its adapters merged into the published weights, run by ONNX Runtime.

4 ms of processor time for 50 pieces, or 2 ms if all is quantized, where `adapted.py` takes 19. The first states
come from NumPy (`memory/embeddings/published.py`).
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from memory.embeddings.graph import FEED_FORWARD, LAYERS, scoring_graph
from memory.embeddings.minilm import session
from memory.embeddings.published import Array, embedded, published
from memory.network.adapted import LINEAR, SCALE, trained
from recall.load_once import LoadOnce


def read_scores(
    weights: Path, ids: Sequence[int], segments: Sequence[int] = (), *, whole: tuple[str, ...] = FEED_FORWARD
) -> Array:
    """The head's scores of each piece of a text: (pieces, outputs). `segments`: 1 for a pair's second text."""
    return _run(load(weights, whole), ids, segments)


def read_first(weights: Path, ids: Sequence[int], segments: Sequence[int] = ()) -> Array:
    """The head's scores of the first piece alone, by the network that `load_first` loads: (outputs,)."""
    result: Array = _run(load_first(weights), ids, segments)[0]
    return result


def _run(network: Any, ids: Sequence[int], segments: Sequence[int]) -> Array:
    states = embedded(np.array([ids]), np.array([segments or [0] * len(ids)]))[0]
    result: Array = network.run(["scores"], {"states": states})[0]
    return result


def load(weights: Path, whole: tuple[str, ...] = FEED_FORWARD) -> Any:
    """The network of a file of weights. The first start after they change builds its graph, in a second or two.

    `whole`: the matrices that aren't quantized.
    """
    return _load(weights, whole)


def load_first(weights: Path) -> Any:
    """The same, all quantized, for the first piece alone."""
    return _load(weights, (), first_only=True)


@LoadOnce
def _load(weights: Path, whole: tuple[str, ...], *, first_only: bool = False) -> Any:
    from django.conf import settings

    name, cache_dir, version = weights.parent.name, Path(settings.MODEL_CACHE_DIR), weights.read_bytes()
    graph = scoring_graph(name, version, partial(merged, weights), cache_dir, whole, first_only=first_only)
    return session(graph)


def merged(file: Path) -> dict[str, Array]:
    """The published weights with what a file's adapters add to them, and the head as another layer."""
    weights = trained(file)
    whole = {name: np.asarray(value) for name, value in published().items()}
    for layer in range(LAYERS):
        for name in LINEAR:
            key = f"encoder.layer.{layer}.{name}.weight"
            added = np.float32(SCALE) * (weights[f"{layer}.{name}.down"] @ weights[f"{layer}.{name}.up"]).T
            whole[key] = whole[key] + added
    return whole | {"head.weight": weights["head.weight"].T, "head.bias": weights["head.bias"]}
