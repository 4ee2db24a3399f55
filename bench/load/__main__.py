"""Sockets that talk: how fast messages are accepted and answered, and what is lost or refused.

    .venv/bin/python -m bench.load [--sockets 50 200 500] [--web 1 2] [--seconds 60] [--pause 15]
    .venv/bin/python -m bench.load --minutes 60 --sockets 50      # a soak: growth of memory and descriptors
    .venv/bin/python -m bench.load --saturate --sockets 50 200    # as many turns a second as there can be

So many people have one tab each. Everyone asks, reads the answer (25 words in five seconds), waits `--pause` seconds on
average, and asks again; with `--saturate`, answers are written at once, and each end is followed by the next message.
Web processes, the worker, PostgreSQL, the model (the offline server) and the people share the machine. "accepted" is
from sending a message until it is stored, "first" until its first text, in milliseconds; "model" is the first text of a
stream that is read straight from the model server meanwhile, so `first - model` is Recall's own. Sockets that are lost
are opened again and counted.
"""

import argparse
import asyncio
import json
import random
import re
import statistics
import sys
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

import httpx2
import psutil

from bench.own_database import own_database
from bench.results import Figures, arguments, percentiles, record
from bench.servers import free_port, process, server
from bench.turn.__main__ import Person, make_people, script

WORDS_APART: Final = 0.2
"""Seconds between two words of an answer: five a second."""
SPREAD: Final = 5.0
"""Seconds within which those who never pause connect."""
SETTLING: Final = 15.0
"""Seconds that are not counted, beside one pause: everyone connects and asks for the first time."""
TURNS_A_CONVERSATION: Final = 5
PROBE_EVERY: Final = 1.0
QUIET_EVERY: Final = 5.0
"""Seconds between two looks for a quiet moment of a soak."""
TOKEN: Final = "bench"  # of the metrics
BLOCKS: Final = re.compile(r"^recall_python_blocks (\S+)", re.MULTILINE)
MEGABYTE: Final = 2**20
SATURATING: Final = 10_000
"""Answers that are prepared for those who never pause."""
UNITS: Final = {
    "turns/s": "turns/s",
    "accepted p50": "ms",
    "accepted p95": "ms",
    "first p50": "ms",
    "first p95": "ms",
    "model p50": "ms",
    "model p95": "ms",
    "lost": "",
    "refused": "",
    "queued": "",
    "memory": "MB",
    "files": "",
    "cpu": "ms",
}
"""The columns after sockets and web processes."""
ALL_UNITS: Final = UNITS | {
    "first less model p50": "ms",
    "first less model p95": "ms",
    "growth an hour": "MB",
    "blocks an answer": "",
}
"""Those that are recorded, too."""


@dataclass
class Seen:
    """What the people saw since the settling ended; times in milliseconds."""

    accepted: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    model: list[float] = field(default_factory=list)
    done: int = 0
    lost: Counter[str] = field(default_factory=Counter)
    """By reason."""
    queued: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    sentences: set[str] = field(default_factory=set)
    """Of refusals: each must have one."""

    def forget(self) -> None:
        """Start counting."""
        self.__init__()  # type: ignore[misc]


class Talker:
    """One person with one tab."""

    def __init__(self, person: Person, port: int, pause: float, seen: Seen, dice: random.Random) -> None:
        self._person, self._port, self._pause, self._seen, self._dice = person, port, pause, seen, dice
        self._conversation: str | None = None

    async def talk(self) -> None:
        """Until cancelled; a lost socket is opened again."""
        from websockets.asyncio.client import connect
        from websockets.exceptions import ConnectionClosed, InvalidHandshake

        address, origin = f"ws://127.0.0.1:{self._port}/ws/chat", f"http://127.0.0.1:{self._port}"
        headers = {"Cookie": self._person.cookie}
        await asyncio.sleep(self._dice.uniform(0, self._pause or SPREAD))
        while True:
            try:
                async with connect(address, additional_headers=headers, origin=origin, max_size=None) as socket:  # type: ignore[arg-type]
                    for number in range(sys.maxsize):
                        await self._ask(socket, number)
                        if self._pause:
                            await asyncio.sleep(self._dice.expovariate(1 / self._pause))
            except (ConnectionClosed, InvalidHandshake, OSError, TimeoutError) as error:
                self._seen.lost[f"{type(error).__name__}: {error}"] += 1
                await asyncio.sleep(1.0)

    async def _ask(self, socket: Any, number: int) -> None:
        if number % TURNS_A_CONVERSATION == 0:
            self._conversation = None
        frame = {"v": 1, "type": "send", "client_id": str(uuid4()), "conversation": self._conversation}
        began, seen, is_first = time.perf_counter(), self._seen, True
        await socket.send(json.dumps({**frame, "text": f"Where does my sister live? ({number})"}))
        async for text in socket:
            heard, since = json.loads(text), (time.perf_counter() - began) * 1000
            match heard["type"]:
                case "accepted":
                    self._conversation = heard["conversation"]
                    seen.accepted.append(since)
                case "status" if heard["state"] == "queued":
                    seen.queued += 1
                case "delta" if is_first:
                    is_first = False
                    seen.first.append(since)
                case "error":
                    seen.refused[heard["code"]] += 1
                    seen.sentences.add(heard["text"])
                    return
                case "done":
                    seen.done += 1
                    return


