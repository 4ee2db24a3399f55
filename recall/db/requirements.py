"""Database requirements: PostgreSQL 16 or later with these extensions, and connections that keep their session."""

from collections.abc import Mapping
from typing import Final

import psycopg
from django.core.exceptions import ImproperlyConfigured
from django.db.backends.base.base import BaseDatabaseWrapper

MIN_SERVER = 16  # labels of ltree may hold hyphens

EXTENSIONS: Mapping[str, tuple[int, ...]] = {
    "vector": (0, 8, 4),  # 0.8.2 fixes a buffer overflow, 0.8.3 a corruption of HNSW indexes under vacuum
    "ltree": (),  # document paths
    "pg_trgm": (),  # search that tolerates typos
    "unaccent": (),  # accent-insensitive names
    "btree_gin": (),  # owner and words in one index
}
"""Extension → its minimum version; empty: any."""

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
        if _version_tuple(available[name]) < oldest:
            wanted = ".".join(map(str, oldest))
            return f"The database has {name} {available[name]}, which has known bugs; Recall needs {wanted} or later."
    return None


def check_database(connection: BaseDatabaseWrapper) -> None:
    """Check the connected database.

    Raises:
        ImproperlyConfigured: with the sentence of `find_unmet_requirement`.
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


def _server_process(connection: psycopg.Connection) -> int:
    (pid,) = connection.execute("SELECT pg_backend_pid()").fetchone() or (0,)
    return int(pid)


def _version_tuple(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
