"""“Hi, me again”: a new conversation starts with what was left open, and the receipt says why."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from accounts.models import User
from budget.planning.plan import Section
from chat.models import Conversation, Message
from chat.prompt.assemble import assemble_prompt
from chat.turns.intake import accept_message
from memory.index.indexer import embed_pending, index_conversation
from memory.models import Episode, Fact

pytestmark = pytest.mark.django_db
SAID = "I am writing a talk on bees for Thursday."


def session(user: User, *texts: str, days_ago: float = 1) -> Conversation:
    """A conversation in which the user said these things, each with an answer."""
    opened = accept_message(user, uuid4(), None, texts[0])
    for text in texts:
        if text != texts[0]:
            opened = accept_message(user, uuid4(), opened.conversation.pk, text)
        Message.objects.filter(pk=opened.answer.pk).update(text="I see.", status=Message.Status.COMPLETE)
    at = timezone.now() - timedelta(days=days_ago)
    Conversation.objects.filter(pk=opened.conversation.pk).update(last_activity_at=at)
    return opened.conversation


def opened_with(user: User, text: str = "Hi, me again") -> list[Any]:
    """The recalled memories of a new conversation's first prompt."""
    prompt = assemble_prompt(accept_message(user, uuid4(), None, text))
    return [piece for piece in prompt.fitted.kept if piece.section == Section.MEMORIES]


def test_the_last_sessions_own_words_serve_where_there_is_no_episode(alice: User) -> None:
    session(alice, "I collect stamps from Peru.", days_ago=3)
    session(alice, "Hello!", SAID, "What is a drone?", "Can you draft the opening?", "Thanks!")

    items = opened_with(alice)

    assert [piece.label for piece in items] == [SAID, "Can you draft the opening?"]
    assert {piece.parts["opening"] for piece in items} == {1.0}


def test_of_a_long_session_the_beginning_and_the_end_are_shown_once_and_marked(alice: User) -> None:
    session(alice, SAID, "My dog is Rex.", "My bees live in Ulm.", "Now I need the last slide, on working bees.")

    prompt = assemble_prompt(accept_message(alice, uuid4(), None, "What was I working on?"))

    assert [(memory.text, memory.answers) for memory in prompt.contents.recalled] == [
        (SAID, "last session"),
        ("My bees live in Ulm.", "last session"),
        ("Now I need the last slide, on working bees.", "last session"),
    ]


def test_what_is_known_of_a_new_user_is_what_they_just_said_elsewhere(alice: User) -> None:
    session(alice, SAID, days_ago=0)
    assert [piece.label for piece in opened_with(alice, "What do you know about me?")] == [SAID]


def test_an_episode_of_that_session_is_enough(alice: User) -> None:
    last = session(alice, SAID)
    now = timezone.now()
    Episode.objects.create(
        user=alice, conversation=last, title="A talk", summary="Decided on bees.", significance=0.5, happened_at=now
    )

    assert [piece.label for piece in opened_with(alice)] == ["Decided on bees."]


def test_an_open_goal_comes_with_the_last_sessions_words(alice: User) -> None:
    session(alice, SAID)
    Fact.objects.create(user=alice, kind="goal", status="active", statement="The user wants to keep bees.")

    assert [piece.label for piece in opened_with(alice)] == ["The user wants to keep bees.", SAID]


def test_a_first_message_with_a_topic_recalls_no_last_session(alice: User) -> None:
    session(alice, SAID)

    assert opened_with(alice, "What is the capital of Mongolia?") == []


def test_who_asks_how_a_topic_ended_gets_that_conversation_and_not_the_last_one(alice: User) -> None:
    session(alice, SAID, "My dog is Rex.", "Now I need the last slide, on working bees.", days_ago=3)
    session(alice, "I collect stamps from Peru.", days_ago=1)
    for talk in Conversation.objects.for_user(alice):
        index_conversation(talk.pk)
    embed_pending()

    asked = opened_with(alice, "Where did we leave off with my talk on bees?")
    named = opened_with(alice, "Who hears my talk on bees?")

    opening = [piece.label for piece in asked if "opening" in piece.parts]
    assert opening == [SAID, "My dog is Rex.", "Now I need the last slide, on working bees."]
    assert not [piece for piece in named if "opening" in piece.parts]


@pytest.mark.parametrize("status", [Fact.Status.REJECTED, Fact.Status.SUPERSEDED])
def test_what_a_withdrawn_fact_was_learned_from_is_left_out(alice: User, status: str) -> None:
    last = session(alice, SAID)
    question = last.messages.get(role="user")
    Fact.objects.create(user=alice, status=status, statement="The user gives talks.", quote=SAID, message=question)

    assert opened_with(alice) == []


@pytest.mark.parametrize("said", ["My password is hunter2secret.", "We talked of [forgotten].", "What is a drone?"])
def test_secrets_forgotten_words_and_bare_questions_are_not_repeated(alice: User, said: str) -> None:
    session(alice, said)

    assert opened_with(alice) == []


def test_deleted_old_and_other_peoples_sessions_do_not_count(alice: User, bob: User) -> None:
    deleted = session(alice, SAID)
    Conversation.objects.filter(pk=deleted.pk).update(deleted_at=timezone.now())
    session(alice, SAID, days_ago=31)
    session(bob, SAID)

    assert opened_with(alice) == []
