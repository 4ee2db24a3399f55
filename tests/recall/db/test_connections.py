"""Work of the event loop on threads: what someone waits for goes ahead of what takes long."""

import asyncio
import threading

import pytest

from recall.db.connections import THREADS, run_at_once, run_in_thread, waiting_work


@pytest.mark.django_db(transaction=True)
async def test_a_message_is_accepted_while_every_other_thread_is_busy() -> None:
    is_free = threading.Event()
    busy = [asyncio.create_task(run_in_thread(is_free.wait, 60.0)) for _ in range(THREADS + 1)]
    try:
        async with asyncio.timeout(30):
            assert await run_at_once(lambda: "accepted") == "accepted"
            assert waiting_work() == 1
    finally:
        is_free.set()
        assert all(await asyncio.gather(*busy))