async def probe(model_port: int, seen: Seen) -> None:
    """How long the model itself takes to its first text, measured beside the load."""
    body: dict[str, Any] = {"model": "claude-sonnet-5-5", "max_tokens": 1000, "stream": True}
    body["messages"] = [{"role": "user", "content": "Hello."}]
    headers = {"x-api-key": "offline", "anthropic-version": "2026-10-21"}
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{model_port}", headers=headers, timeout=60) as client:
        while True:
            began = time.perf_counter()
            async with client.stream("POST", "/v1/messages", json=body) as answer:
                if answer.is_error:
                    raise SystemExit(f"The model refused: {(await answer.aread()).decode()}")
                async for line in answer.aiter_lines():
                    if "text_delta" in line:
                        seen.model.append((time.perf_counter() - began) * 1000)
                        break
            await asyncio.sleep(PROBE_EVERY)


# The processes -----------------------------------------------------------------------------------------------------


def web(started: ExitStack, port: int) -> psutil.Process:
    """A web process, with the options of `manage.py up`."""
    from recall.process.startup import SOCKETS

    options = (*SOCKETS, "--loop", "uvloop", "--http", "httptools", "--no-access-log", "--log-level", "warning")
    command = ("uvicorn", "recall.asgi:application", "--port", str(port), "--timeout-graceful-shutdown", "5", *options)
    return psutil.Process(started.enter_context(process(*command, port=port, DRAIN_SECONDS="0", METRICS_TOKEN=TOKEN)))


def worker(started: ExitStack) -> None:
    """The worker, as `manage.py up` starts it."""
    quiet = ("--without-gossip", "--without-mingle", "--loglevel", "WARNING")
    command = ("celery", "--quiet", "--app", "recall", "worker", "--pool", "threads", "--concurrency", "2")
    started.enter_context(process(*command, "--with-beat", *quiet))


def weight(webs: list[psutil.Process]) -> tuple[float, int]:
    """Megabytes and descriptors of all web processes together."""
    sizes = [one.memory_info().rss / MEGABYTE for one in webs]
    return sum(sizes), sum(one.num_fds() for one in webs)


def mapped(webs: list[psutil.Process]) -> float:
    """Megabytes of these that are pages of files, such as the models' weights: the system takes them back at need."""
    return sum(float(one.memory_info().shared) for one in webs) / MEGABYTE


def busy(webs: list[psutil.Process]) -> float:
    """Processor seconds of all web processes."""
    return float(sum(times.user + times.system for times in (one.cpu_times() for one in webs)))


# The run -----------------------------------------------------------------------------------------------------------


async def load(
    people: list[Person], ports: list[int], webs: list[psutil.Process], model_port: int, options: argparse.Namespace
) -> dict[str, float]:
    """Everyone talks for so long; the figures by column, those of a soak after them."""
    seen = Seen()
    talkers = [
        Talker(person, ports[number % len(ports)], options.pause, seen, random.Random(number))
        for number, person in enumerate(people)
    ]
    tasks = [asyncio.create_task(talker.talk()) for talker in talkers] + [asyncio.create_task(probe(model_port, seen))]
    await asyncio.sleep(SETTLING + options.pause)
    settling_lost = seen.lost
    seen.forget()
    seen.lost = settling_lost
    began, cpu = time.perf_counter(), busy(webs)
    growth = await soak(webs, ports, options.minutes, seen) if options.minutes else {}
    if not options.minutes:
        await asyncio.sleep(options.seconds)
    seconds, cpu = time.perf_counter() - began, busy(webs) - cpu
    megabytes, files = weight(webs)
    ended = seen.done
    for task in tasks:
        task.cancel()
    found = await asyncio.gather(*tasks, return_exceptions=True)
    for fault in found:
        if not isinstance(fault, asyncio.CancelledError):
            print(f"A client failed: {fault!r}")
    for reason, times in seen.lost.most_common(3):
        print(f"Lost {times}: {reason}")
    for sentence in seen.sentences:
        print(f"Refused with: {sentence}")
    took = [
        figure for part in (seen.accepted, seen.first, seen.model) for figure in percentiles(part or [float("nan")])
    ]
    counts = (seen.lost.total(), seen.refused.total(), seen.queued)
    figures = (ended / seconds, *took, *counts, megabytes, files, cpu * 1000 / max(1, ended))
    by_column = dict(zip(UNITS, figures, strict=True))
    own = {
        f"first less model {share}": by_column[f"first {share}"] - by_column[f"model {share}"]
        for share in ("p50", "p95")
    }
    return by_column | own | growth


