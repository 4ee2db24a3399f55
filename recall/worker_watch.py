"""A worker's own watch: its heartbeat, tasks that couldn't be queued, and its end if it takes no tasks any more.

None of it is done in the worker's event loop: it may wait half a minute for a database that is away, and no task would
be taken meanwhile. With Redis, a worker of Celery 5.7 sometimes stays connected after the broker was
restarted, and takes nothing from then on: https://github.com/celery/celery/issues/8091. It has no task by then, so
nothing is lost, and its supervisor starts another.
"""

import logging
import os
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from celery import bootsteps

from recall import unsent
from recall.observability import heartbeat

logger = logging.getLogger(__name__)

EVERY: Final = heartbeat.EVERY
"""Seconds between two looks."""
LOOKS: Final = 4
"""Looks in a row at which tasks wait and this worker neither has nor took one. The clock sends some every 3 seconds."""


@dataclass
class Stall:
    """What was seen at the last looks."""

    taken: Callable[[], int]
    """Tasks the worker took since it started."""
    busy: Callable[[], bool]
    waiting: Callable[[], int]
    """Tasks in the queue; 0 while the broker is away."""
    looks: int = 0
    taken_before: int = -1

    def is_stalled(self) -> bool:
        """Look; whether the worker has stopped taking tasks."""
        taken = self.taken()
        idle = taken == self.taken_before and not self.busy() and self.waiting() > 0
        self.looks = self.looks + 1 if idle else 0
        self.taken_before = taken
        return self.looks >= LOOKS


class WorkerWatch(bootsteps.StartStopStep):
    """Two threads of a worker. Its heartbeat is the only one that is read; Celery's own isn't sent."""

    label = "Watch"
    requires = ("celery.worker.components:Pool",)

    def start(self, worker: Any) -> None:
        """Watch as long as the worker runs."""
        from celery.worker import state  # only a worker needs it

        self._ended = threading.Event()
        queue = worker.app.conf.task_default_queue
        stall = Stall(
            lambda: sum(state.total_count.values()),
            lambda: bool(state.active_requests or state.reserved_requests),
            lambda: _queue_length(worker.app, queue),
        )
        threading.Thread(target=self._beat, args=(worker.app,), name="heartbeat", daemon=True).start()
        threading.Thread(target=self._watch, args=(stall,), name="watch", daemon=True).start()

    def stop(self, worker: Any) -> None:
        """Stop: a worker that drains takes nothing either, and its last heartbeat soon counts as old."""
        self._ended.set()

    def _beat(self, app: Any) -> None:
        is_ended = False
        while not is_ended:
            heartbeat.renew(f"{heartbeat.WORKER}{socket.gethostname()}")
            unsent.send_all(app)
            is_ended = self._ended.wait(EVERY)

    def _watch(self, stall: Stall) -> None:
        while not self._ended.wait(EVERY):
            if stall.is_stalled():
                logger.critical("Tasks wait and this worker takes none: it ends, to be started again.")
                os._exit(os.EX_TEMPFAIL)


def _queue_length(app: Any, queue: str) -> int:
    """Tasks in the queue; 0 if the broker doesn't say.

    Any exception counts as that: kombu, redis, psycopg and pgmq share no base class, and one that ended this thread
    would end the watch without a sign.
    """
    try:
        with app.connection_for_read() as connection:
            return int(connection.default_channel.queue_declare(queue, passive=True).message_count)
    except Exception as error:  # noqa: BLE001 -- see above
        logger.debug("The length of the queue is not known (%s).", type(error).__name__)
        return 0
