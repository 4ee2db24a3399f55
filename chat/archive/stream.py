"""Streaming from a blocking generator: it runs in its own thread, at most a few pieces ahead of the reader.

The thread holds one database connection while it runs. A client that disconnects ends it.
"""

import asyncio
import contextvars
from collections.abc import AsyncIterator, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from threading import Event
from typing import Final

from django.db import close_old_connections

MAX_QUEUED: Final = 4
"""Pieces that may wait for a slow reader."""
POLL_SECONDS: Final = 0.5
"""How often a blocked generator checks whether the client is still connected."""


async def stream_from_thread[**P](
    make: Callable[P, Generator[bytes]], *args: P.args, **kwargs: P.kwargs
) -> AsyncIterator[bytes]:
    """The pieces of the generator `make`, as they come; its errors are raised here."""
    loop, gone = asyncio.get_running_loop(), Event()
    pieces: asyncio.Queue[bytes | None] = asyncio.Queue(MAX_QUEUED)

    def put(piece: bytes | None) -> None:
        waiting = asyncio.run_coroutine_threadsafe(pieces.put(piece), loop)
        while not gone.is_set():
            with suppress(TimeoutError):
                waiting.result(POLL_SECONDS)
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
