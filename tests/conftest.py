"""What every test may ask for: the throw-away server, the cast, the offline server (the whole: `tests/running.py`).

Alice owns it, Bob must see nothing, Charlie is staff.
"""

import functools
import gc
import os
import signal
from collections.abc import Callable, Generator, Iterator
from typing import Any

import httpcore2
import hypothesis
import pytest
from django.conf import settings
from django.db import connection
from django.test import TransactionTestCase
from xdist.scheduler import LoadScopeScheduling

from recall.celery import app as celery_app
from recall.db import acting
from recall.process import embedded_postgres
from tests import emptying, prepared
from tests.settings import THROW_AWAY

IN_CI = os.environ.get("CI", "").lower() not in {"", "0", "false"}


# The run -----------------------------------------------------------------------------------------------------------


def pytest_configure(config: pytest.Config) -> None:
    # A run that is ended from outside cleans up as after Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # What a test queues goes nowhere; tests of delivery start their own processes.
    celery_app.conf.update(broker_url="memory://", broker_transport="memory", broker_transport_options={})
    # Every HTTP client reads the machine's certificates, for 30 ms, and thousands of them are made.
    httpcore2.default_ssl_context = functools.cache(httpcore2.default_ssl_context)
    # A slow moment of a shared machine isn't a failure. Each run tries other examples: half of the usual 100 do.
    hypothesis.settings.register_profile("ours", deadline=None, max_examples=50)
    hypothesis.settings.load_profile("ours")


LONGEST_FIRST = (
    *("tests/processes", "tests/browser/1", "tests/browser/2"),
    *(
        "tests/processes/test_chaos.py",
        "tests/chat/pages/test_page_script.py",
        "tests/chat/compaction/test_at_scale.py",
        "tests/recall/test_queue.py",
        "tests/recall/process/test_up.py",
        "tests/memory/evaluation/librarian/test_run.py",
        "tests/recall/process/test_own_logins.py",
        "tests/recall/process/test_release_upgrade.py",
        "tests/recall/process/test_backup.py",
        "tests/chat/evaluation/test_short_form.py",
        "tests/test_patterns.py",
        "tests/chat/turns/test_run.py",
        "tests/chat/archive/test_archive.py",
        "tests/api/test_schemathesis.py",
        "tests/chat/prompt/test_estimate.py",
        "tests/chat/prompt/test_cache_layout.py",
        "tests/memory/pages/test_review_keys.py",
        "tests/memory/librarian/test_kills.py",
        "tests/memory/librarian/test_echo.py",
        "tests/memory/librarian/rules/test_speed.py",
        "tests/recall/process/test_supervisor.py",
    ),
)
"""Groups that take half a minute and more: if they started last, one process would be left alone with them."""


def _group(path: str) -> str:
    """What one process runs: a file, or the files that share an application."""
    folder, _, name = path.rpartition("/")
    if folder == "tests/processes" and name != "test_chaos.py":  # which starts a Recall of its own
        return folder
    if folder == "tests/browser":  # two halves, each with its own application and browser
        return f"{folder}/{1 if name < 'test_m' else 2}"
    return path


