"""An answer that another process shows: its text and its Stop arrive although events were lost."""

import asyncio
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError

from chat.turns import remote
from chat.turns.live import TURN_REGISTRY, RunningTurn


@pytest.fixture
def turn() -> Iterator[RunningTurn]:
    """An answer that is being written here."""
    turn = RunningTurn(user_id=1, conversation_id=uuid4(), message_id=7)
    TURN_REGISTRY.by_conversation[turn.conversation_id] = turn
    yield turn
    TURN_REGISTRY.finish(turn)


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
