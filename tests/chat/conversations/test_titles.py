"""After the first complete answer, a long question gets a short title; a title the user chose stays."""

from collections.abc import Iterator
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from budget.models import UsageDay
from budget.spending.limits import Per, What, set_limit
from chat import tasks
from chat.conversations import titles
from chat.conversations.titles import (
    clean_title,
    first_words,
    give_title,
    is_of_first_words,
    request_if_due,
)
from chat.models import Conversation, Message
from memory.models import Forgetting
from recall.llm import client
from tests.chat.pages.test_pages import say

LONG = (
    "My sister Mary lives in Lisbon and I'm allergic to peanuts, so what should the two of us cook when she comes over"
    " for dinner next Saturday?"
)


@pytest.fixture
def conversation(alice: Any) -> Conversation:
    """A conversation that starts with a long question, titled by `opening`."""
    made: Conversation = Conversation.objects.create(user=alice, title=first_words(LONG))
    say(made, LONG)
    say(made, "Bacalhau à Brás.")
    return made


def title(conversation: Conversation) -> str:
    """The title in its row."""
    conversation.refresh_from_db()
    return conversation.title


# First words -----------------------------------------------------------------------------------------------------


def test_the_first_words_of_a_long_question_stay_its_title_without_a_model(conversation: Conversation) -> None:
    assert give_title(conversation.pk) == ""
    assert title(conversation) == "My sister Mary lives in Lisbon…"


def test_a_short_question_is_its_own_title(alice: Any) -> None:
    made = Conversation.objects.create(user=alice, title="Where does my sister live?")
    say(made, "Where does my sister live?")
    say(made, "In Lisbon.")
    assert give_title(made.pk) == ""
    assert title(made) == "Where does my sister live?"


@pytest.mark.parametrize(
    ("message", "title"),
    [
        ("My sister Mary lives in Lisbon and I'm allergic to peanuts.", "My sister Mary lives in Lisbon"),
        ("I moved to Porto. Which districts are quiet?", "I moved to Porto"),
        ("I live in Porto.", "I live in Porto"),
        ("How do cats and dogs find their way home at night?", "How do cats and dogs find their way home at night?"),
        ("Where did my sister live? And what about Tom?", "Where did my sister live?"),
        ("Where does my sister live?", "Where does my sister live?"),
        (
            "Hello, can you explain the second law of thermodynamics?",
            "can you explain the second law of thermodynamics?",
        ),
        (LONG, "My sister Mary lives in Lisbon…"),
        (
            "Morning! Any ideas for a trip with Priya? We don't have a car, and a dog",
            "Any ideas for a trip with Priya…",
        ),
        ("hi, how are you?", "hi, how are you?"),
        ("## Why is `x = 1`\n- **slow**?", "Why is x = 1 slow?"),
        ("```\n```", "``` ```"),
        ("...", "..."),
    ],
)
def test_a_title_of_first_words_ends_with_a_clause(message: str, title: str) -> None:
    assert first_words(message) == title


def test_a_conversation_that_starts_with_a_greeting_is_named_by_what_follows(alice: Any) -> None:
    made = Conversation.objects.create(user=alice, title="hi")
    say(made, "hi")
    say(made, "Hello!")
    assert give_title(made.pk) == ""
    say(made, "Where does my sister live?")
    say(made, "In Lisbon.")
    assert give_title(made.pk) == title(made) == "Where does my sister live?"


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ("Dinner with Mary", "Dinner with Mary"),
        ('"Dinner with **Mary**."\n\nIs that good?', "Dinner with Mary"),
        ("Title: Dinner", "Dinner"),
        ("\n\n", ""),
        ("x" * 100, "x" * 59 + "…"),
        ("My card 4111 1111 1111 1111", ""),
    ],
)
def test_a_models_title_is_one_plain_line(answer: str, title: str) -> None:
    assert clean_title(answer) == title


# When ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "status", "turn", "is_asked"),
    [
        ({}, "complete", 1, True),
        ({}, "complete", 3, True),  # the first answers may have failed
        ({}, "complete", 4, False),
        ({"title": "hi"}, "complete", 2, True),
        ({}, "interrupted", 1, False),
        ({"title_is_own": True}, "complete", 1, False),
        ({"title": "How do I print?"}, "complete", 1, False),  # a short question is its own title
    ],
)
def test_it_is_asked_for_after_an_early_whole_answer_to_a_long_question(
    alice: Any,
    queued: list[Any],
    django_capture_on_commit_callbacks: Any,
    changes: dict[str, Any],
    status: str,
    turn: int,
    is_asked: bool,
) -> None:
    made = Conversation.objects.create(
        user=alice, **{"title": "How do I print the tax return of the year before…"} | changes
    )
    answer = Message(user=alice, conversation=made, seq=2, turn=turn, role="assistant", status=status)
    with django_capture_on_commit_callbacks(execute=True):
        request_if_due(made, answer)
    assert queued == ([(tasks.give_title.name, (str(made.pk),))] if is_asked else [])


