"""How does a statement that every turn asks go fastest? Read once a connection; values apart from it, in binary.

Django binds values on the client's side, so that the server reads each statement anew: for the search of
`memory/retrieval.py` that is 4 ms of 10. It is planned anew all the same (`PLANNED_BY_VALUE` in `recall/settings.py`).
Statements go through Django's own cursor, so that what counts or times statements sees them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import psycopg
from django.db import connection


class _PreparedCursor(psycopg.Cursor[Any]):
    def execute(self, query: Any, params: Any = None, **_: Any) -> Any:
        return super().execute(query, params, prepare=True, binary=True)


def fetch(sql: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """All rows. Every parameter has its type beside it (`%(user)s::bigint`): the server reads the statement without
    the values."""
    with connection.cursor() as cursor:
        cursor.cursor = _PreparedCursor(connection.connection)
        cursor.execute(sql, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def array(values: Iterable[float]) -> str:
    """Numbers as PostgreSQL reads an array of them: a list's type would follow its values, and each type be a statement
    of its own."""
    return "{" + ",".join(map(str, values)) + "}"
