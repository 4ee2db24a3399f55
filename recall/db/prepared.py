"""Prepared queries: SQL compiled by the ORM once per process, and statements the server parses and plans once.

`PreparedQuery` keeps the SQL of a queryset, `PreparedInsert` that of new rows, `PreparedUpdate` that of a changed one.
Compiling a small one takes the ORM four times as long as running it (0.4 ms and 0.1 ms): with thirty per turn, that was
half of a turn's CPU time.

`read_together` sends several reads at once, in one round trip; `write_together` several writes.

`fetch_prepared` runs hand-written SQL. Reads bind their values on the server: Django binds them on the client, so the
server would parse each statement again: 4 ms of 10 for the search of `memory/retrieval/candidates.py`. It plans them
once, too (`PLANNED_ONCE` in `recall/db/engine/base.py`), so whatever the planner must know is in the statement itself.

Their cursors are wrapped as Django's are, so that tools that count or time statements see them; `pipeline_wrappers`
time statements that are sent together.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from itertools import batched
from operator import itemgetter
from typing import Any, Final, cast
from uuid import UUID

import psycopg
from django.contrib.postgres.fields import ArrayField
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import BigIntegerField, Func, Model, QuerySet, Value
from django.db.models.query import FlatValuesListIterable, ModelIterable, ValuesListIterable
from django.db.models.sql.compiler import SQLCompiler
from django.db.transaction import TransactionManagementError
from psycopg import sql as composed
from psycopg.pq import PipelineStatus
from psycopg.types.numeric import Int8

from recall.db.engine.base import DatabaseWrapper

PLACEHOLDERS: Final[Mapping[type, Callable[[int], Any]]] = {
    int: lambda number: 2_000_000_011 + number,  # a column of four bytes holds it
    str: lambda number: f"/stand-in-{number}",
    UUID: lambda number: UUID(int=(1 << 127) + number),
    datetime: lambda number: datetime(1, 1, 1, 0, 0, number, tzinfo=UTC),
    list: lambda number: [2_000_000_011 + number],  # for AnyOf
}
"""The n-th parameter's placeholder while a queryset is compiled: values that no code would use."""


@dataclass(frozen=True, slots=True)
class _CompiledQuery:
    """A queryset as SQL, and how its rows are converted."""

    sql: str
    """With `$1` for the first parameter; constants are in it, so that a plan may use the indexes made for them."""
    bound: Sequence[str]
    """The parameters' names in order."""
    converters: Sequence[tuple[int, Sequence[Callable[..., Any]], Any]]
    """Column, the ORM's converters from database to Python values, and the expression passed to them."""
    row: Callable[[Any], Any]
    locks: bool


class PreparedQuery[Row]:
    """A queryset with parameters, compiled at its first use.

    `build` gets a placeholder for each parameter of `kinds` (a key of PLACEHOLDERS) and must not inspect them.
    The queryset yields models, tuples (`values_list`) or single values (`values_list(flat=True)`).

        NEWEST = PreparedQuery(lambda user: Forgetting.objects.filter(user=user).order_by("-pk")[:1], user=int)
        NEWEST.first(user=7)
    """

    def __init__(self, build: Callable[..., QuerySet[Any, Row]], **kinds: type) -> None:
        self._build = build
        self._kinds = kinds

    def __call__(self, **values: object) -> list[Row]:
        """All rows.

        Raises:
            KeyError: a parameter is missing.
            TransactionManagementError: it locks rows, outside of a transaction.
        """
        query = self._compiled
        rows = self.read(**values).fetch()
        return [query.row(_converted(row, query.converters) if query.converters else row) for row in rows]

    def read(self, **values: object) -> "Read":
        """This query with these values, for `read_together`."""
        query = self._compiled
        if query.locks:
            connection.validate_no_broken_transaction()
            if connection.get_autocommit():
                raise TransactionManagementError("Row locks need a transaction.")
        return Read(query.sql, [_sized(values[name]) for name in query.bound])

    def first(self, **values: object) -> Row | None:
        """The first row or None. Reads all rows: slice the queryset if there may be more."""
        return next(iter(self(**values)), None)

    @cached_property
    def _compiled(self) -> _CompiledQuery:
        query, again = (self._compile(self._placeholders(number)) for number in (0, len(self._kinds)))
        # A value that differs between two sets of placeholders was computed from one.
        if (query.sql, query.bound) != (again.sql, again.bound):
            raise TypeError("A parameter is inspected or computed with before it is bound.")
        if set(query.bound) != set(self._kinds):
            raise TypeError("A parameter is not bound.")
        return query

    def _placeholders(self, first: int) -> dict[str, object]:
        return {name: PLACEHOLDERS[kind](number) for number, (name, kind) in enumerate(self._kinds.items(), first)}

    def _compile(self, placeholders: Mapping[str, object]) -> _CompiledQuery:
        queryset = self._build(**placeholders)
        compiler = queryset.query.get_compiler(connection=connection)
        sql, params = compiler.as_sql()
        names = [_name_of(param, placeholders) for param in params]
        bound = list(dict.fromkeys(name for name in names if name))
        places = (
            f"${bound.index(name) + 1}" if name else composed.as_string(param, connection.connection)
            for name, param in zip(names, params, strict=True)
        )
        by_column = compiler.get_converters([expression for expression, *_ in compiler.select])
        converters = [(column, functions, expression) for column, (functions, expression) in by_column.items()]
        row = _row(queryset, compiler)
        return _CompiledQuery(sql % tuple(places), bound, converters, row, queryset.query.select_for_update)


