"""Where more turns are asked for than fit, they wait in line, fairly by person, and each is told its number."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from chat.turns import admission
from chat.turns.admission import Admission, Waiting, admission_order

ALICE, BOB, CHARLIE = 1, 2, 3


@pytest.mark.parametrize(
    ("running", "waiting", "order"),
    [
        ({}, [ALICE, BOB, CHARLIE], [ALICE, BOB, CHARLIE]),
        ({}, [ALICE, ALICE, ALICE, BOB], [ALICE, BOB, ALICE, ALICE]),
        ({ALICE: 2}, [ALICE, BOB], [BOB, ALICE]),
        ({ALICE: 1, BOB: 1}, [ALICE, BOB, ALICE, CHARLIE], [CHARLIE, ALICE, BOB, ALICE]),
    ],
)
async def test_the_next_is_who_has_the_fewest(running: dict[int, int], waiting: list[int], order: list[int]) -> None:
    assert [one.user_id for one in admission_order([Waiting(user) for user in waiting], running)] == order


class Turns:
    """Turns of several people, held open until `end`."""

    def __init__(self, places: int) -> None:
        self.admission = Admission(places)
        self.started: list[str] = []
        self.told: dict[str, list[int]] = {}
        self._ends: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def ask(self, name: str, user: int) -> None:
        """One more turn; returns when nothing more happens."""
        self._ends[name], self.told[name] = asyncio.Event(), []
        self._tasks[name] = asyncio.create_task(self._turn(name, user))
        await settle()

    async def end(self, name: str) -> None:
        self._ends[name].set()
        await self._tasks[name]
        await settle()

    async def stop(self, name: str) -> None:
        """Press Stop."""
        self._tasks[name].cancel()
        with suppress(asyncio.CancelledError):
            await self._tasks[name]
        await settle()

    async def fail(self, user: int) -> None:
        """A turn that breaks off with an error."""
        async with self.admission.place(user, lambda number: None):
            raise RuntimeError("failed")

    async def _turn(self, name: str, user: int) -> None:
        async with self.admission.place(user, self.told[name].append):
            self.started.append(name)
            await self._ends[name].wait()


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_someone_with_many_questions_does_not_keep_others_waiting() -> None:
    turns = Turns(places=2)
    for name in ("alice 1", "alice 2", "alice 3", "alice 4"):
        await turns.ask(name, ALICE)
    await turns.ask("bob", BOB)
    assert turns.started == ["alice 1", "alice 2"]
    assert turns.told == {"alice 1": [], "alice 2": [], "alice 3": [1], "alice 4": [2], "bob": [1]}
    await turns.end("alice 1")
    assert turns.started[2:] == ["bob"]
    await turns.end("alice 2")
    assert turns.started[3:] == ["alice 3"]


async def test_who_stops_waiting_leaves_the_line() -> None:
    turns = Turns(places=1)
    await turns.ask("alice", ALICE)
    await turns.ask("bob", BOB)
    await turns.ask("charlie", CHARLIE)
    await turns.stop("bob")
    await turns.end("alice")
    assert turns.started == ["alice", "charlie"]


async def test_a_stopped_or_failed_turn_gives_its_place_back() -> None:
    turns = Turns(places=1)
    await turns.ask("alice", ALICE)
    await turns.stop("alice")
    with pytest.raises(RuntimeError, match="failed"):
        await turns.fail(BOB)
    await turns.ask("charlie", CHARLIE)
    assert turns.started == ["alice", "charlie"]


async def test_a_stop_in_the_moment_of_admission_does_not_lose_the_place() -> None:
    turns = Turns(places=1)
    await turns.ask("alice", ALICE)
    await turns.ask("bob", BOB)
    turns._ends["alice"].set()
    await turns._tasks["alice"]  # Bob has the place, and has not noticed
    await turns.stop("bob")
    await turns.ask("charlie", CHARLIE)
    assert turns.started[-1] == "charlie"


async def test_a_long_line_is_sorted_for_all_who_wait_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sorted_for = 0

    def count(*line: Any) -> list[Waiting]:
        nonlocal sorted_for
        sorted_for += 1
        return admission_order(*line)

    monkeypatch.setattr(admission, "admission_order", count)
    monkeypatch.setattr(admission, "TELL_EVERY", 0.05)
    places, told = Admission(places=1), list[int]()

    async def wait(user: int) -> None:
        async with places.place(user, told.append):
            await asyncio.sleep(60)

    waiting = [asyncio.create_task(wait(user)) for user in range(41)]
    await asyncio.sleep(0.5)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)

    assert sorted(told) == list(range(1, 41))
    assert sorted_for < 3 * 41
