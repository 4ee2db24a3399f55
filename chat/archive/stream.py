"""How does a long answer leave, piece by piece, while its maker blocks? From a thread of its own, never far ahead.

The thread holds one database connection for as long as it lasts. Whoever goes away in the middle ends it.
"""

import asyncio
import contextvars
from collections.abc import AsyncIterator, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from threading import Event
from typing import Final

from django.db import close_old_connections

AHEAD: Final = 4
"""Pieces that may wait for a slow reader."""
LOOK_SECONDS: Final = 0.5
"""How often a maker whose pieces nobody takes looks whether somebody is still there."""


async def streamed[**P](make: Callable[P, Generator[bytes]], *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[bytes]:
    """What `make` makes, as it makes it; an error of its own is raised here."""
    loop, gone = asyncio.get_running_loop(), Event()
    pieces: asyncio.Queue[bytes | None] = asyncio.Queue(AHEAD)

    def put(piece: bytes | None) -> None:
        waiting = asyncio.run_coroutine_threadsafe(pieces.put(piece), loop)
        while not gone.is_set():
            with suppress(TimeoutError):
                waiting.result(LOOK_SECONDS)
                return
        waiting.cancel()

    def work() -> None:
        close_old_connections()
        try:
            with closing(make(*args, **kwargs)) as made:
                for piece in made:
                    put(piece)
                    if gone.is_set():
                        return
        finally:
            close_old_connections()
            put(None)

    maker = ThreadPoolExecutor(1, thread_name_prefix="recall-stream")
    done = maker.submit(contextvars.copy_context().run, work)
    maker.shutdown(wait=False)
    try:
        while (piece := await pieces.get()) is not None:
            yield piece
        await asyncio.wrap_future(done)
    finally:
        gone.set()
