"""The task queue: `enqueue_on_commit` sends a Celery task after commit. Delivered at least once, JSON only.

A task only points to a row: tasks are idempotent, and the scheduler re-queues stale rows
(`recall/schedule.py`). So the broker may lose or repeat a message, and no work is lost or done twice.
"""

import logging
import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import psycopg
from celery import Celery
from celery.signals import beat_init, celeryd_init
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connection, transaction
from kombu.exceptions import OperationalError
from kombu.transport import pgmq
from pgmq import get_embedded_install_sql
from psycopg.conninfo import make_conninfo

from recall import unsent
from recall.db.acting import by
from recall.db.requirements import check_sessions
from recall.db.row_security import application_login
from recall.observability import request_id
from recall.schedule import BEAT_SCHEDULE, BeatThread
from recall.worker_watch import WorkerWatch

logger = logging.getLogger(__name__)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "recall.settings")  # `celery --app recall` names no settings

# Django's checks load every page and the admin, for a third of a start, and ask the database: tests run them instead.
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")

# Containers run as root. The warning is about pickled tasks, which are switched off below.
warnings.filterwarnings("ignore", "You're running the worker with superuser")
# A lost connection doesn't cancel a task: it continues, and the first to finish decides the row.
warnings.filterwarnings("ignore", r"\s*In Celery 5.1 we introduced an optional breaking change")

MAX_TASK_SECONDS = 300
"""A prefork worker enforces it. A thread can't be stopped, so a task that calls a model sets a shorter timeout."""

LEASE_SECONDS = MAX_TASK_SECONDS + 60
"""A message that was read but not acknowledged (its worker was killed) is delivered again after this time. The lease
isn't renewed: it must outlast the longest task, or the task runs twice at once."""

CONFIGURATION: dict[str, Any] = {
    "task_serializer": "json",
    "result_serializer": "json",
    "accept_content": ["json"],  # never pickle: anyone who can write to the queue could run code
    "task_ignore_result": True,  # results are rows
    "task_acks_late": True,  # acknowledged when done: a killed worker's task comes back
    "task_reject_on_worker_lost": True,  # without it a killed prefork child's task is lost
    "worker_prefetch_multiplier": 1,  # a message that waits in a worker uses up its lease
    "task_time_limit": MAX_TASK_SECONDS,
    "task_soft_time_limit": MAX_TASK_SECONDS - 10,
    "task_create_missing_queues": True,
    "task_default_queue": "recall",
    "worker_enable_remote_control": False,  # with pgmq each worker name leaves a reply table behind forever
    "worker_send_task_events": False,
    "worker_hijack_root_logger": False,  # Django's LOGGING rules
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,  # the worker outlives any outage of its broker
    "broker_pool_limit": 2,  # publishers per process; each holds two PostgreSQL connections
    # Publish with one retry only: the caller is a web request, and the scheduler re-queues stale rows.
    "task_publish_retry_policy": {"max_retries": 1, "interval_start": 0.05},
    "beat_schedule": BEAT_SCHEDULE,
    "beat_scheduler": "recall.schedule:Scheduler",
    "beat_max_loop_interval": 0.5,  # how long a stopping beat may sleep, in seconds
    "timezone": "UTC",
}

PUBLISH_SECONDS = 2
"""How long a publisher waits for each of Redis's answers. One that hangs is tried two or three times."""
BROKER_PAUSE = 5.0
"""Seconds without another attempt to publish after a failed one."""

MAX_WAIT_SECONDS = 0.4  # how long a worker waits for a message before it checks whether it should stop

PGMQ_OPTIONS: dict[str, Any] = {
    "init_extension": False,  # plain SQL, installed by install_broker(): no server extension is needed
    "visibility_timeout": LEASE_SECONDS,
    "wait_time_seconds": 0,  # no long poll inside the server: it holds a connection and starves a second queue
    "use_notify": True,  # NOTIFY wakes the worker: 6 to 8 ms from send to start
    "notify_throttle_interval_ms": 0,
    "polling_interval": 0.2,  # with small prefetch nothing wakes a worker that became free
    "pool_size": 4,
    "pool_timeout": 1,  # seconds a publisher waits for a connection when PostgreSQL is away
}


