"""Two web processes on one database: a turn belongs to one of them, and is watched and stopped through the other."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from tests.processes.browser import Browser
from tests.processes.conftest import Newcomer, Provider, Rows, Said, Turn
from tests.running import PROJECT, App, clean_environment, free_port, wait_until

pytestmark = [pytest.mark.processes, pytest.mark.timeout(300)]  # it starts two, which takes its time on a busy machine

STORY = " ".join(f"word{number}" for number in range(60))
WITHIN = 1.0
"""Seconds from a Stop to the end of the request at the model server (DESIGN §7); 20 ms on an idle machine."""


@pytest.fixture(scope="module")
def other_process(app: App, environment: dict[str, str], offline_port: int) -> Iterator[str]:
    """The address of a second web process, started by hand as on a second machine."""
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "recall.asgi:application", "--port", str(port)]
    places = {"VAR_DIR": str(app.var_dir), "OFFLINE_URL": f"http://127.0.0.1:{offline_port}"}
    process = subprocess.Popen(
        [*command, "--log-level", "warning", "--timeout-graceful-shutdown", "1"],
        cwd=PROJECT,
        env=clean_environment(**environment, **places),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: answers(port))  # else a turn that is to be stopped has ended before it listens
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def turn(newcomer: Newcomer, provider: Provider, request: pytest.FixtureRequest) -> Turn:
    """A turn that runs at the first process."""
    turn = Turn(newcomer(), f"Tell me in {request.node.name}.")
    provider.will_say(turn.asked, STORY, pause=0.05)
    turn.send()
    turn.tab.hear_until(turn.answer, characters=20)
    return turn


def test_stop_at_the_other_process_reaches_the_turn_within_a_second(
    turn: Turn, other_process: str, provider: Provider, rows: Rows
) -> None:
    there = turn.browser.at(other_process).tab()
    there.open(turn.conversation)
    began = time.monotonic()
    there.tell("stop", conversation=turn.conversation)
    wait_until(lambda: provider.asked(turn.asked) == ["cancelled"])
    assert time.monotonic() - began < WITHIN

    assert turn.done()["outcome"] == "interrupted"
    there.hear("nudge", kind="conversation", conversation=turn.conversation)
    assert there.open(turn.conversation)["answer"] is None
    question, answer = rows.messages(turn.conversation)
    assert question == Said(1, "user", "complete", turn.asked)
    assert answer == Said(2, "assistant", "interrupted", answer.text)
    assert STORY.startswith(answer.text)
    assert answer.text in there_shown(turn, other_process)


def test_the_answer_of_one_process_is_seen_through_the_other(turn: Turn, other_process: str, rows: Rows) -> None:
    there = turn.browser.at(other_process).tab()
    written = there.open(turn.conversation)["answer"]
    assert written["message"] == turn.answer
    assert STORY.startswith(written["text"])
    there.hear("nudge", kind="conversation", conversation=turn.conversation)
    assert there.open(turn.conversation)["answer"] is None
    assert STORY in there_shown(turn, other_process)
    assert rows.messages(turn.conversation)[1:] == [Said(2, "assistant", "complete", STORY)]


def test_the_other_process_learns_that_one_was_killed(app: App, turn: Turn, other_process: str, rows: Rows) -> None:
    there = turn.browser.at(other_process).tab()
    there.open(turn.conversation)
    app.kill("web")
    there.hear("nudge", kind="conversation", conversation=turn.conversation)
    assert "Recall was interrupted while writing this." in there_shown(turn, other_process)
    assert [said.status for said in rows.messages(turn.conversation)] == ["complete", "interrupted"]


def there_shown(turn: Turn, address: str) -> str:
    """The conversation as a page of another process renders it."""
    browser: Browser = turn.browser.at(address)
    return browser.shown(turn.conversation)
