"""A worker whose messages return after two seconds: `celery --app tests.recall.short_lease`."""

import os
import time
from pathlib import Path

from recall import worker_watch
from recall.celery import app
from recall.observability import request_id

LEASE_SECONDS = 2
worker_watch.EVERY = float(os.environ.get("STALLED_EVERY", "600"))  # type: ignore[misc]

app.conf.broker_transport_options |= {"visibility_timeout": LEASE_SECONDS}
if "REDIS_URL" in os.environ:
    app.conf.broker_transport_options |= {"unacked_restore_interval": 1}  # seconds


@app.task(name="tests.note")
def note(path: str, text: str, seconds: int = 0) -> None:
    """Append "begin text", and "end text" after the given seconds."""
    with Path(path).open("a") as file:
        file.write(f"begin {text} {os.getpid()}\n")
        file.flush()
        time.sleep(seconds)
        file.write(f"end {text} {os.getpid()}\n")


@app.task(name="tests.name_request")
def name_request(path: str) -> None:
    """Write the id of the request that queued the task."""
    Path(path).write_text(request_id.current())
