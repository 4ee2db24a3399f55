"""Which numbers will new rows have? Taken from the table's sequence beforehand, so that rows may name one another."""

from __future__ import annotations

from django.db import connection, models


def new_ids(model: type[models.Model], how_many: int) -> list[int]:
    """Numbers that no other row of the table has or will get, ascending."""
    column = model._meta.pk.column
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)",
            [model._meta.db_table, column, how_many],
        )
        return sorted(number for (number,) in cursor.fetchall())
