"""The evaluation's own installation: a folder, a database and an offline server that are removed after the run.

The command runs itself again inside it, with an environment without any of the operator's settings: no key, no
database, no `.env`. So it can reach no user's data and no paid model.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from django.conf import settings

from recall.environment import Environment
from recall.process import embedded_postgres

MARK: Final = "RECALL_EVALUATION"
"""Environment variable that tells the command inside which folder to use."""
CACHES: Final = ("models", "tiktoken")
"""Folders of VAR_DIR that are shared: the embedding model's graph and the vocabulary."""


def run_inside(command: list[str], **choices: str) -> int:
    """Run this `manage.py` command in an installation of its own, with these settings; return its exit code."""
    with _installation() as environment:
        program = [sys.executable, str(settings.BASE_DIR / "manage.py"), *command]
        return subprocess.run(program, env=environment | choices, check=False).returncode  # noqa: S603


def is_inside() -> bool:
    """Whether this process runs in such an installation."""
    return os.environ.get(MARK, "") == str(settings.VAR_DIR)


@contextmanager
def _installation() -> Iterator[dict[str, str]]:
    """The environment of a process in a new installation with running servers."""
    folder = Path(tempfile.mkdtemp(prefix="recall-evaluation-")).resolve()
    folder.chmod(0o711)  # when run as root, PostgreSQL's own account must pass through
    try:
        for name in CACHES:
            (settings.VAR_DIR / name).mkdir(parents=True, exist_ok=True)
            (folder / name).symlink_to(settings.VAR_DIR / name)
        with _database(folder), _offline_server() as address:
            setting_names = {name.upper() for name in Environment.model_fields}
            kept = {name: value for name, value in os.environ.items() if name not in setting_names}
            yield kept | {
                MARK: str(folder),
                "VAR_DIR": str(folder),
                "ENV_FILE": os.devnull,
                "OFFLINE_URL": address,
                "LOG_LEVEL": "ERROR",
            }
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _database(folder: Path) -> Iterator[None]:
    cluster = embedded_postgres.open_cluster(folder, durable=False)
    server = cluster.start(embedded_postgres.THROW_AWAY)
    try:
        embedded_postgres.wait_until_ready(cluster, lambda: server.poll() is None)
        embedded_postgres.ensure_database(folder)
        yield
    finally:
        embedded_postgres.stop(server)
        embedded_postgres.discard(cluster)


@contextmanager
def _offline_server() -> Iterator[str]:
    """The address of an offline server that takes scripted answers."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        program = [sys.executable, "-m", "uvicorn", "offline.app:app", "--fd", str(bound.fileno())]
        server = subprocess.Popen(  # noqa: S603
            [*program, "--log-level", "error"],
            cwd=settings.BASE_DIR,
            env={**os.environ, "OFFLINE_ADMIN": "1", "OFFLINE_DELTA_DELAY": "0"},
            pass_fds=[bound.fileno()],
        )
        try:
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        finally:
            server.terminate()
            server.wait(10)
