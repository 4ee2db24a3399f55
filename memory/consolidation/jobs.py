"""How is a memory tidied up on demand, and what did each tidying do? A row for each: first it waits, then it reports.

    ask         a row that waits, of which a person has one at most: asking twice asks once
    carry_out   the deed and its report in one transaction: a task that comes twice finds nothing that waits
    the clock   queues what still waits, as its message or its worker was lost, and gives up after `MOST_ATTEMPTS`

What is tidied up, and what never, is decided in `memory/consolidation/consolidate.py`.
"""

from __future__ import annotations

import logging
from dataclasses import fields
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.db import DatabaseError, transaction
from django.db.models import F

from memory.consolidation.consolidate import Report, consolidate
from memory.forget_epoch import lock_user
from memory.models import Consolidation
from recall.celery import enqueue_on_commit
from recall.db.notify import publish_event

if TYPE_CHECKING:
    from accounts.models import User

logger = logging.getLogger(__name__)

How, State = Consolidation.How, Consolidation.State

TASK: Final = "memory.tasks.tidy"
KEPT: Final = 60
"""Reports of one person: two months of nights. Older ones say nothing that anybody asks."""
STALE: Final = timedelta(minutes=1)
"""After which one that still waits is queued again: it takes a second."""
MOST_ATTEMPTS: Final = 3
WAITS: Final = "Queued: it is done in the background, and takes some seconds."
NOT_DONE: Final = "It was not done, and nothing was changed. It is tried again at night, or when you ask for it."
FIGURES: Final = tuple(one.name for one in fields(Report) if one.name != "user_id")


def request_consolidation(user: User) -> Consolidation:
    """Have the person's memory tidied up soon; the row that waits. One that waits already is the one."""
    mine = Consolidation.objects.for_user(user)
    waiting = mine.filter(state=State.WAITING).first()
    if waiting is not None:
        return waiting
    Consolidation.objects.bulk_create([Consolidation(user=user, how=How.ASKED)], ignore_conflicts=True)
    asked = mine.latest("pk")  # mine, or that of a request that came first
    enqueue_on_commit(TASK, asked.pk)
    return asked


def run_requested(consolidation_id: int, now: datetime) -> None:
    """Do what was asked for, if it still waits."""
    waiting = Consolidation.objects.filter(pk=consolidation_id, state=State.WAITING)
    waiting.update(attempts=F("attempts") + 1)  # by itself: a worker that is killed has tried
    asked = waiting.select_related("user").first()
    if asked is None:
        return
    try:
        _carry_out(asked, now)
    except DatabaseError:
        logger.exception("Consolidation %s failed.", asked.pk)
        _give_up(asked, now)


@transaction.atomic
def _carry_out(asked: Consolidation, now: datetime) -> None:
    lock_user(asked.user_id)
    mine = Consolidation.objects.select_for_update(of=("self",)).filter(pk=asked.pk, state=State.WAITING)
    if mine.exists():
        mine.update(**_done(consolidate(asked.user, now), now))
        _drop_old(asked.user)
        publish_event(f"user-{asked.user_id}", "memory")


@transaction.atomic
def run_consolidation(user: User, how: Consolidation.How, now: datetime) -> Report:
    """Do it now, and write down what it did.

    Raises:
        User.DoesNotExist: the account is gone.
    """
    report = consolidate(user, now)
    Consolidation.objects.create(user=user, how=how, **_done(report, now))
    _drop_old(user)
    return report


def requeue_waiting(now: datetime) -> None:
    """Queue what waits for too long; what was tried too often is given up, and says so."""
    for asked in Consolidation.objects.filter(state=State.WAITING, created_at__lte=now - STALE):
        if asked.attempts < MOST_ATTEMPTS:
            enqueue_on_commit(TASK, asked.pk)
        else:
            _give_up(asked, now)


def report_of(one: Consolidation) -> Report:
    """What it did; of one that is not done, nothing. A figure that was not kept then is 0."""
    return Report(one.user_id, **{name: one.figures[name] for name in FIGURES if name in one.figures})


def sentences(one: Consolidation) -> list[str]:
    """For people: what it did, or that it waits, or was not done."""
    if one.state == State.DONE:
        return report_of(one).sentences()
    return [WAITS if one.state == State.WAITING else NOT_DONE]


def _done(report: Report, now: datetime) -> dict[str, Any]:
    figures = {name: getattr(report, name) for name in FIGURES}
    return {"state": State.DONE, "figures": figures, "finished_at": now}


def _give_up(asked: Consolidation, now: datetime) -> None:
    waiting = Consolidation.objects.filter(pk=asked.pk, state=State.WAITING)
    waiting.update(state=State.FAILED, finished_at=now)


def _drop_old(user: User) -> None:
    mine = Consolidation.objects.for_user(user).exclude(state=State.WAITING).order_by("-pk")
    Consolidation.objects.filter(pk__in=list(mine.values_list("pk", flat=True)[KEPT:])).delete()
