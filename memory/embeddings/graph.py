"""Builds the layers of MiniLM as an ONNX graph and keeps it as a file: quantized (dynamically: activations at run
time) to 8 bits, or with whole weights.

`embedding_graph` turns the first states of pieces into a vector, `scoring_graph` into scores for each, with weights
that training has changed. A graph's file name changes with its weights and with this module's text.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import pickle
import re
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from memory.embeddings.limits import DIMENSION, MINILM, MINILM_INT8
from memory.embeddings.published import NORM_EPSILON

if TYPE_CHECKING:
    from onnx import ModelProto

LAYERS: Final = 6
HEADS: Final = 12
OPSET: Final = 20  # the first with Gelu; LayerNormalization came with 17
IR_VERSION: Final = 10  # of the file format; ONNX Runtime reads it since 1.18

QUANTIZED: Final = ("MatMul",)
"""Operations whose weights are quantized. Each column has its own scale: with one scale per matrix, vectors turn by 15
to 27 degrees instead of 4 to 8, and nothing is faster.
"""
FEED_FORWARD: Final = tuple(
    f"encoder.layer.{number}.{part}" for number in range(LAYERS) for part in ("intermediate.dense", "output.dense")
)
"""Matrices that may stay whole: quantized, they cost the tagger 4 of 86 points of recall, and secrets none."""
SELF: Final = ("query", "key", "value")
"""Their weights are concatenated, so that their input is quantized once."""

CHECKSUM: Final = ".sha256"
"""Ending of the file that holds the graph's checksum."""
type Weights = Mapping[str, NDArray[np.float32]]

logger = logging.getLogger(__name__)


def embedding_graph(weights_file: Path, cache_dir: Path, name: str = MINILM_INT8) -> Path | bytes:
    """The graph of the published model: its file, built if missing; the graph itself if no file can be written.

    Input ``states``: float, (pieces, 384), the embedded pieces. Output ``vector``: (1, 384), of length 1.
    """
    return _store_graph(_graph_file(weights_file, cache_dir, name), partial(_embedding, weights_file, name))


def scoring_graph(
    name: str,
    version: bytes,
    weights: Callable[[], Weights],
    cache_dir: Path,
    whole: Sequence[str] = (),
    *,
    first_only: bool = False,
) -> Path | bytes:
    """The graph of a network with a head, quantized but for the matrices in `whole`; likewise.

    Output ``scores``: (pieces, outputs), or of the first piece alone. `version`: what distinguishes these weights from
    others; `weights` are the published ones' names and ``head.weight`` (outputs, 384) and ``head.bias``.
    """
    parts = Path(__file__).read_bytes() + version + repr((whole, first_only)).encode()
    path = cache_dir / f"{name}-{hashlib.sha256(parts).hexdigest()[:16]}.onnx"
    return _store_graph(path, partial(_scoring, weights, whole, first_only))


# The file


def _graph_file(weights_file: Path, cache_dir: Path, name: str = MINILM_INT8) -> Path:
    """The graph's file. Its name changes with this module's text and with the weights' names and shapes."""
    size = weights_file.stat().st_size
    with weights_file.open("rb") as file:
        header = file.read(min(size, 8 + int.from_bytes(file.read(8), "little")))
    recipe = Path(__file__).read_bytes() + header + str(size).encode()
    return cache_dir / f"{name}-{hashlib.sha256(recipe).hexdigest()[:16]}.onnx"


def _store_graph(path: Path, build: Callable[[], bytes]) -> Path | bytes:
    if _is_whole(path):
        return path
    with _alone(path.parent):
        if _is_whole(path):  # meanwhile
            return path
        graph = _in_child(build)
        return path if _write_graph(path, graph) else graph


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One process builds while the others wait for its file: all processes of a first start need it at once."""
    with ExitStack() as held:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = os.open(folder, os.O_RDONLY)
            held.callback(os.close, lock)
            if os.access(folder, os.W_OK):  # else no file will be there for the others
                fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError:
            pass  # `_write_graph` will say why
        yield


def _in_child(build: Callable[[], bytes]) -> bytes:
    """The graph, built in a process that ends: it takes half a gigabyte, and this one would keep a tenth of that."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", "import pickle, sys; sys.stdout.buffer.write(pickle.load(sys.stdin.buffer)())"]
    given = pickle.dumps(build)
    try:
        return subprocess.run(command, input=given, capture_output=True, env=environment, check=True).stdout  # noqa: S603
    except subprocess.CalledProcessError as failed:
        logger.error("The graph was not built: %s", failed.stderr.decode(errors="replace"))
        raise


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


def _quantize(model: ModelProto, but: Sequence[str] = ()) -> bytes:
    """The graph with 8-bit weights, but for these matrices: 11 MB instead of 43."""
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
                nodes_to_exclude=list(but),
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


# The graph


def _embedding(weights_file: Path, name: str) -> bytes:
    from safetensors.numpy import load_file

    model = _build_model(_joined(load_file(weights_file)))
    return _quantize(model) if name == MINILM_INT8 else bytes(model.SerializeToString())


