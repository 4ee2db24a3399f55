"""Health check: `/healthz` returns 200 when the database answers and has every migration."""

from threading import Event

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse

_migrated = Event()
"""Set once checked: migrations don't disappear from a running process, and reading their graph takes 50 ms."""


def health(request: HttpRequest) -> JsonResponse:
    """200 `{"status": "ok"}`, or 503 with the reason."""
    reason = find_problem()
    return JsonResponse({"status": reason or "ok"}, status=503 if reason else 200)


def find_problem() -> str | None:
    """Why requests would fail now, in two or three words; None if they wouldn't."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        if not _migrated.is_set() and not unapplied_migrations():
            _migrated.set()
    except DatabaseError:
        return "database unreachable"
    return None if _migrated.is_set() else "migrations missing"


def unapplied_migrations() -> list[str]:
    """Names of the migrations not yet applied, in order."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]
