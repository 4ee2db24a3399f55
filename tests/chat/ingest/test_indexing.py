"""What is said in a turn is in the index when the turn is closed, and what was missed gets there."""

from typing import Any

import pytest
from asgiref.sync import sync_to_async

from accounts.models import User
from chat.ingest.librarian_triggers import queue_missing_indexes
from chat.ingest.source import ChatSource
from chat.models import Conversation, Message
from memory.index.indexer import index_conversation
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
    Conversation.objects.create(user=alice, title="Nothing said yet")

    assert queue_missing_indexes() == 1
    index_conversation(Message.objects.get(pk=message).conversation_id)

    assert texts(alice) == ["I bought a cello in Cremona."]
    assert queue_missing_indexes() == 0
