"""Traces by OpenTelemetry: a span per request, turn and task. Those of one request id are one trace, on all machines.

Off until TRACES_URL names a collector, and its packages are optional (`requirements-tracing.txt`). A span is recorded
when what it describes has ended. It holds names, counts and times: never a user's text, nor an address with its query.
"""

from __future__ import annotations

import hashlib
import os
import socket
import time
from collections.abc import Mapping
from contextvars import ContextVar
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from celery.signals import task_postrun, task_prerun
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from recall.observability.request_id import TASK_HEADER

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

type Attributes = Mapping[str, str | int | float]

PACKAGE: Final = "opentelemetry.exporter.otlp.proto.http"
NOTHING: Final[Mapping[str, float]] = {}
_REQUEST: Final[ContextVar[str]] = ContextVar("traced_request", default="")
"""The request id of the span that is being made."""


def check() -> None:
    """Refuse to start without the packages that TRACES_URL needs.

    Raises:
        ImproperlyConfigured: they aren't installed.
    """
    if settings.ENVIRONMENT.traces_url and not _is_installed():
        raise ImproperlyConfigured(
            "TRACES_URL needs packages that aren't installed:"
            " .venv/bin/pip install --no-deps --require-hashes -r requirements-tracing.txt"
        )


def _is_installed() -> bool:
    try:
        return find_spec(PACKAGE) is not None
    except ModuleNotFoundError:  # of a package above it
        return False


def record(
    name: str,
    seconds: float,
    *,
    request_id: str,
    attributes: Attributes,
    events: Mapping[str, float] = NOTHING,
    failed: bool = False,
) -> None:
    """Record what has just ended and took so long. `events`: seconds after its start."""
    if not settings.ENVIRONMENT.traces_url:
        return
    from opentelemetry.trace import Status, StatusCode

    ended = time.time_ns()
    started = ended - int(seconds * 1e9)
    _REQUEST.set(request_id)
    span = (
        _provider(settings.ENVIRONMENT.traces_url)
        .get_tracer("recall")
        .start_span(name, start_time=started, attributes={**attributes, "recall.request_id": request_id})
    )
    for event, after in events.items():
        span.add_event(event, timestamp=started + int(after * 1e9))
    if failed:
        span.set_status(Status(StatusCode.ERROR))
    span.end(ended)


@cache
def _provider(address: str) -> TracerProvider:
    """Sends spans in the background, and what is left when the process ends. A collector that is away costs spans."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    class TraceOfRequest(RandomIdGenerator):
        """The trace id follows from the request id, which headers, logs and tasks carry already."""

        def generate_trace_id(self) -> int:
            request_id = _REQUEST.get()
            digest = hashlib.sha256(request_id.encode()).digest()
            return int.from_bytes(digest[:16]) if request_id else super().generate_trace_id()

    process = Resource.create(
        {"service.name": "recall", "service.instance.id": f"{socket.gethostname()}:{os.getpid()}"}
    )
    provider = TracerProvider(resource=process, id_generator=TraceOfRequest())
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=address)))
    return provider


# Tasks -----------------------------------------------------------------------------------------------------------


@task_prerun.connect
def _start_task(task: Any, **_: Any) -> None:
    task.request.traced_from = time.perf_counter()


@task_postrun.connect
def _end_task(task: Any, state: str, **_: Any) -> None:
    record(
        f"task {task.name}",
        time.perf_counter() - task.request.traced_from,
        request_id=str(getattr(task.request, TASK_HEADER, "")),
        attributes={"celery.state": state},
        failed=state == "FAILURE",
    )