def _scoring(weights: Callable[[], Weights], whole: Sequence[str], first_only: bool) -> bytes:
    return _quantize(_build_scoring(_joined(weights()), first_only), ("head", *whole))


def _joined(weights: Weights) -> Weights:
    """The weights with those of query, key and value concatenated."""
    joined = dict(weights)
    for number in range(LAYERS):
        name = f"encoder.layer.{number}.attention.self"
        for kind in ("weight", "bias"):
            joined[f"{name}.{kind}"] = np.concatenate([joined.pop(f"{name}.{part}.{kind}") for part in SELF])
    return joined


def _build_model(weights: Weights) -> ModelProto:
    draft = _Draft(weights)
    _add_pooling(draft, _layers(draft))
    return draft.build({"vector": (1, DIMENSION)})


def _build_scoring(weights: Weights, first_only: bool) -> ModelProto:
    draft = _Draft(weights)
    _linear(draft, "head", _layers(draft, first_only=first_only), result="scores")
    return draft.build({"scores": ("pieces", len(weights["head.bias"]))})


class _Draft:
    """A graph under construction: ``add`` appends a node and names its result."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._nodes: list[Any] = []
        self._tensors: dict[str, Any] = {}

    def add(self, kind: str, *inputs: str, result: str = "", name: str = "", **attributes: Any) -> str:
        from onnx import helper

        result = result or f"{kind}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [result], name or result, **attributes))
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

    def build(self, gives: Mapping[str, tuple[int | str, ...]]) -> ModelProto:
        """The graph from the first states to these outputs, by name: shapes."""
        from onnx import TensorProto, helper

        inputs, outputs = (
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ends.items()]
            for ends in ({"states": ("pieces", DIMENSION)}, gives)
        )
        graph = helper.make_graph(self._nodes, MINILM, inputs, outputs, list(self._tensors.values()))
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)


def _layers(draft: _Draft, *, first_only: bool = False) -> str:
    """The states after all layers: of all pieces or, an eighth sooner, of the first, which sees the others."""
    states = "states"
    for number in range(LAYERS):
        states = _layer(draft, f"encoder.layer.{number}", states, first_only=first_only and number == LAYERS - 1)
    return states


def _layer(draft: _Draft, name: str, states: str, *, first_only: bool) -> str:
    attended = _attention(draft, f"{name}.attention.self", states, first_only=first_only)
    seen = _linear(draft, f"{name}.attention.output.dense", attended)
    states = _first(draft, states) if first_only else states
    states = _norm(draft, f"{name}.attention.output.LayerNorm", draft.add("Add", seen, states))
    wide = draft.add("Gelu", _linear(draft, f"{name}.intermediate.dense", states))
    thought = _linear(draft, f"{name}.output.dense", wide)
    return _norm(draft, f"{name}.output.LayerNorm", draft.add("Add", thought, states))


def _first(draft: _Draft, states: str) -> str:
    return draft.add("Slice", states, draft.constant([0]), draft.constant([1]))


def _attention(draft: _Draft, name: str, states: str, *, first_only: bool) -> str:
    queries, keys, values = draft.split(_linear(draft, name, states), len(SELF))
    queries = _first(draft, queries) if first_only else queries
    scale = draft.constant((DIMENSION / HEADS) ** -0.5, np.float32)
    scores = draft.add("MatMul", _heads(draft, queries, [1, 0, 2]), _heads(draft, keys, [1, 2, 0]))
    weights = draft.add("Softmax", draft.add("Mul", scores, scale), axis=-1)
    mixed = draft.add("MatMul", weights, _heads(draft, values, [1, 0, 2]))
    return draft.add("Reshape", draft.add("Transpose", mixed, perm=[1, 0, 2]), draft.constant([-1, DIMENSION]))


def _heads(draft: _Draft, states: str, order: list[int]) -> str:
    """(pieces, 384) as (pieces, heads, 32), with the axes in this order."""
    shape = draft.constant([-1, HEADS, DIMENSION // HEADS])
    return draft.add("Transpose", draft.add("Reshape", states, shape), perm=order)


def _linear(draft: _Draft, name: str, states: str, result: str = "") -> str:
    product = draft.add("MatMul", states, draft.weight(f"{name}.weight", turned=True), name=name)
    return draft.add("Add", product, draft.weight(f"{name}.bias"), result=result)


def _norm(draft: _Draft, name: str, states: str) -> str:
    scale, bias = draft.weight(f"{name}.weight"), draft.weight(f"{name}.bias")
    return draft.add("LayerNormalization", states, scale, bias, axis=-1, epsilon=NORM_EPSILON)


def _add_pooling(draft: _Draft, states: str) -> None:
    """The mean over the text's pieces, normalized to length 1."""
    mean = draft.add("ReduceMean", states, draft.constant([0]), keepdims=1)
    draft.add("LpNormalization", mean, result="vector", axis=-1, p=2)
