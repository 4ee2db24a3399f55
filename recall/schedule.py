"""The schedule of periodic tasks, read by Celery beat: a thread of the worker, or a separate process."""

import logging
import socket
import time
from datetime import datetime
from typing import Any

import click
import psycopg
from celery import bootsteps
from celery.beat import EmbeddedService
from celery.beat import Scheduler as CeleryScheduler
from celery.schedules import crontab
from django.conf import settings
from django.db import DatabaseError
from psycopg.conninfo import make_conninfo

from recall.observability import heartbeat

logger = logging.getLogger(__name__)

BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    # Shows that the queue moves and how long a task waits in it.
    "probe-queue": {"task": "recall.tasks.probe_queue", "schedule": heartbeat.EVERY, "options": {"expires": 300.0}},
    # Librarian runs that a killed worker or a lost message left behind.
    "requeue-stale-runs": {"task": "memory.tasks.requeue_stale_runs", "schedule": 60.0},
    # New rows are embedded within 5 s. Scheduled, because a task per turn would cost the web process 3 ms of every
    # answer; a missed beat expires, so that re-embedding everything leaves no queue of them.
    "embed-waiting-rows": {"task": "memory.tasks.embed", "schedule": 3.0, "options": {"expires": 3.0}},
    # Language changes whose message or worker was lost.
    "read-words-anew": {"task": "memory.tasks.reword_due", "schedule": 300.0},
    # Messages whose indexing was lost: the latest often, all of them at night.
    "index-what-was-missed": {"task": "chat.tasks.index_what_was_missed", "schedule": 600.0},
    "index-all-that-was-missed": {
        "task": "chat.tasks.index_what_was_missed",
        "schedule": crontab(hour=3, minute=10),
        "args": [True],
    },
    # Memories are consolidated at night; a missed run is made up for at the next start.
    "consolidate-memories": {"task": "memory.tasks.consolidate", "schedule": crontab(hour=3, minute=40)},
    # Requested consolidations whose message or worker was lost.
    "requeue-waiting-consolidations": {"task": "memory.tasks.requeue_waiting_consolidations", "schedule": 60.0},
    # Uploads that a killed worker or a lost message left behind.
    "requeue-stale-uploads": {"task": "memory.tasks.requeue_stale_uploads", "schedule": 60.0},
    # Data past its retention period.
    "remove-what-is-old": {"task": "chat.tasks.remove_what_is_old", "schedule": crontab(hour=4, minute=10)},
    # Large collections get their own indexes; the check reads one small table and rarely finds work.
    "refresh-personal-indexes": {"task": "memory.tasks.refresh_personal_indexes", "schedule": 3600.0},
    # Idle conversations are read by the librarian, and compacted once the provider's cache has expired.
    "note-idle-conversations": {"task": "chat.tasks.note_idle_conversations", "schedule": 60.0},
    # Compactions that a killed worker or a lost message left behind.
    "requeue-stale-compactions": {"task": "chat.tasks.requeue_stale_compactions", "schedule": 60.0},
    # Imports that a killed worker or a lost message left behind.
    "requeue-stale-imports": {"task": "chat.tasks.requeue_stale_imports", "schedule": 60.0},
    # Summaries that forgetting dropped and that were not rewritten.
    "requeue-rewriting": {"task": "memory.tasks.requeue_rewriting", "schedule": 600.0},
    # Deleted conversations and documents past their undo period.
    "empty-trash": {"task": "chat.tasks.empty_trash", "schedule": 60.0},
    "empty-trash-of-documents": {"task": "memory.tasks.empty_trash", "schedule": 60.0},
    # Attachments that were uploaded and never sent.
    "remove-old-drafts": {"task": "chat.tasks.remove_old_drafts", "schedule": 3600.0},
    # Stored API responses older than a day.
    "remove-old-answers-of-the-api": {"task": "accounts.tasks.remove_old_requests", "schedule": 3600.0},
    # A backup, if BACKUP_DIR is set.
    "back-up": {"task": "recall.tasks.back_up", "schedule": crontab(hour=3, minute=30)},
    # Answers whose web process died mid-stream.
    "mark-abandoned-answers": {"task": "chat.tasks.mark_abandoned_answers", "schedule": 30.0},
}


LOCK = "SELECT pg_try_advisory_lock(hashtext('recall.beat'), 0)"
"""Held by the one clock that sends tasks."""
STANDBY_SECONDS = 1.0


class Scheduler(CeleryScheduler):
    """Celery's own, with a heartbeat; if several clocks run by mistake, only one sends.

    The database has when each entry was last sent, so another clock continues where one ended.
    """

    _renewed_at = float("-inf")
    _lock: psycopg.Connection | None = None

    def tick(self, *args: Any, **kwargs: Any) -> Any:
        """Send what is due; the seconds until the next tick."""
        if not self.leads():
            return STANDBY_SECONDS
        if time.monotonic() - self._renewed_at >= heartbeat.EVERY:
            self._renewed_at = time.monotonic()
            heartbeat.renew(f"{heartbeat.CLOCK}{socket.gethostname()}")
        return super().tick(*args, **kwargs)

    def leads(self) -> bool:
        """Whether this clock holds the lock. Without a database none does: tasks would find no rows."""
        try:
            if self._lock is not None:
                self._lock.execute("SELECT 1")
                return True
            connection = psycopg.connect(make_conninfo(**settings.DATABASE_DSN), autocommit=True, connect_timeout=5)
        except psycopg.OperationalError:
            self._lock = None
            return False
        try:
            if connection.execute(LOCK).fetchone() == (True,):
                self._continue_after(heartbeat.sent())
                self._lock = connection
                return True
        except (DatabaseError, psycopg.Error) as error:
            logger.warning("The clock can't read what was sent (%s).", type(error).__name__)
        finally:
            if self._lock is not connection:
                connection.close()
        return False

    def apply_async(self, entry: Any, *args: Any, **kwargs: Any) -> Any:
        """Send a task, then record it: a clock killed in between repeats it rather than loses it.

        The time is this clock's, not the database's: that may still be before the due time.
        """
        result = super().apply_async(entry, *args, **kwargs)
        heartbeat.renew(f"{heartbeat.SENT}{entry.name}", self.app.now())
        return result

    def _continue_after(self, sent: dict[str, datetime]) -> None:
        """Set when each entry was last sent. What this clock sent itself may be newer than its record."""
        for name, entry in self.schedule.items():
            if name in sent:
                own = entry.last_run_at if entry.total_run_count else None
                entry.last_run_at = max(sent[name], own) if own else sent[name]
        self._heap = None  # it holds the times as they were

    def close(self) -> None:
        """Let another clock take over."""
        if self._lock is not None:
            self._lock.close()
        super().close()


class BeatThread(bootsteps.StartStopStep):
    """`celery worker --with-beat`: beat inside the worker.

    Celery's own `--beat` forks a process that a killed worker leaves behind, so its successor would be the second.
    """

    label = "Beat thread"
    conditional = True
    requires = ("celery.worker.components:Pool",)
    option = click.Option(["--with-beat"], is_flag=True, help="Run beat as a thread of this worker.")

    def __init__(self, worker: Any, with_beat: bool = False, **options: Any) -> None:
        self.enabled = with_beat
        super().__init__(worker, **options)

    def create(self, worker: Any) -> Any:
        # Celery reads `beat_scheduler` for its own command only.
        return EmbeddedService(worker.app, thread=True, scheduler_cls=Scheduler)
