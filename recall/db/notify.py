"""Pub/sub between processes. Events carry ids, and subscribers read the rows; only an answer in progress carries text.

An event is a PostgreSQL NOTIFY inside the caller's transaction (delivered after the commit, in commit order, or not at
all). With Redis it is published there after the commit, and by NOTIFY only while Redis is away. One connection per web
process and server listens and forwards to the in-process channel layer. Events may be lost when a server restarts;
subscribers then get `resync` and reload what they show.

The database's listening connection also holds an advisory lock on this process's `PROCESS_KEY` while it lives, so that
other processes can tell whether the owner of an unfinished answer is still running.
"""

import asyncio
import json
import logging
import random
import secrets
import time
from collections.abc import Iterable
from functools import lru_cache, partial
from typing import Any, Final

import psycopg
import redis
import redis.asyncio
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import connection, transaction
from psycopg.conninfo import make_conninfo
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

logger = logging.getLogger(__name__)

PG_CHANNEL = "recall_nudge"
REDIS_CHANNEL = PG_CHANNEL
RESYNC = "resync"

PROCESS_KEY = secrets.randbits(62) + 1
"""Identifies this process while it lives: positive, fits PostgreSQL's bigint, never reused."""

FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 0.1, 5.0
KEEPALIVE = {"keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3}
SERVER_KEEPALIVE = "SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"
"""A listener only reads: without TCP keepalive it would never notice a vanished server, and the server would keep a
vanished listener's lock. Both are ignored on a Unix socket."""

REDIS_SECONDS: Final = 1.0
"""How long a publisher waits for Redis; a request waits with it."""
REDIS_PAUSE: Final = 5.0
"""Seconds without another attempt after a failed one."""


def publish_event(group: str, kind: str, **ids: int | str) -> None:
    """Publish to every socket of `group`, in every process, that `kind` happened to the rows `ids`, after commit.

    `group`: letters, digits, `-`, `_` and `.`, at most 99 (Channels' rule). The whole payload must stay below 8,000
    bytes (PostgreSQL's rule), which ids do.
    """
    get_channel_layer().require_valid_group_name(group)
    payload = json.dumps({"group": group, "kind": kind, **ids}, ensure_ascii=False)
    if url := settings.ENVIRONMENT.redis_url:
        transaction.on_commit(partial(_publisher(url).publish, payload), robust=True)
    else:
        _notify(payload)


class RedisPublisher:
    """Publishes through Redis, and through the database while Redis is away."""

    def __init__(self, url: str) -> None:
        limits = {"socket_timeout": REDIS_SECONDS, "socket_connect_timeout": REDIS_SECONDS}
        self._redis = redis.Redis.from_url(url, retry=Retry(NoBackoff(), 0), **limits)
        self._next_attempt = 0.0

    def publish(self, payload: str) -> None:
        """Publish once, to every listener."""
        if time.monotonic() >= self._next_attempt:
            try:
                self._redis.publish(REDIS_CHANNEL, payload)
                return
            except redis.RedisError as error:
                self._next_attempt = time.monotonic() + REDIS_PAUSE
                logger.warning("Redis is away (%s); events go through the database.", type(error).__name__)
        _notify(payload)

    def is_reachable(self) -> bool:
        """Whether Redis answers now."""
        try:
            return bool(self._redis.ping())
        except redis.RedisError:
            return False


@lru_cache
def _publisher(url: str) -> RedisPublisher:
    return RedisPublisher(url)


def is_redis_away() -> bool:
    """Whether REDIS_URL is set and doesn't answer."""
    url = settings.ENVIRONMENT.redis_url
    return url is not None and not _publisher(url).is_reachable()


def _notify(payload: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [PG_CHANNEL, payload])


def abandoned_keys(keys: Iterable[int]) -> set[int]:
    """Those of `keys` whose process has ended.

    After a database restart, a running process retakes its lock within a second; until then its own next write decides.
    """
    wanted = set(keys)
    if not wanted:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks
            WHERE locktype = 'advisory' AND objsubid = 1 AND granted
              AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            """
        )
        return wanted - {key for (key,) in cursor.fetchall()}


class Listener:
    """One connection that listens and holds the process's key while the process serves."""

    server = "database"
    errors: tuple[type[Exception], ...] = (OSError, psycopg.OperationalError)

    def __init__(self, conninfo: str) -> None:
        self._conninfo = make_conninfo(conninfo, **KEEPALIVE)
        self._start_over()

    def _start_over(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._was_connected = False
        self.connected = asyncio.Event()

    async def start(self, wait_seconds: float = 5.0) -> None:
        """Start listening; waits for the first connection so that no later event is missed."""
        self._start_over()  # belongs to this event loop: a test may serve more than once
        self._task = asyncio.create_task(self._keep_listening(), name=f"listen for events of the {self.server}")
        try:
            await asyncio.wait_for(self.connected.wait(), wait_seconds)
        except TimeoutError:
            logger.warning("The %s isn't answering yet; events will follow when it does.", self.server)

    async def stop(self) -> None:
        """Close the connection and release the key."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _keep_listening(self) -> None:
        pause = FIRST_RETRY_SECONDS
        while True:
            try:
                await self._listen()
            except self.errors as error:
                if self.connected.is_set():
                    logger.warning("Lost the event connection (%s); reconnecting.", type(error).__name__)
                    pause = FIRST_RETRY_SECONDS
                self.connected.clear()
            await asyncio.sleep(pause * random.uniform(0.8, 1.2))  # noqa: S311 -- jitter, so that processes don't reconnect at once
            pause = min(2 * pause, MAX_RETRY_SECONDS)

    async def _listen(self) -> None:
        """Connect, listen and forward; ends only by an exception."""
        async with await psycopg.AsyncConnection.connect(self._conninfo, autocommit=True) as listening:
            await listening.execute(SERVER_KEEPALIVE)
            await listening.execute(f"LISTEN {PG_CHANNEL}")
            await listening.execute("SELECT pg_advisory_lock(%s)", [PROCESS_KEY])
            await self._connected()
            async for notification in listening.notifies():
                await _forward(notification.payload)
        raise psycopg.OperationalError("the server closed the connection")

    async def _connected(self) -> None:
        if self._was_connected:
            await _notify_all_groups(RESYNC)
        self._was_connected = True
        self.connected.set()


class RedisListener(Listener):
    """One connection that listens to Redis."""

    server = "Redis server"
    errors = (OSError, redis.RedisError)

    def __init__(self, url: str) -> None:
        # No retries by the client: it would resubscribe silently, and no page would learn that it must reload.
        self._redis = redis.asyncio.Redis.from_url(
            url,
            retry=AsyncRetry(NoBackoff(), 0),
            socket_connect_timeout=MAX_RETRY_SECONDS,
            socket_timeout=None,  # it blocks until an event arrives; redis-py's default ends it after 5 s
            socket_keepalive=True,
        )
        self._start_over()

    async def _listen(self) -> None:
        async with self._redis.pubsub() as listening:
            await listening.subscribe(REDIS_CHANNEL)
            async for message in listening.listen():
                if message["type"] == "subscribe":
                    await self._connected()
                else:
                    await _forward(message["data"].decode())
        raise redis.ConnectionError("the server closed the connection")


async def _forward(payload: str) -> None:
    try:
        message: dict[str, Any] = json.loads(payload)
        await _send_to_layer(message.pop("group"), message.pop("kind"), message)
    except (ValueError, KeyError, TypeError, AttributeError):  # anyone who can connect can NOTIFY
        logger.warning("Ignored a malformed notification.")


async def _send_to_layer(group: str, kind: str, ids: dict[str, int | str]) -> None:
    layer = get_channel_layer()
    await layer.group_send(group, {"type": "nudge", "kind": kind, **ids})


async def _notify_all_groups(kind: str) -> None:
    for group in list(get_channel_layer().groups):
        await _send_to_layer(group, kind, {})
