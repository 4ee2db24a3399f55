"""Redis is killed under a running Recall, stays away, returns empty, or hangs: messages are answered all the while."""

import time

import pytest

from tests.processes.browser import Browser
from tests.processes.conftest import Provider, Rows, Turn, on
from tests.running import App, RedisServer, wait_until

pytestmark = [pytest.mark.processes, pytest.mark.redis, on("redis"), pytest.mark.timeout(300)]

STORY = " ".join(f"word{number}" for number in range(60))
AT_ONCE = 3.0
"""Seconds: twice the wait for a server that doesn't answer, and a busy machine."""
AWAY = 60.0
"""Seconds: twelve times what publishers wait before they try it again."""
SILENCE = 6.0
"""Seconds without a frame: more than the socket timeout of Redis clients."""


@pytest.fixture(scope="module")
def alice(app: App) -> Browser:
    alice = Browser(app.url)
    alice.sign_up("alice@example.org")
    return alice


def test_messages_are_answered_and_work_is_kept_until_redis_is_back(
    app: App, other_process: str, redis: RedisServer, alice: Browser, provider: Provider
) -> None:
    before = Turn(alice, "Tell me before.")
    provider.will_say(before.asked, "Before.")
    before.send()
    before.done()
    redis.kill()

    asked_at = time.monotonic()
    turn = Turn(alice, "Tell me while Redis is away.")
    provider.will_say(turn.asked, STORY, pause=0.05)
    turn.send()
    assert time.monotonic() - asked_at < AT_ONCE
    there = alice.at(other_process).tab()
    there.open(turn.conversation)
    there.tell("stop", conversation=turn.conversation)
    assert turn.done()["outcome"] == "interrupted"
    there.hear("nudge", kind="conversation", conversation=turn.conversation)

    asked_at = time.monotonic()
    alice.end(before.conversation)
    assert time.monotonic() - asked_at < AT_ONCE
    rows = Rows(app.conninfo())
    (unsent,) = rows.ask("SELECT count(*) FROM recall_unsent_task WHERE name = 'memory.tasks.read'")
    assert unsent[0] >= 1

    away_until = time.monotonic() + AWAY
    while time.monotonic() < away_until:
        later = Turn(alice, f"Tell me at {time.monotonic()}.")
        later.send()
        assert later.done()["outcome"] == "complete"
        time.sleep(2)

    redis.start()
    wait_until(lambda: rows.runs(before.conversation) and rows.runs(before.conversation)[0][0] == "done")
    assert rows.ask("SELECT name FROM recall_unsent_task") == []


def test_processes_find_each_other_again_after_a_restart(
    other_process: str, redis: RedisServer, alice: Browser, provider: Provider
) -> None:
    turn = Turn(alice, "Tell me after the restart.")
    there = alice.at(other_process).tab()
    redis.kill()
    redis.start()
    there.hear("nudge", kind="resync")
    provider.will_say(turn.asked, STORY, pause=0.05)
    turn.send()
    there.open(turn.conversation)
    there.tell("stop", conversation=turn.conversation)
    assert turn.done()["outcome"] == "interrupted"
    there.hear("nudge", kind="conversation", conversation=turn.conversation)


def test_a_socket_stays_open_while_nothing_happens(other_process: str, alice: Browser) -> None:
    there = alice.at(other_process).tab()
    time.sleep(SILENCE)
    there.tell("ping")
    there.hear("pong")  # on the first connection: a lost socket raises


def test_messages_are_answered_while_redis_hangs(app: App, redis: RedisServer, alice: Browser) -> None:
    with redis.hanging():
        for number in range(3):
            turn = Turn(alice, f"Tell me while Redis hangs: {number}.")  # each conversation hands over the one before
            turn.send()
            assert turn.done()["outcome"] == "complete"
    rows = Rows(app.conninfo())
    wait_until(lambda: rows.ask("SELECT name FROM recall_unsent_task") == [])
