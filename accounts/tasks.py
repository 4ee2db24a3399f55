"""Accounts' background jobs: each calls one function."""

from __future__ import annotations

from celery import shared_task

from accounts.api import idempotency


@shared_task(name="accounts.tasks.remove_old_requests")
def remove_old_requests() -> None:
    """Remove what writes of the API were answered more than a day ago."""
    idempotency.remove_old()