async def soak(webs: list[psutil.Process], ports: list[int], minutes: float, seen: Seen) -> dict[str, float]:
    """Print memory, descriptors and what Python's objects take as time passes, and their growth in the second half.

    Memory follows the most answers at once. What a step's quietest moment takes is what they leave behind. Growth is
    without the pages of files.
    """
    samples: list[tuple[float, float, int, int, int]] = []
    began = time.monotonic()
    step = max(10.0, minutes * 60 / 20)
    print(row("minute", "MB", "mapped", "files", "blocks", "answers", "accepted p95"))
    while (passed := (time.monotonic() - began) / 60) < minutes:
        blocks = [await blocks_of(ports, wait=QUIET_EVERY) for _ in range(int(step / QUIET_EVERY))]
        passed = (time.monotonic() - began) / 60
        (megabytes, descriptors), pages = weight(webs), mapped(webs)
        samples.append((passed, megabytes - pages, descriptors, min(blocks), seen.done))
        accepted = percentiles(seen.accepted[-500:])[1] if seen.accepted else 0.0
        print(row(f"{passed:.1f}", f"{megabytes:.1f}", f"{pages:.1f}", *samples[-1][2:], f"{accepted:.0f}"), flush=True)
    half = samples[len(samples) // 2 :]
    if len({done for *_, done in half}) < 2:
        return {"growth an hour": 0.0, "blocks an answer": 0.0}
    at, sizes, counts, taken, answers = zip(*half, strict=True)
    memory, files = (statistics.linear_regression(at, values).slope * 60 for values in (sizes, counts))
    each, left = (statistics.linear_regression(answers, values).slope for values in (sizes, taken))
    print(
        f"growth in the second half: {memory:+.1f} MB ({1000 * each:+.1f} in 1,000 answers), {files:+.1f} files an hour"
    )
    print(f"left behind: {left:+.2f} blocks an answer, of {min(taken):,}")
    return {"growth an hour": memory, "blocks an answer": left}


async def blocks_of(ports: list[int], *, wait: float) -> int:
    """Blocks that the Python objects of all web processes take, after so many seconds."""
    await asyncio.sleep(wait)
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as client:
        pages = [(await client.get(f"http://127.0.0.1:{port}/metrics")).text for port in ports]
    return sum(int(float(found[1])) for page in pages if (found := BLOCKS.search(page)))


def row(*cells: Any) -> str:
    return " ".join(f"{cell:>12}" if index > 1 else f"{cell:>8}" for index, cell in enumerate(cells))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sockets", type=int, nargs="+", default=[50, 200, 500])
    parser.add_argument("--web", type=int, nargs="+", default=[1, 2], help="web processes")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--pause", type=float, default=15, help="seconds between an answer and the next message")
    parser.add_argument("--facts", type=int, default=100, help="facts of each person")
    parser.add_argument("--minutes", type=float, default=0, help="a soak of so many minutes instead")
    parser.add_argument("--saturate", action="store_true", help="no pauses, neither between words nor turns")
    options = parser.parse_args()
    if options.saturate:
        options.pause = 0.0
    figures: Figures = {}
    model_port = free_port()
    with ExitStack() as stack:
        stack.enter_context(own_database(OFFLINE_URL=f"http://127.0.0.1:{model_port}", LOG_LEVEL="WARNING"))
        people = make_people(max(options.sockets), options.facts)
        delay = str(0 if options.saturate else WORDS_APART)
        stack.enter_context(server("offline.app:app", model_port, OFFLINE_ADMIN="1", OFFLINE_DELTA_DELAY=delay))
        worker(stack)
        print(f"{psutil.cpu_count()} cores, load {psutil.getloadavg()[0]:.1f} before", flush=True)
        print(row("sockets", "web", *UNITS))
        for processes in options.web:
            with ExitStack() as webs:
                ports = [free_port() for _ in range(processes)]
                running = [web(webs, port) for port in ports]
                for sockets in options.sockets:
                    answers = 2000 + sockets * int(options.seconds + options.minutes * 60) // 10
                    script(model_port, SATURATING if options.saturate else answers)
                    seen = asyncio.run(load(people[:sockets], ports, running, model_port, options))
                    print(row(sockets, processes, *(f"{seen[column]:.1f}" for column in UNITS)), flush=True)
                    name = f"{sockets} sockets, {processes} web"
                    figures |= {f"{name}, {column}": (figure, ALL_UNITS[column]) for column, figure in seen.items()}
        print(f"load {psutil.getloadavg()[0]:.1f} after")
    if options.record:
        bench = "load.saturated" if options.saturate else "load.soak" if options.minutes else "load"
        record(bench, figures, ratios_of(figures, options) if options.saturate else {})


def ratios_of(figures: Figures, options: argparse.Namespace) -> dict[str, float]:
    """How many times as much is done a second for the fewest sockets as for more of them."""
    done = {name: value for name, (value, unit) in figures.items() if unit == "turns/s"}
    least, *more = sorted(options.sockets)
    return {
        f"{least} sockets over {sockets}, {web} web": done[f"{least} sockets, {web} web, turns/s"]
        / done[f"{sockets} sockets, {web} web, turns/s"]
        for web in options.web
        for sockets in more
    }


if __name__ == "__main__":
    main()
