"""A text gets the vector that the published model gives it, from any thread, whatever the text and the cache
contain."""

import math
import multiprocessing
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto
from onnx.numpy_helper import to_array
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

from memory.embeddings import graph, limits, minilm, port, published
from memory.embeddings.limits import DIMENSION, PIECES
from memory.embeddings.minilm import MiniLM
from memory.embeddings.port import Embedder
from recall.environment import Environment
from recall.load_once import LoadOnce

MODEL = published.model_folder()

TEXTS = {
    "a question": "Where does my sister Mary live?",
    "one word": "Lisbon",
    "empty": "",
    "accents": "Łódź, Ærøskøbing e São João: à bientôt, grüß Gott!",
    "other scripts": "我姐姐住在里斯本。 Моя сестра живёт в Лиссабоне. أختي تعيش في لشبونة",
    "emoji": "I passed!!! 🎉🎉 👩‍👩‍👧‍👦 \u200b\ufeff",
    "two thousand words": " ".join(f"Sentence {n} is about the garden behind the house." for n in range(250)),
    "spaces and control characters": "\x00 \t\n  my\x07 name \r\n is Alice   ",
    "words of the tokenizer": "[CLS] is not [SEP], and [PAD] is ##nothing",
}

type Weights = Mapping[str, NDArray[Any]]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def model(cache: Path) -> MiniLM:
    loaded = MiniLM(cache)
    loaded.embed(["Lisbon"])
    return loaded


@pytest.fixture(scope="module")
def weights() -> Weights:
    return load_file(MODEL / "model.safetensors")


# An independent forward pass: plain numpy, one text at a time, no padding, no graph.


