"""Admission: how many answers one web process writes at once, and who is next when more are asked for.

A message is stored before its turn waits here, so waiting costs neither a thread nor a connection, and a crash loses
nothing. The page says which number in line it is.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from recall.environment import setting
from recall.observability.metrics import TURNS_WAITING

MAX_TURNS: Final[int] = setting("max_turns", 100)
"""Answers that one web process writes at once: about what one core carries. A small local model wants fewer."""
TELL_EVERY: Final = 2.0
"""Seconds between two updates of the number in line."""
TELL_FROM: Final = 0.1
"""Share of its number by which one moves up before it hears of it: at the end of a long line, not of every place."""


@dataclass(eq=False, slots=True)
class Waiting:
    """A turn that waits for its place."""

    user_id: int
    place: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


def admission_order(waiting: Sequence[Waiting], running: Mapping[int, int]) -> list[Waiting]:
    """Who is next, fairly by person: fewest answers first, those before it in line included; then who came first."""
    ahead = Counter(dict(running))
    keys: dict[Waiting, tuple[int, int]] = {}
    for number, one in enumerate(waiting):
        keys[one] = (ahead[one.user_id], number)
        ahead[one.user_id] += 1
    return sorted(waiting, key=keys.__getitem__)


class Admission:
    """The places of one process."""

    def __init__(self, places: int = MAX_TURNS) -> None:
        self._places = places
        self._running: Counter[int] = Counter()
        self._waiting: list[Waiting] = []
        self._numbers: dict[Waiting, int] = {}
        self._numbered_at = 0.0

    @asynccontextmanager
    async def place(self, user_id: int, tell: Callable[[int], None]) -> AsyncIterator[None]:
        """One place, for the block; while it waits, `tell` gets its number in line."""
        if self._waiting or self._running.total() >= self._places:
            await self._wait(Waiting(user_id), tell)
        else:
            self._running[user_id] += 1
        try:
            yield
        finally:
            self._leave(user_id)

    async def _wait(self, one: Waiting, tell: Callable[[int], None]) -> None:
        self._waiting.append(one)
        last_number = 0
        TURNS_WAITING.inc()
        try:
            while not one.place.done():
                number = self._number(one)
                if abs(number - last_number) > TELL_FROM * last_number:
                    last_number = number
                    tell(number)
                await asyncio.wait([one.place], timeout=TELL_EVERY)
        except asyncio.CancelledError:
            if one.place.done():
                self._leave(one.user_id)  # it got its place in the same moment
            else:
                self._waiting.remove(one)
            raise
        finally:
            TURNS_WAITING.dec()

    def _number(self, one: Waiting) -> int:
        """Its number in line, at most `TELL_EVERY` old: the line is sorted once for all who wait in it."""
        now = time.monotonic()
        if one not in self._numbers or now - self._numbered_at >= TELL_EVERY:
            order = admission_order(self._waiting, self._running)
            self._numbers = {each: number for number, each in enumerate(order, start=1)}
            self._numbered_at = now
        return self._numbers[one]

    def _leave(self, user_id: int) -> None:
        self._running[user_id] -= 1
        if not self._running[user_id]:
            del self._running[user_id]
        if self._waiting and self._running.total() < self._places:
            following = admission_order(self._waiting, self._running)[0]
            self._waiting.remove(following)
            self._running[following.user_id] += 1
            following.place.set_result(None)


ADMISSION: Final = Admission()
