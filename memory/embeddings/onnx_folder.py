"""Runs another embedding model, such as a multilingual one, from a folder as such models are published.

    model.onnx        the graph, here or below `onnx/`: takes `input_ids`, `attention_mask`, maybe `token_type_ids`;
                      returns `sentence_embedding`, or a vector per token, which are averaged
    tokenizer.json    as the `tokenizers` library writes it

Vectors must have 384 numbers, the width of the columns, like those of paraphrase-multilingual-MiniLM-L12-v2. Prefixes
that distinguish questions from passages are not supported.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from django.core.exceptions import ImproperlyConfigured

from memory.embeddings.limits import DIMENSION, Vectors
from memory.embeddings.minilm import readable, session, side_by_side, tokenizer
from recall.environment import GRAPHS, TOKENIZER

SENTENCE: Final = "sentence_embedding"
"""The output with the text's vector."""
NAME_CHARS: Final = 60
"""Characters of the folder's name; with the graph's fingerprint it is stored with rows (`Indexed.embedded_by`)."""
FINGERPRINT_BYTES: Final = 1 << 20
"""Bytes from the start of the graph that, with its size, distinguish it from another of the same name."""


class OnnxEmbedder:
    """The model of a folder that the settings have validated.

    Raises:
        ImproperlyConfigured: its vectors have another width than the columns.
    """

    dimension = DIMENSION

    def __init__(self, folder: Path) -> None:
        graph = next(folder / name for name in GRAPHS if (folder / name).is_file())
        self.name = f"{folder.resolve().name[:NAME_CHARS]}-{_fingerprint(graph)}"
        self._tokenizer = tokenizer(folder / TOKENIZER)
        self._session = session(graph)
        self._takes = {one.name for one in self._session.get_inputs()}
        outputs = [output.name for output in self._session.get_outputs()]
        self._output = SENTENCE if SENTENCE in outputs else outputs[0]
        width = self._vector("a").shape[0]
        if width != DIMENSION:
            raise ImproperlyConfigured(
                f"EMBEDDING_FOLDER: the model in {folder} gives {width} numbers a text; Recall keeps {DIMENSION}."
            )

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector of length 1 per text, in the given order: shape (texts, 384)."""
        return side_by_side(self._embed, texts)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._vector(text)
        return vectors

    def _vector(self, text: str) -> Vectors:
        ids = np.array([self._tokenizer.encode(readable(text)).ids or [0]], np.int64)
        feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (found,) = self._session.run([self._output], {name: feeds[name] for name in feeds.keys() & self._takes})
        whole = found[0].mean(axis=0) if found.ndim == 3 else found[0]
        vector: Vectors = (whole / max(float(np.linalg.norm(whole)), 1e-12)).astype(np.float32)
        return vector


def _fingerprint(graph: Path) -> str:
    with graph.open("rb") as file:
        return hashlib.sha256(file.read(FINGERPRINT_BYTES) + str(graph.stat().st_size).encode()).hexdigest()[:8]
