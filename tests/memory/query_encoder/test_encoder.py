"""A question's vector is near what answers it, in words of its own, and far from what doesn't."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from memory.embeddings.port import embedder
from memory.network.contrastive import TrainingQuestion, fit
from memory.query_encoder.encoder import encode_question, pieces_of
from memory.query_encoder.labeled import judge, read_questions

trainer = import_module("memory.management.commands.train-query-encoder")

DEVELOPMENT = Path(__file__).parents[1] / "data" / "asked_dev.ask"
"""168 questions by an author whose questions it was not trained on."""
MIN_COSINE = 0.2


def test_what_answers_comes_first_and_nothing_is_near_a_question_that_nothing_answers() -> None:
    questions = read_questions(DEVELOPMENT.read_text("utf-8"))
    near = [np.array(embedder().embed(one.memories)) @ encode_question(trainer.query_of(one)) for one in questions]
    answered = [(one, cosines) for one, cosines in zip(questions, near, strict=True) if one.answers]
    others = [cosines for one, cosines in zip(questions, near, strict=True) if not one.answers and not one.helps]

    assert np.mean([cosines.argmax() in one.answers for one, cosines in answered]) >= 0.75
    assert np.mean([cosines.max() < MIN_COSINE for cosines in others]) >= 0.6


def test_a_vector_has_length_one() -> None:
    assert np.linalg.norm(encode_question("Where does the user live?")) == pytest.approx(1, abs=1e-5)


def test_labeled_questions_are_read_with_what_answers_them() -> None:
    said = "person: a\n1 fact: The user bakes.\n2 said: nice\nask: what do i do?\nanswers: 1\nhelps: 2\nask: why?\n"
    first, second = read_questions(f"{said}person: b\nspeakers: Ann, Bo\n1 said: I row.\nask: What does Ann do?\n")[:2]

    assert (first.text, first.answers, first.helps, list(first.memories)) == (
        "what do i do?", [0], [1], ["The user bakes.", "nice"],
    )  # fmt: skip
    assert (second.answers, second.speakers) == ([], ())
    with pytest.raises(ValueError, match="no line of labeled questions"):
        read_questions("question: why?")


def test_the_judge_counts_answers_that_come_first_and_silence() -> None:
    first, second = read_questions("1 fact: A.\n2 fact: B.\nask: a?\nanswers: 2\nask: b?")

    said = judge([first, second], [np.array([0.1, 0.4]), np.array([0.3, 0.1])], 0.2)

    assert said == "an answer first for 100.0 % of 1, nothing for 0.0 % of 1 that have none"


def test_fitting_draws_a_question_to_its_answer() -> None:
    question, answer, other = "what puts food on my table", "The user is a baker.", "The user's table is round."
    others = embedder().embed([answer, other])
    asked = TrainingQuestion(pieces_of(question), embedder().embed([question])[0], others, [0])
    losses: list[float] = []

    weights = fit([asked] * 8, lambda _, loss: losses.append(loss), epochs=6)

    assert losses[-1] < losses[0] / 2
    assert weights["head.weight"].shape == (384, 384)