def _sized(value: object) -> object:
    """Integers all of one type: the driver would choose it by the value, and each type is another statement."""
    if isinstance(value, list):
        return [Int8(each) for each in value]
    return Int8(value) if isinstance(value, int) else value


def _name_of(param: object, placeholders: Mapping[str, object]) -> str | None:
    return next(
        (name for name, value in placeholders.items() if isinstance(param, type(value)) and value == param), None
    )


class AnyOf(Func):
    """`filter(pk__in=AnyOf(ids))` for a list parameter: otherwise each length would be another statement."""

    template = "(SELECT unnest(%(expressions)s))"

    def __init__(self, ids: list[int]) -> None:
        super().__init__(Value(ids, ArrayField(BigIntegerField())))


def _row(queryset: QuerySet[Any, Any], compiler: SQLCompiler) -> Callable[[Any], Any]:
    """The conversion that the queryset's own iterable applies to a row."""
    internals: Any = queryset  # there is no public way to know what it yields
    yields = internals._iterable_class
    if internals._prefetch_related_lookups or internals._known_related_objects:
        raise TypeError("Related objects cannot be prepared.")
    if yields is ValuesListIterable:
        return tuple
    if yields is FlatValuesListIterable:
        return itemgetter(0)
    if yields is not ModelIterable or compiler.annotation_col_map or queryset.query.select_related:
        raise TypeError("Only plain models, tuples and single values can be prepared.")
    names = [column.target.attname for column, *_ in compiler.select]
    return lambda row: queryset.model.from_db(connection.alias, names, row)


def _converted(row: Sequence[Any], converters: Iterable[tuple[int, Sequence[Callable[..., Any]], Any]]) -> list[Any]:
    values, database = list(row), _database()
    for column, functions, expression in converters:
        for function in functions:
            values[column] = function(values[column], expression, database)
    return values


def _stored(fields: Sequence[Any], row: Model, *, is_new: bool) -> list[Any]:
    """The row's values of these fields, as the database takes them."""
    database = _database()
    return [field.get_db_prep_save(field.pre_save(row, is_new), database) for field in fields]


class PreparedInsert[M: Model]:
    """New rows of a model with all their columns. It returns nothing, so within `write_together` it isn't waited for.

    `on_conflict`: SQL such as `DO NOTHING`. Rows without an id get one that their objects never learn.
    """

    def __init__(self, model: type[M], on_conflict: str = "") -> None:
        self._model = model
        self._ending = f" ON CONFLICT {on_conflict}" if on_conflict else ""

    def __call__(self, rows: Sequence[M]) -> None:
        if not rows:
            return
        fields = [field for field in self._fields if not (field.primary_key and rows[0].pk is None)]
        columns = ", ".join(f'"{field.column}"' for field in fields)
        numbers = (f"${number}" for number in range(1, len(rows) * len(fields) + 1))
        places = ", ".join(f"({', '.join(row)})" for row in batched(numbers, len(fields), strict=True))
        values = [value for row in rows for value in _stored(fields, row, is_new=True)]
        with _raw_cursor() as cursor:
            cursor.execute(
                f'INSERT INTO "{self._model._meta.db_table}" ({columns}) VALUES {places}{self._ending}',  # noqa: S608
                values,
            )
        for row in rows:
            row._state.adding, row._state.db = False, connection.alias

    @cached_property
    def _fields(self) -> Sequence[Any]:
        return [field for field in self._model._meta.concrete_fields if not field.generated]


class PreparedUpdate[M: Model]:
    """Columns of one stored row, set to what its object has. It returns nothing either."""

    def __init__(self, model: type[M], *columns: str) -> None:
        self._model = model
        self._names = columns

    def __call__(self, row: M) -> None:
        with _raw_cursor() as cursor:
            cursor.execute(self._sql, [*_stored(self._fields, row, is_new=False), row.pk])

    @cached_property
    def _fields(self) -> Sequence[Any]:
        return [self._model._meta.get_field(name) for name in self._names]

    @cached_property
    def _sql(self) -> str:
        places = ", ".join(f'"{field.column}" = ${number}' for number, field in enumerate(self._fields, start=1))
        meta = self._model._meta
        return f'UPDATE "{meta.db_table}" SET {places} WHERE "{meta.pk.column}" = ${len(self._fields) + 1}'  # noqa: S608


