"""Queued work reaches a real worker after the commit, and returns if the worker was killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import psycopg
import pytest
from celery import Celery
from django.conf import settings
from django.db import connection, transaction
from kombu import pools
from psycopg.conninfo import conninfo_to_dict

from recall.celery import (
    BROKER_PAUSE,
    CONFIGURATION,
    LEASE_SECONDS,
    MAX_TASK_SECONDS,
    PromptTransport,
    Queue,
    TaskSender,
    app,
    broker,
    enqueue_on_commit,
    install_broker,
)
from recall.db.acting import by
from recall.db.row_security import ROLES
from recall.observability import request_id
from recall.schedule import BEAT_SCHEDULE
from recall.worker_watch import LOOKS, Stall
from tests.running import PROJECT, Server, clean_environment, own_redis, wait_until

LEASE_IS_OVER = 2.5  # seconds; tests/recall/short_lease.py says 2


LAST_WORDS = 4_000
"""Characters of a worker's log that a failed test shows."""


@contextmanager
def working(*options: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A worker with a short lease, in its own process."""
    with TemporaryFile("w+") as told:
        worker = subprocess.Popen(
            [
                *celery("worker"),
                "--pool",
                "threads",
                "--concurrency",
                "1",
                "--hostname",
                "worker@test",
                "--loglevel",
                "INFO",
                *options,
            ],
            cwd=PROJECT,
            env=clean_environment(DJANGO_SETTINGS_MODULE="tests.recall.bare_settings", **environment),
            stdout=told,
            stderr=subprocess.STDOUT,
        )
        try:
            yield worker
        except AssertionError as missed:
            told.seek(0)
            missed.add_note(f"The worker (code {worker.poll()}) said:\n{told.read()[-LAST_WORDS:]}")
            raise
        finally:
            worker.kill()
            worker.wait()


def celery(command: str) -> list[str]:
    return [sys.executable, "-m", "celery", "--quiet", "--app", "tests.recall.short_lease", command]


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def an_app(configured: dict[str, Any]) -> Celery:
    """An app that sends like Recall's own, to another broker."""
    sender = Queue("tests", set_as_current=False)
    sender.conf.update({**CONFIGURATION, **configured})
    return sender


@pytest.fixture
def send(server: Server) -> Iterator[Callable[..., object]]:
    """`send(path, text, seconds)` queues a note through PostgreSQL."""
    install_on(server)
    with an_app(broker(dict(conninfo_to_dict(server.conninfo)), None)) as sender:
        yield lambda *args: sender.send_task("tests.note", args=args)


def install_on(server: Server) -> None:
    from pgmq import get_embedded_install_sql

    with server.connect() as connection:
        if connection.execute("SELECT to_regproc('pgmq.create')").fetchone() == (None,):
            connection.execute(get_embedded_install_sql())
            for role in ROLES:  # without them a connection of the pool is waited for
                connection.execute(f"CREATE ROLE {role} NOLOGIN")
        connection.execute("SELECT pgmq.purge_queue(queue_name) FROM pgmq.list_queues()")  # left by a killed worker


@pytest.mark.processes
def test_the_task_of_a_killed_worker_comes_back(server: Server, send: Callable[..., None], tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    with working(DATABASE_URL=server.url) as first:
        send(str(diary), "a long story", 600)
        wait_until(lambda: lines(diary))
        assert lines(diary) == [f"begin a long story {first.pid}"]
        first.send_signal(signal.SIGKILL)
        first.wait()
    with working(DATABASE_URL=server.url) as second:
        wait_until(lambda: len(lines(diary)) == 2)
        assert lines(diary)[1] == f"begin a long story {second.pid}"


@pytest.mark.processes
def test_a_worker_outlives_a_restart_of_the_database_and_stops_within_seconds_when_told_to(
    server: Server, send: Callable[..., None], tmp_path: Path
) -> None:
    """And a task runs under the id of the request that queued it."""
    diary, named = tmp_path / "diary", tmp_path / "named"
    with working(DATABASE_URL=server.url) as worker:
        send(str(diary), "before")
        wait_until(lambda: len(lines(diary)) >= 2)
        server.kill()
        server.start()
        send(str(diary), "after")
        wait_until(lambda: f"end after {worker.pid}" in lines(diary))

        with an_app(broker(dict(conninfo_to_dict(server.conninfo)), None)) as sender:
            headers = {request_id.TASK_HEADER: "from-the-page"}
            sender.send_task("tests.name_request", args=(str(named),), headers=headers)
            wait_until(named.exists)
            wait_until(lambda: named.read_text() == "from-the-page")

        asked = time.monotonic()
        worker.terminate()
        assert worker.wait(20) == 0
        assert time.monotonic() - asked < 8  # 1.5 s on an idle machine


@pytest.mark.processes
def test_a_task_whose_end_cant_be_recorded_takes_none_of_the_workers_places(
    server: Server, send: Callable[..., None], tmp_path: Path
) -> None:
    send(str(tmp_path / "diary"), "done")
    with an_app(broker(dict(conninfo_to_dict(server.conninfo)), None)) as receiver, receiver.connection() as broken:
        channel: Any = broken.default_channel
        channel.basic_qos(prefetch_count=1)
        message = channel.basic_get(CONFIGURATION["task_default_queue"])
        assert not channel.qos.can_consume()
        server.kill()
        try:
            with pytest.raises(psycopg.Error):
                message.ack()
            assert channel.qos.can_consume()
        finally:
            server.start()


@pytest.mark.processes
@pytest.mark.redis
def test_the_task_of_a_killed_worker_comes_back_through_redis_as_well(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    with own_redis() as redis:
        with working(REDIS_URL=redis.url) as first:
            with an_app(broker({}, redis.url)) as sender:
                sender.send_task("tests.note", args=(str(diary), "a long story", 600))
            wait_until(lambda: lines(diary))
            first.send_signal(signal.SIGKILL)
            first.wait()
        with working(REDIS_URL=redis.url) as second:
            wait_until(lambda: len(lines(diary)) == 2)
            assert lines(diary)[1] == f"begin a long story {second.pid}"


@pytest.mark.processes
@pytest.mark.redis
@pytest.mark.parametrize("by_redis", [False, True], ids=["postgresql", "redis"])
def test_a_worker_that_takes_no_waiting_task_ends(
    server: Server, send: Callable[..., None], tmp_path: Path, by_redis: bool
) -> None:
    with own_redis() as redis:
        address = {"REDIS_URL": redis.url} if by_redis else {"DATABASE_URL": server.url}
        with working("--queues", "elsewhere", STALLED_EVERY="0.5", **address) as worker:
            time.sleep(5)
            assert worker.poll() is None  # nothing waits
            if by_redis:
                with an_app(broker({}, redis.url)) as sender:
                    sender.send_task("tests.note", args=(str(tmp_path / "diary"), "never taken"))
            else:
                send(str(tmp_path / "diary"), "never taken")
            wait_until(lambda: worker.poll() is not None)
            assert worker.poll() == os.EX_TEMPFAIL


def test_a_worker_with_work_or_nothing_to_do_is_not_stalled() -> None:
    taken, busy, waiting = 0, False, 0
    stall = Stall(lambda: taken, lambda: busy, lambda: waiting)
    assert not any(stall.is_stalled() for _ in range(3 * LOOKS))
    busy, waiting = True, 7
    assert not any(stall.is_stalled() for _ in range(3 * LOOKS))
    busy = False
    for _ in range(3 * LOOKS):
        taken += 1
        assert not stall.is_stalled()
    assert [stall.is_stalled() for _ in range(LOOKS)] == [False] * (LOOKS - 1) + [True]


@pytest.mark.django_db
def test_a_task_is_sent_after_the_commit_and_not_after_a_rollback(
    queued: list[tuple[str, tuple[str | int, ...]]], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        with transaction.atomic():
            enqueue_on_commit("memory.tasks.first", 1)
            assert queued == []
        try:
            with transaction.atomic():
                enqueue_on_commit("memory.tasks.never", 1)
                raise RuntimeError
        except RuntimeError:
            pass
        enqueue_on_commit("memory.tasks.second", 2, "two")
    assert queued == [("memory.tasks.first", (1,)), ("memory.tasks.second", (2, "two"))]


@pytest.mark.django_db
def test_a_broker_that_is_away_does_not_fail_the_request(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, django_capture_on_commit_callbacks: Any
) -> None:
    nowhere = an_app(broker({"host": "/nonexistent", "dbname": "recall", "user": "postgres"}, None))
    monkeypatch.setattr("recall.celery.app", nowhere)
    monkeypatch.setattr("recall.celery._sender", TaskSender())
    began = time.monotonic()
    with django_capture_on_commit_callbacks(execute=True):
        enqueue_on_commit("memory.tasks.anything", 1)
    assert "memory.tasks.anything was not queued" in caplog.text
    assert time.monotonic() - began < 15  # 2 s on an idle machine


@pytest.mark.processes
def test_a_task_is_sent_though_the_connection_was_lost_while_its_queue_was_declared(
    send: Callable[..., object], server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = [psycopg.OperationalError("lost")]
    declare = PromptTransport.Channel._new_queue

    def lose_once(channel: Any, queue: str, **options: Any) -> None:
        if losses:
            raise losses.pop()
        declare(channel, queue, **options)  # type: ignore[no-untyped-call]

    monkeypatch.setattr(PromptTransport.Channel, "_new_queue", lose_once)
    pools.reset()  # connections that have declared it
    send("nowhere", "kept", 0)
    assert losses == []
    with server.connect() as reading:
        assert reading.execute("SELECT queue_length FROM pgmq.metrics('recall')").fetchone() == (1,)


def kept() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM recall_unsent_task ORDER BY id")
        return [name for (name,) in cursor.fetchall()]


@pytest.mark.django_db
@pytest.mark.redis
def test_a_redis_that_hangs_holds_up_one_task_and_the_next_are_kept_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sender = TaskSender()
    with own_redis() as redis, an_app(broker({}, redis.url)) as hanging:
        monkeypatch.setattr("recall.celery.app", hanging)
        sender.send("tests.before", ())
        with redis.hanging():
            began = time.monotonic()
            sender.send("tests.first", ())
            assert time.monotonic() - began < 15  # 6 s on an idle machine
            began = time.monotonic()
            for number in range(20):
                sender.send("tests.next", (number,))
            assert time.monotonic() - began < 1
            assert kept() == ["tests.first", *["tests.next"] * 20]
        time.sleep(BROKER_PAUSE)
        sender.send("tests.after", ())
        assert "tests.after" not in kept()
        with hanging.connection_for_read() as reading:
            channel: Any = reading.default_channel
            waiting = [channel.basic_get("recall", no_ack=True) for _ in range(3)]
        sent = [message.headers["task"] for message in waiting if message]
        assert (sent[0], sent[-1]) == ("tests.before", "tests.after")


@pytest.mark.processes
@pytest.mark.redis
def test_a_worker_takes_tasks_again_after_its_redis_hung(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    with own_redis() as redis, working(REDIS_URL=redis.url), an_app(broker({}, redis.url)) as sender:
        sender.send_task("tests.note", args=(str(diary), "before"))
        wait_until(lambda: len(lines(diary)) == 2)
        with redis.hanging():
            time.sleep(6)
        sender.send_task("tests.note", args=(str(diary), "after"))
        wait_until(lambda: len(lines(diary)) == 4)


@pytest.mark.django_db(transaction=True)
def test_the_brokers_tables_are_installed_once_and_are_the_applications() -> None:
    with by("migrations"), connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA pgmq CASCADE")
    assert install_broker() is True
    assert install_broker() is False
    with connection.cursor() as cursor:
        cursor.execute("SET ROLE NONE")
        cursor.execute("SELECT pgmq.create('probe')")
        cursor.execute("SELECT pgmq.drop_queue('probe')")
        cursor.execute("SET ROLE recall_system")


def test_a_lease_outlasts_the_longest_task() -> None:
    """Otherwise a task that is still running would be started a second time."""
    assert LEASE_SECONDS > MAX_TASK_SECONDS == CONFIGURATION["task_time_limit"]
    for redis in (None, "redis://localhost"):
        options = broker({"dbname": "recall"}, redis)["broker_transport_options"]
        assert options["visibility_timeout"] == LEASE_SECONDS


def test_only_json_is_believed() -> None:
    assert CONFIGURATION["accept_content"] == ["json"]


def test_every_scheduled_task_exists() -> None:
    app.loader.import_default_modules()
    assert {entry["task"] for entry in BEAT_SCHEDULE.values()} <= set(app.tasks)


def test_the_embedded_database_is_the_broker_unless_redis_is_named() -> None:
    assert broker(settings.DATABASE_DSN, None)["broker_url"].startswith("pgmq:")
    assert broker(settings.DATABASE_DSN, "redis://host/1")["broker_url"] == "redis://host/1"
    assert f"host={os.fspath(settings.DATABASE_DSN['host'])}" in str(broker(settings.DATABASE_DSN, None))
