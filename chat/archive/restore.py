"""How does an archive come into an empty account? All of it, or nothing; every row under a new number, times kept.

The first pass over the rows gives each its new number; the second writes them, few at a time. Rows may name one another
in any order: the database asks at the end of the transaction. What does not fit is one sentence for the person. What
the archive claims of itself is believed nowhere: members are unpacked within the limits of every import, row by row.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import TYPE_CHECKING, Any, BinaryIO, Final
from uuid import UUID, uuid4

from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, connection, models, transaction
from django.utils.dateparse import parse_datetime
from django.utils.text import get_text_list
from psycopg import sql

from accounts.languages import Language
from accounts.models import User as Person
from accounts.models import validate_time_zone
from budget.models import Limit
from chat.archive.cycles import all_end
from chat.archive.id_map import Numbers, pointers
from chat.archive.safe_zip import INVALID_ZIP, MEGABYTE, BoundedZip, NotImportedError, is_zip, open_zip
from chat.archive.tables import BY_LABEL, FORMAT, MANIFEST, TABLES, VERSION, Row, Table
from chat.archive.values import NotFittingError, read
from chat.models import Conversation
from memory.documents.revisions import BEGINNINGS
from memory.forget_epoch import lock_user
from memory.index.indexer import restore_words
from memory.models import Document
from recall.db.postgres import new_ids

if TYPE_CHECKING:
    from accounts.models import User

SMALL_BYTES: Final = MEGABYTE
"""Of the manifest, and of what there is about the person: some thousand, and parsed as a whole."""
LONGEST_ROW: Final = 16 * MEGABYTE
"""Bytes of one row, and of the rows that are written together. A text has two million characters at most, and one takes
six bytes at most."""
LONGEST_FILE_ROW: Final = 64 * MEGABYTE
"""Of a row that holds a file: 30 MB are 40 in Base64, and its text stands beside it (attachments/limits.py)."""
MOST_ROWS: Final = 20_000_000
"""Of all tables: their numbers are kept in memory meanwhile, some hundred bytes each."""
MOST_BITS: Final = 63
"""Of a row's number, as in its column."""

PERSON: Final = "person.json"

PREFERENCES: Final = ("preferred_name", "time_zone", "language", "relationship_stage", "chat_model", "effort")
"""What is brought in of the person."""
NOT_EMPTY: Final = (
    "This account is not empty: it has {what}. An archive comes into an empty account only, so that nothing is mixed "
    "up. Sign up for a new one, or delete what is here first."
)
TORN: Final = "This archive is incomplete: {table} should have {expected:,} rows and has {found:,}."
TOO_MANY: Final = "This archive is incomplete: {table} should have {expected:,} rows and has more."
ROW_TOO_LONG: Final = "This archive can't be imported: row {row:,} of {table} has more than {most} MB."
MEMBER_TOO_LONG: Final = "This archive can't be imported: {member} has more than {most} MB."
NOT_FITTING: Final = "This archive can't be imported: row {row:,} of {table} does not fit ({why})."
NO_ARCHIVE: Final = "This archive has no contents that Recall knows."
TOO_NEW: Final = "This archive is from a newer Recall. Update this one first."
NOT_CONSISTENT: Final = "This archive can't be imported: its rows do not fit together."
TOO_LARGE: Final = "This archive has more rows than any account."


@dataclass(frozen=True, slots=True)
class _Archive:
    """The zip, and how many rows each table has by its manifest: no further is read."""

    packed: BoundedZip
    counts: dict[str, int]


def is_archive(file: BinaryIO) -> bool:
    """Whether this is a Recall archive.

    Raises:
        NotImportedError: it is a zip that cannot be opened.
    """
    if not is_zip(file):
        return False
    with open_zip(file) as packed:
        return MANIFEST in packed.namelist()


def restore_archive(user: User, file: BinaryIO) -> dict[str, int]:
    """Bring an archive into an empty account, within the caller's transaction; rows by table.

    Raises:
        NotImportedError: nothing was brought in, and why.
    """
    with open_zip(file) as opened, _told_in_a_sentence():
        packed = BoundedZip(opened)
        archive = _Archive(packed, _manifest(packed))
        _check_empty(user)
        _remove_beginnings(user)
        numbers = _numbers(archive)
        _person(user, packed)  # before what is read in their language
        for table in _brought():
            _write(user, table, archive, numbers)
        if not all_end(user):
            raise NotImportedError(NOT_CONSISTENT)
        restore_words(user.pk)
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # what points nowhere is told here, and not at the commit
    return {label: rows for label, rows in archive.counts.items() if not BY_LABEL[label].is_only_told}


def what_there_is(user: User) -> str:
    """All that an account has and an archive would be mixed up with, such as “1 role and 2 facts”; empty: nothing."""
    counted = [(_standing(user, table).count(), table.model._meta) for table in _brought()]
    named = [f"{rows:,} {of.verbose_name if rows == 1 else of.verbose_name_plural}" for rows, of in counted if rows]
    return get_text_list(named, "and")


def _brought() -> list[Table]:
    return [table for table in TABLES if not table.is_only_told]


