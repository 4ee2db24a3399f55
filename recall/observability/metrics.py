"""What can Prometheus watch? `/metrics`, for whoever sends METRICS_TOKEN as a bearer token; unset, there is no page.

A web process tells of the turns it has answered itself, so each is to be scraped by its own address; Prometheus adds
them up. The worker has no port: what it does is told from the database, the same by every web process: runs of the
librarian and compactions by state, the queue's length and the age of its oldest task. No figure is of one person.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from http import HTTPStatus
from typing import Final

import psycopg
from django.apps import apps
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

REGISTRY: Final = CollectorRegistry()

QUICK: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
"""Seconds: what Recall does by itself; a compile is to take 25 ms."""
SLOW: Final = (0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0)
"""Seconds: what a model does."""

TURNS: Final = Counter("recall_turns", "Turns, by how they ended", ["outcome"], registry=REGISTRY)
TURN_SECONDS: Final = Histogram(
    "recall_turn_seconds", "From a committed message to its answer", buckets=SLOW, registry=REGISTRY
)
FIRST_TOKEN_SECONDS: Final = Histogram(
    "recall_first_token_seconds", "From the first request to the first text", buckets=SLOW, registry=REGISTRY
)
COMPILE_SECONDS: Final = Histogram(
    "recall_compile_seconds", "Making the prompt, retrieval included", buckets=QUICK, registry=REGISTRY
)
RETRIEVE_SECONDS: Final = Histogram("recall_retrieve_seconds", "Recalling memories", buckets=QUICK, registry=REGISTRY)
TOKENS: Final = Counter(
    "recall_tokens", "The provider's tokens: fresh, cache_read, cache_write, output", ["kind"], registry=REGISTRY
)
COST: Final = Counter("recall_cost_dollars", "US dollars, as far as prices are known", registry=REGISTRY)
RUNNING: Final = Gauge("recall_turns_running", "Answers being written by this process", registry=REGISTRY)

COUNTED: Final = {
    "recall_librarian_runs": ("memory.LibrarianRun", "Readings of the librarian, by state"),
    "recall_compactions": ("chat.Compaction", "Compactions of conversations, by state"),
}
"""Rows of the worker's jobs."""
QUEUES: Final = "SELECT queue_name, queue_length, coalesce(oldest_msg_age_sec, 0) FROM pgmq.metrics_all()"


AWAY: Final = (DatabaseError, InterfaceError, psycopg.OperationalError)
"""The database, or a connection of the pool, cannot be had."""


class FromTheDatabase(Collector):
    """What is read at each scrape, as the worker has no port of its own. Nothing, while the database is away."""

    def collect(self) -> Iterator[Metric]:
        """Jobs by state, and the queue."""
        try:
            yield from [_jobs(name, *told) for name, told in COUNTED.items()]
            yield from _queues()
        except AWAY:
            return

    def describe(self) -> list[Metric]:
        """Nothing is read when it is registered."""
        return []


def _jobs(name: str, model: str, told: str) -> Metric:
    family = GaugeMetricFamily(name, told, labels=["state"])
    states = apps.get_model(model)._default_manager.order_by().values_list("state").annotate(Count("pk"))
    for state, rows in states:
        family.add_metric([state], rows)
    return family


def _queues() -> list[Metric]:
    """Of PostgreSQL's queue; Redis has exporters of its own."""
    if settings.ENVIRONMENT.redis_url:
        return []
    length = GaugeMetricFamily("recall_queue_length", "Tasks waiting or being done", labels=["queue"])
    age = GaugeMetricFamily("recall_queue_oldest_seconds", "Age of the oldest of them", labels=["queue"])
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regproc('pgmq.metrics_all') IS NOT NULL")
        if cursor.fetchone() != (True,):
            return []
        cursor.execute(QUEUES)
        for queue, tasks, seconds in cursor.fetchall():
            length.add_metric([queue], tasks)
            age.add_metric([queue], seconds)
    return [length, age]


REGISTRY.register(FromTheDatabase())
ProcessCollector(registry=REGISTRY)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The figures in Prometheus' text format; 404 where no token is set, 401 with a wrong one."""
    token = settings.ENVIRONMENT.metrics_token
    if token is None:
        return HttpResponse(status=HTTPStatus.NOT_FOUND)
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if not secrets.compare_digest(given.encode(), token.get_secret_value().encode()):
        return HttpResponse(status=HTTPStatus.UNAUTHORIZED, headers={"WWW-Authenticate": "Bearer"})
    return HttpResponse(generate_latest(REGISTRY), content_type=CONTENT_TYPE_LATEST)
