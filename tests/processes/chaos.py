"""Chaos: people talk to the documented processes, which are killed at random moments; then every invariant is checked.

    make chaos                                                           # five minutes in each mode
    .venv/bin/python -m tests.processes.chaos --minutes 1 --mode redis --seed 7
    .venv/bin/python -m tests.processes.chaos --record                   # keep the figures of docs/operations.md

PostgreSQL, two web processes, two workers and two clocks (one waits), and Redis in its mode. Whatever is killed by
SIGKILL is started again after some seconds, as systemd would. Prints what was killed, what was said, and each
violation; the exit code says whether there was one.
"""

import os
import random
import shlex
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import psutil
from redis import Redis

from bench.results import Figures, arguments, record
from tests.processes.conftest import Provider, Rows
from tests.processes.crowd import Memory, Person
from tests.processes.invariants import violations
from tests.processes.machine import Machine, documented
from tests.running import COMPOSE, RedisServer, Server, free_port, open_folder, own_redis, own_server, wait_until

MODES: Final = ("notify", "redis")
PEOPLE: Final = 6
BETWEEN_KILLS: Final = (1.0, 5.0)
"""Seconds."""
AWAY: Final = (0.0, 3.0)
"""Seconds until a killed process is started again."""
LONG_AWAY: Final = (0.0, 15.0)
"""The same for Redis."""
SURVIVES_KILLS: Final = {"fsync": "off"}
"""The page cache outlives the server; what is committed is written."""
SETTLED_WITHIN: Final = 120.0
"""Seconds for what was left to be done; of tasks, without one less: a busy machine takes longer for as many."""
REPAIRS: Final = (
    "chat.tasks.mark_abandoned_answers",
    "memory.tasks.requeue_stale_runs",
    "chat.tasks.requeue_stale_compactions",
    "chat.tasks.index_what_was_missed",
    "chat.tasks.note_idle_conversations",
    "memory.tasks.embed",
)
"""Tasks of the clock that repair what a kill left; it sends each within ten minutes."""
SEND_REPAIRS: Final = (
    f"import os; from recall.celery import app; [app.send_task(name) for name in {REPAIRS}]; os._exit(0)"
)


@dataclass
class Part:
    """Something that is killed and started again."""

    name: str
    start: Callable[[], None]
    kill: Callable[[], None]
    is_up: Callable[[], bool]
    away: tuple[float, float] = AWAY
    has_ended: Callable[[], bool] = lambda: False
    """Whether it ended by itself, which systemd answers as it answers a kill."""
    due: float | None = None
    """When it is started again; None: it runs."""


@dataclass
class Report:
    """What happened, and what is wrong."""

    mode: str
    seed: int
    kills: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    """Processes that ended by themselves, and were started again as well."""
    memories: list[Memory] = field(default_factory=list)
    facts: int = 0
    settled: float = 0.0
    wrong: list[str] = field(default_factory=list)

    @property
    def messages(self) -> int:
        """How many were accepted."""
        return sum(len(memory.accepted) for memory in self.memories)

    @property
    def waits(self) -> list[float]:
        """Seconds until each message was accepted, in order."""
        return sorted(wait for memory in self.memories for wait in memory.waits) or [0.0]

    def figures(self) -> Figures:
        """What docs/operations.md shows."""
        return {
            f"{self.mode}, kills": (self.kills.total(), ""),
            f"{self.mode}, messages": (self.messages, ""),
            f"{self.mode}, accepted p50": (statistics.median(self.waits), "s"),
            f"{self.mode}, facts": (self.facts, ""),
            f"{self.mode}, settled": (self.settled, "s"),
            f"{self.mode}, wrong": (len(self.wrong), ""),
        }

    def __str__(self) -> str:
        outcomes = sum((Counter(memory.outcomes) for memory in self.memories), Counter[str]())
        ended = ", ".join(f"{how} {many}" for how, many in sorted(outcomes.items()))
        median, longest = statistics.median(self.waits), self.waits[-1]
        killed = ", ".join(f"{name} {times}" for name, times in sorted(self.kills.items()))
        return "\n".join(
            [
                f"{self.mode}, seed {self.seed}: {self.kills.total()} kills ({killed})",
                f"  {self.messages} messages, accepted after {median:.2f} s (median), {longest:.1f} at most",
                f"  answers: {ended}; {self.facts} facts",
                f"  ended by themselves: {dict(self.ended) or 'none'}",
                f"  settled {self.settled:.1f} s after the last kill",
                *[f"  WRONG: {one}" for one in self.wrong or ["nothing"]],
            ]
        )


