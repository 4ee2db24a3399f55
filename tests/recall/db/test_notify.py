"""Another process learns that something changed: in order, quickly, and again after a database restart."""

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import transaction
from psycopg.conninfo import make_conninfo

from recall.db.notify import CHANNEL, PROCESS_KEY, RESYNC, Listener, abandoned_keys, publish_event
from tests.running import PROJECT, Server, clean_environment

ANOTHER_PROCESS = """
import asyncio, json, sys, time
from channels.layers import get_channel_layer
from recall.db.notify import PROCESS_KEY, Listener

async def main():
    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add("room", channel)
    await Listener(sys.argv[1]).start()
    print(PROCESS_KEY, flush=True)
    while True:
        message = await layer.receive(channel)
        print(json.dumps({**message, "heard": time.time()}), flush=True)

asyncio.run(main())
"""


@contextmanager
def another_process(conninfo: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A process that listens and prints what it receives; with its key."""
    process = subprocess.Popen(
        [sys.executable, "-c", ANOTHER_PROCESS, conninfo],
        cwd=PROJECT,
        env=clean_environment(DJANGO_SETTINGS_MODULE="tests.settings"),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process, int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()


def heard(process: subprocess.Popen[str], count: int) -> list[dict[str, Any]]:
    assert process.stdout is not None
    return [json.loads(process.stdout.readline()) for _ in range(count)]


@asynccontextmanager
async def listening(conninfo: str, group: str = "room") -> AsyncIterator[tuple[Listener, str]]:
    """A listener of this process and a channel in `group`."""
    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add(group, channel)
    listener = Listener(conninfo)
    await listener.start()
    try:
        yield listener, channel
    finally:
        await listener.stop()
        await layer.group_discard(group, channel)


async def next_nudge(channel: str, seconds: float = 10.0) -> dict[str, Any]:
    message: dict[str, Any] = await asyncio.wait_for(get_channel_layer().receive(channel), seconds)
    return message


def notify(connection: psycopg.Connection, number: int) -> None:
    payload = json.dumps({"group": "room", "kind": "count", "number": number, "sent": time.time()})
    connection.execute("SELECT pg_notify(%s, %s)", [CHANNEL, payload])


def test_a_thousand_nudges_reach_two_processes_in_order(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    with another_process(server.conninfo) as (first, _), another_process(server.conninfo) as (second, _):
        with server.connect() as connection:
            for number in range(1000):
                notify(connection, number)
        for process in (first, second):
            messages = heard(process, 1000)
            assert [message["number"] for message in messages] == list(range(1000))
            waits = sorted(1000 * (message["heard"] - message["sent"]) for message in messages)
            with capsys.disabled():
                print(f"\n  a nudge took {statistics.median(waits):.1f} ms (p50), {waits[989]:.1f} ms (p99)")


async def test_after_a_restart_of_the_database_everyone_is_told_to_read_again(server: Server) -> None:
    async with listening(server.conninfo) as (listener, channel):
        server.kill()
        while listener.connected.is_set():  # noqa: ASYNC110 -- cleared by the listener, which sets no event for it
            await asyncio.sleep(0.01)
        server.start()  # by this thread: the server ends with the thread that started it
        assert await next_nudge(channel) == {"type": "nudge", "kind": RESYNC}
        with server.connect() as connection:
            notify(connection, 1)
        assert (await next_nudge(channel))["number"] == 1


async def test_a_listener_that_finds_no_database_starts_all_the_same_and_hears_later(server: Server) -> None:
    server.stop()
    listener = Listener(server.conninfo)
    await listener.start(wait_seconds=0.2)
    assert not listener.connected.is_set()
    server.start()  # by this thread: the server ends with the thread that started it
    await asyncio.wait_for(listener.connected.wait(), 10)
    await listener.stop()


async def test_a_notification_that_is_no_nudge_harms_nobody(server: Server) -> None:
    async with listening(server.conninfo) as (_, channel):
        with server.connect() as connection:
            for payload in ("", "not json", "[1, 2]", "{}", '{"group": "not a group!", "kind": "x"}'):
                connection.execute("SELECT pg_notify(%s, %s)", [CHANNEL, payload])
            notify(connection, 7)
        assert (await next_nudge(channel))["number"] == 7


@pytest.mark.django_db(transaction=True)
def test_a_nudge_is_heard_after_the_commit_and_not_before() -> None:
    async def story() -> list[dict[str, Any]]:
        async with listening(make_conninfo(**database_of_the_test())) as (_, channel):
            await asyncio.to_thread(nudge_within_a_transaction)
            return [await next_nudge(channel), await next_nudge(channel)]

    assert asyncio.run(story()) == [
        {"type": "nudge", "kind": "first", "conversation": 1},
        {"type": "nudge", "kind": "second", "message": 2},
    ]


def nudge_within_a_transaction() -> None:
    with transaction.atomic():
        publish_event("room", "first", conversation=1)
    try:
        with transaction.atomic():
            publish_event("room", "never", conversation=1)
            raise RuntimeError
    except RuntimeError:
        pass
    publish_event("room", "second", message=2)
    transaction.get_connection().close()


def database_of_the_test() -> dict[str, Any]:
    return {**settings.DATABASE_DSN, "dbname": settings.DATABASES["default"]["NAME"]}


@pytest.mark.django_db
def test_a_group_name_that_channels_would_refuse_is_refused_where_it_is_written() -> None:
    with pytest.raises(TypeError, match="Group name"):
        publish_event("not a group!", "x")


@pytest.mark.django_db(transaction=True)
def test_the_key_of_a_killed_process_is_abandoned_and_that_of_a_living_one_is_not() -> None:
    with another_process(make_conninfo(**database_of_the_test())) as (living, its_key):
        with another_process(make_conninfo(**database_of_the_test())) as (_, killed_key):
            assert abandoned_keys([its_key, killed_key]) == set()
        deadline = time.monotonic() + 5
        while not (abandoned := abandoned_keys([its_key, killed_key])) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert abandoned == {killed_key}
        assert living.poll() is None


@pytest.mark.django_db
def test_no_keys_need_no_question(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        assert abandoned_keys([]) == set()


def test_a_process_key_fits_the_database() -> None:
    assert 0 < PROCESS_KEY < 2**63


def test_a_process_without_redis_does_not_load_its_client(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", "import sys, recall.asgi; print('redis' in sys.modules)"]
    environment = clean_environment(VAR_DIR=str(tmp_path))
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
