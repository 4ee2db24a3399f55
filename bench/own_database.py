"""A throw-away server for one run, in a folder that is removed afterwards."""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VAR = Path(__file__).resolve().parent.parent / "var"
OTHER_CORE = max(0, (os.cpu_count() or 1) - 1)
"""The core for PostgreSQL, so that the measured process has the first core to itself."""
MADE_ONCE = ("models", "tiktoken")
"""Folders of `var/` that are reused: the embedding model's graph, and the vocabulary for counting tokens."""


@contextmanager
def own_database(**environment: str) -> Iterator[Path]:
    """A new folder with a database in it, with Django set up on both. `environment`: further settings."""
    folder = Path(tempfile.mkdtemp(prefix="recall-bench-"))
    try:
        prepare(folder, **{"LOG_LEVEL": "ERROR", **environment})
        with _database(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def prepare(folder: Path, **environment: str) -> None:
    """Configure this process and its children for a folder: none of the developer's own settings but `environment`."""
    folder.chmod(0o711)  # when run as root, PostgreSQL's own account must pass through
    os.environ |= {
        "VAR_DIR": str(folder),
        "DJANGO_SETTINGS_MODULE": "recall.settings",
        "SECRET_KEY": secrets.token_hex(),
        **environment,
    }
    for cache in MADE_ONCE:
        if (VAR / cache).exists() and not (folder / cache).exists():
            shutil.copytree(VAR / cache, folder / cache)


@contextmanager
def _database(var_dir: Path) -> Iterator[None]:
    """A throw-away server that counts its statements, pinned to the other core, with Django set up on it."""
    from recall.process import embedded_postgres

    cluster = embedded_postgres.open_cluster(var_dir, durable=False)
    process = cluster.start({**embedded_postgres.THROW_AWAY, "shared_preload_libraries": "pg_stat_statements"})
    os.sched_setaffinity(process.pid, {OTHER_CORE})
    try:
        embedded_postgres.wait_until_ready(cluster, lambda: process.poll() is None)
        embedded_postgres.ensure_database(var_dir)
        import django

        django.setup()
        from django.core.management import call_command

        from recall.celery import install_broker

        call_command("migrate", verbosity=0)
        install_broker()
        call_command("collectstatic", interactive=False, verbosity=0)
        yield
        from django.db import connections

        connections.close_all()
    finally:
        embedded_postgres.stop(process)
        embedded_postgres.discard(cluster)


@contextmanager
def policies_off() -> Iterator[None]:
    """Within the block no policy applies to any table with an owner."""
    switch_policies("DISABLE")
    try:
        yield
    finally:
        switch_policies("ENABLE")


def switch_policies(how: str) -> None:
    """`ENABLE` or `DISABLE` row-level security; whether it is forced stays as it is."""
    from django.db import connection

    from recall.db.acting import by
    from recall.db.row_security import owned

    with by("migrations"), connection.cursor() as cursor:
        for table in owned():
            cursor.execute(f"ALTER TABLE {table} {how} ROW LEVEL SECURITY")
