"""Growing text is rendered where it costs least, and everyone who watches a conversation hears its running turn."""

import threading
import time
from uuid import uuid4

import pytest

from chat.turns.live import QUICK_CHARS, QUICK_SECONDS, RunningTurn, TurnRegistry
from chat.turns.live_text import Frame, LiveText


async def test_short_text_needs_no_thread_unless_the_text_before_it_took_long(monkeypatch: pytest.MonkeyPatch) -> None:
    in_thread: list[bool] = []

    def grow(self: LiveText, more: str) -> Frame:
        in_thread.append(threading.current_thread() is not threading.main_thread())
        self.text += more
        until = time.thread_time() + ("slow" in more) * 2 * QUICK_SECONDS
        while time.thread_time() < until:
            pass
        return {"type": "delta"}

    monkeypatch.setattr(LiveText, "grow", grow)
    turn = RunningTurn(user_id=1, conversation_id=uuid4(), message_id=7)
    for text in ("Mary ", "x" * (QUICK_CHARS + 1), "slow ", "in ", "Lisbon."):
        turn.text += text
        await turn.flush()
    assert in_thread == [False, True, False, True, False]


async def test_who_joins_after_an_older_turn_ended_hears_the_newer_one() -> None:
    turns, conversation = TurnRegistry(), uuid4()
    heard: list[Frame] = []

    async def work() -> None:
        return None

    older, newer = (RunningTurn(user_id=1, conversation_id=conversation, message_id=number) for number in (7, 9))
    for turn in (older, newer):
        turn.announced = True
        turns.start(turn, work())

    turns.finish(older)
    turns.subscribe(conversation, heard.append)
    newer.set_status("working")

    assert [frame["message"] for frame in heard] == [9]
