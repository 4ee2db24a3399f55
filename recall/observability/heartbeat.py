"""Heartbeats: a row per worker and clock, renewed while it runs, for readiness and the containers' health checks."""

import logging
from datetime import datetime
from typing import Final

import psycopg
from django.db import DatabaseError, InterfaceError, connection

from recall.db.connections import release_connection

logger = logging.getLogger(__name__)

EVERY: Final = 10.0
"""Seconds between two heartbeats."""
DEAD_AFTER: Final = 60
"""Seconds without one."""
WORKER: Final = "worker@"
CLOCK: Final = "beat@"
"""What the names start with; the host follows."""
QUEUE: Final = "queue"
"""Renewed by a task that the clock sends: what waits in the queue delays it."""
BACKUP: Final = "backup"
"""Renewed by each backup; kept however old it is."""
SENT: Final = "sent "
"""When the clock last sent an entry of its schedule, which follows; kept however old it is."""
MISSING: Final = {WORKER: "no worker", CLOCK: "no clock", QUEUE: "queue not moving"}

_RENEW: Final = """
    WITH gone AS (
        DELETE FROM recall_heartbeat
        WHERE seen_at < now() - interval '1 day' AND name NOT IN (%(name)s, 'backup') AND NOT starts_with(name, 'sent ')
    )
    INSERT INTO recall_heartbeat (name, seen_at) VALUES (%(name)s, coalesce(%(at)s, now()))
    ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at
"""


def renew(name: str, at: datetime | None = None) -> None:
    """Record that `name` is alive, and return the connection to the pool."""
    try:
        record(name, at)
    finally:
        release_connection()


def record(name: str, at: datetime | None = None) -> None:
    """Record that `name` is alive, or was at `at`. While the database is away nothing is recorded, and its owner
    continues."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(_RENEW, {"name": name, "at": at})
    except (DatabaseError, InterfaceError, psycopg.Error) as error:
        logger.debug("No heartbeat of %s (%s).", name, type(error).__name__)


def sent() -> dict[str, datetime]:
    """When each entry of the schedule was last sent, by whichever clock."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT substr(name, %s), seen_at FROM recall_heartbeat WHERE starts_with(name, %s)",
                [len(SENT) + 1, SENT],
            )
            return dict(cursor.fetchall())
    finally:
        release_connection()


def seconds_since(kind: str) -> float | None:
    """Seconds since the last heartbeat of a kind: WORKER, CLOCK, QUEUE or BACKUP; None: there was none."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM now() - max(seen_at)) FROM recall_heartbeat WHERE starts_with(name, %s)", [kind]
        )
        (seconds,) = cursor.fetchone()
    return None if seconds is None else float(seconds)
