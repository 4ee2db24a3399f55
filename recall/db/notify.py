"""Pub/sub between processes. Events carry ids, and subscribers read the rows; only an answer in progress carries text.

An event is a PostgreSQL NOTIFY inside the caller's transaction (delivered after the commit, in commit order, or not at
all). With Redis it is published there after the commit, and by NOTIFY only while Redis is away. One connection per web
process and server listens and forwards to the in-process channel layer. Events may be lost when a server restarts;
subscribers then get `resync` and reload what they show.

The database's listening connection also holds an advisory lock on this process's `PROCESS_KEY` while it lives, so that
other processes can tell whether the owner of an unfinished answer is still running.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import secrets
from collections.abc import Iterable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import psycopg
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import connection, transaction
from psycopg.conninfo import make_conninfo

if TYPE_CHECKING:
    from recall.db.redis_publisher import RedisPublisher

logger = logging.getLogger(__name__)

CHANNEL = "recall_nudge"
"""The channel's name in PostgreSQL, and in Redis."""
RESYNC = "resync"

PROCESS_KEY = secrets.randbits(62) + 1
"""Identifies this process while it lives: positive, fits PostgreSQL's bigint, never reused."""

FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 0.1, 5.0
KEEPALIVE = {"keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3}
SERVER_KEEPALIVE = "SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"
"""A listener only reads: without TCP keepalive it would never notice a vanished server, and the server would keep a
vanished listener's lock. Both are ignored on a Unix socket."""


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


@lru_cache
def _publisher(url: str) -> RedisPublisher:
    from recall.db.redis_publisher import RedisPublisher  # imported late: its client takes 9 MB

    return RedisPublisher(url, CHANNEL, _notify)


def is_redis_away() -> bool:
    """Whether REDIS_URL is set and doesn't answer."""
    url = settings.ENVIRONMENT.redis_url
    return url is not None and not _publisher(url).is_reachable()


def _notify(payload: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, payload])


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
            await listening.execute(f"LISTEN {CHANNEL}")
            await listening.execute("SELECT pg_advisory_lock(%s)", [PROCESS_KEY])
            await self._connected()
            async for notification in listening.notifies():
                await forward(notification.payload)
        raise psycopg.OperationalError("the server closed the connection")

    async def _connected(self) -> None:
        if self._was_connected:
            await _notify_all_groups(RESYNC)
        self._was_connected = True
        self.connected.set()


async def forward(payload: str) -> None:
    """Pass an event to the sockets of its group."""
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