GIVE_BROKER = """
    DO $do$
    DECLARE
        login text := %s;
        statement text;
    BEGIN
        IF NOT pg_has_role(login, current_user, 'USAGE') AND NOT (
            SELECT rolsuper FROM pg_roles WHERE rolname = current_user
        ) THEN  -- what a schema's owner has to be allowed
            EXECUTE format('GRANT CREATE ON DATABASE %%I TO %%I', current_database(), login);
        END IF;
        FOR statement IN
            SELECT format('ALTER SCHEMA pgmq OWNER TO %%I', login) FROM pg_namespace
            WHERE nspname = 'pgmq' AND pg_get_userbyid(nspowner) <> login
            UNION ALL
            SELECT format('ALTER %%s %%s OWNER TO %%I', CASE relkind WHEN 'c' THEN 'TYPE' ELSE 'TABLE' END,
                oid::regclass, login)
            FROM pg_class WHERE relnamespace = 'pgmq'::regnamespace AND relkind IN ('r', 'p', 'v', 'c')
                AND pg_get_userbyid(relowner) <> login
            UNION ALL
            SELECT format('ALTER ROUTINE %%s OWNER TO %%I', oid::regprocedure, login)
            FROM pg_proc WHERE pronamespace = 'pgmq'::regnamespace AND pg_get_userbyid(proowner) <> login
        LOOP
            EXECUTE statement;
        END LOOP;
        GRANT USAGE ON SCHEMA pgmq TO recall_system;
        GRANT SELECT ON ALL TABLES IN SCHEMA pgmq TO recall_system;
        GRANT SELECT ON ALL SEQUENCES IN SCHEMA pgmq TO recall_system;
        EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE %%I IN SCHEMA pgmq'
            ' GRANT SELECT ON TABLES TO recall_system', login);
        EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE %%I IN SCHEMA pgmq'
            ' GRANT SELECT ON SEQUENCES TO recall_system', login);
    END
    $do$
"""
"""The queue belongs to the application's login: the transport connects with it, and makes queues. Metrics read it."""


class ReleasingChannel(pgmq.Channel):
    """pgmq's, but a task whose end can't be recorded takes none of the worker's places: it returns after its lease.

    With kombu's own, each task that ends while the database restarts took one for good, until the worker took no more.
    Its publisher, which declares a queue and sends to it, continues on the old channel when it had to connect again
    between the two: an `AttributeError`, which nothing retries.
    """

    def _put(self, queue: str, message: Any, **options: Any) -> None:
        if self.connection is None:
            raise psycopg.OperationalError("The channel is closed.")  # the publisher tries again with its new one
        super()._put(queue, message, **options)  # type: ignore[no-untyped-call]

    def basic_ack(self, delivery_tag: Any, multiple: bool = False) -> None:
        with self._released(delivery_tag):
            super().basic_ack(delivery_tag, multiple)  # type: ignore[no-untyped-call]

    def basic_reject(self, delivery_tag: Any, requeue: bool = False) -> None:
        with self._released(delivery_tag):
            super().basic_reject(delivery_tag, requeue)  # type: ignore[no-untyped-call]

    @contextmanager
    def _released(self, delivery_tag: Any) -> Iterator[None]:
        try:
            yield
        except psycopg.Error:
            self.qos.ack(delivery_tag)
            raise


class PromptTransport(pgmq.Transport):
    """pgmq, but a worker stops within a second of its signal: Celery waits for two of these calls, 2 s each."""

    Channel = ReleasingChannel

    # kombu's own base classes disagree on this signature
    def drain_events(self, connection: Any, timeout: float | None = None) -> None:  # type: ignore[override]
        wait = min(timeout or MAX_WAIT_SECONDS, MAX_WAIT_SECONDS)
        super().drain_events(connection, timeout=wait)  # type: ignore[no-untyped-call]