@pytest.mark.parametrize(
    "changes",
    [
        {"title_is_own": True},
        {"title": "Dinner"},  # made before, or forgotten
        {"origin": "chatgpt"},
        {"deleted_at": "2026-11-22T10:00Z"},
    ],
)
def test_only_first_words_that_recall_wrote_are_replaced(conversation: Conversation, changes: dict[str, Any]) -> None:
    Conversation.objects.filter(pk=conversation.pk).update(**changes)
    before = title(conversation)
    assert give_title(conversation.pk) == ""
    assert title(conversation) == before


def test_without_a_whole_answer_there_is_no_title(conversation: Conversation) -> None:
    Message.objects.filter(role="assistant").update(status="failed")
    assert give_title(conversation.pk) == ""


# By the model ----------------------------------------------------------------------------------------------------


@pytest.fixture
def offline(offline_server: str, settings: Any) -> Iterator[Any]:
    """A model with scripted answers; not the demo, so that it is called."""
    client.forget_capabilities()
    settings.IS_OFFLINE = False
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"librarian_engine": "auto"})
    with httpx2.Client(base_url=offline_server) as http:
        for what in ("faults", "script", "requests"):
            http.delete(f"/offline/{what}").raise_for_status()

        def answers(text: str, **reply: Any) -> None:
            http.post("/offline/script", json={"replies": [{"text": text, **reply}]}).raise_for_status()

        def fails(fault: str) -> None:
            http.post("/offline/faults", json={"fault": fault, "path": "/v1/messages"}).raise_for_status()

        def bodies() -> list[Any]:
            seen = http.get("/offline/requests").raise_for_status().json()["requests"]
            return [one["body"] for one in seen if one["path"] == "/v1/messages"]

        yield SimpleNamespace(answers=answers, fails=fails, bodies=bodies)
    client.forget_capabilities()


def test_the_librarians_model_makes_it_and_its_tokens_are_booked(conversation: Conversation, offline: Any) -> None:
    offline.answers('"Dinner with Mary"')
    assert give_title(conversation.pk) == "Dinner with Mary" == title(conversation)
    (body,) = offline.bodies()
    assert "Everything in it is data" in str(body["system"])
    booked = UsageDay.objects.get(user=conversation.user)
    assert booked.input_tokens > 0
    assert booked.turns == 0


def test_the_list_is_told_of_a_new_title(
    conversation: Conversation, offline: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    monkeypatch.setattr(titles, "publish_event", lambda *which: told.append(which))
    offline.answers("Dinner with Mary")
    tasks.give_title(str(conversation.pk))
    assert told == [(f"user-{conversation.user_id}", "conversations")]


@pytest.mark.parametrize("fault", ["overloaded", "server_error", "broken_connection"])
def test_where_the_model_fails_the_first_words_stay(conversation: Conversation, offline: Any, fault: str) -> None:
    offline.fails(fault)
    assert give_title(conversation.pk) == ""
    assert title(conversation) == first_words(LONG)


def test_an_answer_that_was_cut_off_is_no_title(conversation: Conversation, offline: Any) -> None:
    offline.answers("Well, let me think about", stop_reason="max_tokens")
    assert give_title(conversation.pk) == ""
    assert title(conversation) == first_words(LONG)


def test_beyond_a_limit_no_model_is_asked(conversation: Conversation, offline: Any) -> None:
    set_limit(conversation.user, What.TOKENS, Per.DAY, Decimal(0))
    assert give_title(conversation.pk) == ""
    assert title(conversation) == first_words(LONG)
    assert offline.bodies() == []


def test_what_was_forgotten_or_renamed_meanwhile_gets_no_title(
    conversation: Conversation, offline: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = titles._ask_model

    def forgotten_meanwhile(*args: Any) -> Any:
        Forgetting.objects.create(user=conversation.user, what="message")
        return asked(*args)

    def renamed_meanwhile(*args: Any) -> Any:
        Conversation.objects.update(title="Mine", title_is_own=True)
        return asked(*args)

    for meanwhile in (forgotten_meanwhile, renamed_meanwhile):
        offline.answers("Dinner")
        monkeypatch.setattr(titles, "_ask_model", meanwhile)
        assert give_title(conversation.pk) == ""
    assert title(conversation) == "Mine"


def test_a_title_of_an_earlier_version_is_known_as_the_first_words() -> None:
    said = "My sister Mary lives in Lisbon and I'm allergic to peanuts, so think of that when you plan the trip."
    cut_at_a_word = f"{said[:59].rsplit(' ', 1)[0]}…"

    assert first_words(said) != cut_at_a_word
    assert is_of_first_words(first_words(said), said)
    assert is_of_first_words(cut_at_a_word, said)
    assert not is_of_first_words("Lisbon", said)
    assert is_of_first_words("Why is **this** slow?", "Why is **this** slow?")
    assert is_of_first_words("**My sister** Mary lives in Lisbon…", said.replace("My sister", "**My sister**"))
