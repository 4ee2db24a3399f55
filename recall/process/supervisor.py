"""The process supervisor: keeps child processes running until `stop`, and leaves none behind.

    start → run → (ended: report it, kill its group, pause) → start …

A child that keeps ending right after its start ends the whole run with one sentence. Every child leads its own process
group, so its children end with it, and dies with the supervisor even if that is killed.
"""

import asyncio
import json
import os
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, STDOUT, Process
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import psutil
from django.conf import settings

from recall.process.embedded_postgres import Identity
from recall.process.orphans import end_with_parent

STEADY_SECONDS = 10.0  # a child that ran this long had started well: its next end counts as the first
RESTART_PAUSES = (0.2, 1.0, 3.0)  # seconds before each restart in a row; after the last the run ends
OUTPUT_DRAIN_SECONDS = 5.0  # for descendants that hold the output open (a killed postmaster's workers) to be gone
HANG_UP = [signal.SIGHUP] if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN else []  # ignored: `nohup`
FORCE_AFTER_SECONDS = 1.0  # a second signal after this forces; an earlier one is a duplicate sent by `make`


class StoppedError(Exception):
    """A stop signal arrived while work was in progress."""


class StartupError(Exception):
    """One sentence that says why Recall can't start or continue."""


@dataclass(frozen=True, eq=False)
class Child:
    """One process to keep running."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    identity: Identity = field(default_factory=Identity)  # the account it runs as
    sockets: Sequence[int] = ()  # file descriptors it inherits
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 10.0  # then it is killed
    foundation: bool = False  # the others depend on it: it stops after them
    forced_signal: signal.Signals = signal.SIGKILL  # what a second Ctrl-C sends
    orphan_signal: signal.Signals = signal.SIGKILL  # what the kernel sends when the supervisor was killed


class Supervisor:
    """Keeps children running until `stop`."""

    def __init__(self, register: Path) -> None:
        self._register = register  # names the running children, for the next start and for tools
        self._running: dict[str, Process] = {}
        self._keepers: dict[Child, asyncio.Task[None]] = {}
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._stop_asked_at: float | None = None
        self.stopping = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM, *HANG_UP):
            asyncio.get_running_loop().add_signal_handler(number, self._on_signal)

    def keep(self, child: Child) -> None:
        """Start `child` and restart it whenever it ends."""
        self._keepers[child] = asyncio.create_task(self._keep(child), name=child.name)

    async def unless_stopped[T](self, work: Awaitable[T]) -> T:
        """Wait for `work`, but no longer than the run lasts.

        Raises:
            StoppedError: a signal came first.
            StartupError: a child keeps failing.
        """
        task = asyncio.ensure_future(work)
        stop = asyncio.create_task(self.stopping.wait())
        await asyncio.wait({task, stop, self._failed}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if task.done():
            return task.result()
        task.cancel()
        if self._failed.done():
            self._failed.result()
        raise StoppedError

    @property
    def is_ending(self) -> bool:
        """Whether a signal came or a child failed for good; for work in a thread, which can't be canceled."""
        return self.stopping.is_set() or self._failed.done()

    async def stop(self) -> None:
        """Stop the children: all at once, then the one they depend on."""
        self.stopping.set()
        for turn in (False, True):
            await asyncio.gather(*[self._stop(child) for child in self._keepers if child.foundation is turn])
        self._register.unlink(missing_ok=True)

    async def _keep(self, child: Child) -> None:
        quick_ends = 0
        while not self.stopping.is_set():
            seconds, end = await self._live(child)
            if self.stopping.is_set():
                return
            quick_ends = 1 if seconds > STEADY_SECONDS else quick_ends + 1
            if quick_ends > len(RESTART_PAUSES):
                self._fail(f"{child.name} {end} {quick_ends} times in a row. See its last lines above.")
                return
            say(f"{child.name} {end}; restarting it.")
            await self._pause(RESTART_PAUSES[quick_ends - 1])

    async def _live(self, child: Child) -> tuple[float, str]:
        """Run a child once: the seconds it ran, and how it ended."""
        started = time.monotonic()
        try:
            process, output = await self._start(child)
        except OSError as error:
            return 0.0, f"couldn't be started ({error})"
        if self.stopping.is_set():  # stop() was called during the start, and didn't see this child
            kill_group(process.pid, child.stop_signal)
        code = await self._ended(child, process, output)
        return time.monotonic() - started, how_it_ended(code)

    async def _start(self, child: Child) -> tuple[Process, asyncio.StreamReader]:
        reading, writing = os.pipe()  # our own pipe: with asyncio's, wait() waits for anyone who holds the output
        process = await asyncio.create_subprocess_exec(
            *child.command,
            stdin=DEVNULL,
            stdout=writing,
            stderr=STDOUT,
            env=child.environment,
            pass_fds=child.sockets,
            start_new_session=True,
            preexec_fn=end_with_parent(child.orphan_signal),
            **child.identity,
        )
        os.close(writing)
        self._running[child.name] = process
        self._write_register()
        return process, await _reader(reading)

    async def _ended(self, child: Child, process: Process, output: asyncio.StreamReader) -> int:
        printing = asyncio.create_task(_print_lines(child.name, output))
        code = await process.wait()
        kill_group(process.pid, signal.SIGKILL)  # end its own children too
        await asyncio.wait({printing}, timeout=OUTPUT_DRAIN_SECONDS)
        printing.cancel()
        del self._running[child.name]
        self._write_register()
        return code

    async def _stop(self, child: Child) -> None:
        if process := self._running.get(child.name):
            kill_group(process.pid, child.stop_signal)
        _, late = await asyncio.wait({self._keepers[child]}, timeout=child.stop_seconds)
        if late and (process := self._running.get(child.name)):
            say(f"{child.name} didn't stop within {child.stop_seconds:.0f} s; killing it.")
            kill_group(process.pid, signal.SIGKILL)
            await asyncio.wait({self._keepers[child]})

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self.stopping.wait(), seconds)

    def _on_signal(self) -> None:
        now = time.monotonic()
        if self._stop_asked_at is None:
            self._stop_asked_at = now
            say("Stopping… Press Ctrl-C again to force.")
            self.stopping.set()
        elif now - self._stop_asked_at > FORCE_AFTER_SECONDS:
            for child in self._keepers:
                if process := self._running.get(child.name):
                    kill_group(process.pid, child.forced_signal)

    def _fail(self, sentence: str) -> None:
        if not self._failed.done():
            self._failed.set_exception(StartupError(sentence))

    def _write_register(self) -> None:
        running = {name: _identify(process.pid) for name, process in self._running.items()}
        unfinished = self._register.with_suffix(".new")
        unfinished.write_text(json.dumps(running))
        unfinished.replace(self._register)


