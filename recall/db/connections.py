"""Pooled database connections: work of the event loop that needs one, and slow work that gives its own back.

Channels gives all consumers of a process one shared thread, where one slow query would hold up every socket. So
blocking work runs on a few threads of Recall's own, each with a pooled connection.
"""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import cast

from django.db import close_old_connections, connection
from django.db.backends.postgresql.base import DatabaseWrapper

THREADS = 3
"""For prompts, answers and the rest. More would only wait for the interpreter, and the event loop with them: it takes
one new socket per round."""
ADMISSION_THREADS = 2
"""For a few quick statements that someone waits for. With the above, the connections a process keeps busy."""

_executor = ThreadPoolExecutor(THREADS, thread_name_prefix="recall")
_admission = ThreadPoolExecutor(ADMISSION_THREADS, thread_name_prefix="recall-admission")


async def run_in_thread[**P, R](work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run blocking `work` off the event loop; its database connection returns to the pool at the end."""
    return await _run(_executor, work, *args, **kwargs)


async def run_at_once[**P, R](work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """The same, ahead of all that: accepting, opening and stopping take milliseconds, prompts and answers queue."""
    return await _run(_admission, work, *args, **kwargs)


async def _run[**P, R](executor: ThreadPoolExecutor, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    context = contextvars.copy_context()

    def job() -> R:
        close_old_connections()
        try:
            return context.run(work, *args, **kwargs)
        finally:
            close_old_connections()

    return await asyncio.get_running_loop().run_in_executor(executor, job)


def release_connection() -> None:
    """Return the connection to the pool while a model thinks or a file is read. It is kept inside a transaction (a
    test's)."""
    if not connection.in_atomic_block:
        connection.close()


def waiting_work() -> int:
    """Work that waits for one of the threads."""
    return _executor._work_queue.qsize() + _admission._work_queue.qsize()


def waiting_threads() -> int:
    """How many threads wait for a connection of the pool."""
    pool = cast(DatabaseWrapper, connection).pool
    return int(pool.get_stats().get("requests_waiting", 0)) if pool else 0