@lru_cache(maxsize=128)
def numbered(sql: str) -> tuple[str, tuple[str, ...]]:
    """The statement with `$1` for each `%(name)s`, and the names in that order.

    The driver would convert statements over 4,096 characters each time: 0.1 ms for the search.
    """
    names = tuple(dict.fromkeys(_NAMED.findall(sql)))
    return sql % {name: f"${number}" for number, name in enumerate(names, start=1)}, names


_NAMED: Final = re.compile(r"(?<!%)%\((\w+)\)s")


class _PreparedCursor(psycopg.RawCursor[Any]):
    def execute(self, query: Any, params: Any = None, **_: Any) -> Any:
        if not isinstance(params, Mapping):  # the ORM's converters expect text
            return super().execute(query, params, prepare=True)
        sql, names = numbered(query)
        return super().execute(sql, [params[name] for name in names], prepare=True, binary=True)


def fetch_prepared(sql: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """All rows. Every parameter needs a cast (`%(user)s::bigint`): the server parses the statement without values."""
    return Read(sql, parameters).fetch()


def run_prepared(sql: str, parameters: Mapping[str, Any]) -> None:
    """Run a statement that returns no rows; within `write_together`, it isn't waited for."""
    _execute(Read(sql, parameters)).close()


# One round trip --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Read:
    """A statement with its values: hand-written SQL if they have names; else `$1` is the first."""

    sql: str
    values: Sequence[Any] | Mapping[str, Any]

    @property
    def key(self) -> Hashable:
        """The same for the same statement with the same values."""
        return self.sql, repr(self.values)

    def fetch(self) -> list[tuple[Any, ...]]:
        """All rows."""
        return _fetch(self)


_ahead: ContextVar[dict[Hashable, list[tuple[Any, ...]]] | None] = ContextVar("_ahead", default=None)
"""Rows that `read_together` has read and no one has asked for yet."""


@contextmanager
def read_together(*reads: Read) -> Iterator[None]:
    """Send these reads at once, in one round trip; in the block, the same query with the same values finds its rows.

    Each is answered once: asked again, it is read again.
    """
    rows: dict[Hashable, list[tuple[Any, ...]]] = {}
    connection.cursor().close()  # who acts is set before: what fails in a pipeline takes back all of it
    with _pipeline():
        sent = [(read.key, _execute(read)) for read in reads]
    for key, cursor in sent:  # after the pipeline: to fetch within it would wait once more
        rows[key] = cursor.fetchall()
        cursor.close()
    token = _ahead.set(rows)
    try:
        yield
    finally:
        _ahead.reset(token)


@contextmanager
def write_together() -> Iterator[None]:
    """Within a transaction: send the block's writes without waiting for each; in another such block, as part of it.

    It ends when all are done. A write that returns rows is waited for, with those before it. A failure is raised there
    or at the end. How many rows a write changed is not known.
    """
    if connection.connection.pgconn.pipeline_status != PipelineStatus.OFF:
        yield
        return
    with connection.wrap_database_errors, _pipeline():
        yield


pipeline_wrappers: Final[list[Callable[[], AbstractContextManager[None]]]] = []
"""Entered around each pipeline, as Django's `execute_wrappers` are called around each statement."""


@contextmanager
def _pipeline() -> Iterator[None]:
    with ExitStack() as around:
        for wrapper in pipeline_wrappers:
            around.enter_context(wrapper())
        around.enter_context(connection.connection.pipeline())
        yield


def _fetch(read: Read) -> list[tuple[Any, ...]]:
    ahead = _ahead.get()
    if ahead and (rows := ahead.pop(read.key, None)) is not None:
        return rows
    with _execute(read) as cursor:
        fetched: list[tuple[Any, ...]] = cursor.fetchall()
    return fetched


def _execute(read: Read) -> Any:
    cursor = _raw_cursor(_PreparedCursor)
    cursor.execute(read.sql, read.values)
    return cursor


def _raw_cursor(kind: type[psycopg.RawCursor[Any]] = psycopg.RawCursor) -> Any:
    return _database().raw_cursor(kind)


def _database() -> DatabaseWrapper:
    """The thread's connection. `django.db.connection` looks it up for each attribute, and each field asks for some."""
    return cast(DatabaseWrapper, connections[DEFAULT_DB_ALIAS])


def array(values: Iterable[float]) -> str:
    """Numbers as a PostgreSQL array literal: a list's type would depend on its values, and each type is another
    statement."""
    return "{" + ",".join(map(str, values)) + "}"
