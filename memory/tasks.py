"""Celery tasks of memory: thin, each says which function to run."""

from __future__ import annotations

from celery import shared_task

from memory import librarian


@shared_task(name="memory.tasks.read")
def read(run_id: int) -> None:
    """Carry out a librarian run."""
    librarian.read(run_id)


@shared_task(name="memory.tasks.requeue_stale_runs")
def requeue_stale_runs() -> None:
    """Queue the runs that wait, or whose worker was lost."""
    librarian.requeue_due()
