"""Prometheus metrics at `/metrics`, protected by METRICS_TOKEN as a bearer token; without a token, 404.

A web process reports its own turns, so scrape each by its own address; Prometheus adds them up. The worker has no port:
its work is read from the database and is the same on every web process (librarian runs and compactions by state, queue
length, age of the oldest task, tasks not sent). No metric is about one user.
"""

import math
import secrets
import shutil
import sys
from collections.abc import Iterator
from http import HTTPStatus
from typing import Final, LiteralString

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

from recall.db.acting import by
from recall.db.connections import waiting_threads, waiting_work
from recall.db.notify import is_redis_away
from recall.observability import heartbeat

REGISTRY: Final = CollectorRegistry()

QUICK: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
"""Seconds, for Recall's own work; assembling a prompt should take 25 ms."""
SLOW: Final = (0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0)
"""Seconds, for model calls."""

TURNS: Final = Counter("recall_turns", "Turns by outcome", ["outcome"], registry=REGISTRY)
TURN_SECONDS: Final = Histogram(
    "recall_turn_seconds", "From committed message to complete answer", buckets=SLOW, registry=REGISTRY
)
FIRST_TOKEN_SECONDS: Final = Histogram(
    "recall_first_token_seconds", "From the first request to the first text", buckets=SLOW, registry=REGISTRY
)
COMPILE_SECONDS: Final = Histogram(
    "recall_compile_seconds", "Prompt assembly, retrieval included", buckets=QUICK, registry=REGISTRY
)
RETRIEVE_SECONDS: Final = Histogram("recall_retrieve_seconds", "Memory retrieval", buckets=QUICK, registry=REGISTRY)
TOKENS: Final = Counter(
    "recall_tokens", "Provider tokens by kind: fresh, cache_read, cache_write, output", ["kind"], registry=REGISTRY
)
COST: Final = Counter("recall_cost_dollars", "US dollars, where prices are known", registry=REGISTRY)
REQUESTS: Final = Counter("recall_http_requests", "HTTP requests by class of status", ["status"], registry=REGISTRY)
REQUEST_SECONDS: Final = Histogram(
    "recall_http_request_seconds",
    "An HTTP request, without the body of a streamed answer",
    buckets=QUICK,
    registry=REGISTRY,
)
SOCKETS: Final = Gauge("recall_sockets", "Open sockets of this process", registry=REGISTRY)
THREADS_WAITING: Final = Gauge("recall_threads_waiting", "Work that waits for a thread", registry=REGISTRY)
THREADS_WAITING.set_function(waiting_work)
CONNECTIONS_WAITING: Final = Gauge(
    "recall_connections_waiting", "Threads that wait for a database connection", registry=REGISTRY
)
CONNECTIONS_WAITING.set_function(waiting_threads)
MODEL_ERRORS: Final = Counter("recall_model_errors", "Turns that failed, by reason", ["code"], registry=REGISTRY)
TURNS_WAITING: Final = Gauge("recall_turns_waiting", "Turns in line for a place (MAX_TURNS)", registry=REGISTRY)
RUNNING: Final = Gauge("recall_turns_running", "Answers in progress in this process", registry=REGISTRY)
PYTHON_BLOCKS: Final = Gauge(
    "recall_python_blocks", "Blocks of memory that this process's Python objects take", registry=REGISTRY
)
PYTHON_BLOCKS.set_function(sys.getallocatedblocks)
DISK_FREE: Final = Gauge("recall_disk_free_bytes", "Free where VAR_DIR is", registry=REGISTRY)
DISK_FREE.set_function(lambda: shutil.disk_usage(settings.VAR_DIR).free)

COUNTED: Final = {
    "recall_librarian_runs": ("memory.LibrarianRun", "Librarian runs by state"),
    "recall_compactions": ("chat.Compaction", "Conversation compactions by state"),
}
"""Tables of the worker's jobs."""
KINDS: Final = {
    "worker": heartbeat.WORKER,
    "clock": heartbeat.CLOCK,
    "queue": heartbeat.QUEUE,
    "backup": heartbeat.BACKUP,
}
LAG: Final = """
    SELECT coalesce(extract(epoch FROM now() - min(not_before)), 0) FROM memory_librarianrun
    WHERE state = 'pending' AND not_before <= now()
"""
UNSENT: Final = "SELECT count(*) FROM recall_unsent_task"
SIZE: Final = "SELECT pg_database_size(current_database())"
QUEUE_NAME: Final = "recall"
QUEUES: Final = "SELECT queue_name, queue_length, coalesce(oldest_msg_age_sec, 0) FROM pgmq.metrics_all()"


