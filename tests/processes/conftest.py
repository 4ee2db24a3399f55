"""One running Recall for the tests that kill its parts: its users, its model server, its rows, its clock."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, LiteralString, NamedTuple
from uuid import uuid4

import httpx2
import psycopg
import pytest
from celery import Celery
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from redis import Redis

from recall.celery import CONFIGURATION, broker
from tests.processes.browser import PATIENCE, Browser, Frame, Tab
from tests.running import PROJECT, App, RedisServer, clean_environment, free_port, own_redis, running, wait_until

Newcomer = Callable[[], Browser]


@pytest.fixture(scope="package")
def offline_port() -> int:
    """Fixed, so that tests find the model server again after it was killed."""
    return free_port()


def on(*modes: str) -> pytest.MarkDecorator:
    """Marks tests of a Recall whose events go through PostgreSQL ("notify"), through "redis", or of both in turn: all
    files share one of each."""
    return pytest.mark.parametrize("environment", modes, indirect=True)


@pytest.fixture(scope="package")
def redis() -> Iterator[RedisServer]:
    with own_redis() as server:
        yield server


@pytest.fixture(scope="package")
def environment(offline_port: int, request: pytest.FixtureRequest) -> dict[str, str]:
    """The librarian calls the model server, too: whatever can be slowed down can be killed midway."""
    everywhere = {"OFFLINE_PORT": str(offline_port), "OFFLINE_ADMIN": "1", "LIBRARIAN_ENGINE": "model"}
    if request.param == "redis":
        everywhere["REDIS_URL"] = request.getfixturevalue("redis").url
    return everywhere


@pytest.fixture(scope="package")
def app(environment: dict[str, str]) -> Iterator[App]:
    with running(**environment) as app:
        yield app


@pytest.fixture(scope="package")
def other_process(app: App, environment: dict[str, str], offline_port: int) -> Iterator[str]:
    """A second web process beside the application's."""
    with web_process(app, environment, offline_port) as second:
        yield second.url


class WebProcess(NamedTuple):
    """A web process that a test started, and its address."""

    url: str
    process: subprocess.Popen[bytes]


@contextmanager
def web_process(app: App, environment: dict[str, str], offline_port: int) -> Iterator[WebProcess]:
    """Another web process, started by hand as on a second machine."""
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "recall.asgi:application", "--port", str(port)]
    places = {"VAR_DIR": str(app.var_dir), "OFFLINE_URL": f"http://127.0.0.1:{offline_port}"}
    process = subprocess.Popen(
        [*command, "--log-level", "warning", "--timeout-graceful-shutdown", "1"],
        cwd=PROJECT,
        env=clean_environment(DJANGO_SETTINGS_MODULE="tests.app_settings", **environment, **places),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: _accepts(port))  # otherwise a turn to be stopped would end before it listens
        yield WebProcess(f"http://127.0.0.1:{port}", process)
    finally:
        process.terminate()
        process.wait(20)


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


# People ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="package")
def newcomer(app: App) -> Newcomer:
    """Signs up a new user: no one is disturbed by another's actions."""
    numbers = count(1)

    def newcomer() -> Browser:
        browser = Browser(app.url)
        browser.sign_up(f"alice{next(numbers)}@example.org")
        return browser

    return newcomer


@dataclass
class Turn:
    """One message of a user, in its own conversation, and the tab it is sent from."""

    browser: Browser
    asked: str
    client_id: str = field(default_factory=lambda: str(uuid4()))
    conversation: str = ""
    answer: int = 0

    def __post_init__(self) -> None:
        self.tab: Tab = self.browser.tab()

    def tell(self) -> None:
        """Send the message without waiting."""
        self.tab.tell("send", client_id=self.client_id, conversation=None, text=self.asked)

    def send(self) -> Frame:
        """Send the message, as often as needed; returns its `accepted` frame."""
        accepted = self.tab.send(self.asked, client_id=self.client_id)
        self.conversation, self.answer = accepted["conversation"], accepted["message"]
        return accepted

    def done(self) -> Frame:
        """Wait until it is answered; returns the `done` frame."""
        return self.tab.hear("done", message=self.answer)

    def stop(self) -> None:
        """Press Stop."""
        self.tab.tell("stop", conversation=self.conversation)


