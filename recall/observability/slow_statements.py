"""Log of slow statements: how long each took and its text with placeholders, never its values (maybe a user's)."""

import logging
import time
from collections.abc import Callable
from typing import Any, Final

from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.dispatch import receiver

from recall.observability.logs import with_fields

log = logging.getLogger(__name__)

CHARACTERS: Final = 400
"""Of a statement; enough to find it in the code."""


@receiver(connection_created)
def watch(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Time the statements of a new connection. Django signals each time one is taken from the pool."""
    if settings.ENVIRONMENT.slow_statement_ms and time_statement not in connection.execute_wrappers:
        connection.execute_wrappers.append(time_statement)


def time_statement(execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]) -> Any:
    """Django's hook around each statement."""
    started = time.perf_counter()
    try:
        return execute(sql, params, many, context)
    finally:
        took = (time.perf_counter() - started) * 1000
        if took >= settings.ENVIRONMENT.slow_statement_ms:
            statement = " ".join(str(sql).split())[:CHARACTERS]
            log.warning("A statement took %.0f ms: %s", took, statement, extra=with_fields(ms=round(took)))
