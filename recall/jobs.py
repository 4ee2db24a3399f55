"""Lease-based background jobs: claim, renew, retry with backoff, give up after `max_attempts`.

A job is a row; a Celery task only says which row to look at, and may be lost or delivered twice. A worker claims the
row with `SELECT … FOR UPDATE SKIP LOCKED`. If it crashes, its lease expires and another worker retries. Results are
written in the transaction that ends the row, after `lock_claimed`: a worker that lost its claim writes nothing.

Methods that change a row need a transaction that has locked it; `claim`, `retry_failed` and `requeue_due` open theirs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final
from uuid import uuid4

from django.db import models, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from recall.celery import LEASE_SECONDS, enqueue_on_commit

MAX_REQUEUED: Final = 100
"""Rows queued at a time, oldest first: a long backlog must not fill the queue with duplicates."""


@dataclass(frozen=True)
class LeasedJob[Row: models.Model]:
    """One kind of background job. Its table has `state`, `attempts` and `finished_at`.

    It may have `error`, `claim`, `lease_until` and `not_before`. Without `claim`, `attempts` tells workers apart.
    Without `lease_until`, a row keeps its waiting state until it ends, and only its lock excludes other workers.
    """

    model: type[Row]
    task: str
    """Name of the Celery task, which gets the row's id."""
    notify: Callable[[Row], None]
    """Tells the owner's pages; called when a row is queued, rescheduled or ended."""
    max_attempts: int = 5
    lease: timedelta = timedelta(seconds=LEASE_SECONDS)
    """How long until a worker that doesn't report back counts as dead."""
    backoff: Sequence[timedelta] = ()
    """Pause after each failed attempt."""
    waiting: str = "waiting"
    running: str = "running"
    failed: str = "failed"
    eligible: Q = Q()  # noqa: RUF009 - never changed
    """Rows outside it are neither started nor finished."""
    related: Sequence[str] = ("user",)
    """Relations loaded with a claimed row."""
    on_end: Callable[[Row], None] = lambda row: None
    """Runs in the transaction that ends a row."""

    @property
    def give_up_error(self) -> str:
        """The error of a row whose workers all died."""
        return f"Stopped after {self.max_attempts} attempts that didn't finish. Details are in the server log."

    # Queueing --------------------------------------------------------------------------------------------------------

    def enqueue(self, row: Row) -> None:
        """Queue a task for the row after commit."""
        enqueue_on_commit(self.task, row.pk)
        self.notify(row)

    def due(self, now: datetime) -> QuerySet[Row]:
        """Waiting rows that are due, and running ones whose lease has expired."""
        due = Q(state=self.waiting)
        if "not_before" in self._columns:
            due &= Q(not_before__lte=now)
        if "lease_until" in self._columns:
            due |= Q(state=self.running, lease_until__lte=now)
        return self.model._default_manager.filter(due).filter(self.eligible)

    def requeue_due(self) -> int:
        """Queue due rows and return how many. Run by the scheduler."""
        since = "not_before" if "not_before" in self._columns else "created_at"
        pks = list(self.due(timezone.now()).order_by(since, "pk").values_list("pk", flat=True)[:MAX_REQUEUED])
        for pk in pks:
            enqueue_on_commit(self.task, pk)
        return len(pks)

    @transaction.atomic
    def retry_failed(self, row: Row, **conditions: Any) -> bool:
        """Start a failed row over; False if it hasn't failed or doesn't meet `conditions`."""
        fresh = self._existing(
            state=self.waiting, attempts=0, error="", finished_at=None, not_before=timezone.now(), lease_until=None
        )
        changed = self.model._default_manager.filter(pk=row.pk, state=self.failed, **conditions).update(**fresh)
        if changed:
            self.enqueue(row)
        return bool(changed)

    # Claiming --------------------------------------------------------------------------------------------------------

    @transaction.atomic
    def claim(self, pk: int) -> Row | None:
        """The row, claimed by this worker for one lease; None if it isn't due or another worker has it."""
        row = self.lock_due(pk)
        if row is not None:
            self.start(row)
        return row

    def lock_due(self, pk: int) -> Row | None:
        """The row, locked, if it is due and no other worker has it. Fails it when no attempts are left."""
        due = self.due(timezone.now()).filter(pk=pk).select_related(*self.related)
        row: Any = due.select_for_update(skip_locked=True, of=("self",), no_key=True).first()
        if row is not None and row.attempts >= self.max_attempts:
            self.finish(row, self.failed, error=getattr(row, "error", "") or self.give_up_error)
            return None
        return row  # type: ignore[no-any-return]

    def start(self, row: Any, lease: timedelta | None = None, **values: Any) -> None:
        """Claim a locked row for one lease, and count the attempt."""
        until = timezone.now() + (lease or self.lease)
        changes = self._existing(state=self.running, claim=uuid4(), lease_until=until, **values)
        self._assign(row, attempts=row.attempts + 1, **changes)
        row.save(update_fields=["attempts", *changes])

    def claimed(self, row: Any) -> QuerySet[Row]:
        """The row, while this worker's claim holds."""
        token = "claim" if "claim" in self._columns else "attempts"
        same = {"pk": row.pk, "state": self.running, token: getattr(row, token)}
        return self.model._default_manager.filter(self.eligible, **same)

    def lock_claimed(self, row: Row) -> Row | None:
        """The row, locked; None if the lease expired and another worker took over, or the row is gone."""
        claimed = self.claimed(row).select_related(*self.related)
        return claimed.select_for_update(of=("self",), no_key=True).first()

    def renew(self, row: Row, **values: Any) -> None:
        """Extend the lease of a claimed row from now, and store `values`."""
        self.claimed(row).update(lease_until=timezone.now() + self.lease, **values)

    # Ending ----------------------------------------------------------------------------------------------------------

    def reschedule(self, row: Any, error: str, *, final: bool = False) -> None:
        """Retry after the backoff, or fail after the last attempt."""
        if final or row.attempts >= self.max_attempts:
            self.finish(row, self.failed, error=error)
        else:
            pause = self.backoff[min(row.attempts, len(self.backoff)) - 1]
            self._release(row, error=error, not_before=timezone.now() + pause)

    def restart(self, row: Any, *, attempts: int, **values: Any) -> None:
        """Queue a claimed row again at once, with `attempts` counted so far."""
        self._release(row, attempts=attempts, **values)
        enqueue_on_commit(self.task, row.pk)

    def finish(self, row: Any, state: str, *, error: str = "", **values: Any) -> None:
        """End a locked row. Saves the caller's other changes to it, too."""
        ended = {"finished_at": timezone.now(), **values}
        self._assign(row, state=state, error=error, claim=None, lease_until=None, **ended)
        row.save()
        self.on_end(row)
        self.notify(row)

    def _release(self, row: Any, **values: Any) -> None:
        self._assign(row, state=self.waiting, claim=None, lease_until=None, **values)
        row.save()
        self.notify(row)

    def _assign(self, row: Any, **values: Any) -> None:
        for name, value in self._existing(**values).items():
            setattr(row, name, value)

    def _existing(self, **values: Any) -> dict[str, Any]:
        return {name: value for name, value in values.items() if name in self._columns}

    @cached_property
    def _columns(self) -> frozenset[str]:
        return frozenset(field.name for field in self.model._meta.concrete_fields)