# The model server --------------------------------------------------------------------------------------------------


class Provider:
    """The model server's scripted answers, and their pace."""

    def __init__(self, port: int) -> None:
        self._http = httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE)

    def will_say(self, asked: str, text: str, *, thinking: str = "", pause: float = 0.0) -> None:
        """Answer the next request that contains `asked` with `text`, with `pause` seconds between two words."""
        self._post("script", {"replies": [{"match": asked, "text": text, "thinking": thinking}]})
        self._post("faults", {"match": asked, "fault": f"slow:{pause}"})

    def will_find(self, asked: str, facts: list[dict[str, Any]], *, pause: float = 0.0) -> None:
        """Give the librarian these facts, once, for a conversation that contains `asked`."""
        self._post("script", {"replies": [{"match": asked, "json": {"facts": facts}}]})
        self._post("faults", {"match": asked, "fault": f"slow:{pause}"})

    def will_hang(self, asked: str) -> None:
        """Never answer the next request that contains `asked`."""
        self._post("faults", {"match": asked, "fault": "timeout"})

    def wait_until_asked(self, asked: str, times: int = 1) -> None:
        """Wait until this many requests that contain `asked` have arrived."""
        wait_until(lambda: len(self.asked(asked)) >= times)

    def asked(self, asked: str) -> list[str]:
        """Outcomes of the requests that contain `asked`, oldest first: running, complete, cancelled, …"""
        log = self._http.get("/offline/requests").raise_for_status().json()["requests"]
        return [one["outcome"] for one in log if one["body"] and asked in str(one["body"]["messages"][-1])]

    def _post(self, what: str, body: dict[str, Any]) -> None:
        self._http.post(f"/offline/{what}", json=body).raise_for_status()


@pytest.fixture(scope="package")
def provider(app: App, offline_port: int) -> Provider:
    return Provider(offline_port)


# The rows ----------------------------------------------------------------------------------------------------------


class Said(NamedTuple):
    """One row of a conversation."""

    seq: int
    role: str
    status: str
    text: str