def end_leftovers(register: Path) -> list[str]:
    """Stop children of a killed supervisor that the kernel left running (not on Linux); returns their names."""
    try:
        former: dict[str, dict[str, float]] = json.loads(register.read_text())
    except (FileNotFoundError, ValueError):
        return []
    left = {name: who for name, who in former.items() if _identify(int(who["pid"])) == who}
    for who in left.values():
        kill_group(int(who["pid"]), signal.SIGTERM)
    psutil.wait_procs([psutil.Process(int(who["pid"])) for who in left.values()], timeout=10)
    for who in left.values():
        kill_group(int(who["pid"]), signal.SIGKILL)
    return list(left)


def kill_group(leader: int, number: signal.Signals) -> None:
    """Send a signal to a child and its descendants, if they still run."""
    with suppress(ProcessLookupError, PermissionError):  # macOS reports a group of zombies as not permitted
        os.killpg(leader, number)


def how_it_ended(code: int) -> str:
    """An exit code in words: "ended with code 3", "was killed by SIGKILL"."""
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


def say(sentence: str) -> None:
    """Print a line from the supervisor itself."""
    _write("recall", sentence)


def _identify(pid: int) -> dict[str, float]:
    """A process's id and start time: the id alone may have been reused."""
    try:
        return {"pid": pid, "started": psutil.Process(pid).create_time()}
    except psutil.NoSuchProcess:
        return {"pid": pid, "started": 0.0}


async def _reader(descriptor: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    pipe = os.fdopen(descriptor, "rb", buffering=0)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader


async def _print_lines(name: str, output: asyncio.StreamReader) -> None:
    """Print a child's output line by line until it ends."""
    rest = b""
    while chunk := await output.read(65_536):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            _write(name, line.decode(errors="replace"))
    if rest:
        _write(name, rest.decode(errors="replace"))


def _write(name: str, line: str) -> None:
    try:
        sys.stdout.write(f"{_in_json(name, line)}\n" if _is_json() else f"{name:<8} | {line}\n")
        sys.stdout.flush()
    except OSError:  # the terminal or pipe is gone: no reason to stop serving
        pass


def _is_json() -> bool:
    return bool(settings.configured and settings.ENVIRONMENT.log_format == "json")


def _in_json(name: str, line: str) -> str:
    """A child's JSON line as it is; any other line as the message of one."""
    if line.startswith("{"):
        return line
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return json.dumps({"time": now, "level": "INFO", "logger": name, "message": line}, ensure_ascii=False)
