"""The schedule of periodic tasks, read by Celery beat: a thread of the worker, or a separate process."""

from typing import Any

import click
from celery import bootsteps
from celery.beat import EmbeddedService
from celery.schedules import crontab
from django.conf import settings

BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    # Librarian runs that a killed worker or a lost message left behind.
    "requeue-stale-runs": {"task": "memory.tasks.requeue_stale_runs", "schedule": 60.0},
    # New rows are embedded within 5 s. Scheduled, because a task per turn would cost the web process 3 ms of every
    # answer; a missed beat expires, so that re-embedding everything leaves no queue of them.
    "embed-waiting-rows": {"task": "memory.tasks.embed", "schedule": 3.0, "options": {"expires": 3.0}},
    # Language changes whose message or worker was lost.
    "read-words-anew": {"task": "memory.tasks.reword_due", "schedule": 300.0},
    # Conversations older than the index, or whose indexing was lost.
    "index-what-was-missed": {"task": "chat.tasks.index_what_was_missed", "schedule": 600.0},
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
    # Answers whose web process died mid-stream.
    "mark-abandoned-answers": {"task": "chat.tasks.mark_abandoned_answers", "schedule": 30.0},
}


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
        return EmbeddedService(worker.app, thread=True, schedule_filename=str(settings.VAR_DIR / "beat-schedule"))
