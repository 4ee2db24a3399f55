"""Servers and whole applications for tests: started, used, killed, stopped."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
import redis
import uvicorn
import yaml
from psycopg.conninfo import make_conninfo

from recall.environment import Environment
from recall.process import embedded_postgres
from tests import prepared

PROJECT = Path(__file__).resolve().parent.parent
COMPOSE: dict[str, Any] = yaml.safe_load((PROJECT / "docker" / "compose.yaml").read_text())["services"]


def wait_until(
    condition: Callable[[], object],
    seconds: float = 100.0,
    explain: Callable[[], str] = lambda: "it did not come true",
    *,
    every: float = 0.02,
) -> None:
    """Wait until `condition()` is true; it is asked `every` so many seconds, which is short only where asking is cheap.

    Raises:
        AssertionError: it wasn't for `seconds` (a test machine may be busy); with the text of `explain`.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {explain()}"
        time.sleep(every)


@contextmanager
def open_folder() -> Iterator[Path]:
    """A temporary folder that other accounts may pass through: run as root, PostgreSQL uses one."""
    folder = Path(tempfile.mkdtemp(prefix="recall-test-")).resolve()
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def clean_environment(**extra: str) -> dict[str, str]:
    """This process's environment without any of Recall's settings and without `.env`, plus `extra`."""
    ours = {name.upper() for name in Environment.model_fields} | {"DJANGO_SETTINGS_MODULE"}
    ours |= {"PYTHONDONTWRITEBYTECODE"}  # a start that recompiles every module takes twice as long
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    return {**kept, "ENV_FILE": os.devnull, **extra}


# A database server -------------------------------------------------------------------------------------------------


class Server:
    """An embedded server of a test's own, which may be killed and restarted."""

    def __init__(self, var_dir: Path, settings: Mapping[str, str] = embedded_postgres.THROW_AWAY) -> None:
        self.cluster = embedded_postgres.open_cluster(var_dir, durable=False)
        self.settings = settings
        self.start()

    @property
    def conninfo(self) -> str:
        """libpq keywords of its database."""
        return make_conninfo(**embedded_postgres.dsn(self.cluster.var_dir))

    @property
    def url(self) -> str:
        """The same as a URL, for DATABASE_URL."""
        return f"postgresql://postgres@/recall?host={self.cluster.socket}"

    def connect(self) -> psycopg.Connection:
        """A connection in autocommit mode."""
        return psycopg.connect(self.conninfo, autocommit=True)

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.process = self.cluster.start(self.settings)
        embedded_postgres.wait_until_ready(self.cluster, lambda: self.process.poll() is None)
        embedded_postgres.ensure_database(self.cluster.var_dir)

    def stop(self) -> None:
        """Shut it down properly."""
        if self.process.poll() is None:
            embedded_postgres.stop(self.process)

    def kill(self) -> None:
        """SIGKILL its first process; returns when its other processes have noticed and ended, too."""
        workers = psutil.Process(self.process.pid).children(recursive=True)
        self.process.kill()
        self.process.wait()
        psutil.wait_procs(workers, timeout=10)


@contextmanager
def own_server(
    settings: Mapping[str, str] = embedded_postgres.THROW_AWAY, *, with_tables: bool = False
) -> Iterator[Server]:
    """A server in a folder of its own; takes 1.2 s. `with_tables`: as a first start leaves it."""
    with open_folder() as folder:
        if with_tables:
            prepared.copy_to(folder)
        server = Server(folder, settings)
        try:
            yield server
        finally:
            server.stop()
            embedded_postgres.discard(server.cluster)


# Redis -------------------------------------------------------------------------------------------------------------


