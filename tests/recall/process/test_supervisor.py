"""Children are kept running, and none is left behind however the supervisor ends."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from recall.process.supervisor import end_leftovers, how_it_ended
from tests.running import PROJECT, clean_environment, wait_until

pytestmark = pytest.mark.processes

KEEP = """
import asyncio, os, sys
from pathlib import Path
from recall.process.supervisor import Child, StartupError, StoppedError, Supervisor

async def main(register, commands):
    supervisor = Supervisor(Path(register))
    for number, command in enumerate(commands):
        patience = float(os.environ.get("STOP_SECONDS", "1"))
        shell = ["sh", "-c", command]
        supervisor.keep(Child(f"child{number}", shell, stop_seconds=patience, foundation=number == 0))
    try:
        await supervisor.unless_stopped(asyncio.Event().wait())
    except StoppedError:
        pass
    finally:
        await supervisor.stop()

try:
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
except StartupError as refusal:
    sys.exit(f"refused: {refusal}")
"""

SLEEP = "exec sleep 1000"
WITH_A_CHILD_OF_ITS_OWN = "sleep 1000 & exec sleep 1000"
DEAF = "trap '' TERM INT HUP; while :; do sleep 0.1; done"


class Keeper:
    """A supervisor in its own process that keeps shell commands running."""

    def __init__(self, folder: Path, *commands: str, **environment: str) -> None:
        self.register = folder / "children.json"
        self.process = subprocess.Popen(
            [sys.executable, "-c", KEEP, str(self.register), *commands],
            cwd=PROJECT,
            env=clean_environment(DJANGO_SETTINGS_MODULE="tests.settings", **environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.everything: set[psutil.Process] = set()

    def pids(self) -> dict[str, int]:
        try:
            return {name: who["pid"] for name, who in json.loads(self.register.read_text()).items()}
        except FileNotFoundError:
            return {}

    def look(self, children: int) -> set[psutil.Process]:
        """Wait until this many processes run below it, its own ones by name; they are remembered."""
        me = psutil.Process(self.process.pid)
        wait_until(lambda: len(me.children(recursive=True)) >= children)
        wait_until(lambda: {child.pid for child in me.children()} <= set(self.pids().values()))
        found = set(me.children(recursive=True))
        self.everything |= found
        return found

    def ended(self) -> tuple[int, str]:
        """Wait for its end; returns its exit code and all its output."""
        output, _ = self.process.communicate(timeout=20)
        return self.process.returncode, output

    def left_over(self) -> list[psutil.Process]:
        deadline = time.monotonic() + 2
        while (left := [process for process in self.everything if is_alive(process)]) and time.monotonic() < deadline:
            time.sleep(0.02)
        return left


def is_alive(process: psutil.Process) -> bool:
    """Whether the process runs; an ended process that no one has waited for doesn't."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def keep(tmp_path: Path) -> Iterator[list[Keeper]]:
    started: list[Keeper] = []
    yield started
    for keeper in started:
        keeper.process.kill()
        keeper.process.wait()
        for process in keeper.left_over():
            process.kill()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_no_process_is_left_whichever_way_it_is_ended(keep: list[Keeper], tmp_path: Path, how: signal.Signals) -> None:
    keeper = Keeper(tmp_path, SLEEP, SLEEP)
    keep.append(keeper)
    keeper.look(children=2)
    keeper.process.send_signal(how)
    code, _ = keeper.ended()
    assert code == (-signal.SIGKILL if how == signal.SIGKILL else 0)
    assert keeper.left_over() == []


def test_what_a_child_started_ends_with_it(keep: list[Keeper], tmp_path: Path) -> None:
    keeper = Keeper(tmp_path, SLEEP, WITH_A_CHILD_OF_ITS_OWN)
    keep.append(keeper)
    before = keeper.look(children=3)
    os.kill(keeper.pids()["child1"], signal.SIGKILL)
    wait_until(lambda: len([process for process in before if is_alive(process)]) == 1)
    keeper.process.send_signal(signal.SIGTERM)
    assert "child1 was killed by SIGKILL; restarting it." in keeper.ended()[1]
    assert keeper.left_over() == []


