"""Indexes for large collections: beyond `PersonalIndex.LARGE` rows a user gets their own, built by schedule.

Below that, every vector of the user is compared, which misses nothing. An approximate index shared by all users would
lose most of its hits to the filter on the user, so each large collection has a partial index over its own rows, and one
over the words of its facts, because the shared one covers all users' rows of a word. (The index of passages has each
word under its owner: `Chunk`.) Words in very many of its rows find little; they are stored, as counting them takes a
second.
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

from memory.embeddings.port import embedder
from memory.models import Chunk, Episode, Fact, PersonalIndex
from recall.db.postgres import FEW_WAITING, try_advisory_lock

if TYPE_CHECKING:
    from accounts.models import User

SEARCHED: Final = (Chunk, Fact, Episode)
"""What counts as a row of a collection."""
WORTH_AN_INDEX: Final = 5_000
"""Rows in one of these tables up to which comparing each is as fast (8 ms)."""
SHRUNK: Final = 0.8
"""Share of `LARGE` below which a collection loses its indexes: between the two nothing is built to be dropped again."""
LOOK_AGAIN_AFTER: Final = timedelta(days=1)
"""The indexes follow every new row by themselves; this is for the common words, and for a change of the model."""
COMMON: Final = 300
"""Rows from which a word is common. Those that hold it lie all over the table, and each is read for every question with
the word: at a thousand, a question of ten words took 80 ms where those rows had not been read lately."""
SAMPLE: Final = 10_000
"""Rows whose words are counted: of 100,000, a word in 300 is then counted with an error of a fifth."""
ALONE: Final = "memory.index.large_collections"
BUILD_MEMORY: Final = "256MB"
"""Holds the graph of 200,000 vectors; what does not fit is built ten times as slowly."""


def refresh_due(now: datetime) -> int:
    """Build, renew or drop what is due; how many collections that concerned. Not within a transaction."""
    large = PersonalIndex.objects.filter(rows__gt=PersonalIndex.LARGE).select_related("user")
    due = [row.user for row in large if row.built_at is None or row.built_at < now - LOOK_AGAIN_AFTER]
    for user in due:
        build(user)
    small = PersonalIndex.objects.filter(rows__lt=PersonalIndex.LARGE * SHRUNK, built_at__isnull=False)
    shrunk = list(small.select_related("user"))
    for row in shrunk:
        drop(row.user)
    return len(due) + len(shrunk) + _drop_of_nobody()


def build(user: User) -> bool:
    """Give the user's collection its indexes and common words; False: another process is at it."""
    with try_advisory_lock(ALONE, user.pk) as mine:
        if not mine:
            return False
        wanted = {plan.name: plan for plan in _wanted(user)}
        there = _indexes(user.pk)
        _drop_all(one for one in there if one.name not in wanted or not one.is_valid)
        valid = {one.name for one in there if one.is_valid}
        with _memory_to_build():
            for plan in wanted.values():
                if plan.name not in valid:
                    _execute(plan.statement)
        _keep(user, [embedder().name] if any(plan.is_of_meaning for plan in wanted.values()) else [])
    return True


def drop(user: User) -> None:
    """Take the user's indexes away: every vector is compared again."""
    PersonalIndex.objects.for_user(user).update(models_indexed=[], common_words={}, built_at=None)
    _drop_all(_indexes(user.pk))


# What is built ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Plan:
    """One index that a collection should have."""

    name: str
    statement: sql.Composed
    is_of_meaning: bool


# The expressions and conditions are those of the search (memory/retrieval/recall.py): any other, and it would not be
# used.
_WORDS: Final[LiteralString] = (
    "CREATE INDEX CONCURRENTLY {name} ON {table} USING gin (search) WITH (gin_pending_list_limit = {waiting})"
    " WHERE user_id = {user}"
)
_MEANING: Final[LiteralString] = (
    "CREATE INDEX CONCURRENTLY {name} ON {table} USING hnsw ((vector::halfvec({dimension})) halfvec_cosine_ops)"
    " WHERE user_id = {user} AND embedded_by = {model} AND vector IS NOT NULL"
)


def _wanted(user: User) -> Iterator[Plan]:
    model = embedder()
    for searched in SEARCHED:
        rows = searched._default_manager.for_user(user)
        count, of_model = rows.count(), rows.filter(embedded_by=model.name).count()
        table = searched._meta.db_table
        if count > WORTH_AN_INDEX and searched is not Chunk:
            yield _plan(_WORDS, f"{PREFIX}{user.pk}_{table}_words", table, user)
        # While a change of the model lasts, an index of the new one's first rows would find only those.
        if count > WORTH_AN_INDEX and of_model > count / 2:
            digest = sha256(f"{model.name} {model.dimension}".encode()).hexdigest()[:8]
            yield _plan(_MEANING, f"{PREFIX}{user.pk}_{table}_{digest}", table, user)


def _plan(statement: LiteralString, name: str, table: str, user: User) -> Plan:
    model = embedder()
    composed = sql.SQL(statement).format(
        name=sql.Identifier(name),
        table=sql.Identifier(table),
        user=sql.Literal(user.pk),
        waiting=sql.Literal(FEW_WAITING),
        dimension=sql.Literal(model.dimension),
        model=sql.Literal(model.name),
    )
    return Plan(name, composed, statement is _MEANING)


def _keep(user: User, models: list[str]) -> None:
    rows = sum(searched._default_manager.for_user(user).count() for searched in SEARCHED)
    words = common_words(user, rows)
    PersonalIndex.objects.update_or_create(
        user=user,
        defaults={"rows": rows, "common_words": words, "models_indexed": models, "built_at": timezone.now()},
    )


def common_words(user: User, rows: int) -> dict[str, int]:
    """Lexeme → about how many of the user's rows hold it, of those that more than COMMON do."""
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
class Found:
    """An index of some collection, as the database knows it."""

    name: str
    user_id: int
    is_valid: bool
    """False: its building was interrupted."""


def _indexes(user_id: int | None = None) -> list[Found]:
    """The personal indexes, or those of one user."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid"
            " WHERE indrelid = ANY(%s::regclass[]) AND starts_with(relname, %s)",
            [[searched._meta.db_table for searched in SEARCHED], PREFIX],
        )
        rows = [(name, is_valid) for name, is_valid in cursor.fetchall()]
    found = [Found(name, int(match[1]), is_valid) for name, is_valid in rows if (match := _NAME.match(name))]
    return [one for one in found if user_id is None or one.user_id == user_id]


def _drop_of_nobody() -> int:
    """Drop the indexes of people who are gone."""
    found = _indexes()
    known = PersonalIndex.objects.filter(user_id__in={one.user_id for one in found}).values_list("user_id", flat=True)
    gone = [one for one in found if one.user_id not in set(known)]
    _drop_all(gone)
    return len({one.user_id for one in gone})


def _drop_all(indexes: Iterable[Found]) -> None:
    for one in indexes:
        _execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(sql.Identifier(one.name)))


def _execute(statement: sql.Composed) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement.as_string(cursor.connection))


@contextmanager
def _memory_to_build() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('maintenance_work_mem', %s, false)", [BUILD_MEMORY])
        try:
            yield
        finally:
            cursor.execute("RESET maintenance_work_mem")
