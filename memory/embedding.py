"""Which model turns a text into a vector, within which limits, and the port through which every caller asks for one."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

# The default: small enough for one CPU thread (4–6 ms a question), good enough to find what is meant rather than
# what was typed, installed with the other packages, so that it needs no network. It reads English best.
MODEL_NAME: Final = "all-MiniLM-L6-v2-int8"

# The width of its vectors, and so of every vector column. Another model means another name on every row.
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


_loading = threading.Lock()


def embedder() -> Embedder:
    """The embedder of this process, loaded at the first call (about half a second)."""
    with _loading:
        return _load()


@cache
def _load() -> Embedder:
    from django.conf import settings

    from memory.minilm import MiniLM

    return MiniLM(Path(settings.MODEL_CACHE_DIR))
