"""A worker whose messages return after two seconds: `celery --app tests.recall.short_lease`."""

import os
import time
from pathlib import Path

from recall import stalled_worker
from recall.celery import app
from recall.observability import request_id

LEASE_SECONDS = 2
stalled_worker.EVERY = float(os.environ.get("STALLED_EVERY", "600"))  # type: ignore[misc]

app.conf.update(broker_transport_options={**app.conf.broker_transport_options, "visibility_timeout": LEASE_SECONDS})


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
