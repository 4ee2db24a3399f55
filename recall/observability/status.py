"""The state of the installation, as staff read it on the admin's first page: what is degraded, and the last backup."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final, NamedTuple

from django.conf import settings
from django.utils import timezone
from django.utils.timesince import timesince

from recall.observability import heartbeat, metrics
from recall.observability.health import find_degraded

SENTENCES: Final = {
    "redis unreachable": "Redis doesn't answer. Messages are answered; tasks wait in the database.",
    "no worker": "No worker runs. Nothing new is remembered or indexed.",
    "no clock": "The clock (Celery beat) doesn't run. Nothing scheduled happens, such as backups.",
    "queue not moving": "Tasks wait, and no worker takes them.",
}
"""What `find_degraded` names → what it means."""
QUEUE_SLOW_AFTER: Final = 120
"""Seconds that a task may wait."""
BACKUP_OLD_AFTER: Final = 26 * 3600
"""Seconds, as in BackupOld of docker/alerts.yaml."""


class Status(NamedTuple):
    """Sentences: those that ask for someone's attention, and the rest."""

    warnings: list[str]
    notes: list[str]


def load() -> Status:
    """The state now."""
    warnings, notes = list(_find_degraded()), list[str]()
    seconds = heartbeat.seconds_since(heartbeat.BACKUP)
    is_due = settings.ENVIRONMENT.backup_dir is not None
    is_late = is_due and (seconds is None or seconds > BACKUP_OLD_AFTER)
    (warnings if is_late else notes).append(_last_backup(seconds, is_due=is_due))
    return Status(warnings, notes)


def _find_degraded() -> Iterator[str]:
    for name in find_degraded():
        yield SENTENCES[name]
    if (seconds := metrics.oldest_task_seconds()) > QUEUE_SLOW_AFTER:
        yield f"The oldest task in the queue is {_duration(seconds)} old."


def _last_backup(seconds: float | None, *, is_due: bool) -> str:
    if seconds is not None:
        return f"Last backup: {_duration(seconds)} ago."
    return "Last backup: none yet." if is_due else "Last backup: none. Set BACKUP_DIR to make one every night."


def _duration(seconds: float) -> str:
    now = timezone.now()
    return timesince(now - timedelta(seconds=seconds), now)
