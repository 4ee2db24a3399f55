"""PostgreSQL features that the ORM lacks: advisory locks, ids reserved from a sequence, GIN index options."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from django.db import connection, models

from recall.db.prepared import Read

FEW_WAITING: Final = 64
"""A GIN index's pending list, in kB: PostgreSQL's minimum. Every search reads that list; with the usual 4 MB it took up
to twice as long. Writing takes no longer."""


def wait_for_turn(name: str, number: int) -> None:
    """Take the lock `name` of `number`, such as a user, until the transaction ends: what it counts, no one adds to."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s), %s)", [name, number])


@contextmanager
def try_advisory_lock(name: str, number: int) -> Iterator[bool]:
    """Hold the lock of this name and number and yield True, or yield False at once if another process holds it.

    Not inside a transaction. It ends with the block, or with the connection.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtext(%s), %s)", [name, number])
        (is_acquired,) = cursor.fetchone()
        try:
            yield is_acquired
        finally:
            if is_acquired:
                cursor.execute("SELECT pg_advisory_unlock(hashtext(%s), %s)", [name, number])


def new_ids_read(model: type[models.Model], count: int) -> Read:
    """What `new_ids` reads."""
    return Read(
        "SELECT nextval(pg_get_serial_sequence(%(table)s::text, %(column)s::text)) FROM generate_series(1, %(n)s::int)",
        {"table": model._meta.db_table, "column": model._meta.pk.column, "n": count},
    )


def new_ids(model: type[models.Model], count: int) -> list[int]:
    """Reserve `count` ids from the table's sequence, ascending, so that new rows can refer to one another."""
    return sorted(number for (number,) in new_ids_read(model, count).fetch())
