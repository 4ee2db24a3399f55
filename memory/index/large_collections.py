"""Word counts and personal indexes of large collections, made by the scheduler, never in a turn.

Beyond `PersonalIndex.COUNTED` rows, words in many rows are counted: they select little, and the search leaves them out.
Below `PersonalIndex.LARGE` rows, every vector of the user is compared. An approximate index shared by all users would
lose most results to the filter on the user, so each large collection has a partial index of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Final, LiteralString

from django.db import connection
from django.utils import timezone
from psycopg import sql

from memory.embeddings.limits import DIMENSION
from memory.embeddings.port import embedder
from memory.models import Chunk, Episode, Fact, PersonalIndex
from recall.db.postgres import try_advisory_lock

if TYPE_CHECKING:
    from accounts.models import User

SEARCHED: Final = (Chunk, Fact, Episode)
"""The tables of a collection."""
WORTH_AN_INDEX: Final = 5_000
"""Up to this many rows of a table, comparing each is just as fast (8 ms)."""
SHRUNK: Final = 0.8
"""Share of `LARGE` below which a collection loses its indexes, and of `COUNTED` below which its counts go; the gap
avoids making and dropping them repeatedly."""
REFRESH_AFTER: Final = timedelta(days=1)
"""How often common words and a change of the model are checked; PostgreSQL keeps the indexes current."""
COMMON: Final = 300
"""Rows from which a word is common. Its rows are spread over the table, and every question with the word reads all of
them: at a thousand, a question of ten words took 80 ms when those rows weren't cached."""
SAMPLE: Final = 10_000
"""Rows whose words are counted: of 100,000, a word in 300 is counted with an error of 20%."""
ALONE: Final = "memory.index.large_collections"
BUILD_MEMORY: Final = "256MB"
"""Fits the graph of 200,000 vectors; beyond it, building is ten times as slow."""


def refresh_due(now: datetime) -> int:
    """Build, refresh or drop the indexes that are due; how many collections. Not within a transaction."""
    counted = PersonalIndex.objects.filter(rows__gt=PersonalIndex.COUNTED).select_related("user")
    due = [row.user for row in counted if row.built_at is None or row.built_at < now - REFRESH_AFTER]
    for user in due:
        build(user)
    small = PersonalIndex.objects.filter(rows__lt=PersonalIndex.COUNTED * SHRUNK, built_at__isnull=False)
    return len(due) + _drop_outgrown() + small.update(common_words={}, built_at=None)


def build(user: User) -> bool:
    """Count the collection's words and build its indexes, if it is large; False: another process is doing it."""
    with try_advisory_lock(ALONE, user.pk) as is_locked:
        if not is_locked:
            return False
        existing = _indexes(user.pk)
        rows = sum(searched._default_manager.for_user(user).count() for searched in SEARCHED)
        needs_indexes = rows > PersonalIndex.LARGE * (SHRUNK if existing else 1)
        wanted = dict(_plans(user)) if needs_indexes else {}
        _drop_all(index for index in existing if index.name not in wanted or not index.is_valid)
        valid = {index.name for index in existing if index.is_valid}
        with _build_memory():
            for name, statement in wanted.items():
                if name not in valid:
                    _execute(statement)
        _store_figures(user, rows, [embedder().name] if wanted else [])
    return True


# What is built ---------------------------------------------------------------------------------------------------


# The expressions and conditions must be those of the search (memory/retrieval/candidates.sql), else PostgreSQL does not
# use the index.
_MEANING: Final[LiteralString] = (
    "CREATE INDEX CONCURRENTLY {name} ON {table} USING hnsw ((vector::halfvec({dimension})) halfvec_cosine_ops)"
    " WHERE user_id = {user} AND embedded_by = {model} AND vector IS NOT NULL"
)


def _plans(user: User) -> Iterator[tuple[str, sql.Composed]]:
    """The indexes that a large collection should have: name and statement."""
    model = embedder()
    for searched in SEARCHED:
        rows = searched._default_manager.for_user(user)
        count, of_model = rows.count(), rows.filter(embedded_by=model.name).count()
        # While rows are re-embedded, an index over the first rows of the new model would find only those.
        if count > WORTH_AN_INDEX and of_model > count / 2:
            table = searched._meta.db_table
            digest = sha256(f"{model.name} {DIMENSION}".encode()).hexdigest()[:8]
            name = f"{PREFIX}{user.pk}_{table}_{digest}"
            yield (
                name,
                sql.SQL(_MEANING).format(
                    name=sql.Identifier(name),
                    table=sql.Identifier(table),
                    user=sql.Literal(user.pk),
                    dimension=sql.Literal(DIMENSION),
                    model=sql.Literal(model.name),
                ),
            )


def _store_figures(user: User, rows: int, models: list[str]) -> None:
    words = common_words(user, rows)
    PersonalIndex.objects.update_or_create(
        user=user,
        defaults={"rows": rows, "common_words": words, "models_indexed": models, "built_at": timezone.now()},
    )


def common_words(user: User, rows: int) -> dict[str, int]:
    """Lexeme → approximate count of the user's rows with it, for lexemes in more than COMMON rows."""
    step = max(1, rows // SAMPLE)
    of_each = sql.SQL(" UNION ALL ").join(
        sql.SQL("SELECT search FROM {table} WHERE user_id = {user} AND id % {step} = 0").format(
            table=sql.Identifier(searched._meta.db_table), user=sql.Literal(user.pk), step=sql.Literal(step)
        )
        for searched in SEARCHED
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT word, ndoc * %s FROM ts_stat(%s) WHERE ndoc * %s > %s",
            [step, of_each.as_string(cursor.connection), step, COMMON],
        )
        return dict(cursor.fetchall())


# What is there ---------------------------------------------------------------------------------------------------

PREFIX: Final = "personal_"
_NAME: Final = re.compile(rf"{PREFIX}(\d+)_")


@dataclass(frozen=True, slots=True)
class ExistingIndex:
    """A personal index in the database."""

    name: str
    user_id: int
    is_valid: bool
    """False: its build was interrupted."""


def _indexes(user_id: int | None = None) -> list[ExistingIndex]:
    """The personal indexes, or those of one user."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid"
            " WHERE indrelid = ANY(%s::regclass[]) AND starts_with(relname, %s)",
            [[searched._meta.db_table for searched in SEARCHED], PREFIX],
        )
        rows = [(name, is_valid) for name, is_valid in cursor.fetchall()]
    indexes = [ExistingIndex(name, int(match[1]), is_valid) for name, is_valid in rows if (match := _NAME.match(name))]
    return [index for index in indexes if user_id is None or index.user_id == user_id]


def _drop_outgrown() -> int:
    """Drop the indexes of deleted users and of collections that shrank; how many users."""
    indexes = _indexes()
    owners = {index.user_id for index in indexes}
    large = PersonalIndex.objects.filter(user_id__in=owners, rows__gte=PersonalIndex.LARGE * SHRUNK)
    outgrown = owners - set(large.values_list("user_id", flat=True))
    PersonalIndex.objects.filter(user_id__in=outgrown).update(models_indexed=[])
    _drop_all(index for index in indexes if index.user_id in outgrown)
    return len(outgrown)


def _drop_all(indexes: Iterable[ExistingIndex]) -> None:
    for index in indexes:
        _execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(sql.Identifier(index.name)))


def _execute(statement: sql.Composed) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement.as_string(cursor.connection))


@contextmanager
def _build_memory() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('maintenance_work_mem', %s, false)", [BUILD_MEMORY])
        try:
            yield
        finally:
            cursor.execute("RESET maintenance_work_mem")
