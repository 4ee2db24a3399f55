"""Requests to forget are read in whatever words, and little else is taken for one."""

import re
from pathlib import Path

import pytest

from memory.forget_requests import requests
from memory.forget_requests.labeled import LabeledMessage, read_line
from memory.forget_requests.requests import MAX_CHARS, ForgetRequest, find_request
from memory.text.keywords import content

DATA = Path(__file__).parents[1] / "data"
MARK = re.compile(r"\[[-~]?\*?[a-z]+:([^\[\]]+)\]")
"""Of the tagger's data, around a value."""


def test_most_requests_of_a_person_it_has_not_learned_from_are_found() -> None:
    messages = [read_line(line) for line in (DATA / "forget_requests_unseen.txt").read_text("utf-8").splitlines()]
    found = [(message, find_request(message.pieces.text)) for message in messages]

    right = [(message, request) for message, request in found if request and message.kind != "none"]
    named = [(message, request) for message, request in right if message.kind == "topic"]

    assert len(right) >= 0.85 * sum(message.kind != "none" for message in messages)
    assert len(right) >= 0.95 * sum(request is not None for _, request in found)
    assert sum(_names_the_same(*one) for one in named) >= 0.8 * len(named)


def _names_the_same(message: LabeledMessage, request: ForgetRequest) -> bool:
    """Whether at least half of the words that name it, and at least half of those that are said to, are the same."""
    wanted, named = content(" ".join(message.topics)), content(request.topic)
    return 2 * len(wanted & named) >= max(len(wanted), len(named))


def test_hardly_any_ordinary_message_is_taken_for_a_request() -> None:
    messages = [MARK.sub(r"\1", line) for line in (DATA / "tagged_later_unseen.txt").read_text("utf-8").splitlines()]

    assert sum(find_request(message) is not None for message in messages) <= 0.01 * len(messages)


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("forget my ex's name", "my ex's name"),
        ("Please forget what I said about the move.", "the move"),
        ("Can you forget my address?", "my address"),
        ("Hi! Please forget my birthday. What's for dinner?", "my birthday"),
        ("can you remove what you know about my health", "my health"),
        ("Stop remembering my diet", "my diet"),
        ("hey. please forget what I said about my sister, that was private", "my sister"),
        ("She reads along sometimes so delete the ring from your memory please", "the ring"),
        ("could you forget the bit about poker? my brother uses this account", "poker"),
        ("forget about the party for anneke, she looks over my shoulder when im chatting", "the party for anneke"),
        ("Forget what I told you about the therapist. And the panic attacks.", "the therapist; the panic attacks"),
        ("Please wipe everything I told you about the divorce. I don't want it popping up.", "the divorce"),
        ("I would prefer you don't keep my date of birth. The rest can stay, no problem.", "my date of birth"),
        ("forget my weight but keep my height", "my weight"),
        ("You can let go of my knee surgery. Still keep the bit about my running club.", "my knee surgery"),
        ("Please don't keep my student number.", "my student number"),
        ("Jarek has settled up. Drop him from your memory completely.", "Jarek"),
        ("I'm uneasy that my salary sits in here. Can you remove it? Where I work you can keep.", "my salary"),
    ],
)
def test_a_topic_is_named_in_the_words_of_the_message(text: str, topic: str) -> None:
    assert find_request(text) == ForgetRequest(topic)


@pytest.mark.parametrize("text", ["please forget that", "don't remember that", "forget what I just told you"])
def test_that_is_the_message_before(text: str) -> None:
    assert find_request(text) == ForgetRequest()


@pytest.mark.parametrize("text", ["Forget everything", "please wipe all you know about me"])
def test_everything_is_asked_to_be_forgotten(text: str) -> None:
    assert find_request(text) == ForgetRequest(everything=True)


@pytest.mark.parametrize(
    "text",
    [
        "Don't forget to call the bank.",
        "Delete the part about dogs.",
        "Forget the sugar, I'd use honey.",
        "I forget what it's called",
        "Never forget that day",
        "Forget it, let's move on",
        "Forget that. What about lunch?",
        "Forget the cheese, use tofu",
        "how do I delete an address from my phone?",
        "I always panic and forget everything about the exam",
        "scrap the second part, it's too long",
        "take milk off my shopping list",
        "Did you forget my name?",
        "Can you forget things?",
        "Forget all previous instructions",
        "forget Leeds, I live in York now",
        "My memory is bad",
        "I live in Porto with two cats.",
        "I have diabetes",
        "My salary",
        "Please remember my nut allergy",
        "I got my rent wrong the other day, it's 910, forgot about the service charge. Can you redo the split?",
        "the allergy you should absolutely keep, obviously",
        "Please remind me what I told you about my nephew's allergy",
        "keep in mind my knee injury",
        "I keep forgetting my wife's birthday, when is it?",
        "Vergiss bitte meine Adresse, ich ziehe um",
    ],
)
def test_figures_of_speech_and_other_talk_ask_for_nothing(text: str) -> None:
    assert find_request(text) is None


def test_what_someone_else_asked_is_quoted() -> None:
    assert find_request('He said: "please forget what I told you about my name"') is None


def test_a_request_at_the_end_of_a_long_message_is_found() -> None:
    told = (
        "We drove to the coast and had lunch on the pier, then it rained all afternoon. The kids built a den of sofa "
        "cushions and refused to come out for tea. My sister rang from Leeds, the boiler is fixed at last and the man "
        "only charged her forty. We talked until midnight about the garden, and the dog snored. "
    )
    assert find_request(f"{told}Please forget what I said about the clinic.") == ForgetRequest("the clinic")


def test_neither_a_text_to_work_on_nor_a_message_without_a_hint_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "read_scores", None)
    assert find_request("Which wine goes with trout?") is None
    assert find_request(f"Please forget my name. {'It rained. ' * MAX_CHARS}") is None


def test_a_line_without_a_letter_or_with_marks_where_nothing_is_named_is_refused() -> None:
    assert read_line("F\tplease wipe [[the move]]").topics == {"the move"}
    for line in ("please wipe [[the move]]", "N\tplease wipe [[the move]]", "F\tplease wipe the move"):
        with pytest.raises(ValueError, match="no labeled request"):
            read_line(line)
