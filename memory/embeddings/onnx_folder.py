"""How does another embedding model run, a multilingual one for instance? From a folder, as such models are published.

    model.onnx        the graph, here or below `onnx/`: takes `input_ids`, `attention_mask`, perhaps `token_type_ids`;
                      gives `sentence_embedding`, or a vector a token, of which the mean is taken
    tokenizer.json    as the `tokenizers` library writes it

A vector has 384 numbers, as the columns have: paraphrase-multilingual-MiniLM-L12-v2 does, and others of its size. One
that wants questions and passages told apart by a prefix is asked without it.
"""

from __future__ import annotations

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
"""The output that is the text's vector already."""
NAME_CHARS: Final = 60
"""Of the folder's name; with the print of its graph it is what rows keep (`Indexed.embedded_by`)."""
PRINT_BYTES: Final = 1 << 20
"""So much of the graph, and its size, tell it from another one of the same name."""


class OnnxEmbedder:
    """The model of a folder that the settings found to hold one.

    Raises:
        ImproperlyConfigured: its vectors are not as wide as the columns.
    """

    dimension = DIMENSION

    def __init__(self, folder: Path) -> None:
        graph = next(folder / name for name in GRAPHS if (folder / name).is_file())
        self.name = f"{folder.resolve().name[:NAME_CHARS]}-{_print(graph)}"
        self._tokenizer = tokenizer(folder / TOKENIZER)
        self._session = session(graph)
        self._takes = {one.name for one in self._session.get_inputs()}
        given = [one.name for one in self._session.get_outputs()]
        self._output = SENTENCE if SENTENCE in given else given[0]
        width = self._vector("a").shape[0]
        if width != DIMENSION:
            raise ImproperlyConfigured(
                f"EMBEDDING_FOLDER: the model in {folder} gives {width} numbers a text; Recall keeps {DIMENSION}."
            )

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector of length 1 per text, in the order given: shape (texts, 384)."""
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


def _print(graph: Path) -> str:
    with graph.open("rb") as file:
        return hashlib.sha256(file.read(PRINT_BYTES) + str(graph.stat().st_size).encode()).hexdigest()[:8]