class Groups(LoadScopeScheduling):  # type: ignore[misc]  # xdist is not typed
    """Gives each process of a run whole groups. (xdist's own `loadgroup` marks nothing with this pytest.)"""

    def _split_scope(self, nodeid: str) -> str:
        return _group(nodeid.partition("::")[0])


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Groups:
    return Groups(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without looking for garbage, and don't look among the thousands of tests and their modules later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start what takes longest first; everything else stays in its order."""
    order = {group: place for place, group in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: order.get(_group(item.nodeid.partition("::")[0]), len(order)))


_skipped: list[str] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped:
        _skipped.append(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.skipped and IN_CI:
        report.outcome = "failed"  # if several processes collect, only failures are reported


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a skipped test is a failed one: everything is installed there, so a skip hides something."""
    if IN_CI and _skipped and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if IN_CI and _skipped:
        terminalreporter.section("skipped, which fails a run in CI", red=True)
        terminalreporter.write_line("\n".join(_skipped))


# The database ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[embedded_postgres.Cluster]:
    """An embedded server whose data may be lost; started by the first test that needs it."""
    prepared.copy_to(THROW_AWAY)
    cluster = embedded_postgres.open_cluster(THROW_AWAY, durable=False)
    server = cluster.start(embedded_postgres.THROW_AWAY)
    try:
        embedded_postgres.wait_until_ready(cluster, lambda: server.poll() is None)
        yield cluster
    finally:
        embedded_postgres.stop(server)
        embedded_postgres.discard(cluster)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(postgres_server: embedded_postgres.Cluster) -> None:
    """pytest-django's hook before it makes the test database, as its owner."""
    acting.act_by_default("migrations")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """pytest-django's, and after a test that commits the tables are emptied our way.

    Tests themselves act as the operator's commands do. What they request, send or run acts for its user.
    """
    with django_db_blocker.unblock():
        emptying.remember()
        connection.close()
    acting.act_by_default("command")
    TransactionTestCase._fixture_teardown = lambda case: emptying.restore()  # type: ignore[attr-defined]
    yield
    acting.act_by_default("migrations")
    with django_db_blocker.unblock():
        emptying.end_other_sessions()


@pytest.fixture
def one_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a sync test run async code (`async_to_sync(story)()`) inside its own rolled-back transaction.

    A test that is itself async would write on another connection: nothing of it is rolled back. And Channels closes
    "old" connections between messages, including the test's own.
    """
    monkeypatch.setattr("channels.db.close_old_connections", lambda **kwargs: None)


@pytest.fixture
def without_filters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every `for_user` returns everyone's rows: what is left is the database's own wall."""
    from memory.models.boundaries import BoundaryQuerySet
    from recall.db.ownership import OwnedManager, OwnedQuerySet

    for owned in (OwnedQuerySet, OwnedManager, BoundaryQuerySet):
        monkeypatch.setattr(owned, "for_user", lambda rows, user: rows.all())


# The queue ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[str | int, ...]]]:
    """What `recall.celery.enqueue_on_commit` sent after commit, as (task, arguments).

    Inside a test's transaction nothing commits: use `django_capture_on_commit_callbacks(execute=True)`.
    """
    sent: list[tuple[str, tuple[str | int, ...]]] = []
    monkeypatch.setattr("recall.celery.send_task_now", lambda name, args: sent.append((name, args)))
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


@pytest.fixture
def staff(charlie: Any, sign_in: Callable[[Any], Any]) -> Any:
    """Charlie's client, with every permission in the admin."""
    charlie.is_superuser = True
    charlie.save()
    return sign_in(charlie)


# The model provider ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def _nothing_known_of_models() -> None:
    """Forget what a process learned about a model, or couldn't without a server: the next file's tests start fresh."""
    from budget.counting.calibration import forget_known_ratios
    from recall.llm.client import forget_capabilities

    forget_capabilities()
    forget_known_ratios()


@pytest.fixture(scope="session", autouse=True)
def _networks_remember() -> None:
    """Read the same text once."""
    from memory.embeddings import cross_encoder, minilm, onnx_folder
    from memory.network import reader
    from tests.networks import remembering

    once = remembering(minilm.session)
    for module in (minilm, reader, cross_encoder, onnx_folder):
        module.session = once  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def offline_server() -> Generator[str]:
    """The address of an offline server, in a thread, with admin calls enabled; `PROVIDER_BASE_URL` names it
    meanwhile."""
    from tests.running import listening_socket, serve_in_thread

    os.environ |= {"OFFLINE_ADMIN": "1", "OFFLINE_DELTA_DELAY": "0"}  # a test that needs it slow says so
    bound = listening_socket()
    address = f"http://127.0.0.1:{bound.getsockname()[1]}"
    before = settings.PROVIDER_BASE_URL
    settings.PROVIDER_BASE_URL = address
    try:
        with serve_in_thread("offline.app:app", bound):
            # the server has read it; other processes that a test starts keep their own pace
            del os.environ["OFFLINE_DELTA_DELAY"]
            yield address
    finally:
        settings.PROVIDER_BASE_URL = before
        del os.environ["OFFLINE_ADMIN"]
