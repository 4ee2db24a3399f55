"""Consolidation jobs and their reports: one row per run, waiting at first, then with the figures of what was done.

A user has at most one waiting row. There is no lease: a run takes a second and holds the row's lock in one transaction
with its report, so a task that is delivered twice finds nothing waiting. Nightly runs, and those by command, have no
waiting row.
"""

from __future__ import annotations

import logging
from dataclasses import asdict, fields
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.db import DatabaseError, transaction

from memory.consolidation.consolidate import Report, consolidate
from memory.forget_epoch import lock_user
from memory.models import Consolidation
from recall.celery import enqueue_on_commit
from recall.db.notify import publish_event
from recall.jobs import LeasedJob

if TYPE_CHECKING:
    from accounts.models import User

logger = logging.getLogger(__name__)

How, State = Consolidation.How, Consolidation.State

TASK: Final = "memory.tasks.tidy"
MAX_REPORTS: Final = 60
"""Reports kept per user: two months of nights."""
STALE_AFTER: Final = timedelta(minutes=1)
"""When a waiting row is queued again: a run takes a second."""
QUEUED: Final = "Waiting. This takes a few seconds."
NOT_DONE: Final = "It didn't finish, and nothing was changed. Recall tries again tonight, or when you start it."


def _notify(row: Consolidation) -> None:
    publish_event(f"user-{row.user_id}", "memory")


CONSOLIDATIONS: Final = LeasedJob(Consolidation, TASK, _notify, max_attempts=3, running=State.WAITING)


def request_consolidation(user: User) -> Consolidation:
    """Queue a consolidation of the user's memory and return the waiting row, which an earlier request may have
    created."""
    jobs = Consolidation.objects.for_user(user)
    waiting = jobs.filter(state=State.WAITING).first()
    if waiting is not None:
        return waiting
    Consolidation.objects.bulk_create([Consolidation(user=user, how=How.ASKED)], ignore_conflicts=True)
    requested = jobs.latest("pk")  # this request's row, or that of a concurrent one
    enqueue_on_commit(TASK, requested.pk)
    return requested


def run_requested(consolidation_id: int, now: datetime) -> None:
    """Worker entry point: run a requested consolidation, if it still waits."""
    requested = CONSOLIDATIONS.claim(consolidation_id)
    if requested is None:
        return
    try:
        _run_claimed(requested, now)
    except DatabaseError:
        logger.exception("Consolidation %s failed.", requested.pk)
        _fail(requested, now)


@transaction.atomic
def _run_claimed(requested: Consolidation, now: datetime) -> None:
    lock_user(requested.user_id)
    claimed = CONSOLIDATIONS.lock_claimed(requested)
    if claimed is not None:
        CONSOLIDATIONS.finish(claimed, **_done(consolidate(requested.user, now), now))
        _drop_old(requested.user)


@transaction.atomic
def run_consolidation(user: User, how: Consolidation.How, now: datetime) -> Report:
    """Consolidate a user's memory now, and record the report.

    Raises:
        User.DoesNotExist: the account is gone.
    """
    report = consolidate(user, now)
    Consolidation.objects.create(user=user, how=how, **_done(report, now))
    _drop_old(user)
    return report


def requeue_waiting(now: datetime) -> None:
    """Queue rows that have waited too long; fail those without attempts left."""
    for row in Consolidation.objects.filter(state=State.WAITING, created_at__lte=now - STALE_AFTER):
        if row.attempts < CONSOLIDATIONS.max_attempts:
            enqueue_on_commit(TASK, row.pk)
        else:
            _fail(row, now)


@transaction.atomic
def _fail(row: Consolidation, now: datetime) -> None:
    claimed = CONSOLIDATIONS.lock_claimed(row)
    if claimed is not None:
        CONSOLIDATIONS.finish(claimed, State.FAILED, finished_at=now)


def report_of(row: Consolidation) -> Report:
    """What the run did; nothing if it isn't done. A figure that wasn't recorded then is 0."""
    return Report(**{field.name: row.figures[field.name] for field in fields(Report) if field.name in row.figures})


def sentences(row: Consolidation) -> list[str]:
    """For the page: what the run did, or that it is queued or failed."""
    if row.state == State.DONE:
        return report_of(row).sentences()
    return [QUEUED if row.state == State.WAITING else NOT_DONE]


def _done(report: Report, now: datetime) -> dict[str, Any]:
    return {"state": State.DONE, "figures": asdict(report), "finished_at": now}


def _drop_old(user: User) -> None:
    reports = Consolidation.objects.for_user(user).exclude(state=State.WAITING).order_by("-pk")
    Consolidation.objects.filter(pk__in=list(reports.values_list("pk", flat=True)[MAX_REPORTS:])).delete()
