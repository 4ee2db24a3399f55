"""What is said in a turn is indexed when the turn ends, and what was missed is indexed later."""

from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async

from accounts.models import User
from chat.ingest import librarian_triggers
from chat.ingest.librarian_triggers import queue_missing_indexes
from chat.ingest.source import ChatSource
from chat.models import Conversation, Message
from chat.turns.intake import accept_message
from chat.turns.recovery import mark_abandoned_answers
from memory.index.indexer import INDEX_TASK, index_conversation
from memory.models import Chunk
from memory.ports.source import Utterance
from tests.chat.conftest import Provider, Tabs
from tests.memory.index.test_indexer import MONDAY

pytestmark = pytest.mark.django_db(transaction=True)


def texts(user: User) -> list[str]:
    return list(Chunk.objects.for_user(user).order_by("place", "number").values_list("text", flat=True))


async def test_a_turn_is_in_the_index_when_it_is_closed(alice: Any, tabs: Tabs, provider: Provider) -> None:
    provider.script({"text": "A fine instrument."})
    tab = await tabs.open(alice)

    await tab.talk("I bought a cello in Cremona.")

    assert await sync_to_async(texts)(alice) == ["I bought a cello in Cremona.", "A fine instrument."]


def test_what_was_missed_is_noticed_until_it_is_indexed(alice: User) -> None:
    said = [Utterance(0, 1, "user", "I bought a cello in Cremona.", MONDAY)]
    (message,) = ChatSource().import_conversation(alice, "Instruments", said)
    Chunk.objects.all().delete()
    long_ago(message)
    Conversation.objects.create(user=alice, title="Nothing said yet")

    assert queue_missing_indexes() == 1
    index_conversation(Message.objects.get(pk=message).conversation_id)

    assert texts(alice) == ["I bought a cello in Cremona."]
    assert queue_missing_indexes() == 0


def test_a_message_without_passages_is_noticed_in_a_conversation_that_has_some(alice: User) -> None:
    first, second = said_twice(alice)
    Chunk.objects.filter(message_id=second).delete()
    long_ago(second)

    assert queue_missing_indexes() == 1
    index_conversation(Message.objects.get(pk=first).conversation_id)
    assert texts(alice) == ["I bought a cello in Cremona.", "Its name is Carla."]


def test_only_the_latest_messages_are_looked_through_until_the_night(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(librarian_triggers, "LATEST", 2)
    first, _ = said_twice(alice)
    long_ago(first)
    Chunk.objects.filter(message_id=first).delete()
    assert queue_missing_indexes() == 1, "it is one of the latest two"

    said_twice(alice)
    assert queue_missing_indexes() == 0
    assert queue_missing_indexes(everywhere=True) == 1


def test_a_message_of_another_branch_is_not_looked_for_again(alice: User) -> None:
    first, second = said_twice(alice)
    message = Message.objects.get(pk=first)
    Conversation.objects.filter(pk=message.conversation_id).update(active_leaf=message)
    index_conversation(message.conversation_id)
    long_ago(second)
    assert texts(alice) == ["I bought a cello in Cremona."]
    assert queue_missing_indexes() == 0


def test_the_question_of_a_crashed_process_is_queued_for_the_index(
    alice: User, queued: list[tuple[str, tuple[str | int, ...]]]
) -> None:
    accepted = accept_message(alice, uuid4(), None, "I bought a cello in Cremona.")
    Message.objects.filter(pk=accepted.answer.pk).update(process_key=1)  # no process holds it
    assert mark_abandoned_answers() == 1
    assert (INDEX_TASK, (str(accepted.conversation.pk),)) in queued
    index_conversation(accepted.conversation.pk)
    assert texts(alice) == ["I bought a cello in Cremona."]


def said_twice(user: User) -> tuple[int, int]:
    said = [
        Utterance(0, 1, "user", "I bought a cello in Cremona.", MONDAY),
        Utterance(0, 2, "user", "Its name is Carla.", MONDAY),
    ]
    first, second = ChatSource().import_conversation(user, "Instruments", said)
    return first, second


def long_ago(message: int) -> None:
    Message.objects.filter(pk=message).update(created_at=MONDAY)