def by_hand(text: str, weights: Weights) -> NDArray[Any]:
    tokenizer = Tokenizer.from_file(str(MODEL / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    ids = tokenizer.encode(text).ids
    table = {name.removeprefix("embeddings."): array for name, array in weights.items()}
    x = table["word_embeddings.weight"][ids] + table["position_embeddings.weight"][: len(ids)]
    x = layer_norm(x + table["token_type_embeddings.weight"][0], weights, "embeddings.LayerNorm")
    for n in range(6):
        x = layer(x, weights, f"encoder.layer.{n}")
    mean = x.mean(axis=0)
    return mean / np.linalg.norm(mean)


def layer(x: NDArray[Any], weights: Weights, name: str) -> NDArray[Any]:
    q, k, v = (linear(x, weights, f"{name}.attention.self.{part}") for part in ("query", "key", "value"))
    heads = [slice(32 * head, 32 * head + 32) for head in range(12)]
    seen = np.concatenate([softmax(q[:, h] @ k[:, h].T / math.sqrt(32)) @ v[:, h] for h in heads], axis=1)
    x = layer_norm(
        linear(seen, weights, f"{name}.attention.output.dense") + x, weights, f"{name}.attention.output.LayerNorm"
    )
    wide = linear(x, weights, f"{name}.intermediate.dense")
    wide = wide * 0.5 * (1 + erf(wide / math.sqrt(2)))
    return layer_norm(linear(wide, weights, f"{name}.output.dense") + x, weights, f"{name}.output.LayerNorm")


def erf(x: NDArray[Any]) -> NDArray[Any]:
    """Abramowitz and Stegun 7.1.26, accurate to 1.5e-7: numpy has none, and math.erf takes one number at a time."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    powers = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    curve: NDArray[Any] = np.sign(x) * (1 - powers * np.exp(-(x**2)))
    return curve


def linear(x: NDArray[Any], weights: Weights, name: str) -> NDArray[Any]:
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def layer_norm(x: NDArray[Any], weights: Weights, name: str) -> NDArray[Any]:
    centred = x - x.mean(axis=-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
    return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def softmax(x: NDArray[Any]) -> NDArray[Any]:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    shares: NDArray[Any] = powers / powers.sum(axis=-1, keepdims=True)
    return shares


# The numbers


@pytest.fixture(scope="module")
def unrounded() -> MiniLM:
    """The graph before its weights are quantized."""
    drawn = MiniLM(Path())
    whole = graph._joined(load_file(MODEL / "model.safetensors"))
    drawn._loaded = LoadOnce(lambda: minilm.session(graph._build_model(whole).SerializeToString()))
    return drawn


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_before_rounding_the_vector_is_the_one_an_independent_forward_pass_gives(
    text: str, unrounded: MiniLM, weights: Weights
) -> None:
    (vector,) = unrounded.embed([text])
    np.testing.assert_allclose(vector, by_hand(text, weights), atol=2e-5)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_rounding_turns_a_vector_by_a_few_degrees_at_most(text: str, model: MiniLM, unrounded: MiniLM) -> None:
    (rounded,), (exact,) = model.embed([text]), unrounded.embed([text])
    assert rounded @ exact > 0.96


def test_no_weight_takes_more_than_seven_bits_so_that_every_processor_multiplies_alike(
    model: MiniLM, cache: Path
) -> None:
    """Two products of a full byte with eight-bit weights overflow sixteen bits on CPUs without VNNI."""
    (graph,) = cache.glob("*.onnx")
    rounded = [to_array(each) for each in onnx.load(graph).graph.initializer if each.data_type == TensorProto.INT8]
    weights = [matrix for matrix in rounded if matrix.ndim == 2]
    assert weights
    assert max(int(np.abs(matrix.astype(int)).max()) for matrix in weights) <= 64


def test_vectors_have_length_one_and_the_width_of_the_column(model: MiniLM) -> None:
    vectors = model.embed(list(TEXTS.values()))
    assert vectors.shape == (len(TEXTS), DIMENSION)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_a_batch_gives_each_text_the_vector_it_gets_alone_in_the_order_asked(model: MiniLM) -> None:
    texts = [*TEXTS.values(), *(f"Note {n}: " + "more and " * (n % 7) for n in range(20))]
    together = model.embed(texts)
    alone = np.concatenate([model.embed([text]) for text in texts])
    np.testing.assert_array_equal(together, alone)


def test_no_texts_give_no_vectors(model: MiniLM) -> None:
    assert model.embed([]).shape == (0, DIMENSION)


def test_words_after_the_limit_do_not_count(model: MiniLM) -> None:
    long = "word " * PIECES
    first, second = model.embed([long + "about apples", long + "about the moon"])
    np.testing.assert_array_equal(first, second)


def test_a_megabyte_is_read_as_its_beginning(model: MiniLM) -> None:
    sentence = "The garden behind the house is green. "
    beginning, megabyte = model.embed([sentence * 100, sentence * 30_000])
    np.testing.assert_array_equal(beginning, megabyte)


def test_half_a_surrogate_pair_is_no_error(model: MiniLM) -> None:
    broken, mended = model.embed(["smile \ud83d", "smile ?"])
    np.testing.assert_array_equal(broken, mended)


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        ("Where does my sister live?", "My sister Mary lives in Lisbon", "I'm allergic to peanuts"),
        ("What must I not eat?", "I'm allergic to peanuts", "My sister Mary lives in Lisbon"),
        ("Which language do we use at work?", "Our backend is written in Python", "The cat is called Miro"),
    ],
)
def test_what_answers_a_question_is_nearer_than_what_does_not(
    question: str, near: str, far: str, model: MiniLM
) -> None:
    asked, answer, other = model.embed([question, near, far])
    assert asked @ answer > asked @ other + 0.1


def test_threads_that_embed_at_once_get_what_each_gets_alone(model: MiniLM) -> None:
    batches = [[f"Thread {n} asks", "about " * (5 * n), f"number {n}"] for n in range(12)]
    alone = [model.embed(batch) for batch in batches]
    with ThreadPoolExecutor(6) as pool:
        at_once = list(pool.map(model.embed, batches))
    for expected, vectors in zip(alone, at_once, strict=True):
        np.testing.assert_array_equal(vectors, expected)


# The cached graph


def kept(cache: Path) -> Path:
    (path,) = cache.glob("*.onnx")
    return path


def copied(cache: Path, folder: Path, content: bytes) -> Path:
    """The cached graph's checksum in another folder, next to this graph."""
    path = folder / kept(cache).name
    path.write_bytes(content)
    graph._checksum_file(path).write_bytes(graph._checksum_file(kept(cache)).read_bytes())
    return path


def test_a_kept_graph_is_used_and_not_built_again(cache: Path, model: MiniLM, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(graph, "_in_child")  # so building would fail
    again = MiniLM(cache)
    np.testing.assert_array_equal(again.embed(["Lisbon"]), model.embed(["Lisbon"]))


def test_processes_that_start_together_build_a_graph_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []

    def build(given: Callable[[], bytes]) -> bytes:
        built.append(threading.current_thread().name)
        time.sleep(0.2)
        return given()

    monkeypatch.setattr(graph, "_in_child", build)
    path = tmp_path / "models" / f"minilm-{'0' * 16}.onnx"
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: graph._store_graph(path, lambda: b"graph"), range(4)))
    assert (len(built), found) == (1, [path] * 4)


def test_a_graph_is_built_for_the_first_text_in_another_process_which_gives_its_memory_back(
    tmp_path: Path, model: MiniLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)  # importing it fails in this process
    again = MiniLM(tmp_path)
    assert not list(tmp_path.iterdir())
    np.testing.assert_array_equal(again.embed(["Lisbon"]), model.embed(["Lisbon"]))
    assert kept(tmp_path).exists()


def test_a_build_that_fails_is_logged_and_prints_nothing(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        graph._in_child(partial(bytes.fromhex, "no number"))
    assert "ValueError: non-hexadecimal" in caplog.text
    assert capfd.readouterr().err == ""


def test_a_graph_holds_the_layers_and_not_the_table_of_words_which_is_mapped(
    cache: Path, model: MiniLM, weights: Weights
) -> None:
    assert kept(cache).stat().st_size < weights["embeddings.word_embeddings.weight"].nbytes / 3


@pytest.mark.parametrize("damage", ["emptied", "cut", "another file"])
def test_a_damaged_graph_is_not_believed(damage: str, tmp_path: Path, cache: Path) -> None:
    whole = kept(cache).read_bytes()
    damaged = {"emptied": b"", "cut": whole[:-100], "another file": b"\x7fELF" * 999}[damage]
    assert not graph._is_whole(copied(cache, tmp_path, damaged))
    path = copied(cache, tmp_path, whole)
    assert graph._is_whole(path)
    graph._checksum_file(path).unlink()
    assert not graph._is_whole(path)


def test_a_graph_with_one_bit_turned_is_built_anew(tmp_path: Path, cache: Path, model: MiniLM) -> None:
    whole = kept(cache).read_bytes()
    turned = bytearray(whole)
    turned[len(whole) // 2] ^= 1
    damaged = copied(cache, tmp_path, bytes(turned))
    former = tmp_path / f"{limits.MINILM_INT8}-0123456789abcdef.graph"
    others = tmp_path / f"{limits.MINILM}-0123456789abcdef.onnx"
    former.touch()
    others.touch()

    again = MiniLM(tmp_path)

    np.testing.assert_array_equal(again.embed(["Lisbon"]), model.embed(["Lisbon"]))
    assert damaged.read_bytes() == whole
    assert others.exists(), "of another model"
    assert not former.exists(), "of a former release"


def test_other_weights_or_another_recipe_get_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights, others = MODEL / "model.safetensors", tmp_path / "others.safetensors"
    save_file({"embeddings.word_embeddings.weight": np.zeros((30_000, 384), np.float32)}, others)
    usual = graph._graph_file(weights, tmp_path)
    assert graph._graph_file(others, tmp_path) != usual
    edited = tmp_path / "graph.py"
    edited.write_bytes(Path(graph.__file__).read_bytes() + b"# edited")
    monkeypatch.setattr(graph, "__file__", str(edited))
    assert graph._graph_file(weights, tmp_path) != usual


def test_a_folder_that_cannot_be_written_costs_a_warning_and_no_vector(
    tmp_path: Path, model: MiniLM, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "a file where the folder should be"
    blocked.write_text("")
    vectors = MiniLM(blocked / "models").embed(["Lisbon"])
    np.testing.assert_array_equal(vectors, model.embed(["Lisbon"]))
    assert "cannot be written" in caplog.text


def test_two_processes_that_build_at_once_leave_one_whole_graph(tmp_path: Path, model: MiniLM) -> None:
    processes = multiprocessing.get_context("spawn")
    with processes.Pool(2) as pool:
        vectors = pool.starmap(embed_in_process, [(tmp_path, "Lisbon"), (tmp_path, "Lisbon")])
    for vector in vectors:
        np.testing.assert_array_equal(vector, model.embed(["Lisbon"]))
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".onnx", graph.CHECKSUM]


def embed_in_process(cache: Path, text: str) -> NDArray[Any]:
    return MiniLM(cache).embed([text])


# The port


def test_a_process_loads_one_embedder_however_many_threads_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from django.conf import settings

    monkeypatch.setattr(settings, "MODEL_CACHE_DIR", tmp_path, raising=False)
    port._load.clear()
    try:
        with ThreadPoolExecutor(4) as pool:
            asked: list[Embedder] = list(pool.map(lambda _: port.embedder(), range(8)))
    finally:
        port._load.clear()
    assert len({id(one) for one in asked}) == 1
    assert asked[0].name == "all-MiniLM-L6-v2-int8"


def test_every_model_that_may_be_chosen_can_be_loaded_and_is_calibrated() -> None:
    from memory.retrieval.ranking import CALIBRATIONS

    choices = set(get_args(Environment.model_fields["embedding_model"].annotation))
    assert choices == port.MODELS == CALIBRATIONS.keys()
