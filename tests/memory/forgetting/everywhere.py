"""Where does a text stand? Every column of every table of the database that can hold words, and every file."""

from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import connection
from psycopg import sql

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
"""All but booleans, dates, numbers and spans of time: what is unknown is looked at."""


def columns() -> list[tuple[str, str, str]]:
    """Schema, table and column of everything that may hold words."""
    with connection.cursor() as cursor:
        cursor.execute(_COLUMNS)
        return [tuple(row) for row in cursor.fetchall()]


def tables_with(*texts: str, but: frozenset[str] = frozenset()) -> dict[str, int]:
    """Column → rows in which one of the texts stands, in small letters, in the open or as bytes."""
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


def files_with(*texts: str, postgres: Path) -> list[Path]:
    """Files below `VAR_DIR`, but for PostgreSQL's own, in which one of the texts stands."""
    wanted = [form.encode() for text in texts for form in (text, text.lower(), text.title())]
    files = [path for path in Path(settings.VAR_DIR).rglob("*") if path.is_file() and postgres not in path.parents]
    return [path for path in files if any(text in path.read_bytes() for text in wanted)]
