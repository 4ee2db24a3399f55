"""The web is offered for questions about what is new in the world, and for nothing else."""

import pytest

from chat.tools.recency_cues import needs_web_search

NEWS = [
    "What is the latest version of Django?",
    "Who won the match last night?",
    "What's the weather in Lisbon tomorrow?",
    "Any news on the rail strike?",
    "How much is one bitcoin right now?",
    "What is the exchange rate of the euro?",
    "tell me the latest on the election",
    "Which Python releases are currently supported?",
    "Is the ferry to Cacilhas still open?",
    "What was announced this week about PostgreSQL 19?",
    "Hello there. What’s the most recent stable kernel?",
    "Search the web for my old school.",
    "I forgot his name; can you look it up online?",
]
NOT_NEWS = [
    "Where does my sister live?",
    "What is my latest goal?",
    "What did we decide about the current plan?",
    "What was the last thing I said about the news?",
    "Do you remember what I told you today?",
    "What's the date today?",
    "What time is it?",
    "Explain quicksort.",
    "Write a haiku about the weather",
    "I love the current weather.",
    "The newest member of our team is Ana.",
    "Who wrote Middlemarch?",
    "What do you know of me?",
    "Translate “good news” into Portuguese",
    "",
]


@pytest.mark.parametrize("message", NEWS)
def test_a_question_about_what_is_new_has_a_cue(message: str) -> None:
    assert needs_web_search(message)


@pytest.mark.parametrize("message", NOT_NEWS)
def test_anything_else_has_none(message: str) -> None:
    assert not needs_web_search(message)


def test_the_cue_and_the_question_stand_in_one_sentence() -> None:
    assert not needs_web_search("The latest release came out. Where does Anna live?")
    assert needs_web_search("I installed Django. Which is the latest release?")


def test_a_long_paste_is_read_quickly() -> None:
    assert not needs_web_search("it is what it is " * 30_000)
