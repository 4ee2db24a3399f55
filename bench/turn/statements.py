"""The statements of one turn, by the step and the module that sends them.

    .venv/bin/python -m bench.turn.statements [--turns 40] [--facts 1000]

The turns run in this process, as the web process runs them (`chat/turns/start.py: accept`), against the offline server.
The last turn's statements are printed, with its round trips as libpq counts them: a transaction's BEGIN and COMMIT are
two of them. Checks of foreign keys happen in the server at COMMIT and take no round trip; `pg_stat_statements` counts
them.
"""

import asyncio
import json
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

from bench.own_database import OTHER_CORE, own_database
from bench.results import Figures, arguments, record
from bench.servers import free_port, server

ROOT: Final = Path(__file__).resolve().parents[2]
PLUMBING: Final = (
    "recall/db/",
    "recall/observability/",
    "bench/",
    ".venv/",
    "memory/models/",
    "chat/models",
    "budget/models",
)
"""Modules that pass statements on: the module before them is named."""
TARGET: Final = 20
"""Round trips."""
SHOWN: Final = 96
"""Characters of a statement that are printed."""


@dataclass
class Log:
    """What was sent while the log is on."""

    sent: list[tuple[str, str]] = field(default_factory=list)
    """Module and statement, in order."""
    is_on: bool = True
    traced: list[Any] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, execute: Callable[..., Any], sql: str, parameters: Any, many: bool, context: Any) -> Any:
        """As a wrapper of a connection's statements."""
        with self.lock:
            if self.is_on:
                self.sent.append((_sender(), " ".join(str(sql).split())))
        return execute(sql, parameters, many, context)


def _sender() -> str:
    """The module of ours that is nearest to the statement."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(str(ROOT)):
            path = name.removeprefix(f"{ROOT}/")
            if not path.startswith(PLUMBING):
                return f"{path}:{frame.f_code.co_name}"
        frame = frame.f_back
    return "?"


@contextmanager
def logged() -> Iterator[Log]:
    """Log the statements of every connection of this process, and trace what goes over the wire. Once a process."""
    from django.db.backends.postgresql.base import DatabaseWrapper

    log, traces = Log(), {}
    connect = DatabaseWrapper.ensure_connection

    def ensure_connection(self: Any) -> None:
        connect(self)
        if log.note not in self.execute_wrappers:
            self.execute_wrappers.append(log.note)
        link = self.connection.pgconn
        if id(link) not in traces:
            traces[id(link)] = trace = tempfile.TemporaryFile()  # noqa: SIM115 - read when the turn is over
            link.trace(trace.fileno())

    DatabaseWrapper.ensure_connection = ensure_connection  # type: ignore[method-assign]
    try:
        yield log
    finally:
        DatabaseWrapper.ensure_connection = connect  # type: ignore[method-assign]
        log.is_on, log.traced = False, list(traces.values())


def round_trips(log: Log) -> int:
    """Waits for the server: for a simple query (BEGIN and COMMIT, too), and for what is sent together up to a Sync or
    Flush. Before its trace starts, each connection learns who acts: one more."""
    trips = len(log.traced)
    for trace in log.traced:
        trace.seek(0)
        is_sent = False
        for line in trace.read().decode(errors="replace").splitlines():
            fields = [*line.split("\t"), "", "", ""]
            if fields[1] != "F":
                continue
            kind = fields[3].strip()
            trips += kind in ("Query", "Sync") or (kind == "Flush" and is_sent)
            is_sent = kind not in ("Query", "Sync", "Flush")
    return trips


async def one_turn(user_id: int, conversation: UUID | None, text: str) -> tuple[UUID, float]:
    """Ask, and wait for the end of the answer; its conversation, and the milliseconds to its first text."""
    from chat.protocol import Send
    from chat.turns.live import TURN_REGISTRY
    from chat.turns.start import accept

    frame = Send.model_validate(
        {"v": 1, "type": "send", "client_id": uuid4(), "conversation": conversation, "text": text}
    )
    accepted = await accept(user_id, frame)
    pk = int(accepted["message"])
    began = time.perf_counter()
    while TURN_REGISTRY.writes(pk):  # noqa: ASYNC110 - the registry has no event for it
        await asyncio.sleep(0.002)
    return UUID(str(accepted["conversation"])), (time.perf_counter() - began) * 1000


def script(url: str, replies: int) -> None:
    """Prepare so many answers."""
    body = json.dumps({"replies": [{"text": " ".join(["Lisbon"] * 25)}] * replies}).encode()
    request = urllib.request.Request(f"{url}/offline/script", body, {"Content-Type": "application/json"})
    urllib.request.urlopen(request).close()


def foreign_keys() -> int:
    """Checks of foreign keys since the last reset."""
    from django.db import connection

    from recall.db.acting import by

    with by("migrations"), connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(sum(calls), 0) FROM pg_stat_statements WHERE query LIKE '%FOR KEY SHARE OF x%'")
        return int(cursor.fetchone()[0])


def reset_counts() -> None:
    """Forget what `pg_stat_statements` counted."""
    from django.db import connection

    from recall.db.acting import by

    with by("migrations"), connection.cursor() as cursor:
        cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        cursor.execute("SELECT pg_stat_statements_reset()")


def tell(log: Log, trips: int, key_checks: int) -> Figures:
    """Print the statements in order, then the sums, and return these."""
    for number, (sender, sql) in enumerate(log.sent, start=1):
        print(f"{number:>3}  {sender:<66} {sql[:SHOWN]}")
    print(f"\n{'module':<44} statements")
    for module, count in Counter(sender.split(":")[0] for sender, _ in log.sent).most_common():
        print(f"{module:<44} {count:>10}")
    print(f"\nStatements: {len(log.sent)}; round trips: {trips}; foreign keys: {key_checks}")
    return {"statements": (len(log.sent), ""), "round trips": (trips, ""), "foreign keys": (key_checks, "")}


async def run(user_id: int, turns: int, url: str) -> Figures:
    """All turns but the last warm up; the last is logged. One loop, as each HTTP client belongs to one."""
    from recall.db.connections import run_in_thread

    conversation: UUID | None = None
    script(url, turns + 1)
    for number in range(turns):
        # The logged turn is the second of a conversation, where nothing is compacted or read by the librarian yet.
        before = conversation if number < turns - 1 else None
        conversation, _ = await one_turn(user_id, before, f"Where does my sister live? ({number})")
    await run_in_thread(reset_counts)
    with logged() as log:
        await one_turn(user_id, conversation, "Where does my sister live? (last)")
    return tell(log, round_trips(log), await run_in_thread(foreign_keys))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument(
        "--turns", type=int, default=40, help="turns before the one that is logged: statements are prepared"
    )
    parser.add_argument("--facts", type=int, default=1000)
    options = parser.parse_args()
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with own_database(OFFLINE_URL=url, LOG_LEVEL="WARNING"):
        from accounts.models import User
        from bench.turn.__main__ import make_people

        make_people(1, options.facts)
        user = User.objects.get(email="bench0@example.org")
        with server("offline.app:app", port, OTHER_CORE, OFFLINE_ADMIN="1", OFFLINE_DELTA_DELAY="0"):
            figures = asyncio.run(run(user.pk, options.turns, url))
    if options.record:
        record("turn.statements", figures, {"round trips over the target": figures["round trips"][0] / TARGET})


if __name__ == "__main__":
    main()
