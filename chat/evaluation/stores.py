"""Where a word remains: every column of every table, queues included; the nearest vectors; a user's own archive."""

import io
import zipfile
from typing import Final

from django.db import connection
from pgvector.django import CosineDistance
from psycopg import sql

from accounts.models import User
from chat.archive.export import stream_archive
from memory.embeddings.port import embedder
from memory.index.indexer import EMBEDDED_COLUMNS

NEAREST: Final = 10
"""Number of rows with the nearest vectors."""
_COLUMNS: Final = """
SELECT space.nspname, class.relname, attribute.attname
FROM pg_attribute AS attribute
JOIN pg_class AS class ON class.oid = attribute.attrelid
JOIN pg_namespace AS space ON space.oid = class.relnamespace
JOIN pg_type AS type ON type.oid = attribute.atttypid
WHERE class.relkind IN ('r', 'p', 'm') AND attribute.attnum > 0 AND NOT attribute.attisdropped
    AND space.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
    AND NOT (type.typcategory IN ('B', 'D', 'N', 'T'))
ORDER BY 1, 2, 3
"""
"""All columns except booleans, dates, numbers and intervals: unknown types are searched."""


def columns() -> list[tuple[str, str, str]]:
    """Schema, table and column of everything that may contain words."""
    with connection.cursor() as cursor:
        cursor.execute(_COLUMNS)
        return [tuple(row) for row in cursor.fetchall()]


def tables_with(*texts: str, but: frozenset[str] = frozenset()) -> dict[str, int]:
    """Column → number of rows that contain one of the texts, in lower case, as text or as bytes."""
    found: dict[str, int] = {}
    for schema, table, column in columns():
        statement = sql.SQL(
            "SELECT count(*) FROM {table} WHERE lower({column}::text) LIKE ANY(%(texts)s)"
            " OR lower({column}::text) LIKE ANY(%(bytes)s)"
        ).format(table=sql.Identifier(schema, table), column=sql.Identifier(column))
        wanted = [f"%{text.lower()}%" for text in texts]
        as_bytes = [f"%{form.encode().hex()}%" for text in texts for form in (text, text.lower(), text.title())]
        with connection.cursor() as cursor:
            cursor.execute(statement, {"texts": wanted, "bytes": as_bytes})
            (rows,) = cursor.fetchone() or (0,)
        if rows and f"{table}.{column}" not in but:
            found[f"{schema}.{table}.{column}"] = rows
    return found


def nearest(user: User, text: str) -> list[str]:
    """The texts whose vectors are nearest to that of `text`, from each table with vectors."""
    (vector,) = embedder().embed([text])
    found: list[str] = []
    for model, columns_ in EMBEDDED_COLUMNS.items():
        rows = model._default_manager.filter(user=user.pk, vector__isnull=False)
        near = rows.order_by(CosineDistance("vector", vector))[:NEAREST]
        found += [" ".join(texts) for texts in near.values_list(*columns_)]
    return found


def archive(user: User) -> bytes:
    """The user's own export of everything they have."""
    return b"".join(stream_archive(user))


def is_in_archive(packed: bytes, text: str) -> bool:
    """Whether a text is in one of an archive's files, in any case."""
    with zipfile.ZipFile(io.BytesIO(packed)) as file:
        return any(text.casefold() in file.read(name).decode("utf-8", "replace").casefold() for name in file.namelist())
