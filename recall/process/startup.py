"""One-command start: what `manage.py up` starts, in which order, and its error messages.

    lock VAR_DIR → port → PostgreSQL → tables → offline server → web server → worker

The supervisor owns the listening sockets: requests wait while the web process restarts.
"""

import asyncio
import fcntl
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO, cast

import psycopg
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.db.backends.postgresql.base import DatabaseWrapper
from psycopg.conninfo import make_conninfo

from accounts.secret_encryption import seal_all
from recall.celery import install_broker
from recall.db import row_security
from recall.db.acting import by
from recall.db.requirements import check_database, check_sessions
from recall.observability.health import unapplied_migrations
from recall.process import embedded_postgres, token_vocabulary
from recall.process.static_files import collect_if_changed
from recall.process.supervisor import Child, StartupError, StoppedError, Supervisor, end_leftovers, say

MAX_FRAME_BYTES = 64 * 1024  # a socket's longest frame, DESIGN §7
SOCKETS = ("--ws-max-size", str(MAX_FRAME_BYTES), "--ws-per-message-deflate", "false")  # frames are short: no gain
STOP_SECONDS = 15  # for open requests, and to save what running answers have so far
WORKER_THREADS = 2  # the librarian waits for a model; threads take a third of the memory of processes


async def up(host: str, port: int, how_to_sign_in: Callable[[], str]) -> None:
    """Start everything, serve until a stop signal, stop everything.

    `how_to_sign_in` is called once the tables exist; its text is printed with the address.

    Raises:
        StartupError: with one sentence that says why.
    """
    run_dir: Path = settings.VAR_DIR / "run"
    with (
        only_one_in(run_dir),
        listening(host, port, "PORT") as page,
        listening("127.0.0.1", settings.ENVIRONMENT.offline_port, "OFFLINE_PORT") as model,
    ):
        supervisor = Supervisor(run_dir / "children.json")
        try:
            await start(supervisor, page, model, how_to_sign_in)
            await supervisor.unless_stopped(asyncio.Event().wait())
        except StoppedError:
            pass
        finally:
            await supervisor.stop()


async def start(
    supervisor: Supervisor, page: socket.socket, model: socket.socket, how_to_sign_in: Callable[[], str]
) -> None:
    """Start the children in order."""
    environment = dict(os.environ)
    if _is_embedded():
        await start_postgres(supervisor)
    if settings.IS_OFFLINE and not settings.ENVIRONMENT.offline_url:
        environment["OFFLINE_URL"] = _address(model)
        supervisor.keep(offline_child(model, environment))
    await supervisor.unless_stopped(asyncio.to_thread(collect_if_changed))
    await supervisor.unless_stopped(asyncio.to_thread(token_vocabulary.provide, settings.TIKTOKEN_CACHE_DIR))
    supervisor.keep(web_child(page, environment))  # it imports while the tables are created, then waits for them
    hint = await supervisor.unless_stopped(asyncio.to_thread(prepare_database, how_to_sign_in))
    await supervisor.unless_stopped(wait_for_answer(page))
    say(f"Recall is ready: {settings.ENVIRONMENT.public_url or _address(page)} - {hint}")
    supervisor.keep(worker_child(environment))  # last: it would delay the web server, and no one waits for it


# The children ------------------------------------------------------------------------------------------------------


def postgres_child(cluster: embedded_postgres.Cluster) -> Child:
    """The embedded server: SIGINT is its fast shutdown, SIGQUIT its immediate one."""
    return Child(
        "postgres",
        cluster.command(),
        environment=embedded_postgres.environment(),
        identity=embedded_postgres.as_account(cluster.account),
        stop_signal=signal.SIGINT,
        stop_seconds=30,
        forced_signal=signal.SIGQUIT,
        orphan_signal=signal.SIGINT,
        foundation=True,
    )


def offline_child(model: socket.socket, environment: dict[str, str]) -> Child:
    """The server that answers when no model provider is configured."""
    command = uvicorn("offline.app:app", model)
    return Child("offline", command, environment=environment, sockets=[model.fileno()], foundation=True)


def web_child(page: socket.socket, environment: dict[str, str]) -> Child:
    """Pages and sockets in one process: a turn belongs to its process, which handles dozens at once."""
    command = uvicorn("recall.asgi:application", page, *SOCKETS, "--lifespan", "on")
    seconds = settings.ENVIRONMENT.drain_seconds + STOP_SECONDS
    return Child("web", command, environment=environment, sockets=[page.fileno()], stop_seconds=seconds)


def worker_child(environment: dict[str, str]) -> Child:
    """The Celery worker, with beat inside."""
    options = ("--pool", "threads", "--concurrency", str(WORKER_THREADS), "--with-beat", "--loglevel", "INFO")
    quiet = ("--without-gossip", "--without-mingle", "--without-heartbeat", "--hostname", "worker@recall")
    # What someone waits for comes first where both want the processor.
    command = ("nice", sys.executable, "-m", "celery", "--quiet", "--app", "recall", "worker", *options, *quiet)
    return Child("worker", command, environment=environment)


