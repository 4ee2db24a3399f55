"""The processes that a bench starts, and their ports."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

UVICORN = ("--log-level", "warning", "--loop", "uvloop", "--ws-max-size", "65536", "--ws-per-message-deflate", "false")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port: int = bound.getsockname()[1]
        return port


def server(application: str, port: int, core: int | None = None, **environment: str) -> AbstractContextManager[int]:
    """A uvicorn of its own."""
    return process("uvicorn", application, "--port", str(port), *UVICORN, port=port, core=core, **environment)


@contextmanager
def process(*command: str, port: int = 0, core: int | None = None, **environment: str) -> Iterator[int]:
    """A Python module that runs until the end of the block, pinned to a core; yields its id once it answers."""
    running = subprocess.Popen([sys.executable, "-m", *command], env={**os.environ, **environment})
    if core is not None:
        os.sched_setaffinity(running.pid, {core})  # before it starts threads that would be missed
    try:
        if port:
            _wait_for(port)
        yield running.pid
    finally:
        running.terminate()
        with suppress(subprocess.TimeoutExpired):
            running.wait(30)
        running.kill()


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit(f"Nothing answers on port {port}.")
