"""Tasks that could not be queued because Redis was away: kept as rows, and sent by the first worker that reaches it."""

import json
import logging
from typing import Any

import psycopg
from django.db import DatabaseError, InterfaceError, connection, transaction
from kombu.exceptions import OperationalError

from recall.db.connections import release_connection
from recall.observability import request_id

logger = logging.getLogger(__name__)

BATCH = 500
"""Tasks sent in one transaction."""

_STORE = "INSERT INTO recall_unsent_task (name, args, request) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
_TAKE = """
    DELETE FROM recall_unsent_task WHERE id IN (
        SELECT id FROM recall_unsent_task ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED
    ) RETURNING name, args, request
"""


def store(name: str, args: tuple[str | int, ...]) -> None:
    """Keep a task; duplicates are kept once. If the database is away as well, the scheduler finds the task's row."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(_STORE, [name, json.dumps(args), request_id.current()])
    except (DatabaseError, InterfaceError, psycopg.Error) as error:
        logger.warning("Task %s was not kept (%s); the scheduler will re-queue its row.", name, type(error).__name__)


def send_all(app: Any) -> None:
    """Send the kept tasks; a task that can't be sent stays."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_TAKE, [BATCH])
            for name, args, request in cursor.fetchall():
                app.send_task(name, args=json.loads(args), headers={request_id.TASK_HEADER: request})
    except (OperationalError, DatabaseError, InterfaceError, psycopg.Error) as error:
        logger.debug("Unsent tasks stay unsent (%s).", type(error).__name__)
    finally:
        release_connection()
