"""Celery tasks of accounts: each calls one function."""

from celery import shared_task

from accounts.api import idempotency
from recall.db.acting import by


@shared_task(name="accounts.tasks.remove_old_requests")
@by("clock")
def remove_old_requests() -> None:
    """Remove stored API responses older than a day."""
    idempotency.remove_old()
