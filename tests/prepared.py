"""The result of a first start, created once: a database with every table, and the collected static files.

Test databases and most applications of a run start from a copy, in `var/prepared`: a first start takes six seconds of a
core, and a run in several processes would pay that a dozen times. It is rebuilt when a migration or a package changes;
the start itself updates anything else that has changed since. A first start is tested without it
(`tests/recall/process/test_up.py`).
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).resolve().parent.parent
FOLDER: Final = PROJECT / "var" / "prepared"
MADE_FROM: Final = (
    *("*/migrations/*.py", "recall/db/row_security.py", "recall/celery.py"),
    *("requirements.txt", "accounts/staff/groups.py", "tests/prepared.py"),
)
_COPIED: Final = ("postgres", "static")


def copy_to(var_dir: Path) -> None:
    """Copy the result of a first start into an empty VAR_DIR. The first process creates it; others wait for that."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        prepared = FOLDER / _fingerprint()
        if not (prepared / "done").exists():
            _remove_all()
            subprocess.run([sys.executable, "-m", "tests.prepared", str(prepared)], cwd=PROJECT, check=True)
            (prepared / "done").touch()
        for name in _COPIED:  # by cp: shutil would give the database's files to another owner
            subprocess.run(["cp", "-a", str((prepared / name).resolve()), str(var_dir / name)], check=True)


def _fingerprint() -> str:
    digest = hashlib.sha256()
    for pattern in MADE_FROM:
        for path in sorted(PROJECT.glob(pattern)):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _remove_all() -> None:
    for path in FOLDER.iterdir():
        if path.is_dir():
            shutil.rmtree((path / "postgres").resolve(), ignore_errors=True)  # root's may be elsewhere
            shutil.rmtree(path)


def _prepare(var_dir: Path) -> None:
    """Create it, by the steps of a first start."""
    var_dir.mkdir(mode=0o711)
    os.environ |= {"VAR_DIR": str(var_dir), "DJANGO_SETTINGS_MODULE": "recall.settings", "ENV_FILE": os.devnull}
    from recall.process import embedded_postgres

    cluster = embedded_postgres.open_cluster(var_dir, durable=False)
    server = cluster.start(embedded_postgres.THROW_AWAY)
    try:
        embedded_postgres.wait_until_ready(cluster, lambda: server.poll() is None)
        import django

        django.setup()
        from django.db import connections

        from recall.process.startup import prepare_database
        from recall.process.static_files import collect_if_changed

        prepare_database(str)  # without users
        connections.close_all()
        collect_if_changed()
    finally:
        embedded_postgres.stop(server)
        shutil.rmtree(cluster.socket, ignore_errors=True)


if __name__ == "__main__":
    _prepare(Path(sys.argv[1]))
