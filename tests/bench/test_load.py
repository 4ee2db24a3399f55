"""`bench.load --saturate` lets each socket send again as soon as its answer ended."""

import asyncio
import json
import random
from argparse import Namespace
from collections.abc import AsyncIterator
from unittest.mock import Mock

import pytest

from bench.load.__main__ import Seen, Talker, ratios_of
from bench.turn.__main__ import Person


class Socket:
    """Accepts each message and ends its answer at once, `answers` times."""

    def __init__(self, answers: int) -> None:
        self.sent = 0
        self._left = answers

    async def __aenter__(self) -> "Socket":
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def send(self, frame: str) -> None:
        self.sent += 1

    async def __aiter__(self) -> AsyncIterator[str]:
        if not self._left:
            raise KeyboardInterrupt
        self._left -= 1
        yield json.dumps({"type": "accepted", "conversation": "c"})
        yield json.dumps({"type": "done"})


async def test_without_a_pause_a_message_follows_the_end_of_each_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    socket, seen, slept = Socket(answers=7), Seen(), []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr("bench.load.__main__.asyncio", Mock(wraps=asyncio, sleep=sleep))  # others' tasks sleep, too
    monkeypatch.setattr("websockets.asyncio.client.connect", lambda *_, **__: socket)
    with pytest.raises(KeyboardInterrupt):
        await Talker(Person("cookie"), 1, 0.0, seen, random.Random(1)).talk()

    assert (seen.done, socket.sent) == (7, 8)
    assert len(slept) == 1, "only before it connects"


def test_what_fewer_sockets_get_done_is_compared_with_what_more_do() -> None:
    done = {f"{sockets} sockets, 1 web, turns/s": (rate, "turns/s") for sockets, rate in ((50, 30.0), (200, 24.0))}

    assert ratios_of(done, Namespace(sockets=[200, 50], web=[1])) == {"50 sockets over 200, 1 web": 1.25}
