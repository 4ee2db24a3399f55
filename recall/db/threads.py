"""Where does blocking work of the event loop run? On a few threads of its own, each job on a pooled connection.

Channels gives all consumers of a process one shared thread, where one slow query would hold up every socket.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from django.db import close_old_connections

THREADS = 8
"""As many as database connections a process keeps busy; more would only wait for the interpreter."""

_executor = ThreadPoolExecutor(THREADS, thread_name_prefix="recall")


async def run_in_thread[**P, R](work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run blocking `work` beside the event loop; its database connection goes back to the pool at the end."""
    context = contextvars.copy_context()

    def job() -> R:
        close_old_connections()
        try:
            return context.run(work, *args, **kwargs)
        finally:
            close_old_connections()

    return await asyncio.get_running_loop().run_in_executor(_executor, job)
