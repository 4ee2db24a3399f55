"""Runs another embedding model, such as a multilingual one, from a folder as such models are published.

    model.onnx        the graph, here or below `onnx/`: takes `input_ids`, `attention_mask`, maybe `token_type_ids`;
                      returns `sentence_embedding`, or a vector per token, which are averaged
    tokenizer.json    as the `tokenizers` library writes it

    config_sentence_transformers.json, config.json    optional: the prefixes of questions and passages, see `_prefixes`

Vectors must have 384 numbers, the width of the columns, like those of paraphrase-multilingual-MiniLM-L12-v2.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from django.core.exceptions import ImproperlyConfigured

from memory.embeddings.limits import DIMENSION, Vectors
from memory.embeddings.minilm import readable, session, side_by_side, tokenizer
from memory.embeddings.scale import Scale, measure
from recall.environment import GRAPHS, TOKENIZER

SENTENCE: Final = "sentence_embedding"
"""The output with the text's vector."""
NAME_CHARS: Final = 60
"""Characters of the folder's name; with the graph's fingerprint it is stored with rows (`Indexed.embedded_by`)."""
FINGERPRINT_BYTES: Final = 1 << 20
"""Bytes from the start of the graph that, with its size, distinguish it from another of the same name."""


class Prefixes(NamedTuple):
    """What a model was trained to read before a text."""

    question: str = ""
    passage: str = ""


E5: Final = Prefixes("query: ", "passage: ")
"""Of the E5 family, as its model cards say; its older files don't."""


class OnnxEmbedder:
    """The model of a folder that the settings have validated.

    Raises:
        ImproperlyConfigured: its vectors have another width than the columns, or its configuration isn't JSON.
    """

    def __init__(self, folder: Path) -> None:
        graph = next(folder / name for name in GRAPHS if (folder / name).is_file())
        self._prefixes = _prefixes(folder)
        self.name = f"{folder.resolve().name[:NAME_CHARS]}-{_fingerprint(graph, self._prefixes)}"
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

    @cached_property
    def scale(self) -> Scale:
        """What its cosines mean, measured when they are first compared."""
        return measure(self.embed_question, self.embed)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector of length 1 per text, in the given order: shape (texts, 384)."""
        return side_by_side(self._embed, texts)

    def embed_question(self, text: str) -> Vectors:
        """The vector of a question about such texts: (384,)."""
        return self._vector(self._prefixes.question + readable(text))

    def _embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._vector(self._prefixes.passage + readable(text))
        return vectors

    def _vector(self, text: str) -> Vectors:
        ids = np.array([self._tokenizer.encode(text).ids or [0]], np.int64)
        feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (found,) = self._session.run([self._output], {name: feeds[name] for name in feeds.keys() & self._takes})
        whole = found[0].mean(axis=0) if found.ndim == 3 else found[0]
        vector: Vectors = (whole / max(float(np.linalg.norm(whole)), 1e-12)).astype(np.float32)
        return vector


def _prefixes(folder: Path) -> Prefixes:
    """Those that the folder's files state, or else those of its family."""
    prompts = _read(folder / "config_sentence_transformers.json").get("prompts")
    query, passage, document = _texts(prompts, "query", "passage", "document")
    stated = Prefixes(query, passage or document)
    if any(stated):
        return stated
    (origin,) = _texts(_read(folder / "config.json"), "_name_or_path")
    names = {folder.resolve().name, Path(origin).name}
    words = [name.lower().replace("_", "-").split("-") for name in names]
    return E5 if any("e5" in one and "instruct" not in one for one in words) else Prefixes()


def _texts(found: object, *names: str) -> list[str]:
    """The named texts of a JSON object; empty where there is none."""
    values = [found.get(name) if isinstance(found, dict) else None for name in names]
    return [value if isinstance(value, str) else "" for value in values]


def _read(file: Path) -> Mapping[str, Any]:
    """A configuration file's content; empty if the folder has none.

    Raises:
        ImproperlyConfigured: it isn't a JSON object.
    """
    try:
        found = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ImproperlyConfigured(f"EMBEDDING_FOLDER: {file} is not a JSON object.")
    return found


def _fingerprint(graph: Path, prefixes: Prefixes) -> str:
    """Changes with the graph and the prefixes: then rows are embedded again."""
    with graph.open("rb") as file:
        start = file.read(FINGERPRINT_BYTES)
    return hashlib.sha256(start + (str(graph.stat().st_size) + "".join(prefixes)).encode()).hexdigest()[:8]
