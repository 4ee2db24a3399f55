"""Two clocks by mistake do nothing twice: one sends, the other waits for its end."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from celery.beat import PersistentScheduler

from recall import celery
from recall.schedule import STANDBY_SECONDS, Scheduler


@pytest.fixture
def clocks(tmp_path: Path, postgres_server: Any) -> Iterator[tuple[Scheduler, Scheduler]]:
    first, second = (
        Scheduler(app=celery.app, lazy=True, schedule_filename=str(tmp_path / name)) for name in ("first", "second")
    )
    yield first, second
    for clock in (first, second):
        if clock._lock is not None:
            clock._lock.close()


def test_only_one_of_two_clocks_sends(clocks: tuple[Scheduler, Scheduler], monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []

    def tick(clock: Scheduler) -> float:
        sent.append(clock)
        return 0.5

    monkeypatch.setattr(PersistentScheduler, "tick", tick)
    monkeypatch.setattr("recall.schedule.heartbeat.renew", lambda name: None)
    first, second = clocks
    assert [first.tick(), second.tick(), first.tick()] == [0.5, STANDBY_SECONDS, 0.5]
    assert sent == [first, first]

    assert first._lock is not None
    first._lock.close()  # as when its process ends
    assert second.tick() == 0.5
    assert first.tick() == STANDBY_SECONDS
    assert sent == [first, first, second]
