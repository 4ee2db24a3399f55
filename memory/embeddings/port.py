"""The port to the embedding model: `embedder()` returns the process's embedder, which turns texts into vectors."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

from memory.embeddings.limits import MINILM, MINILM_INT8, Vectors
from memory.embeddings.scale import Scale
from recall.load_once import LoadOnce


class Embedder(Protocol):
    """Turns texts into vectors. Thread-safe."""

    @property
    def name(self) -> str:
        """The model's name, stored on every row beside the vector."""

    @property
    def scale(self) -> Scale:
        """What its cosines mean, beside the built-in model's."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector of length 1 per text, in the given order: shape (texts, DIMENSION).

        The dot product of two vectors is their cosine. An empty text has a vector too, but a meaningless one.
        """

    def embed_question(self, text: str) -> Vectors:
        """The vector of a question about such texts: (DIMENSION,)."""


MODELS: Final = frozenset({MINILM_INT8, MINILM})
"""Values of `EMBEDDING_MODEL`. To add a model, set `EMBEDDING_FOLDER`; or add it here, a class that implements
`Embedder`, and a line in `memory/retrieval/ranking.py: CALIBRATIONS`, which says what its cosines mean.
"""


def embedder(name: str = "") -> Embedder:
    """The process's embedder, or another one by name; the built-in model is loaded for its first text."""
    from django.conf import settings

    environment = settings.ENVIRONMENT
    if not name and environment.embedding_folder is not None:
        return _load_folder(environment.embedding_folder)
    return _load(name or environment.embedding_model)


@LoadOnce
def _load(name: str) -> Embedder:
    from django.conf import settings

    from memory.embeddings.minilm import MiniLM  # imported late: only processes that embed need ONNX Runtime

    return MiniLM(Path(settings.MODEL_CACHE_DIR), name)


@LoadOnce
def _load_folder(folder: Path) -> Embedder:
    from memory.embeddings.onnx_folder import OnnxEmbedder

    return OnnxEmbedder(folder)