def uvicorn(application: str, bound: socket.socket, *options: str) -> list[str]:
    """uvicorn on an already bound socket, with the fast loop and parser."""
    fast = ("--loop", "uvloop", "--http", "httptools", "--no-access-log", "--log-level", "warning")
    served = ("--fd", str(bound.fileno()), "--timeout-graceful-shutdown", "5")
    return [sys.executable, "-m", "uvicorn", application, *served, *fast, *options]


# The steps ---------------------------------------------------------------------------------------------------------


@contextmanager
def only_one_in(run_dir: Path) -> Iterator[None]:
    """Lock VAR_DIR for this supervisor. The kernel releases the lock when the process ends, however it ends."""
    try:
        run_dir.mkdir(parents=True, exist_ok=True)
        lock = (run_dir / "supervisor.pid").open("a+")
    except OSError as error:
        raise StartupError(f"VAR_DIR: can't write {error.filename} ({error.strerror}).") from error
    with lock:
        lock.seek(0)
        former = lock.read().strip()
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StartupError(
                f"Recall is already running on {run_dir.parent} (process {former}). Stop it first."
            ) from None
        if former:
            say(f"The last run (process {former}) didn't stop cleanly; recovering.")
            for name in end_leftovers(run_dir / "children.json"):
                say(f"Stopped its {name}.")
        _overwrite(lock, str(os.getpid()))
        try:
            yield
        finally:
            _overwrite(lock, "")


@contextmanager
def listening(host: str, port: int, setting: str) -> Iterator[socket.socket]:
    """A listening socket that children inherit; port 0: any free one. `setting`: the setting to change on an error."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        bound = socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]
        raise StartupError(f"Can't use port {port} on {host} ({reason}). Set another {setting}.") from error
    with bound:
        yield bound


async def start_postgres(supervisor: Supervisor) -> None:
    """Start the embedded server and wait until it answers."""
    try:
        cluster = embedded_postgres.open_cluster(settings.VAR_DIR)
        supervisor.keep(postgres_child(cluster))
        ready = asyncio.to_thread(embedded_postgres.wait_until_ready, cluster, lambda: not supervisor.is_ending)
        await supervisor.unless_stopped(ready)
    except embedded_postgres.EmbeddedServerError as error:
        raise StartupError(str(error)) from error


def prepare_database(how_to_sign_in: Callable[[], str]) -> str:
    """Create the database, tables and queue if they are missing; returns how to sign in.

    Raises:
        StartupError: the database doesn't answer or doesn't meet the requirements.
    """
    try:
        if _is_embedded():
            embedded_postgres.ensure_database(settings.VAR_DIR)
        # First: Django's pool would hide why it can't connect.
        check_sessions(make_conninfo(**settings.DATABASE_DSN))
        check_sessions(make_conninfo(**settings.OWNER_DSN))
        with alone(), by("migrations"):
            check_database(connection)
            row_security.install_roles()  # the web process waits for them
            if unapplied_migrations():
                call_command("migrate", verbosity=0, interactive=False)
            row_security.install()
            if not settings.ENVIRONMENT.redis_url:
                install_broker()
        with by("start-up"):
            seal_all()
            return how_to_sign_in()
    except ImproperlyConfigured as error:
        raise StartupError(str(error)) from error
    except (DatabaseError, psycopg.Error) as error:
        which = "The embedded database" if _is_embedded() else "DATABASE_URL: the database"
        raise StartupError(f"{which} isn't available ({str(error).splitlines()[0]}).") from error
    finally:
        connection.close()
        cast(DatabaseWrapper, connection).close_pool()  # the supervisor needs no database from here on


@contextmanager
def alone() -> Iterator[None]:
    """Wait until no other machine prepares the same database."""
    with psycopg.connect(make_conninfo(**settings.OWNER_DSN), autocommit=True) as waiting:
        # It asks again and again: a statement that waits holds a snapshot, which building an index waits for.
        while waiting.execute("SELECT pg_try_advisory_lock(hashtext('recall.prepare'), 0)").fetchone() != (True,):
            time.sleep(0.2)
        yield


async def wait_for_answer(page: socket.socket) -> None:
    """Wait until the web process reports healthy."""
    while not await _is_healthy(page):  # noqa: ASYNC110 -- another process's state: there is no event to wait for
        await asyncio.sleep(0.1)


async def _is_healthy(page: socket.socket) -> bool:
    name = next(iter(settings.ALLOWED_HOSTS), "*").lstrip(".").replace("*", "localhost")  # others are refused
    try:
        reader, writer = await asyncio.open_connection(_reachable_host(page), page.getsockname()[1])
        writer.write(f"GET /readyz HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode())
        status = await reader.readline()
        writer.close()
    except OSError:  # the process ended while the request waited
        return False
    return b" 200 " in status


def _is_embedded() -> bool:
    return settings.ENVIRONMENT.database_url is None


def _address(bound: socket.socket) -> str:
    host = _reachable_host(bound)
    return f"http://{f'[{host}]' if ':' in host else host}:{bound.getsockname()[1]}"


def _reachable_host(bound: socket.socket) -> str:
    host: str = bound.getsockname()[0]
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104


def _overwrite(file: TextIO, text: str) -> None:
    file.seek(0)
    file.truncate()
    file.write(text)
    file.flush()
