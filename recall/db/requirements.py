"""Which PostgreSQL will do? One of release 16 or later that has, or can be given, these extensions."""

from __future__ import annotations

from collections.abc import Mapping

from django.core.exceptions import ImproperlyConfigured
from django.db.backends.base.base import BaseDatabaseWrapper

OLDEST_SERVER = 16  # labels of ltree may hold hyphens

EXTENSIONS: Mapping[str, tuple[int, ...]] = {
    "vector": (0, 8, 4),  # 0.8.2 mends a buffer overflow, 0.8.3 a corruption of HNSW indexes under vacuum
    "ltree": (),  # paths of documents
    "pg_trgm": (),  # search that forgives typing errors
    "unaccent": (),  # names without their accents
    "btree_gin": (),  # owner and words in one index
}
"""Extension → its oldest good version; empty: any."""


def what_is_missing(server: int, available: Mapping[str, str]) -> str | None:
    """Why this database will not do, in one sentence; None when it does.

    `server`: its main release, such as 18. `available`: extension → the version installed here, or the one that
    would be installed.
    """
    if server < OLDEST_SERVER:
        return f"The database is PostgreSQL {server}; Recall needs {OLDEST_SERVER} or later."
    absent = [name for name in EXTENSIONS if name not in available]
    if absent:
        return (
            f"The database server lacks the extension {' and '.join(absent)}; docs/self-hosting.md says how to add it."
        )
    for name, oldest in EXTENSIONS.items():
        if _numbers(available[name]) < oldest:
            wanted = ".".join(map(str, oldest))
            return f"The database has {name} {available[name]}, which has known errors; Recall needs {wanted} or later."
    return None


def check_database(connection: BaseDatabaseWrapper) -> None:
    """Refuse a database that will not do.

    Raises:
        ImproperlyConfigured: with the sentence of `what_is_missing`.
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
    if sentence := what_is_missing(server, available):
        raise ImproperlyConfigured(sentence)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
