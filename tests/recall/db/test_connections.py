"""Work of the event loop on threads: what someone waits for goes ahead of what takes long. How many connections each
process may hold: docs/scale.md adds them up."""

import asyncio
import re
import threading
from pathlib import Path
from typing import Final

import pytest
from django.db import connection

from recall.celery import CONFIGURATION, PGMQ_OPTIONS
from recall.db.connections import THREADS, run_at_once, run_in_thread, waiting_work
from recall.environment import Environment
from recall.process.startup import WORKER_THREADS

PAGE: Final = (Path(__file__).parents[3] / "docs" / "scale.md").read_text()
POOL: Final = Environment.model_fields["database_pool_size"].default
OF_THE_QUEUE: Final = PGMQ_OPTIONS["pool_size"] + 1
"""Of a connection to the queue in PostgreSQL: its pool, and one that listens."""
PUBLISHERS: Final = CONFIGURATION["broker_pool_limit"]
PROCESSES: Final = {"web": (1, PUBLISHERS), "worker": (WORKER_THREADS, PUBLISHERS + 2), "clock": (1, 1)}
"""Connections beside the pool, and to the queue. A worker has two more for the latter: its consumer and its watch."""


def held(process: str, pool: int = POOL) -> tuple[int, int]:
    """What a process holds at most with Redis, and without."""
    others, to_queue = PROCESSES[process]
    return pool + others, pool + others + to_queue * OF_THE_QUEUE


def of_all(text: str) -> tuple[int, int]:
    """The same of processes written as `5 web, 5 workers (4)`: with the pool's size where it isn't the default."""
    found = re.findall(r"(\d+) (web|worker|clock)s?(?: \((\d+)\))?", text)
    each = [(int(number), held(process, int(pool or POOL))) for number, process, pool in found]
    return sum(number * one for number, (one, _) in each), sum(number * one for number, (_, one) in each)


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


def test_the_page_adds_up_the_connections_that_the_settings_allow() -> None:
    rows = [
        line.strip("|").split("|") for line in PAGE.splitlines() if re.match(r"\|(web|worker|clock|\d+ web)\b", line)
    ]
    for process, (others, to_queue) in PROCESSES.items():
        (row,) = (cells for cells in rows if cells[0] == process)
        assert (int(row[1]), int(row[2].split()[0])) == (POOL, others)
        assert (row[3], int(row[4]), int(row[5])) == (f"{to_queue} × {OF_THE_QUEUE}", *held(process))
    sums = {cells[0]: (int(cells[4]), int(cells[5])) for cells in rows if cells[0] not in PROCESSES}
    assert sums == {processes: of_all(processes) for processes in sums}
    assert len(sums) == 2


@pytest.mark.django_db
def test_the_page_says_when_the_connections_no_longer_suffice() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT most.boot_val, most.boot_val::int - kept.boot_val::int"
            " FROM pg_settings AS most JOIN pg_settings AS kept"
            " ON most.name = 'max_connections' AND kept.name = 'superuser_reserved_connections'"
        )
        default, left = cursor.fetchone()
    assert f"PostgreSQL's default of {default} leaves {left};" in PAGE
    without_redis, (with_redis, _) = of_all("2 web, 1 worker, 1 clock")[1], of_all("6 web, 6 workers (4), 1 clock (4)")
    third, second = without_redis + held("web")[1], without_redis + held("worker")[1]
    assert without_redis <= left < min(third, second)
    assert f"|a third web process or second worker|{third} or {second} [connections](#connections) of {left}|" in PAGE
    assert of_all("5 web, 5 workers (4), 1 clock (4)")[0] <= left < with_redis
    assert f"|a sixth web process and worker|{with_redis} connections of {left}|" in PAGE
    assert WORKER_THREADS + 1 < 4, "with the heartbeat's, the threads that a pool of 4 is enough for"
