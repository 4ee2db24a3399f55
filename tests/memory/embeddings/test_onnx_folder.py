"""Another embedding model runs from a folder with its graph and its tokenizer."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from django.core.exceptions import ImproperlyConfigured
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from memory.embeddings import limits, port
from memory.embeddings.limits import Vectors
from memory.embeddings.onnx_folder import OnnxEmbedder
from recall.environment import Environment

WORDS = {"[UNK]": 0, "where": 1, "lives": 2, "Mary": 3, "gdzie": 4, "mieszka": 5}


def published(folder: Path, *, width: int = 384, where: str = "model.onnx", pooled: bool = False) -> Vectors:
    """A tiny model as it would be published: each word has a vector. Returns these."""
    table: Vectors = np.random.default_rng(7).normal(size=(len(WORDS), width)).astype(np.float32)
    takes = [
        helper.make_tensor_value_info(name, TensorProto.INT64, [1, "n"]) for name in ("input_ids", "attention_mask")
    ]
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    gives = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [1, "n", width])]
    if pooled:
        nodes.append(helper.make_node("ReduceMax", ["last_hidden_state", "axis"], ["sentence_embedding"], keepdims=0))
        gives.append(helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, [1, width]))
    weights = [numpy_helper.from_array(table, "table"), numpy_helper.from_array(np.array([1]), "axis")]
    graph = helper.make_graph(nodes, "tiny", takes, gives, weights if pooled else weights[:1])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    (folder / where).parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / where)
    tokenizer = Tokenizer(WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return table


def unit(vector: Vectors) -> Vectors:
    scaled: Vectors = vector / np.linalg.norm(vector)
    return scaled


@pytest.mark.parametrize("where", ["model.onnx", "onnx/model.onnx"])
def test_a_text_is_the_mean_of_its_words_of_length_one(tmp_path: Path, where: str) -> None:
    table = published(tmp_path, where=where)

    vectors = OnnxEmbedder(tmp_path).embed(["where lives Mary", "gdzie mieszka Mary"])

    assert vectors.shape == (2, 384)
    np.testing.assert_allclose(vectors[0], unit(table[[1, 2, 3]].mean(axis=0)), atol=1e-6)
    np.testing.assert_allclose(vectors[1], unit(table[[4, 5, 3]].mean(axis=0)), atol=1e-6)


def test_a_model_that_gives_a_texts_vector_itself_is_taken_at_its_word(tmp_path: Path) -> None:
    table = published(tmp_path, pooled=True)

    (vector,) = OnnxEmbedder(tmp_path).embed(["where Mary"])

    np.testing.assert_allclose(vector, unit(table[[1, 3]].max(axis=0)), atol=1e-6)


def test_many_texts_come_in_their_order_and_an_empty_one_has_a_vector(tmp_path: Path) -> None:
    published(tmp_path)
    model, texts = OnnxEmbedder(tmp_path), [*WORDS, "", "a\ud83d"] * 5

    many = model.embed(texts)

    np.testing.assert_allclose(many, np.concatenate([model.embed([text]) for text in texts]))
    np.testing.assert_allclose(np.linalg.norm(many, axis=1), 1.0, atol=1e-6)


def test_its_name_tells_it_from_another_version_in_a_folder_of_the_same_name(tmp_path: Path) -> None:
    published(tmp_path / "one" / "multilingual")
    published(tmp_path / "two" / "multilingual", pooled=True)

    names = {OnnxEmbedder(tmp_path / each / "multilingual").name for each in ("one", "two")}

    assert len(names) == 2
    assert all(name.startswith("multilingual-") and len(name) <= 80 for name in names)


E5 = {"_name_or_path": "intfloat/multilingual-e5-small"}
STATED = {"prompts": {"query": "where ", "document": "gdzie "}}


@pytest.mark.parametrize(
    ("folder", "files", "question", "passage"),
    [
        ("multilingual-e5-small", {}, "query:", "passage:"),
        ("mine", {"config.json": E5}, "query:", "passage:"),
        ("mine", {"config_sentence_transformers.json": STATED}, "where", "gdzie"),
        ("e5_small", {"config_sentence_transformers.json": STATED}, "where", "gdzie"),
        ("multilingual-e5-large-instruct", {}, "", ""),
        ("mine", {"config_sentence_transformers.json": {"prompts": {}}}, "", ""),
    ],
)
def test_questions_and_passages_have_the_prefixes_that_the_model_was_trained_with(
    tmp_path: Path, folder: str, files: dict[str, Any], question: str, passage: str
) -> None:
    table = published(tmp_path / folder)
    for name, content in files.items():
        (tmp_path / folder / name).write_text(json.dumps(content))
    model = OnnxEmbedder(tmp_path / folder)

    for prefix, vector in ((question, model.embed_question("Mary")), (passage, model.embed(["Mary"])[0])):
        ids = [*(WORDS.get(word, 0) for word in prefix.replace(":", " :").split()), WORDS["Mary"]]
        np.testing.assert_allclose(vector, unit(table[ids].mean(axis=0)), atol=1e-6)


@pytest.mark.parametrize(
    "content", [{"prompts": ["query: "]}, {"prompts": {"query": 7, "passage": None}}, {"prompts": "query"}, {}]
)
def test_prefixes_of_another_form_are_none(tmp_path: Path, content: Any) -> None:
    published(tmp_path)
    plain = OnnxEmbedder(tmp_path).embed_question("Mary")
    (tmp_path / "config_sentence_transformers.json").write_text(json.dumps(content))
    (tmp_path / "config.json").write_text('{"_name_or_path": 7}')
    np.testing.assert_allclose(OnnxEmbedder(tmp_path).embed_question("Mary"), plain)


@pytest.mark.parametrize("content", [b"{", b"[1]", b'"e5"', b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_configuration_is_refused_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    published(tmp_path)
    (tmp_path / "config_sentence_transformers.json").write_bytes(content)
    with pytest.raises(ImproperlyConfigured, match=r"sentence_transformers\.json is not a JSON object\."):
        OnnxEmbedder(tmp_path)


def test_rows_are_embedded_again_when_the_prefixes_change(tmp_path: Path) -> None:
    published(tmp_path)
    before = OnnxEmbedder(tmp_path).name
    (tmp_path / "config_sentence_transformers.json").write_text(json.dumps(STATED))

    assert OnnxEmbedder(tmp_path).name != before, "the name is stored with each row"


def test_vectors_of_another_width_are_refused_with_a_sentence(tmp_path: Path) -> None:
    published(tmp_path, width=768)

    with pytest.raises(ImproperlyConfigured, match="gives 768 numbers a text; Recall keeps 384"):
        OnnxEmbedder(tmp_path)


def test_the_setting_takes_the_place_of_the_usual_model(tmp_path: Path, settings: Any) -> None:
    published(tmp_path / "multilingual")
    chosen = settings.ENVIRONMENT.model_copy(update={"embedding_folder": tmp_path / "multilingual"})
    settings.ENVIRONMENT = chosen

    assert port.embedder().name.startswith("multilingual-")
    assert port.embedder(limits.MINILM_INT8).name == limits.MINILM_INT8, "older vectors serve meanwhile"


def test_a_folder_without_a_model_is_named_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").touch()

    with pytest.raises(ValueError, match=r"must be a folder with model\.onnx and tokenizer\.json"):
        Environment(embedding_folder=tmp_path)
