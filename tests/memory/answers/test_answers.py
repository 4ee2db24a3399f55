"""A memory that answers a question is told from one that is only about the same things, in whatever words."""

from pathlib import Path
from random import Random

import numpy as np
import pytest

from memory.answers.answers import ANSWERS, HELPS, NEITHER, chance
from memory.answers.counterfactual import of_another
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


@pytest.mark.parametrize(
    ("question", "memory", "kept"),
    [
        ("Where does my sister live?", "My sister Mary moved to Oslo.", "Where does my "),
        ("what is Mary allergic to?", "My sister Mary can't have nuts.", " allergic to?"),
        ("What is my job?", "I teach maths in Leeds.", "'s job?"),
        ("where do I live", "we got the keys, hello Ghent", "where does my "),
    ],
)
def test_a_question_is_asked_of_someone_whom_its_answer_does_not_name(question: str, memory: str, kept: str) -> None:
    others = [memory, "My cousin Amina is a vet."]
    for seed in range(20):
        asked = of_another(question, memory, others, Random(seed))
        assert asked is not None
        assert kept in asked
        assert asked != question
        assert not any(whom in asked for whom in ("sister", "Mary", " I ") if whom in memory)


@pytest.mark.parametrize(
    ("question", "memory"),
    [
        ("Where does my sister live?", "The one in Oslo is Mary."),
        ("Does my sister know my boss?", "My sister and my boss are neighbours."),
        ("when is the concert?", "The concert is on Friday."),
        ("What did I tell you about Lisbon?", "We were in Lisbon."),
    ],
)
def test_whose_question_is_unclear_is_asked_of_no_one_else(question: str, memory: str) -> None:
    assert of_another(question, memory, [memory], Random(1)) is None


def test_what_answers_a_question_answers_it_no_more_when_it_is_asked_of_someone_else() -> None:
    chances = Random(1)
    files = (DEVELOPMENT, DEVELOPMENT.with_name("answers_dev.ask"))
    asked = [
        (one.text, other, one.memories[place])
        for file in files
        for one in read_questions(file.read_text("utf-8"))
        for place in one.answers
        if "my " in one.text.lower() and (other := of_another(one.text, one.memories[place], one.memories, chances))
    ]
    answered, by_another = (sum(chance(pair[which], pair[2]) > 0.5 for pair in asked) for which in (0, 1))

    assert len(asked) > 25
    assert answered > 3 * by_another
