"""The wiring below all apps: settings, URLs, ASGI, the task queue, the API, and rooms for what every app needs.

process/ starts and supervises, db/ the database, llm/ the model server, http/ requests, openapi/ the API, rendering/
Markdown and docs, observability/ health, logs and metrics.

Enter at `settings.py`, `urls.py`, `asgi.py`, `celery.py` and `api.py`. Never imports an app, but in its edges (asgi,
urls, api, management, process.startup). The import below registers the Celery app for `@shared_task`.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy reads it once; a worker runs several tasks side by side

from recall.celery import app as celery_app
from recall.process.freed_memory import limit_heaps

limit_heaps()

__all__ = ["celery_app"]
