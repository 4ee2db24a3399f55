"""Two clocks by mistake do nothing twice: one sends, the other waits for its end."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from celery.beat import Scheduler as CeleryScheduler
from celery.schedules import crontab

from recall import celery
from recall.db.acting import by
from recall.observability import heartbeat
from recall.schedule import BEAT_SCHEDULE, STANDBY_SECONDS, BeatThread, Scheduler

pytestmark = pytest.mark.django_db

NIGHTLY = {name for name, entry in BEAT_SCHEDULE.items() if isinstance(entry["schedule"], crontab)}


@pytest.fixture
def clocks() -> Iterator[tuple[Scheduler, Scheduler]]:
    with by("clock"):
        first, second = Scheduler(app=celery.app), Scheduler(app=celery.app)
        yield first, second
    for clock in (first, second):
        end(clock)


def end(clock: Scheduler) -> None:
    """As when its process ends."""
    if clock._lock is not None:
        clock._lock.close()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What was sent, by its entry, and how often."""
    counts: Counter[str] = Counter()
    monkeypatch.setattr(CeleryScheduler, "apply_async", lambda clock, entry, **options: counts.update([entry.name]))
    monkeypatch.setattr(Scheduler, "producer", None)
    return counts


def run(clock: Scheduler) -> None:
    """Let it send what is due."""
    for _ in range(2 * len(BEAT_SCHEDULE)):
        clock.tick()


def test_only_one_of_two_clocks_sends(clocks: tuple[Scheduler, Scheduler], monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []

    def tick(clock: Scheduler) -> float:
        sent.append(clock)
        return 0.5

    monkeypatch.setattr(CeleryScheduler, "tick", tick)
    first, second = clocks
    assert [first.tick(), second.tick(), first.tick()] == [0.5, STANDBY_SECONDS, 0.5]
    assert sent == [first, first]

    assert first._lock is not None
    first._lock.close()
    assert second.tick() == 0.5
    assert first.tick() == STANDBY_SECONDS
    assert sent == [first, first, second]


def test_what_was_due_during_a_change_over_is_sent_once(
    clocks: tuple[Scheduler, Scheduler], sent: Counter[str]
) -> None:
    first, second = clocks
    for name in NIGHTLY:
        heartbeat.record(f"{heartbeat.SENT}{name}", first.app.now() - timedelta(days=3))
    for entry in second.schedule.values():
        entry.last_run_at = first.app.now() - timedelta(days=3)  # it has waited since

    run(first)
    assert {name: sent[name] for name in NIGHTLY} == dict.fromkeys(NIGHTLY, 1), "a clock makes up for what was missed"
    assert second.tick() == STANDBY_SECONDS
    end(first)
    run(second)
    assert {name: sent[name] for name in NIGHTLY} == dict.fromkeys(NIGHTLY, 1)


def test_what_no_clock_sent_is_sent_by_the_one_that_takes_over(
    clocks: tuple[Scheduler, Scheduler], sent: Counter[str]
) -> None:
    first, second = clocks
    first.tick()
    for name in NIGHTLY:
        heartbeat.record(f"{heartbeat.SENT}{name}", first.app.now() - timedelta(days=1))
    heartbeat.record("another", first.app.now())  # removes old signs of life, not these
    assert second.tick() == STANDBY_SECONDS  # and the due time passes
    end(first)
    run(second)
    assert {name: sent[name] for name in NIGHTLY} == dict.fromkeys(NIGHTLY, 1)


def test_the_clock_within_a_worker_waits_for_the_other_too() -> None:
    worker = Mock(app=celery.app)
    service = BeatThread(worker, with_beat=True).create(worker).service
    assert type(service.get_scheduler(lazy=True)) is Scheduler
