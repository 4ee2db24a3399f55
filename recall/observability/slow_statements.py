"""Log of slow statements: how long each took and its text with placeholders, never its values (maybe a user's)."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.dispatch import receiver

from recall.db.prepared import pipeline_wrappers
from recall.observability.logs import with_fields

log = logging.getLogger(__name__)

CHARACTERS: Final = 400
"""Of a statement; enough to find it in the code."""
EACH: Final = 60
"""The same for each of several that were sent together."""

_together: ContextVar[list[Any] | None] = ContextVar("_together", default=None)
"""The statements of the pipeline that is open: within it they are only sent, and the time is that of all."""


@receiver(connection_created)
def watch(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Time the statements of a new connection. Django signals each time one is taken from the pool."""
    if settings.ENVIRONMENT.slow_statement_ms and time_statement not in connection.execute_wrappers:
        connection.execute_wrappers.append(time_statement)


def time_statement(execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]) -> Any:
    """Django's hook around each statement."""
    together = _together.get()
    if together is not None:
        together.append(sql)
        return execute(sql, params, many, context)
    started = time.perf_counter()
    try:
        return execute(sql, params, many, context)
    finally:
        if took := _slow_ms(started):
            log.warning("A statement took %d ms: %s", took, _beginning(sql, CHARACTERS), extra=with_fields(ms=took))


@contextmanager
def time_pipeline() -> Iterator[None]:
    """The hook around each pipeline."""
    statements: list[Any] = []
    token, started = _together.set(statements), time.perf_counter()
    try:
        yield
    finally:
        _together.reset(token)
        if took := _slow_ms(started):
            texts = "; ".join(_beginning(sql, EACH) for sql in statements)
            sentence = "%d statements sent together took %d ms: %s"
            log.warning(sentence, len(statements), took, texts, extra=with_fields(ms=took))


pipeline_wrappers.append(time_pipeline)


def _slow_ms(started: float) -> int:
    """Milliseconds since then, if that is slow; otherwise 0."""
    took = round((time.perf_counter() - started) * 1000)
    limit = settings.ENVIRONMENT.slow_statement_ms
    return took if limit and took >= limit else 0


def _beginning(sql: Any, characters: int) -> str:
    return " ".join(str(sql).split())[:characters]
