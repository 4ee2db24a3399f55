"""What a question asks for is read from its meaning: in words that no pattern lists."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from memory.embeddings.port import embedder
from memory.network.adapted import softmax
from memory.query_encoder.encoder import encode_question
from memory.retrieval.asked_attribute import LABELS, asked_attributes, probabilities
from memory.retrieval.query import in_third_person

trainer = import_module("memory.management.commands.train-questions")

UNSEEN = Path(__file__).parents[1] / "data" / "questions_unseen.tsv"
"""320 questions by an author whose questions it was not trained on."""


def test_it_understands_most_questions_of_an_author_it_has_not_seen() -> None:
    questions = trainer.read_file(UNSEEN)
    labels, best = trainer.labels_of(questions), probabilities(trainer.vectors_of(questions)).argmax(1)

    asks = labels > 0
    assert (best == labels)[asks].mean() >= 0.85
    assert (best[~asks] == 0).mean() >= 0.8


@pytest.mark.parametrize(
    ("question", "attribute"),
    [
        ("What is my present occupation, please?", "job"),
        ("Who is the lady I share my life with?", "partner"),
        ("what age am I", "age"),
        ("what's tunde allergic to?", "allergy:"),
        ("Remind me, who's my landlord?", "name"),
        ("Does my rabbit suffer from anything?", "condition:"),
    ],
)
def test_the_likeliest_attribute_is_the_one_that_is_meant(question: str, attribute: str) -> None:
    text = in_third_person(question)
    asked = asked_attributes(text, {embedder(): encode_question(text)})

    assert max(asked, key=asked.__getitem__) == attribute


@pytest.mark.parametrize("text", ["How do penguins keep warm?", "Write a birthday card for Mary."])
def test_other_messages_ask_for_no_attribute(text: str) -> None:
    assert asked_attributes(text, {}) == {}


def test_training_finds_what_tells_labels_apart() -> None:
    numbers = np.random.default_rng(1)
    labels = np.arange(200) % 3
    vectors = (np.eye(3, 8)[labels] + 0.1 * numbers.standard_normal((200, 8))).astype(np.float32)

    weight, bias = trainer.fit(vectors, labels)

    assert (softmax(vectors @ weight + bias).argmax(1) == labels).all()


def test_an_unknown_label_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "questions.tsv"
    file.write_text("shoe size\tWhich shoes fit me?\n")

    with pytest.raises(ValueError, match="There is no label shoe size"):
        trainer.read_file(file)
    assert "none" in LABELS
