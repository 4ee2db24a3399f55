"""Recall's own Celery tasks."""

import logging

from celery import shared_task
from django.conf import settings

from recall.db.acting import by
from recall.db.postgres import try_advisory_lock
from recall.observability import heartbeat
from recall.process.backup import BackupError, back_up

log = logging.getLogger(__name__)


@shared_task(name="recall.tasks.probe_queue")
@by("clock")
def probe_queue() -> None:
    """Record that a task of the clock reached a worker."""
    heartbeat.renew(heartbeat.QUEUE)


@shared_task(name="recall.tasks.back_up")
@by("clock")
def nightly_backup() -> None:
    """Back up into BACKUP_DIR. A large backup outlives its task's lease: the lock keeps a second one away."""
    folder = settings.ENVIRONMENT.backup_dir
    if folder is None:
        return
    with try_advisory_lock("recall.backup", 0) as is_first:
        if is_first:
            try:
                log.info("Backed up to %s.", back_up(folder))
            except (BackupError, OSError) as reason:
                log.error("No backup was made. %s", reason)