class RedisServer:
    """A Redis of a test's own with the compose file's options, which may be killed and restarted."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def start(self) -> None:
        """Start it, empty, and wait until it answers."""
        command = [*COMPOSE["redis"]["command"], "--port", str(self.port), "--bind", "127.0.0.1"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        wait_until(self._answers)

    def _answers(self) -> bool:
        try:
            return bool(redis.Redis(port=self.port).ping())
        except redis.ConnectionError:
            return False

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """Its connections stay open, and nothing is answered."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """SIGKILL: everything it held is gone."""
        self.process.kill()
        self.process.wait()


@contextmanager
def own_redis() -> Iterator[RedisServer]:
    """A Redis on its own port. If none is installed, the test is skipped, which fails in CI."""
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed")
    server = RedisServer()
    try:
        yield server
    finally:
        server.kill()


# An ASGI application -----------------------------------------------------------------------------------------------


def listening_socket() -> socket.socket:
    """A socket on a free loopback port; connections wait in it until something serves them."""
    return socket.create_server(("127.0.0.1", 0))


def free_port() -> int:
    """A port that nothing listens on at this moment."""
    with listening_socket() as bound:
        port: int = bound.getsockname()[1]
        return port


@contextmanager
def serve_in_thread(application: str, bound: socket.socket) -> Iterator[None]:
    """Serve an ASGI application on `bound` from a thread of this process."""
    server = uvicorn.Server(uvicorn.Config(application, log_level="warning", lifespan="on"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    try:
        wait_until(lambda: server.started or not thread.is_alive())
        assert server.started, f"{application} did not start"
        yield
    finally:
        server.should_exit = True
        thread.join(10)


async def streamed(response: Any) -> bytes:
    """All that a streamed response sends."""
    return b"".join([piece async for piece in response.streaming_content])


# The whole of Recall -----------------------------------------------------------------------------------------------


class App:
    """What `manage.py up` started: real processes with their own embedded server."""

    def __init__(self, var_dir: Path, **environment: str) -> None:
        self.var_dir = var_dir
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = var_dir / "output.log"
        share_caches(var_dir)
        with self.log.open("wb") as output:
            self.supervisor = subprocess.Popen(
                [sys.executable, "manage.py", "up", "--port", str(self.port)],
                cwd=PROJECT,
                env=clean_environment(VAR_DIR=str(var_dir), **environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def wait_until_ready(self) -> None:
        """Wait until the page answers and the worker takes tasks."""
        wait_until(self._is_ready_or_ended, explain=self.output)
        assert self.supervisor.poll() is None, self.output()

    def output(self) -> str:
        """Everything printed so far."""
        return self.log.read_text()

    def _is_ready_or_ended(self) -> bool:
        return "worker@recall ready" in self.output() or self.supervisor.poll() is not None

    def pid(self, child: str) -> int:
        """The current process id of `postgres`, `offline`, `web` or `worker`."""
        wait_until(lambda: child in self._register())
        pid: int = self._register()[child]["pid"]
        return pid

    def _register(self) -> dict[str, dict[str, int]]:
        register: dict[str, dict[str, int]] = json.loads((self.var_dir / "run" / "children.json").read_text())
        return register

    def kill(self, child: str) -> None:
        """SIGKILL a child; returns when the supervisor has started its successor."""
        killed = self.pid(child)
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: self._register().get(child, {"pid": killed})["pid"] != killed)

    def healthy(self) -> bool:
        """Whether the page reports that it can serve."""
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=60) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def conninfo(self) -> str:
        """libpq keywords of its database."""
        return make_conninfo(**embedded_postgres.dsn(self.var_dir))

    def processes(self) -> list[psutil.Process]:
        """The supervisor and everything it started, with their children."""
        supervisor = psutil.Process(self.supervisor.pid)
        return [supervisor, *supervisor.children(recursive=True)]

    def stop(self, with_signal: signal.Signals = signal.SIGTERM) -> int:
        """Stop it as an operator would; returns its exit code."""
        if self.supervisor.poll() is None:
            self.supervisor.send_signal(with_signal)
        return self.supervisor.wait(40)


@contextmanager
def running(**environment: str) -> Iterator[App]:
    """`manage.py up` in its own folder, where the tables already exist; ready for use."""
    with open_folder() as folder:
        prepared.copy_to(folder)
        with started_in(folder, DJANGO_SETTINGS_MODULE="tests.app_settings", **environment) as app:
            yield app


@contextmanager
def started_in(folder: Path, **environment: str) -> Iterator[App]:
    """`manage.py up` in this folder, ready for use."""
    app = App(folder, **environment)
    try:
        app.wait_until_ready()
        yield app
    finally:
        app.stop()
        shutil.rmtree(embedded_postgres.socket_dir(folder), ignore_errors=True)


def share_caches(var_dir: Path) -> None:
    """The model's graph and the vocabulary are created once, not once per test run."""
    for name in ("models", "tiktoken"):
        (PROJECT / "var" / name).mkdir(parents=True, exist_ok=True)
        if not (var_dir / name).exists():
            (var_dir / name).symlink_to(PROJECT / "var" / name)
