"""Database requirements: PostgreSQL 16 or later with these extensions, connections that keep their session, and tables
that are new or at least those of the first release."""

from collections.abc import Mapping
from typing import Final

import psycopg
from django.core.exceptions import ImproperlyConfigured
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder

MIN_SERVER = 16  # labels of ltree may hold hyphens

EXTENSIONS: Mapping[str, tuple[int, ...]] = {
    "vector": (0, 8, 4),  # 0.8.2 fixes a buffer overflow, 0.8.3 a corruption of HNSW indexes under vacuum
    "ltree": (),  # document paths
    "pg_trgm": (),  # search that tolerates typos
    "unaccent": (),  # accent-insensitive names
    "btree_gin": (),  # owner and words in one index
}
"""Extension → its minimum version; empty: any."""

FIRST_RELEASE: Mapping[str, str] = {
    "accounts": "0006_language",
    "budget": "0006_receipts_grow_old",
    "chat": "0008_few_words_waiting",
    "memory": "0012_words_of_one_person",
}
"""App → the last migration of release 0.1.0. A squashed one replaces it and those before it."""
TOO_OLD: Final = "The database has only some tables of Recall 0.1.0. Start 0.1.0 once, so that it adds the others."

PROBES: Final = 3
"""Rounds in which two connections ask for their server process."""
POOLED_BY_TRANSACTION: Final = (
    "DATABASE_URL leads to a pooler in transaction mode. Recall keeps locks, prepared statements and LISTEN in a"
    " session: set pool_mode = session, or connect to PostgreSQL itself."
)


def check_sessions(conninfo: str) -> None:
    """Check that each connection keeps its server process: a pooler in transaction mode shares them.

    Raises:
        ImproperlyConfigured: with POOLED_BY_TRANSACTION.
    """
    with (
        psycopg.connect(conninfo, autocommit=True, connect_timeout=10) as first,
        psycopg.connect(conninfo, autocommit=True, connect_timeout=10) as second,
    ):
        pairs = {(_server_process(first), _server_process(second)) for _ in range(PROBES)}
    if len(pairs) > 1 or any(one == other for one, other in pairs):
        raise ImproperlyConfigured(POOLED_BY_TRANSACTION)


def find_unmet_requirement(server: int, available: Mapping[str, str]) -> str | None:
    """The first unmet requirement as a sentence; None if all are met.

    `server`: major version, such as 18. `available`: extension → the version that is or would be installed.
    """
    if server < MIN_SERVER:
        return f"The database is PostgreSQL {server}; Recall needs {MIN_SERVER} or later."
    absent = [name for name in EXTENSIONS if name not in available]
    if absent:
        return f"The database server lacks the extension {' and '.join(absent)}. See docs/self-hosting.md to add it."
    for name, oldest in EXTENSIONS.items():
        if tuple(int(part) for part in available[name].split(".") if part.isdigit()) < oldest:
            wanted = ".".join(map(str, oldest))
            return f"The database has {name} {available[name]}, which has known bugs; Recall needs {wanted} or later."
    return None


def check_database(connection: BaseDatabaseWrapper) -> None:
    """Check the connected database.

    Raises:
        ImproperlyConfigured: with the sentence of `find_unmet_requirement`, or TOO_OLD.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version_num')::int / 10000")
        (server,) = cursor.fetchone()
        cursor.execute(
            "SELECT name, coalesce(installed_version, default_version) FROM pg_available_extensions"
            " WHERE name = ANY(%s)",
            [list(EXTENSIONS)],
        )
        available = dict(cursor.fetchall())
    if sentence := find_unmet_requirement(server, available):
        raise ImproperlyConfigured(sentence)
    applied = MigrationRecorder(connection).applied_migrations()
    if any((app, "0001_initial") in applied and (app, last) not in applied for app, last in FIRST_RELEASE.items()):
        raise ImproperlyConfigured(TOO_OLD)


def _server_process(connection: psycopg.Connection) -> int:
    (pid,) = connection.execute("SELECT pg_backend_pid()").fetchone() or (0,)
    return int(pid)
