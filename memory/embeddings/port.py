"""Which model turns a text into a vector, within which limits, and the port through which every caller asks for one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

# Small enough for one CPU thread, good enough to find what is meant rather than what was typed, installed with the
# other packages, so that it needs no network. It reads English best.
MINILM: Final = "all-MiniLM-L6-v2"
# The same with weights in bytes, the default: half the time, within half a point of recall.
MINILM_INT8: Final = "all-MiniLM-L6-v2-int8"

# The width of their vectors.
DIMENSION: Final = 384

# It was trained on 128 word pieces and published with this limit. The words after it do not count.
PIECES: Final = 256

# A text is cut here before it is split into pieces: 64 characters a piece is far beyond any language, and a pasted
# megabyte must not cost a second of splitting to read its first page.
CHARACTERS: Final = 64 * PIECES

# With a second thread on two shared cores the slowest question took 484 ms (p99, measured with PyTorch). Many questions
# at once run side by side instead, each in its caller's thread.
THREADS: Final = 1

type Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors; safe to call from several threads at once."""

    @property
    def name(self) -> str:
        """The model, as stored on every row beside the vector."""

    @property
    def dimension(self) -> int:
        """The width of a vector."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector of length 1 per text, in the order given: shape (texts, dimension).

        The dot product of two vectors is their cosine. An empty text has a vector too, which says nothing.
        """


MODELS: Final[Mapping[str, Callable[[Path], Embedder]]] = {
    MINILM_INT8: lambda cache_dir: _minilm(cache_dir, MINILM_INT8),
    MINILM: lambda cache_dir: _minilm(cache_dir, MINILM),
}
"""The models that `EMBEDDING_MODEL` may name, and how each is loaded. Another one is a folder (`EMBEDDING_FOLDER`); or
a line here, a class with the port's three names, and a line in `memory/retrieval/ranking.py: CALIBRATIONS`, which says
what its cosines mean."""

_loading = threading.Lock()


def embedder(name: str = "") -> Embedder:
    """The embedder of this process, or another one by its name; loaded at the first call (about half a second)."""
    from django.conf import settings

    chosen = settings.ENVIRONMENT
    with _loading:
        if not name and chosen.embedding_folder is not None:
            return _load_folder(chosen.embedding_folder)
        return _load(name or chosen.embedding_model)


@cache
def _load(name: str) -> Embedder:
    from django.conf import settings

    return MODELS[name](Path(settings.MODEL_CACHE_DIR))


@cache
def _load_folder(folder: Path) -> Embedder:
    from memory.embeddings.onnx_folder import OnnxEmbedder

    return OnnxEmbedder(folder)


def _minilm(cache_dir: Path, name: str) -> Embedder:
    from memory.embeddings.minilm import MiniLM  # late: ONNX Runtime is for those who embed

    return MiniLM(cache_dir, name)
