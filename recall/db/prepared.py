"""How does a statement that every turn asks go fastest? The ORM puts it in words once, the server reads it once.

`Prepared`: a queryset whose SQL is kept. Putting a small one in words takes the ORM four times as long as asking the
database takes the process (0.4 ms and 0.1): with thirty of them, that was half of a turn's processor time.

`fetch`: SQL of our own. Django binds values on the client's side, so that the server reads each statement anew: for the
search of `memory/retrieval/candidates.py` that is 4 ms of 10. It is planned once, too (`PLANNED_ONCE` in
`recall/settings.py`): what a plan must know stands in the statement itself.

Both go through Django's own cursor, so that what counts or times statements sees them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import Any, Final
from uuid import UUID

import psycopg
from django.contrib.postgres.fields import ArrayField
from django.db import connection
from django.db.models import BigIntegerField, Func, QuerySet, Value
from django.db.models.query import FlatValuesListIterable, ModelIterable, ValuesListIterable
from django.db.models.sql.compiler import SQLCompiler
from django.db.transaction import TransactionManagementError

STAND_INS: Final[Mapping[type, Callable[[int], Any]]] = {
    int: lambda number: 2_000_000_011 + number,  # a column of four bytes holds it
    str: lambda number: f"/stand-in-{number}",
    UUID: lambda number: UUID(int=(1 << 127) + number),
    datetime: lambda number: datetime(1, 1, 1, 0, 0, number, tzinfo=UTC),
    list: lambda number: [2_000_000_011 + number],  # for AnyOf
}
"""What stands for the n-th parameter while a queryset is put in words: nothing that code would write."""


@dataclass(frozen=True, slots=True)
class _Words:
    """A queryset as SQL, and how its rows become what it yields."""

    sql: str
    bound: Sequence[tuple[str | None, object]]
    """In the order of their places: the name of a parameter, or None and a value that is always the same."""
    converters: Sequence[tuple[int, Sequence[Callable[..., Any]], Any]]
    """Column, the ORM's functions from the database's value to Python's, and the expression they are told."""
    row: Callable[[Any], Any]
    locks: bool


class PreparedQuery[Row]:
    """A queryset with parameters that is put in words when it is first asked.

    `build` is called with a stand-in for each parameter of `kinds` (a key of STAND_INS): it must not look at them. The
    queryset yields models, tuples (`values_list`) or single values (`values_list(flat=True)`).

        NEWEST = Prepared(lambda user: Forgetting.objects.filter(user=user).order_by("-pk")[:1], user=int)
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
        words = self._words
        if words.locks:
            connection.validate_no_broken_transaction()
            if connection.get_autocommit():
                raise TransactionManagementError("Rows are locked within a transaction, or not at all.")
        with connection.cursor() as cursor:
            bound: list[Any] = [fixed if name is None else values[name] for name, fixed in words.bound]
            cursor.execute(words.sql, bound)
            rows = cursor.fetchall()
        return [words.row(_converted(row, words.converters) if words.converters else row) for row in rows]

    def first(self, **values: object) -> Row | None:
        """The first row, None: there is none. All are read: slice the queryset where there may be more."""
        return next(iter(self(**values)), None)

    @cached_property
    def _words(self) -> _Words:
        words, again = (self._put_in_words(self._stand_ins(number)) for number in (0, len(self._kinds)))
        # What differs between two sets of stand-ins was made of them, and is not them.
        if words.sql != again.sql or list(map(_plain, words.bound)) != list(map(_plain, again.bound)):
            raise TypeError("A parameter is looked at, or computed with, before it is bound.")
        if {name for name, _ in words.bound} - {None} != set(self._kinds):
            raise TypeError("A parameter is not bound.")
        return words

    def _stand_ins(self, first: int) -> dict[str, object]:
        return {name: STAND_INS[kind](number) for number, (name, kind) in enumerate(self._kinds.items(), first)}

    def _put_in_words(self, stand_ins: Mapping[str, object]) -> _Words:
        queryset = self._build(**stand_ins)
        compiler = queryset.query.get_compiler(connection=connection)
        sql, params = compiler.as_sql()
        names = [_name_of(param, stand_ins) for param in params]
        bound = [(name, None if name else param) for name, param in zip(names, params, strict=True)]
        found = compiler.get_converters([expression for expression, *_ in compiler.select])
        converters = [(column, functions, expression) for column, (functions, expression) in found.items()]
        return _Words(sql, bound, converters, _row(queryset, compiler), queryset.query.select_for_update)


def _plain(place: tuple[str | None, object]) -> tuple[str | None, object]:
    """The same; of a value in a wrapper of the driver (bytes, JSON), which equals no other, what it holds."""
    name, value = place
    return name, getattr(value, "obj", value)


def _name_of(param: object, stand_ins: Mapping[str, object]) -> str | None:
    found = (name for name, stand_in in stand_ins.items() if type(stand_in) is type(param) and stand_in == param)
    return next(found, None)


class AnyOf(Func):
    """`filter(pk__in=AnyOf(ids))` for a list of ids that is a parameter: else each length is another statement."""

    template = "(SELECT unnest(%(expressions)s))"

    def __init__(self, ids: list[int]) -> None:
        super().__init__(Value(ids, ArrayField(BigIntegerField())))


def _row(queryset: QuerySet[Any, Any], compiler: SQLCompiler) -> Callable[[Any], Any]:
    """How this queryset's own iterable makes one thing of one row."""
    asked: Any = queryset  # nothing public tells what it will make of its rows
    yields = asked._iterable_class
    if asked._prefetch_related_lookups or asked._known_related_objects:
        raise TypeError("Nothing beside the rows themselves can be prepared.")
    if yields is ValuesListIterable:
        return tuple
    if yields is FlatValuesListIterable:
        return itemgetter(0)
    if yields is not ModelIterable or compiler.annotation_col_map or queryset.query.select_related:
        raise TypeError("Only models by themselves, tuples and single values can be prepared.")
    names = [column.target.attname for column, *_ in compiler.select]
    return lambda row: queryset.model.from_db(connection.alias, names, row)


def _converted(row: Sequence[Any], converters: Iterable[tuple[int, Sequence[Callable[..., Any]], Any]]) -> list[Any]:
    values = list(row)
    for column, functions, expression in converters:
        for function in functions:
            values[column] = function(values[column], expression, connection)
    return values


@lru_cache(maxsize=128)
def numbered(sql: str) -> tuple[str, tuple[str, ...]]:
    """The statement as the server takes it, with `$1` for each `%(name)s`, and the names in that order.

    In one of more than 4,096 characters the driver would look for them each time: 0.1 ms for the search.
    """
    names = tuple(dict.fromkeys(_NAMED.findall(sql)))
    return sql % {name: f"${number}" for number, name in enumerate(names, start=1)}, names


_NAMED: Final = re.compile(r"(?<!%)%\((\w+)\)s")


class _PreparedCursor(psycopg.RawCursor[Any]):
    def execute(self, query: Any, params: Any = None, **_: Any) -> Any:
        sql, names = numbered(query)
        return super().execute(sql, [params[name] for name in names], prepare=True, binary=True)


def fetch_prepared(sql: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
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