def test_a_crashed_child_is_started_again_and_the_others_go_on(keep: list[Keeper], tmp_path: Path) -> None:
    keeper = Keeper(tmp_path, SLEEP, SLEEP)
    keep.append(keeper)
    keeper.look(children=2)
    before = keeper.pids()
    os.kill(before["child1"], signal.SIGKILL)
    wait_until(lambda: keeper.pids().get("child1", before["child1"]) != before["child1"])
    assert keeper.pids()["child0"] == before["child0"]
    keeper.look(children=2)


def test_a_child_that_ends_at_once_again_and_again_ends_the_run_with_one_sentence(
    keep: list[Keeper], tmp_path: Path
) -> None:
    keeper = Keeper(tmp_path, SLEEP, "echo out of luck; exit 3")
    keep.append(keeper)
    keeper.look(children=1)
    code, output = keeper.ended()
    assert code == 1
    assert output.rstrip().endswith("refused: child1 ended with code 3 4 times in a row. See its last lines above.")
    assert "child1   | out of luck" in output
    assert "Traceback" not in output
    assert keeper.left_over() == []


def test_a_deaf_child_is_killed_in_the_end(keep: list[Keeper], tmp_path: Path) -> None:
    keeper = Keeper(tmp_path, SLEEP, DEAF)
    keep.append(keeper)
    keeper.look(children=3)
    keeper.process.send_signal(signal.SIGTERM)
    code, output = keeper.ended()
    assert code == 0
    assert "child1 didn't stop within 1 s; killing it." in output
    assert keeper.left_over() == []


def test_a_second_ctrl_c_does_not_wait(keep: list[Keeper], tmp_path: Path) -> None:
    keeper = Keeper(tmp_path, DEAF, DEAF, STOP_SECONDS="600")
    keep.append(keeper)
    keeper.look(children=4)
    keeper.process.send_signal(signal.SIGINT)
    time.sleep(1.2)  # earlier, it would count as the same signal, passed on by `make`
    keeper.process.send_signal(signal.SIGINT)
    code, output = keeper.ended()
    assert code == 0
    assert output.count("Stopping… Press Ctrl-C again to force.") == 1
    assert keeper.left_over() == []


def test_what_the_others_rest_on_ends_last(keep: list[Keeper], tmp_path: Path) -> None:
    last_words = "trap 'echo bye; exit 0' TERM; while :; do sleep 0.05; done"
    slow = "trap 'sleep 0.4; echo bye; exit 0' TERM; while :; do sleep 0.05; done"
    keeper = Keeper(tmp_path, last_words, slow)
    keep.append(keeper)
    keeper.look(children=3)
    time.sleep(0.3)  # both shells have set their traps
    keeper.process.send_signal(signal.SIGTERM)
    lines = [line for line in keeper.ended()[1].splitlines() if "bye" in line]
    assert lines == ["child1   | bye", "child0   | bye"]


def test_what_a_supervisor_without_the_kernels_help_left_is_ended_by_the_next(tmp_path: Path) -> None:
    left = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    stranger = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    try:
        started = psutil.Process(left.pid).create_time()
        register = tmp_path / "children.json"
        register.write_text(
            json.dumps({"web": {"pid": left.pid, "started": started}, "worker": {"pid": stranger.pid, "started": 1.0}})
        )
        assert end_leftovers(register) == ["web"]
        assert left.poll() is not None
        assert stranger.poll() is None
    finally:
        for process in (left, stranger):
            process.kill()
            process.wait()


@pytest.mark.parametrize(("code", "words"), [(3, "ended with code 3"), (-9, "was killed by SIGKILL")])
def test_an_end_is_told_in_words(code: int, words: str) -> None:
    assert how_it_ended(code) == words
