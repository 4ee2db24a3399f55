"""The optional cross-encoder, which reads the question and a memory together; `RERANKER_FOLDER` turns it on.

    model.onnx        the graph, here or below `onnx/`: takes `input_ids`, `attention_mask`, maybe `token_type_ids`;
                      returns one number per pair, or two: not relevant, relevant
    tokenizer.json    as the `tokenizers` library writes it; joins the two texts as the model was trained

As such models are published, such as ms-marco-MiniLM-L6-v2.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from tokenizers import Tokenizer

from memory.embeddings.minilm import readable, session
from recall.environment import GRAPHS, TOKENIZER

MAX_PIECES: Final = 512
"""Of a question and a memory together: the length these models are trained with."""


class CrossEncoder:
    """The model of a folder that the settings have validated. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._session = session(next(folder / name for name in GRAPHS if (folder / name).is_file()))
        self._takes = {taken.name for taken in self._session.get_inputs()}
        self._output = self._session.get_outputs()[0].name
        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        self._tokenizer.enable_truncation(MAX_PIECES, strategy="only_second")
        self._tokenizer.no_padding()

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """How relevant each text is to the question, 0–1, in the given order."""
        return [self._score(question, text) for text in texts]

    def _score(self, question: str, text: str) -> float:
        pair = self._tokenizer.encode(readable(question), readable(text))
        ids = np.array([pair.ids], np.int64)
        feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.array([pair.type_ids])}
        (found,) = self._session.run([self._output], {name: feeds[name] for name in feeds.keys() & self._takes})
        logits = found.reshape(-1)
        return float(1 / (1 + np.exp(-(logits[-1] if logits.size == 1 else logits[-1] - logits[0]))))


def cross_encoder() -> CrossEncoder | None:
    """The process's cross-encoder, loaded on the first call; None without a folder."""
    from django.conf import settings

    folder = settings.ENVIRONMENT.reranker_folder
    return None if folder is None else _load(folder)


@cache
def _load(folder: Path) -> CrossEncoder:
    return CrossEncoder(folder)