def broker(dsn: dict[str, Any], redis_url: str | None) -> dict[str, Any]:
    """Celery's broker settings: Redis if configured, else PostgreSQL by libpq keywords."""
    if redis_url:
        import redis  # imported late: its client takes 9 MB

        keepalive: Any = redis.Connection().socket_keepalive_options  # type: ignore[no-untyped-call]
        options = {
            "visibility_timeout": LEASE_SECONDS,
            "socket_connect_timeout": 1,  # a web request waits for it
            "socket_keepalive": True,
            "socket_keepalive_options": keepalive,  # kombu sets none, and wouldn't notice a vanished server for hours
            "unacked_restore_throttle": 1,  # look for a killed worker's tasks every 10 seconds, not every 100
        }
        return {"broker_url": redis_url, "broker_transport_options": options}
    # The keyword form: kombu misreads a URI with ?host=. pgmq insists on a password, which a socket ignores.
    conn_string = make_conninfo(**{"port": "5432", "password": "none", **dsn})
    return {
        "broker_url": "pgmq://localhost",
        "broker_transport": f"{__name__}:PromptTransport",
        "broker_transport_options": {**PGMQ_OPTIONS, "conn_string": conn_string},
    }


def _configuration() -> dict[str, Any]:
    """Read lazily, because `recall.settings` imports this package."""
    return {**CONFIGURATION, **broker(settings.DATABASE_DSN, settings.ENVIRONMENT.redis_url)}


class Queue(Celery):
    """Celery whose publishers don't wait forever for a Redis that hangs.

    A worker waits: an acknowledgement that timed out would take one of its places for good.
    """

    def connection_for_write(self, url: Any = None, *, transport_options: Any = None, **options: Any) -> Any:
        """A connection to publish through; pgmq ignores the timeout."""
        limited = {"socket_timeout": PUBLISH_SECONDS, **(transport_options or {})}
        return super().connection_for_write(url, transport_options=limited, **options)


app = Queue("recall")
app.add_defaults(_configuration)
app.autodiscover_tasks()
app.steps["worker"].add(BeatThread)
app.steps["worker"].add(WorkerWatch)
app.user_options["worker"].add(BeatThread.option)


@celeryd_init.connect
@beat_init.connect
def refuse_shared_sessions(**_: Any) -> None:
    """End a worker or a clock behind a pooler in transaction mode. A database that is away is waited for later.

    Raises:
        SystemExit: the sentence is logged. Celery only logs what else a signal's receiver raises.
    """
    try:
        check_sessions(make_conninfo(**settings.DATABASE_DSN))
    except ImproperlyConfigured as error:
        logger.critical("%s", error)
        raise SystemExit(1) from error
    except psycopg.OperationalError as error:
        logger.warning("The database isn't answering yet (%s).", type(error).__name__)


@celeryd_init.connect
def log_all_that_is_said(**_: Any) -> None:
    """What a stopping worker prints past its log is a log line, too."""
    from celery.apps import worker

    worker.safe_say = lambda message, *_: logger.info("%s", message)  # type: ignore[attr-defined]


def enqueue_on_commit(name: str, *args: str | int) -> None:
    """Run the task `name` with `args` on a worker after the current transaction commits.

    Tasks are named, so that no module imports them. A broker outage doesn't fail the caller.
    """
    transaction.on_commit(partial(send_task_now, name, args), robust=True)


class TaskSender:
    """Sends tasks, or keeps them while the broker is away: one tries whether it is back, and the others don't wait."""

    def __init__(self) -> None:
        self._next_attempt = 0.0

    def send(self, name: str, args: tuple[str | int, ...]) -> None:
        """Send a task now, or keep it."""
        if time.monotonic() < self._next_attempt:
            unsent.store(name, args)
            return
        if self._next_attempt:
            self._next_attempt = time.monotonic() + BROKER_PAUSE
        try:
            app.send_task(name, args=args, headers={request_id.TASK_HEADER: request_id.current()})
            self._next_attempt = 0.0
        except (OperationalError, psycopg.Error) as error:
            self._next_attempt = time.monotonic() + BROKER_PAUSE
            logger.warning("Task %s was not queued (%s); it is sent later.", name, type(error).__name__)
            unsent.store(name, args)


_sender = TaskSender()


def send_task_now(name: str, args: tuple[str | int, ...]) -> None:
    """Send a task now, or keep it until the broker is back."""
    _sender.send(name, args)


def install_broker() -> bool:
    """Install pgmq's tables and functions if they are missing; True if this call did. Not needed with Redis."""
    with by("migrations"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('recall.install_broker'))")
        cursor.execute("SELECT to_regproc('pgmq.create') IS NOT NULL")
        is_there = cursor.fetchone() == (True,)
        if not is_there:
            cursor.execute(get_embedded_install_sql())
        cursor.execute(GIVE_BROKER, [application_login()])
        return not is_there