def _check_empty(user: User) -> None:
    lock_user(user.pk)
    what = what_there_is(user)
    if what:
        raise NotImportedError(NOT_EMPTY.format(what=what))


def _standing(user: User, table: Table) -> models.QuerySet[Any]:
    """The account's rows, but for what everybody has: limits that staff set, and pages nobody has written on."""
    found = table.model._default_manager.filter(user=user)
    if table.model is Limit:
        return found.exclude(set_by_staff=True)
    if table.model is Document:
        return found.exclude(_unwritten())
    return found


def _unwritten() -> models.Q:
    return models.Q(path__in=[one.path for one in BEGINNINGS], text="", revisions__isnull=True)


def _remove_beginnings(user: User) -> None:
    Document.objects.for_user(user).filter(_unwritten()).delete()


# Reading ---------------------------------------------------------------------------------------------------------


def _manifest(packed: BoundedZip) -> dict[str, int]:
    """Rows by table, of the tables that this Recall knows."""
    told = _object(_small(packed, MANIFEST))
    if told.get("format") != FORMAT or type(told.get("version")) is not int:
        raise NotImportedError(NO_ARCHIVE)
    if told["version"] > VERSION:
        raise NotImportedError(TOO_NEW)
    counts = told.get("rows")
    known = {label: n for label, n in counts.items() if label in BY_LABEL} if isinstance(counts, dict) else {}
    if not all(type(rows) is int and rows >= 0 for rows in known.values()):
        raise NotImportedError(NO_ARCHIVE)
    if sum(known.values()) > MOST_ROWS:
        raise NotImportedError(TOO_LARGE)
    return known


