"""Health checks.

/livez    200 as long as the process answers
/readyz   200 when requests would succeed, else 503 with the reason; with what is degraded meanwhile, and still serves
/healthz  the same as /readyz
"""

from collections.abc import Iterator
from threading import Event

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse

from recall.db.notify import is_redis_away
from recall.db.row_security import find_gaps
from recall.observability import heartbeat

_migrated = Event()
"""Set once checked: migrations don't disappear from a running process, and reading their graph takes 50 ms."""


def live(request: HttpRequest) -> JsonResponse:
    """200: restarting the process would not help."""
    return JsonResponse({"status": "ok"})


def ready(request: HttpRequest) -> JsonResponse:
    """200 `{"status": "ok", "degraded": []}`, or 503 with the reason."""
    reason = find_problem()
    degraded = [] if reason else list(find_degraded())
    return JsonResponse({"status": reason or "ok", "degraded": degraded}, status=503 if reason else 200)


def find_problem() -> str | None:
    """Why requests would fail now, in two or three words; None if they wouldn't."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        if not _migrated.is_set():
            if unapplied_migrations():
                return "migrations missing"
            if find_gaps():
                return "row security missing"
            _migrated.set()
    except DatabaseError:
        return "database unreachable"
    return None


def find_degraded() -> Iterator[str]:
    """What doesn't work while messages are answered: nothing is learned, or only later."""
    if is_redis_away():
        yield "redis unreachable"
    for kind, missing in heartbeat.MISSING.items():
        seconds = heartbeat.seconds_since(kind)
        if seconds is None or seconds > heartbeat.DEAD_AFTER:
            yield missing


def unapplied_migrations() -> list[str]:
    """Names of the migrations not yet applied, in order."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]
