"""One running Recall for all tests that kill its parts, the people who use it, its rows and its model server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any, LiteralString, NamedTuple

import httpx2
import psycopg
import pytest
from psycopg import sql

from tests.processes.browser import PATIENCE, Browser
from tests.running import App, free_port, running, wait_until

OFFLINE_PORT = free_port()
"""Fixed, so that tests find the model server again after it was killed."""
ENVIRONMENT = {"OFFLINE_PORT": str(OFFLINE_PORT), "OFFLINE_ADMIN": "1", "LIBRARIAN_ENGINE": "model"}
"""The librarian asks the model server, too: what a test can slow down it can kill in the middle."""


@pytest.fixture(scope="package")
def app() -> Iterator[App]:
    with running(**ENVIRONMENT) as app:
        yield app


_people = count(1)


@pytest.fixture
def alice(app: App) -> Browser:
    """Somebody new for each test, so that none sees what another left."""
    browser = Browser(app.url)
    browser.sign_up(f"alice{next(_people)}@example.org")
    return browser


# The model server --------------------------------------------------------------------------------------------------


class Provider:
    """What the model server says, and how slowly."""

    def __init__(self, address: str) -> None:
        self._http = httpx2.Client(base_url=address, timeout=PATIENCE)

    def will_say(self, question: str, text: str, *, pause: float = 0.0) -> None:
        """Answer the next request that holds `question` with `text`, with `pause` seconds between two words."""
        self._post("/offline/script", {"replies": [{"match": question, "text": text}]})
        self.fault(question, f"slow:{pause}")

    def will_find(self, question: str, facts: list[dict[str, Any]], *, pause: float = 0.0) -> None:
        """Give the librarian these facts, once, for a conversation that holds `question`."""
        self._post("/offline/script", {"replies": [{"match": question, "json": {"facts": facts}}]})
        self.fault(question, f"slow:{pause}")

    def will_hang(self, question: str) -> None:
        """Leave the next request that holds `question` without any answer."""
        self.fault(question, "timeout")

    def fault(self, question: str, fault: str) -> None:
        """Disturb the next request that holds `question`; what it asks for is not known until it has come."""
        self._post("/offline/faults", {"fault": fault, "match": question})

    def wait_until_asked(self, question: str, times: int = 1) -> None:
        """Wait until so many requests that hold `question` have come."""
        wait_until(lambda: len(self.asked(question)) >= times, PATIENCE)

    def asked(self, question: str) -> list[str]:
        """How the requests that hold `question` went, oldest first: running, complete, cancelled, …"""
        log = self._http.get("/offline/requests").raise_for_status().json()["requests"]
        return [one["outcome"] for one in log if one["body"] and question in str(one["body"]["messages"][-1])]

    def _post(self, path: str, body: dict[str, Any]) -> None:
        self._http.post(path, json=body).raise_for_status()


@pytest.fixture
def provider(app: App) -> Provider:
    return Provider(f"http://127.0.0.1:{OFFLINE_PORT}")


# The rows ----------------------------------------------------------------------------------------------------------


class Said(NamedTuple):
    """One row of a conversation."""

    seq: int
    role: str
    status: str
    text: str


class Rows:
    """What is really stored. Each question has a connection of its own, and waits while PostgreSQL is away."""

    def __init__(self, app: App) -> None:
        self._app = app

    def ask(self, query: LiteralString, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                with self._connect() as connection:
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

    def sent_with(self, client_id: str) -> list[str]:
        """The text of each message with this client id."""
        return [text for (text,) in self.ask("SELECT text FROM chat_message WHERE client_id = %s", client_id)]

    @contextmanager
    def held(self, table: str, mode: LiteralString = "ACCESS EXCLUSIVE") -> Iterator[None]:
        """Lock a table, so that whoever needs it stands still exactly there. A killed PostgreSQL lets go, too."""
        connection = self._connect(autocommit=False)
        lock = sql.SQL("LOCK TABLE {} IN {} MODE").format(sql.Identifier(table), sql.SQL(mode))
        try:
            connection.execute(lock)
            yield
        finally:
            connection.close()

    def wait_until_stuck_at(self, table: str) -> None:
        """Wait until somebody stands before a table that is held."""
        query = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = %s::regclass"
        wait_until(lambda: self.ask(query, table), PATIENCE)

    @contextmanager
    def commits_unconfirmed(self) -> Iterator[None]:
        """Every commit is on the disk, and whoever made it waits for the word: for a standby that does not exist."""
        self.ask("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        self.ask("SELECT pg_reload_conf()")
        try:
            yield
        finally:
            self.confirm_commits_later()
            self.ask("SELECT pg_reload_conf()")

    def confirm_commits_later(self) -> None:
        """Let commits be confirmed again once PostgreSQL has read its settings anew."""
        self.ask("ALTER SYSTEM RESET synchronous_standby_names")

    def wait_until_unconfirmed(self) -> None:
        """Wait until somebody waits for the word that the transaction is committed."""
        query = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = 'COMMIT'"
        wait_until(lambda: self.ask(query), PATIENCE)

    def runs(self, conversation: str) -> list[tuple[Any, ...]]:
        """State, attempts, facts learned and facts waiting of each librarian run."""
        query = "SELECT state, attempts, learned, waiting FROM memory_librarianrun WHERE conversation_id = %s"
        return self.ask(query, conversation)

    def facts(self, conversation: str) -> list[tuple[Any, ...]]:
        """Statement and status of each fact that was learned from a conversation."""
        query = """
            SELECT statement, fact.status FROM memory_fact fact JOIN chat_message message ON message.id = message_id
            WHERE conversation_id = %s ORDER BY statement
        """
        return self.ask(query, conversation)

    def end_leases(self) -> None:
        """Let five minutes pass for the librarian: what a lost worker held counts as abandoned now."""
        self.ask("UPDATE memory_librarianrun SET lease_until = now() WHERE state = 'running'")
        self.ask("UPDATE pgmq.q_recall SET vt = clock_timestamp()")

    def _connect(self, *, autocommit: bool = True) -> psycopg.Connection:
        return psycopg.connect(self._app.conninfo(), autocommit=autocommit)


@pytest.fixture
def rows(app: App) -> Rows:
    return Rows(app)