def _small(packed: BoundedZip, member: str) -> bytes:
    """A member that is read as a whole."""
    with packed.open_member(member) as content:
        text = content.read(SMALL_BYTES + 1)
    if len(text) > SMALL_BYTES:
        raise NotImportedError(MEMBER_TOO_LONG.format(member=member, most=SMALL_BYTES // MEGABYTE))
    return text


def _lines(archive: _Archive, table: Table) -> Iterator[bytes]:
    """The table's rows as they are written, one in memory; never more than the manifest told of."""
    member, most, expected = f"data/{table.label}.jsonl", _longest(table), archive.counts.get(table.label, 0)
    if member not in archive.packed:
        return
    with archive.packed.open_member(member) as content:
        for place in count(1):
            line = content.readline(most + 1)
            if not line:
                return
            if place > expected:
                raise NotImportedError(TOO_MANY.format(table=table.label, expected=expected))
            if len(line) > most:
                raise NotImportedError(ROW_TOO_LONG.format(row=place, table=table.label, most=most // MEGABYTE))
            yield line


def _longest(table: Table) -> int:
    holds_a_file = any(isinstance(column, models.BinaryField) for column in table.columns)
    return LONGEST_FILE_ROW if holds_a_file else LONGEST_ROW


def _batched(lines: Iterable[bytes], at_once: int) -> Iterator[list[bytes]]:
    """So few rows that together they have no more bytes than one may have, but for one alone that holds a file."""
    some: list[bytes] = []
    size = 0
    for line in lines:
        if some and (len(some) == at_once or size + len(line) > LONGEST_ROW):
            yield some
            some, size = [], 0
        some.append(line)
        size += len(line)
    if some:
        yield some


def _row(line: bytes, numbers: Numbers) -> Row:
    """The row with conversations under their new names."""
    return _object(numbers.renamed(line.decode("utf-8", "replace")))


def _object(text: str | bytes) -> Row:
    told = json.loads(text)
    if not isinstance(told, dict):
        raise NotImportedError(NO_ARCHIVE)
    return told


def _numbers(archive: _Archive) -> Numbers:
    """A new number for every row, in the order of the old ones."""
    numbers = Numbers()
    for table in _brought():
        expected, is_named = archive.counts.get(table.label, 0), isinstance(table.model._meta.pk, models.UUIDField)
        told = (_object(line.decode("utf-8", "replace")).get("id") for line in _lines(archive, table))
        old: list[Any] = [_name(one) if is_named else _number(one) for one in told]
        if len(old) != expected or len(old) != len(set(old)):
            raise NotImportedError(TORN.format(table=table.label, expected=expected, found=len(old)))
        if is_named:
            numbers.conversations = {name: str(uuid4()) for name in old}
            numbers.new_conversations = frozenset(numbers.conversations.values())
        else:
            numbers.rows[table.label] = dict(zip(old, new_ids(table.model, len(old)), strict=True))
    return numbers


def _name(told: Any) -> str:
    """A conversation's; whatever else stands there is not kept in memory."""
    return str(UUID(told if isinstance(told, str) else ""))


def _number(told: Any) -> int:
    """A row's, likewise."""
    if type(told) is not int or told.bit_length() > MOST_BITS:
        raise NotImportedError(NO_ARCHIVE)
    return told


# Writing ---------------------------------------------------------------------------------------------------------


def _write(user: User, table: Table, archive: _Archive, numbers: Numbers) -> None:
    """Copy the table's rows into the database."""
    places = count(1)
    standing = _kept_limits(user) if table.model is Limit else set()
    for some in _batched(_lines(archive, table), table.at_once):
        rows = [_row(line, numbers) for line in some]
        made = [_made(user, table, next(places), row, numbers) for row in rows]
        _copy(table.model, [one for one in made if not standing or _limit(one) not in standing])
        for name in (one.name for one in table.model._meta.many_to_many):
            _relate(table, name, rows, numbers)


def _made(user: User, table: Table, place: int, row: Row, numbers: Numbers) -> models.Model:
    """The row as it will stand; what it leaves out has its default."""
    pointing = pointers(table.model)
    try:
        told = numbers.row(table, row)
        values = {one.attname: _value(one, told, table, pointing, numbers, user) for one in table.columns}
    except NotFittingError as error:
        raise NotImportedError(NOT_FITTING.format(row=place, table=table.label, why=error)) from error
    return table.model(user_id=user.pk, **values)


def _value(column: models.Field[Any, Any], row: Row, table: Table, pointing: Any, numbers: Numbers, user: User) -> Any:
    told = row.get(column.name)
    if column.primary_key:
        return UUID(told) if isinstance(column, models.UUIDField) else numbers.of(table.label, told)
    if column.name not in pointing:
        if isinstance(column, models.ForeignKey):
            return user.pk if told == "self" else None
        return read(column, told) if column.name in row else column.get_default()
    return _pointed(column, told, pointing[column.name], numbers)


def _pointed(column: models.Field[Any, Any], told: Any, label: str, numbers: Numbers) -> Any:
    """The row it points to: always one of the archive's own, whatever the archive says."""
    if label == "chat.conversation":
        found: Any = UUID(told) if isinstance(told, str) and told in numbers.new_conversations else None
    else:
        found = numbers.of(label, told)
    if found is None and not column.null:
        raise NotFittingError(column.name)
    return found


def _copy(model: type[models.Model], made: Iterable[models.Model]) -> None:
    """By COPY: it is fast, and takes the times as they are, where `bulk_create` would say “now”."""
    columns = [one for one in model._meta.concrete_fields if not one.generated]
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(model._meta.db_table), sql.SQL(", ").join(sql.Identifier(str(one.column)) for one in columns)
    )
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(statement) as copy:
        for one in made:
            copy.write_row([_prepared(column, one) for column in columns])


def _prepared(column: models.Field[Any, Any], one: models.Model) -> Any:
    return column.get_db_prep_save(getattr(one, column.attname), connection)


def _relate(table: Table, name: str, rows: Iterable[Row], numbers: Numbers) -> None:
    """Rows between two tables, such as the facts of an episode."""
    many = table.model._meta.get_field(name)
    assert isinstance(many, models.ManyToManyField)
    target = str(many.related_model._meta.label_lower)
    through = many.remote_field.through
    assert through is not None
    pairs = [
        (numbers.of(table.label, row.get("id")), new)
        for row in rows
        for other in (row[name] if isinstance(row.get(name), list) else ())
        if (new := numbers.of(target, other)) is not None
    ]
    source, other = many.m2m_column_name(), many.m2m_reverse_name()
    through._default_manager.bulk_create([through(**{source: one, other: two}) for one, two in dict.fromkeys(pairs)])


def _kept_limits(user: User) -> set[tuple[str, str, bool]]:
    """Limits that staff set here: they hold, whatever the archive brings."""
    return {_limit(one) for one in Limit.objects.for_user(user)}


def _limit(one: Any) -> tuple[str, str, bool]:
    return one.what, one.per, one.set_by_staff


def _person(user: User, packed: BoundedZip) -> None:
    """Name, time zone, choice of model, and since when they are known."""
    told = _object(_small(packed, PERSON)) if PERSON in packed else {}
    person = Person.objects.get(pk=user.pk)
    for name in PREFERENCES:
        if isinstance(told.get(name), str):
            setattr(person, name, told[name][:64])
    person.language = person.language if person.language in Language else user.language
    person.effort = person.effort if person.effort in Conversation.Effort else ""
    person.relationship_stage = person.relationship_stage if person.relationship_stage in Person.Stage else ""
    try:
        validate_time_zone(person.time_zone)
    except ValidationError:
        person.time_zone = user.time_zone
    person.date_joined = min(person.date_joined, _joined(told.get("date_joined")) or person.date_joined)
    person.save(update_fields=[*PREFERENCES, "date_joined"])


def _joined(told: Any) -> datetime | None:
    found = parse_datetime(told) if isinstance(told, str) else None
    return found if found is not None and found.tzinfo is not None else None


@contextmanager
def _told_in_a_sentence() -> Iterator[None]:
    """What an archive may be wrong in, as a sentence for the person; the transaction is undone by it."""
    try:
        with transaction.atomic():
            yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, KeyError) as error:
        raise NotImportedError(INVALID_ZIP) from error
    except (ValueError, RecursionError, ValidationError) as error:
        raise NotImportedError(NO_ARCHIVE) from error
    except (IntegrityError, DataError) as error:
        raise NotImportedError(NOT_CONSISTENT) from error
