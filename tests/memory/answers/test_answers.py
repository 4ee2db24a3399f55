"""A memory that answers a question is told from one that is only about the same things, in whatever words."""

from pathlib import Path
from random import Random

import numpy as np
import pytest

from memory.answers.answers import ANSWERS, HELPS, NEITHER, chance
from memory.answers.labeled import CHOSEN, LabeledPair, pairs_of, read_pairs
from memory.embeddings.port import embedder
from memory.query_encoder.encoder import encode_question
from memory.query_encoder.labeled import Question, read_questions
from memory.retrieval.reading import odds

DEVELOPMENT = Path(__file__).parents[1] / "data" / "asked_dev.ask"
"""168 questions by an author whose questions it was not trained on; every second one that has an answer is read."""
TRAM = "on the number 19 tram my back is killing me by the second loop, stretches for a driver's seat?"


def test_read_with_its_cosine_an_answer_is_first_more_often_than_by_its_cosine_alone() -> None:
    answered = [one for one in read_questions(DEVELOPMENT.read_text("utf-8")) if one.answers][::2]
    alone = read = 0
    for one in answered:
        cosines = np.array(embedder().embed(one.memories)) @ encode_question(one.text)
        fits = [odds(chance(one.text, text), cosine) for text, cosine in zip(one.memories, cosines, strict=True)]
        alone += int(cosines.argmax()) in one.answers
        read += int(np.argmax(fits)) in one.answers

    assert read > alone


@pytest.mark.parametrize(
    ("question", "memory", "other"),
    [
        ("what do i do for work", TRAM, "the tram stop by the museum is closed, how do i get there from the station"),
        ("what am i allergic to", "no sesame anywhere near it, i go straight to hospital", "is sesame oil healthy?"),
        ("whats my little brothers name", "my lil bro Keanu got suspended, help", "my mom is so strict, tips?"),
    ],
)
def test_an_answer_in_other_words_is_likelier_than_what_has_the_same_words(
    question: str, memory: str, other: str
) -> None:
    assert chance(question, memory) > 2 * chance(question, other)


def test_of_a_question_what_answers_what_helps_and_some_of_the_nearest_others_are_learned_from() -> None:
    texts = [f"text {number}" for number in range(8)]
    question = Question("what?", (), texts, ["said"] * 8, answers=[0], helps=[1])

    pairs = list(pairs_of(question, np.linspace(1, 0, 8, dtype=np.float32), Random(1)))

    assert pairs[:2] == [LabeledPair("what?", "text 0", ANSWERS), LabeledPair("what?", "text 1", HELPS)]
    assert len(pairs[2:]) == CHOSEN
    assert {(one.label, one.memory in texts[2:7]) for one in pairs[2:]} == {(NEITHER, True)}


def test_pairs_are_read_one_a_line() -> None:
    assert read_pairs(["answers\twhere do i live?\tI'm in Ghent", "neither\twhy?\tI row"]) == [
        LabeledPair("where do i live?", "I'm in Ghent", ANSWERS),
        LabeledPair("why?", "I row", NEITHER),
    ]
    with pytest.raises(ValueError, match="no label, question and memory"):
        read_pairs(["maybe\twhy?\tI row"])