def run_chaos(mode: str, seconds: float, seed: int) -> Report:
    """Kill for so many seconds, let everything come back, and judge."""
    report = Report(mode, seed)
    with open_folder() as folder, house(mode, folder) as (machine, database, redis, parts):
        addresses = [f"http://127.0.0.1:{port}" for port in machine.ports]
        leaving = threading.Event()
        people = [
            Person(f"alice{number}", addresses, Provider(machine.offline), leaving, seed) for number in range(PEOPLE)
        ]
        for person in people:
            person.start()
        kill_at_random(parts, seconds, random.Random(seed), report)
        ended = time.monotonic()
        leaving.set()
        for person in people:
            person.join(SETTLED_WITHIN)
        report.memories = [person.memory for person in people]
        report.wrong = [person.fault for person in people if person.fault]
        report.wrong += [f"{person.name} still waits" for person in people if person.is_alive()]
        rows = Rows(database.conninfo, redis.url if redis else "")
        report.wrong += settle(machine, rows, partial(violations, rows, report.memories))
        for port in machine.ports:
            machine.wait_until_healthy("web", port, SETTLED_WITHIN)
        report.settled = time.monotonic() - ended
        report.facts = rows.ask("SELECT count(*) FROM memory_fact")[0][0]
        if not report.facts:
            report.wrong.append("nothing was learned")
    return report


# The house ---------------------------------------------------------------------------------------------------------


class ChaosMachine(Machine):
    """A machine with two web processes."""

    def __init__(self, folder: Path, **addresses: str) -> None:
        super().__init__(folder, **addresses)
        self.environment["DRAIN_SECONDS"] = "1"
        self.ports = free_port(), free_port()


@contextmanager
def house(mode: str, folder: Path) -> Iterator[tuple[ChaosMachine, Server, RedisServer | None, list[Part]]]:
    """Everything runs."""
    with ExitStack() as started:
        database = started.enter_context(own_server(SURVIVES_KILLS, with_tables=True))
        redis = started.enter_context(own_redis()) if mode == "redis" else None
        machine = ChaosMachine(folder, DATABASE_URL=database.url, **({"REDIS_URL": redis.url} if redis else {}))
        machine.use_static_files(database)
        started.enter_context(machine.running(shlex.join(COMPOSE["offline"]["command"])))
        parts = [
            process_part(started, machine, f"web {n}", documented("uvicorn"), port)
            for n, port in enumerate(machine.ports, 1)
        ]
        for n in (1, 2):
            command = documented("celery --quiet --app recall worker")
            parts.append(process_part(started, machine, f"worker {n}", command))
            command = documented("celery --quiet --app recall beat")
            parts.append(process_part(started, machine, f"beat {n}", command))
        parts.append(Part("postgresql", database.start, database.kill, lambda: database.process.poll() is None))
        if redis is not None:
            parts.append(Part("redis", redis.start, redis.kill, lambda: redis.process.poll() is None, LONG_AWAY))
        wait_until(lambda: all(part.is_up() for part in parts))
        yield machine, database, redis, parts


STARTED_AFTER: Final = 4.0
"""Seconds a worker or a clock is left alone after its start: it takes them to import."""


def process_part(started: ExitStack, machine: Machine, name: str, command: str, port: int = 0) -> Part:
    """A process of the machine, started."""
    running: dict[str, Any] = {}

    def start() -> None:
        running["process"], running["since"] = machine.start(command, port), time.monotonic()

    def kill() -> None:
        process: subprocess.Popen[bytes] = running["process"]
        if process.poll() is not None:
            return
        children = psutil.Process(process.pid).children(recursive=True)
        for one in (process, *children):
            one.kill()
        process.wait()

    def is_up() -> bool:
        if running["process"].poll() is not None:
            return False
        return accepts(port) if port else time.monotonic() - running["since"] > STARTED_AFTER

    start()
    started.callback(kill)
    return Part(name, start, kill, is_up, has_ended=lambda: running["process"].poll() is not None)