DATABASE_ERRORS: Final = (DatabaseError, InterfaceError, psycopg.OperationalError)
"""The database, or a pooled connection, isn't available."""


class DatabaseCollector(Collector):
    """Job and queue metrics, read at each scrape; none while the database is down."""

    def collect(self) -> Iterator[Metric]:
        """Jobs by state, and queue length and age."""
        try:
            yield from [_jobs(name, model, text) for name, (model, text) in COUNTED.items()]
            yield from _queues()
            yield from _signs_of_life()
            yield _figure("recall_librarian_lag_seconds", "How late the oldest due run is", LAG)
            yield _figure("recall_unsent_tasks", "Tasks that wait in the database for Redis", UNSENT)
            yield _figure("recall_database_bytes", "The database's size", SIZE)
        except DATABASE_ERRORS:
            return

    def describe(self) -> list[Metric]:
        """Registering reads nothing."""
        return []


def _jobs(name: str, model: str, text: str) -> Metric:
    family = GaugeMetricFamily(name, text, labels=["state"])
    jobs = apps.get_model(model)
    rows = dict(jobs._default_manager.order_by().values_list("state").annotate(Count("pk")))
    for state, _ in jobs._meta.get_field("state").choices:
        family.add_metric([state], rows.get(state, 0))  # 0, too: a first failure is then seen as one more
    return family


def _queues() -> list[Metric]:
    """Length and age of each queue. Redis doesn't know the age: there it is how overdue the clock's probe is."""
    length = GaugeMetricFamily("recall_queue_length", "Tasks waiting or running", labels=["queue"])
    age = GaugeMetricFamily("recall_queue_oldest_seconds", "Age of the oldest task", labels=["queue"])
    for queue, tasks, seconds in _read_queues():
        length.add_metric([queue], tasks)
        age.add_metric([queue], seconds)
    return [length, age]


def oldest_task_seconds() -> float:
    """Age of the oldest task of all queues; 0 without one."""
    return max((seconds for _, _, seconds in _read_queues()), default=0.0)


def _read_queues() -> list[tuple[str, int, float]]:
    url = settings.ENVIRONMENT.redis_url
    return _redis_queue(url) if url else _pgmq_queues()


def _pgmq_queues() -> list[tuple[str, int, float]]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regproc('pgmq.metrics_all') IS NOT NULL")
        if cursor.fetchone() != (True,):
            return []
        cursor.execute(QUEUES)
        return list(cursor.fetchall())


def _redis_queue(url: str) -> list[tuple[str, int, float]]:
    import redis  # imported late: its client takes 9 MB

    try:
        client = redis.Redis.from_url(url, socket_timeout=1, socket_connect_timeout=1)
        with client:
            tasks = client.llen(QUEUE_NAME) + client.hlen("unacked")
    except redis.RedisError:
        return []
    silent = heartbeat.seconds_since(heartbeat.QUEUE)
    return [(QUEUE_NAME, tasks, max(0.0, silent - heartbeat.EVERY) if silent is not None else 0.0)]


def _signs_of_life() -> Iterator[Metric]:
    age = GaugeMetricFamily("recall_heartbeat_age_seconds", "Since the newest sign of life", labels=["kind"])
    for kind, name in KINDS.items():
        if (seconds := heartbeat.seconds_since(name)) is not None:
            age.add_metric([kind], seconds)
        elif name == heartbeat.BACKUP and settings.ENVIRONMENT.backup_dir:
            age.add_metric([kind], math.inf)  # never
    yield age
    if settings.ENVIRONMENT.redis_url:
        yield GaugeMetricFamily("recall_redis_up", "Whether Redis answers", value=not is_redis_away())


def _figure(name: str, text: str, query: LiteralString) -> Metric:
    with connection.cursor() as cursor:
        cursor.execute(query)
        (value,) = cursor.fetchone()
    return GaugeMetricFamily(name, text, value=value)


REGISTRY.register(DatabaseCollector())
ProcessCollector(registry=REGISTRY)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Metrics in Prometheus' text format; 404 without a configured token, 401 with a wrong one."""
    token = settings.ENVIRONMENT.metrics_token
    if token is None:
        return HttpResponse(status=HTTPStatus.NOT_FOUND)
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if not secrets.compare_digest(given.encode(), token.get_secret_value().encode()):
        return HttpResponse(status=HTTPStatus.UNAUTHORIZED, headers={"WWW-Authenticate": "Bearer"})
    with by("metrics"):
        return HttpResponse(generate_latest(REGISTRY), content_type=CONTENT_TYPE_LATEST)
