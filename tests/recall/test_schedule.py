"""Two clocks by mistake do nothing twice: one sends, the other waits for its end."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from celery.beat import PersistentScheduler
from celery.schedules import crontab

from recall import celery
from recall.schedule import BEAT_SCHEDULE, STANDBY_SECONDS, BeatThread, Scheduler


@pytest.fixture
def clocks(tmp_path: Path, postgres_server: Any) -> Iterator[tuple[Scheduler, Scheduler]]:
    first, second = (Scheduler(app=celery.app, schedule_filename=str(tmp_path / name)) for name in ("first", "second"))
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


def test_a_clock_that_takes_over_does_not_repeat_what_the_other_sent(
    clocks: tuple[Scheduler, Scheduler], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: set[str] = set()
    monkeypatch.setattr(Scheduler, "apply_entry", lambda clock, entry, producer: sent.add(entry.name))
    monkeypatch.setattr("recall.schedule.heartbeat.renew", lambda name: None)
    monkeypatch.setattr(Scheduler, "producer", None)
    for clock in clocks:
        for entry in clock.schedule.values():
            entry.last_run_at = clock.app.now() - timedelta(days=3)
    first, second = clocks
    nightly = {name for name, entry in BEAT_SCHEDULE.items() if isinstance(entry["schedule"], crontab)}

    for _ in range(2 * len(BEAT_SCHEDULE)):
        first.tick()
    assert sent >= nightly, "a clock that was away makes up for it"

    assert second.tick() == STANDBY_SECONDS
    sent.clear()
    assert first._lock is not None
    first._lock.close()
    for _ in range(2 * len(BEAT_SCHEDULE)):
        second.tick()
    assert not sent & nightly


def test_the_clock_within_a_worker_takes_turns_with_the_others_as_well(
    clocks: tuple[Scheduler, Scheduler], settings: Any, tmp_path: Path
) -> None:
    settings.VAR_DIR = tmp_path
    worker = SimpleNamespace(app=celery.app)
    inside = BeatThread(worker, with_beat=True).create(worker).service.get_scheduler()
    assert clocks[0].leads()
    assert inside.tick() == STANDBY_SECONDS
