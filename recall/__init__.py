"""The wiring: settings, URLs, processes, the embedded server, the queue."""

from recall.celery import app as celery_app

__all__ = ["celery_app"]