class Rows:
    """What is really stored. Each query has its own connection, and waits while PostgreSQL is away."""

    def __init__(self, conninfo: str, redis_url: str = "") -> None:
        self.conninfo = conninfo
        self.redis_url = redis_url
        """Of the queue, if that isn't in PostgreSQL, too."""

    def ask(self, query: LiteralString, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                with psycopg.connect(self.conninfo, autocommit=True) as connection:
                    cursor = connection.execute(query, values)
                    return cursor.fetchall() if cursor.description else []
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, f"no database within {PATIENCE} s"
                time.sleep(0.05)

    def messages(self, conversation: str) -> list[Said]:
        """Every row of a conversation, in the order of arrival."""
        query = "SELECT seq, role, status, text FROM chat_message WHERE conversation_id = %s ORDER BY seq"
        return [Said(*row) for row in self.ask(query, conversation)]

    def receipts(self, conversation: str) -> list[str]:
        """State of each receipt, in the order of the answers."""
        query = "SELECT state FROM budget_receipt WHERE conversation_id = %s ORDER BY message_id"
        return [state for (state,) in self.ask(query, conversation)]

    def conversations_with(self, asked: str) -> int:
        """How many conversations contain this message, counting repetitions."""
        return len(self.ask("SELECT conversation_id FROM chat_message WHERE text = %s", asked))

    def runs(self, conversation: str) -> list[tuple[Any, ...]]:
        """State, attempts, facts learned and facts waiting of each librarian run."""
        query = "SELECT state, attempts, learned, waiting FROM memory_librarianrun WHERE conversation_id = %s"
        return self.ask(query, conversation)

    def facts(self, conversation: str) -> list[tuple[Any, ...]]:
        """Statement and status of each fact learned from a conversation."""
        query = """
            SELECT statement, f.status FROM memory_fact f JOIN chat_message m ON m.id = f.message_id
            WHERE m.conversation_id = %s ORDER BY statement
        """
        return self.ask(query, conversation)

    def end_leases(self) -> None:
        """Let five minutes pass for the librarian: a lost worker's claims then count as abandoned."""
        self.ask("UPDATE memory_librarianrun SET lease_until = now() WHERE state = 'running'")
        self.end_claims_on_tasks()

    def end_claims_on_tasks(self) -> None:
        """The tasks of killed workers come back."""
        if not self.redis_url:
            self.ask("UPDATE pgmq.q_recall SET vt = clock_timestamp()")
            return
        Redis.from_url(self.redis_url).eval(
            "for _, tag in ipairs(redis.call('zrange', KEYS[1], 0, -1)) do redis.call('zadd', KEYS[1], 0, tag) end",
            1,
            "unacked_index",
        )

    def end_signs_of_life(self, conversation: str) -> None:
        """End the connection that shows that the process writing here is alive."""
        self.ask(
            """
            SELECT pg_terminate_backend(l.pid) FROM pg_locks l
            JOIN chat_message m ON m.process_key = (l.classid::bigint << 32) | l.objid::bigint
            WHERE l.locktype = 'advisory' AND m.conversation_id = %s
            """,
            conversation,
        )

    # Moments -------------------------------------------------------------------------------------------------------

    @contextmanager
    def held(self, table: str, mode: LiteralString = "ACCESS EXCLUSIVE") -> Iterator[None]:
        """Lock a table, so that whoever needs it stops exactly there. A killed PostgreSQL releases it, too."""
        lock = sql.SQL("LOCK TABLE {} IN {} MODE").format(sql.Identifier(table), sql.SQL(mode))
        connection = psycopg.connect(self.conninfo)
        try:
            connection.execute(lock)
            yield
        finally:
            connection.close()

    def wait_until_stuck_at(self, table: str, how_many: int = 1) -> None:
        """Wait until this many are blocked by the lock on a table."""
        query = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = %s::regclass"
        wait_until(lambda: len(self.ask(query, table)) >= how_many)

    @contextmanager
    def commits_unconfirmed(self) -> Iterator[None]:
        """Commits reach the disk but aren't confirmed: they wait for a standby that doesn't exist."""
        self.ask("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        self.ask("SELECT pg_reload_conf()")
        try:
            yield
        finally:
            self.confirm_commits_later()
            self.ask("SELECT pg_reload_conf()")

    def confirm_commits_later(self) -> None:
        """Let commits be confirmed again once PostgreSQL reloads its settings, or restarts."""
        self.ask("ALTER SYSTEM RESET synchronous_standby_names")

    def wait_until_unconfirmed(self, how_many: int = 1) -> None:
        """Wait until this many wait for the confirmation of their commit."""
        query = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = 'COMMIT'"
        wait_until(lambda: len(self.ask(query)) >= how_many)


@pytest.fixture(scope="package")
def rows(app: App, environment: dict[str, str]) -> Rows:
    return Rows(app.conninfo(), environment.get("REDIS_URL", ""))


# The clock ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="package")
def clock(app: App, environment: dict[str, str]) -> Iterator[Callable[[str], object]]:
    """`clock(task)` makes the worker do now what the scheduler would start within half a minute."""
    with Celery("tests", set_as_current=False) as sender:
        sender.conf.update(
            {**CONFIGURATION, **broker(dict(conninfo_to_dict(app.conninfo())), environment.get("REDIS_URL"))}
        )
        yield sender.send_task
