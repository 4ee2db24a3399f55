"""An answer that another process shows: its text and its Stop arrive although events were lost."""

import asyncio
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from channels.layers import get_channel_layer
from django.db import OperationalError

from chat.models import Message
from chat.turns import remote
from chat.turns.live import TURN_REGISTRY, RunningTurn
from recall.db.connections import run_at_once
from recall.db.notify import RESYNC
from tests.chat.conftest import Provider, Tabs


@pytest.fixture
def turn() -> Iterator[RunningTurn]:
    """An answer that is being written here."""
    turn = RunningTurn(user_id=1, conversation_id=uuid4(), message_id=7)
    TURN_REGISTRY.by_conversation[turn.conversation_id] = turn
    yield turn
    TURN_REGISTRY.finish(turn)


@pytest.mark.django_db(transaction=True)
async def test_text_that_the_database_refused_is_published_when_it_is_back(
    turn: RunningTurn, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = ["thinking", "text"]
    published: list[tuple[str, Any, Any]] = []

    def publish(group: str, kind: str, **ids: Any) -> None:
        if kind == remote.THOUGHT and "thinking" in refusals:
            refusals.remove("thinking")
            raise OperationalError
        if kind == remote.DELTA and "text" in refusals:
            refusals.remove("text")
            raise OperationalError
        published.append((kind, ids["offset"], ids["text"]))

    monkeypatch.setattr(remote, "publish_event", publish)
    monkeypatch.setattr(remote, "SHARE_AGAIN", 0.01)
    turn.text, turn.thinking, turn.shared = "Once upon a time", "A tale.", 5
    sharing = asyncio.create_task(remote.share(turn))
    async with asyncio.timeout(10):
        while (remote.DELTA, 5, "upon a time") not in published:  # noqa: ASYNC110 -- appended by a thread
            await asyncio.sleep(0.01)
    assert published[0] == (remote.THOUGHT, 0, "A tale.")
    assert (turn.shared, turn.thinking_shared, refusals) == (16, 7, [])
    TURN_REGISTRY.finish(turn)
    await sharing


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("queued")
async def test_a_stop_whose_event_was_lost_is_found_again(alice: Any, bob: Any, tabs: Tabs, provider: Provider) -> None:
    provider.fail("slow:0.2", times=2)
    hers, his = await tabs.open(alice), await tabs.open(bob)
    stopped = await hers.ask("Tell me a story")
    await his.ask("Tell me a story")
    layer = get_channel_layer()
    listening = asyncio.create_task(remote.listen())
    async with asyncio.timeout(10):
        while remote.PROCESSES not in layer.groups:  # noqa: ASYNC110 -- joined by the task
            await asyncio.sleep(0.01)

    await run_at_once(remote.publish_stop, UUID(stopped["conversation"]))  # here no connection listens
    await layer.group_send(remote.PROCESSES, {"type": "nudge", "kind": RESYNC})
    assert (await hers.hear("done"))["outcome"] == "interrupted"
    assert (await his.hear("done"))["outcome"] == "complete"
    assert remote.STOP_ASKED not in (await Message.objects.aget(pk=stopped["message"])).event_data
    listening.cancel()
