"""Reads texts with a trained network: its adapters merged into the published weights, run by ONNX Runtime.

4 ms of processor time for 50 pieces, or 2 ms if all is quantized, where `adapted.py` takes 19. The first states
come from NumPy (`memory/embeddings/published.py`).
"""

import threading
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from memory.embeddings.graph import FEED_FORWARD, LAYERS, scoring_graph
from memory.embeddings.minilm import session
from memory.embeddings.published import Array, embedded, published
from memory.network.adapted import LINEAR, SCALE, trained

_loading = threading.Lock()


def read_scores(
    weights: Path, ids: Sequence[int], segments: Sequence[int] = (), *, whole: tuple[str, ...] = FEED_FORWARD
) -> Array:
    """The head's scores of each piece of a text: (pieces, outputs). `segments`: 1 for a pair's second text."""
    states = embedded(np.array([ids]), np.array([segments or [0] * len(ids)]))[0]
    result: Array = load(weights, whole).run(["scores"], {"states": states})[0]
    return result


def load(weights: Path, whole: tuple[str, ...] = FEED_FORWARD) -> Any:
    """The network of a file of weights. The first start after they change builds its graph, in a second or two.

    `whole`: the matrices that aren't quantized.
    """
    with _loading:
        return _load(weights, whole)


@cache
def _load(weights: Path, whole: tuple[str, ...]) -> Any:
    from django.conf import settings

    name, cache_dir = weights.parent.name, Path(settings.MODEL_CACHE_DIR)
    return session(scoring_graph(name, weights.read_bytes(), partial(merged, weights), cache_dir, whole))


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
