"""What every test may ask for: the throw-away server, the cast, the offline server (the whole: `tests/running.py`).

Alice owns it, Bob must see nothing, Charlie is staff.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator, Iterator
from typing import Any

import hypothesis
import pytest
from django.conf import settings

from recall import embedded
from recall.celery import app as celery_app
from tests.settings import THROW_AWAY

IN_CI = os.environ.get("CI", "").lower() not in {"", "0", "false"}


# The run -----------------------------------------------------------------------------------------------------------


def pytest_configure(config: pytest.Config) -> None:
    # A run that is ended from outside cleans up as after Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # What a test queues goes nowhere; tests of delivery start processes of their own.
    celery_app.conf.update(broker_url="memory://", broker_transport="memory", broker_transport_options={})
    # A slow moment of a shared machine is no failure.
    hypothesis.settings.register_profile("no-deadline", deadline=None)
    hypothesis.settings.load_profile("no-deadline")


_skipped: list[str] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped:
        _skipped.append(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.skipped:
        _skipped.append(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a skipped test is a failed one: there everything is installed, so a skip hides something."""
    if IN_CI and _skipped and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if IN_CI and _skipped:
        terminalreporter.section("skipped, which fails a run in CI", red=True)
        terminalreporter.write_line("\n".join(_skipped))


# The database ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[embedded.Cluster]:
    """An embedded server whose data may be lost; started by the first test that needs it."""
    cluster = embedded.open_cluster(THROW_AWAY, durable=False)
    server = cluster.start(embedded.THROW_AWAY)
    try:
        embedded.wait_until_ready(cluster, lambda: server.poll() is None)
        yield cluster
    finally:
        embedded.stop(server)
        embedded.discard(cluster)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(postgres_server: embedded.Cluster) -> None:
    """pytest-django's hook before it makes the test database."""


@pytest.fixture
def one_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a sync test run async code (`async_to_sync(story)()`) inside its own, rolled-back, transaction.

    A test that is itself async would write on another connection: nothing of it is rolled back. And Channels closes
    "old" connections between messages, the test's own among them.
    """
    monkeypatch.setattr("channels.db.close_old_connections", lambda **kwargs: None)


# The queue ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[str | int, ...]]]:
    """What `recall.celery.queue` sent after commit, as (task, arguments).

    Inside a test's transaction nothing commits: use `django_capture_on_commit_callbacks(execute=True)`.
    """
    sent: list[tuple[str, tuple[str | int, ...]]] = []
    monkeypatch.setattr("recall.celery.send", lambda name, args: sent.append((name, args)))
    return sent


# The cast ----------------------------------------------------------------------------------------------------------

PASSWORD = "correct horse battery staple"


def _person(name: str, **fields: Any) -> Any:
    from accounts.models import User

    return User.objects.create_user(
        f"{name.lower()}@example.org", PASSWORD, preferred_name=name, time_zone="Europe/Lisbon", **fields
    )


@pytest.fixture
def alice(db: None) -> Any:
    """Owns it."""
    return _person("Alice")


@pytest.fixture
def bob(db: None) -> Any:
    """Must see nothing of Alice's."""
    return _person("Bob")


@pytest.fixture
def charlie(db: None) -> Any:
    """Is staff."""
    return _person("Charlie", is_staff=True)


@pytest.fixture
def sign_in(client: Any) -> Callable[[Any], Any]:
    """`sign_in(alice)` gives a test client with Alice's session."""

    def sign_in(user: Any) -> Any:
        client.force_login(user, backend=settings.AUTHENTICATION_BACKENDS[0])
        return client

    return sign_in


# The model provider ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def offline_server() -> Generator[str]:
    """The address of an offline server, in a thread, that obeys admin calls; `PROVIDER_BASE_URL` names it meanwhile."""
    from tests.running import listening_socket, serve_in_thread

    os.environ["OFFLINE_ADMIN"] = "1"
    bound = listening_socket()
    address = f"http://127.0.0.1:{bound.getsockname()[1]}"
    before = settings.PROVIDER_BASE_URL
    settings.PROVIDER_BASE_URL = address
    try:
        with serve_in_thread("offline.app:app", bound):
            yield address
    finally:
        settings.PROVIDER_BASE_URL = before
        del os.environ["OFFLINE_ADMIN"]
