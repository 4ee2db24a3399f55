"""Answers that only say the user's words back are told from those that add something."""

import pytest

from memory.text.message_kinds import ONLY_ASKS, asks, kind_of_request, repeats_memories
from offline.responder.wording import INTRODUCTION, REAL_MODEL, SELF, TO_REVIEW, WAITS

DEMO = "\n\nI'm Recall's built-in demo: a few rules, not a language model. I answer from your memories."


@pytest.mark.parametrize(
    ("answer", "message", "repeats"),
    [
        (
            "Got it: you're lactose intolerant, and your snack is chips.",
            "I'm lactose intolerant, my snack is chips",
            True,
        ),
        (f"Understood: you live in Lyon.{DEMO}", "i live in lyon", True),
        ("I'm sorry you feel that way. I'm only a simple demo, but you can tell me about it.", "I feel lonely", True),
        ("Nice to meet you, Lena.", "I'm Lena", True),
        ("Lyon has good trams and two rivers.", "i live in lyon", False),
        (f"You could try the market by the river.{DEMO}", "i live in lyon", False),
    ],
)
def test_an_answer_that_only_says_the_message_back_adds_nothing(answer: str, message: str, repeats: bool) -> None:
    assert repeats_memories(answer, message, []) is repeats


@pytest.mark.parametrize(
    "of_itself",
    [INTRODUCTION, REAL_MODEL, SELF, TO_REVIEW]
    + [WAITS.format(count=count) for count in ("1 memory waits", "2 memories wait")],
)
def test_what_the_demo_says_of_itself_adds_nothing(of_itself: str) -> None:
    assert repeats_memories(f"Noted: you live in Porto.\n\n{of_itself}", "I live in Porto", [])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I never told you where I live.", ONLY_ASKS),
        ("Why are you guessing? I never said that.", ONLY_ASKS),
        ("I never told you that my sister lives in Rome", ""),
    ],
)
def test_what_only_says_that_nothing_was_said_is_no_memory(text: str, kind: str) -> None:
    assert kind_of_request(text) == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("what does a two room flat cost in Porto these days, roughly? is it cheaper than Lisbon", ONLY_ASKS),
        ("what do midwives earn in Iceland? and is it hard to find a flat in Reykjavik with two cats", ONLY_ASKS),
        ("what is a fair price for a two room flat in Porto, the landlord wants 900 now", ""),
        ("how much chocolate is too much for a dog of that size, she's had half a bar", ""),
        ("is it hard to find a flat in Reykjavik with two cats, my sister and our piano", ""),
        ("ok now tell me how to descale a kettle w/o vinegar, the smell makes me heave", ""),
        ("Shellfish lay me out for two days, so which of these cruise dinners is left?", ""),
    ],
)
def test_a_longer_question_is_no_memory_unless_it_tells_of_someone(text: str, kind: str) -> None:
    assert kind_of_request(text) == kind


@pytest.mark.parametrize(
    ("text", "is_asked"),
    [
        ("and Tidemark, what's that written in", True),
        ("so the other Karim, where does he live", True),
        ("and I live in Lyon now, what a town", False),
        ("My sister, who is a nurse, lives in Leeds", False),
    ],
)
def test_a_question_may_name_first_what_it_is_about(text: str, is_asked: bool) -> None:
    assert asks(text) is is_asked
