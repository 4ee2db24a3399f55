"""What becomes of the database connection while something slow is waited for? It is given back: the pool is small."""

from __future__ import annotations

from django.db import connection


def release_connection() -> None:
    """Give it back while a model thinks, or a file is read. A caller's transaction (a test's) keeps its own."""
    if not connection.in_atomic_block:
        connection.close()