def accepts(port: int) -> bool:
    """Whether someone listens."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


# Killing -----------------------------------------------------------------------------------------------------------


def kill_at_random(parts: list[Part], seconds: float, dice: random.Random, report: Report) -> None:
    """For so long; then everything is started again."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        rest_until = time.monotonic() + dice.uniform(*BETWEEN_KILLS)
        while time.monotonic() < rest_until:
            start_due(parts, report.ended)
            time.sleep(0.05)
        candidates = [part for part in parts if part.due is None and part.is_up()]
        if candidates:
            part = dice.choice(candidates)
            part.kill()
            part.due = time.monotonic() + dice.uniform(*part.away)
            report.kills[part.name] += 1
    for part in parts:
        part.due = part.due and 0.0
    wait_until(lambda: all_up(parts, report.ended))


def all_up(parts: list[Part], ended: Counter[str]) -> bool:
    """Whether everything runs; what doesn't is started."""
    start_due(parts, ended)
    return all(part.is_up() for part in parts)


def start_due(parts: list[Part], ended: Counter[str]) -> None:
    """Start what was away long enough."""
    for part in parts:
        if part.due is None and part.has_ended():
            ended[part.name] += 1
            part.due = time.monotonic() + AWAY[1]
        if part.due is not None and part.due <= time.monotonic():
            part.start()
            part.due = None


# Settling ----------------------------------------------------------------------------------------------------------


def settle(machine: Machine, rows: Rows, judge: Callable[[], list[str]]) -> list[str]:
    """Let the minutes pass after which leases end and the clock repairs; what is wrong then."""
    time.sleep(3)
    lapse(rows)
    deadline, fewest = time.monotonic() + SETTLED_WITHIN, sys.maxsize
    while True:
        machine.run(shlex.join(["python", "-c", SEND_REPAIRS]))
        until_empty = time.monotonic() + 10
        while (waiting := queue_length(rows)) and time.monotonic() < until_empty:
            time.sleep(0.2)
        if waiting < fewest:
            deadline, fewest = time.monotonic() + SETTLED_WITHIN, waiting
        wrong = judge() + ([f"{waiting} tasks wait in the queue"] if waiting else [])
        if not wrong or time.monotonic() > deadline:
            return wrong


def lapse(rows: Rows) -> None:
    """Minutes pass: the leases of killed workers end, and conversations become idle."""
    rows.ask("UPDATE memory_librarianrun SET lease_until = now(), not_before = now() WHERE state <> 'done'")
    rows.ask("UPDATE chat_compaction SET lease_until = now(), not_before = now() WHERE state IN ('pending', 'running')")
    rows.ask("UPDATE chat_message SET created_at = created_at - interval '10 minutes'")
    rows.ask("UPDATE chat_conversation SET last_activity_at = last_activity_at - interval '30 minutes'")
    rows.end_claims_on_tasks()


def queue_length(rows: Rows) -> int:
    """Tasks that wait or run. The clock sends some every few seconds: it falls to nothing between them."""
    if not rows.redis_url:
        return int(rows.ask("SELECT count(*) FROM pgmq.q_recall")[0][0])
    client = Redis.from_url(rows.redis_url)
    return int(client.llen("recall")) + int(client.hlen("unacked"))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--mode", choices=MODES, help="only this one")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(2)))
    options = parser.parse_args()
    reports = []
    for mode in [options.mode] if options.mode else MODES:
        reports.append(run_chaos(mode, options.minutes * 60, options.seed))
        print(reports[-1], flush=True)
    if options.record:
        record("chaos", {name: figure for report in reports for name, figure in report.figures().items()})
    sys.exit(any(report.wrong for report in reports))


if __name__ == "__main__":
    main()
