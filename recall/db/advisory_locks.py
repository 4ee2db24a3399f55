"""Is this process the only one at it? A lock of the database's by name, held until the block or the connection ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def try_advisory_lock(at: str, number: int) -> Iterator[bool]:
    """Whether nobody else is at this, for this number; waits for nobody. Not within a transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtext(%s), %s)", [at, number])
        (mine,) = cursor.fetchone()
        try:
            yield mine
        finally:
            if mine:
                cursor.execute("SELECT pg_advisory_unlock(hashtext(%s), %s)", [at, number])
