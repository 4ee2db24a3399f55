"""A cross-encoder of a folder reads the question together with each of the best memories."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from memory.embeddings.cross_encoder import MAX_PIECES, CrossEncoder, cross_encoder
from recall.environment import Environment

WEIGHTS = {"[UNK]": 0.0, "[SEP]": 0.0, "where": 0.0, "boat": 2.0, "dog": -2.0}


def published(folder: Path, *, both: bool = False) -> Path:
    """A tiny cross-encoder as it would be published: each word of the second text adds its weight.

    `both`: it returns a number for “not relevant” too, as some do.
    """
    words = {word: number for number, word in enumerate(WEIGHTS)}
    takes = [
        helper.make_tensor_value_info(name, TensorProto.INT64, [1, "n"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["weights"]),
        helper.make_node("Cast", ["token_type_ids"], ["is_second"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["weights", "is_second"], ["counted"]),
        helper.make_node("ReduceSum", ["counted", "axis"], ["relevant" if both else "logits"]),
    ]
    if both:
        nodes += [
            helper.make_node("Neg", ["relevant"], ["not_relevant"]),
            helper.make_node("Concat", ["not_relevant", "relevant"], ["logits"], axis=1),
        ]
    gives = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 2 if both else 1])]
    table = numpy_helper.from_array(np.array(list(WEIGHTS.values()), np.float32), "table")
    graph = helper.make_graph(nodes, "tiny", takes, gives, [table, numpy_helper.from_array(np.array([1]), "axis")])
    folder.mkdir(exist_ok=True)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), folder / "model.onnx"
    )
    tokenizer = Tokenizer(WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="$A", pair="$A [SEP] $B:1", special_tokens=[("[SEP]", words["[SEP]"])]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


@pytest.mark.parametrize("both", [False, True])
def test_each_text_is_read_with_the_question_and_scored_from_0_to_1(tmp_path: Path, both: bool) -> None:
    model = CrossEncoder(published(tmp_path, both=both))

    boat, dog, neither = model.scores("where boat", ["boat", "dog", "a lone surrogate \ud83d"])

    assert boat > 0.8 > 0.5 == neither > 0.2 > dog
    assert boat + dog == pytest.approx(1), "the question's own words are not the text's"


def test_of_a_long_text_its_beginning_is_read_and_the_question_whole(tmp_path: Path) -> None:
    model = CrossEncoder(published(tmp_path))

    early, late = model.scores("where", ["boat " + "and " * MAX_PIECES, "and " * MAX_PIECES + "boat"])

    assert early > 0.8
    assert late == 0.5


def test_there_is_none_until_the_setting_names_one(tmp_path: Path, settings: Any) -> None:
    assert cross_encoder() is None

    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"reranker_folder": published(tmp_path)})
    assert cross_encoder() is cross_encoder() is not None


def test_a_folder_without_a_model_is_named_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must be a folder with model\.onnx and tokenizer\.json"):
        Environment(reranker_folder=tmp_path)
