"""Traces name what happened, how long it took and to which request it belongs, and hold no text."""

import hashlib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from celery.app.trace import build_tracer
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from recall.celery import app
from recall.observability import tracing
from recall.observability.request_id import TASK_HEADER

REQUEST = "asked-by-alice-1"


class Collector:
    """Takes traces over HTTP as operators' collectors do."""

    def __init__(self) -> None:
        self.received: list[bytes] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                collector.received.append(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/v1/traces"

    def spans(self) -> dict[str, Span]:
        """What came, by name."""
        tracing._provider(self.address).force_flush()
        requests = [ExportTraceServiceRequest.FromString(body) for body in self.received]
        return {
            span.name: span
            for request in requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        }


@pytest.fixture
def collector(settings: Any) -> Iterator[Collector]:
    """A collector that TRACES_URL names."""
    collector = Collector()
    Thread(target=collector.server.serve_forever, daemon=True).start()
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"traces_url": collector.address})
    yield collector
    tracing._provider(collector.address).shutdown()
    collector.server.shutdown()


def attributes(span: Span) -> dict[str, Any]:
    return {entry.key: getattr(entry.value, str(entry.value.WhichOneof("value"))) for entry in span.attributes}


@pytest.mark.django_db
def test_a_request_is_a_span_of_the_trace_that_its_id_names(
    collector: Collector, sign_in: Callable[[Any], Client], alice: Any
) -> None:
    sign_in(alice).get("/search?q=the+xylophone", headers={"X-Request-ID": REQUEST})

    span = collector.spans()["GET search"]
    assert span.trace_id == hashlib.sha256(REQUEST.encode()).digest()[:16]
    assert attributes(span) == {
        "http.request.method": "GET",
        "http.route": "search",
        "http.response.status_code": 200,
        "recall.request_id": REQUEST,
    }
    assert span.end_time_unix_nano > span.start_time_unix_nano
    assert not any(b"xylophone" in body for body in collector.received)


def test_a_task_is_in_the_trace_of_the_request_that_queued_it(collector: Collector) -> None:
    @app.task(name="tests.traced")
    def traced(word: str) -> None:
        raise ValueError(word)

    tracer = build_tracer(traced.name, traced, app=app)
    tracer("a-task", ["xylophone"], {}, {TASK_HEADER: REQUEST})  # as a worker runs a message with this header

    span = collector.spans()["task tests.traced"]
    assert span.trace_id == hashlib.sha256(REQUEST.encode()).digest()[:16]
    assert span.status.code == Status.StatusCode.STATUS_CODE_ERROR
    assert attributes(span)["celery.state"] == "FAILURE"
    assert not any(b"xylophone" in body for body in collector.received)


def test_without_a_collector_nothing_is_made(settings: Any) -> None:
    made = tracing._provider.cache_info().currsize

    tracing.record("turn", 1.0, request_id=REQUEST, attributes={})

    assert tracing._provider.cache_info().currsize == made


def test_a_collector_that_is_away_costs_its_spans_and_nothing_else(settings: Any) -> None:
    away = "http://127.0.0.1:9/v1/traces"
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"traces_url": away})

    tracing.record("turn", 1.0, request_id=REQUEST, attributes={}, events={"first token": 0.2})

    tracing._provider(away).shutdown()


def test_missing_packages_are_named_at_the_start(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tracing.check()
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"traces_url": "http://127.0.0.1:9/v1/traces"})
    tracing.check()
    monkeypatch.setattr(tracing, "PACKAGE", "opentelemetry_that_is_missing.trace")

    with pytest.raises(ImproperlyConfigured, match=r"requirements-tracing\.txt"):
        tracing.check()
