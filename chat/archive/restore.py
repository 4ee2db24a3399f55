"""Restoring an archive into an empty account: everything or nothing, with new ids and the original times.

The first pass assigns new ids, the second writes the rows in batches. Rows may reference each other in any order:
constraints are checked at the end of the transaction. Anything invalid is one sentence for the user. The archive is
untrusted: members are unpacked within the limits of every import, row by row.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
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
from budget.models import Limit, UsageDay
from chat.archive.cycles import is_acyclic
from chat.archive.id_map import IdMap, reference_columns
from chat.archive.safe_zip import INVALID_ZIP, MEGABYTE, BoundedZip, NotImportedError, is_zip, open_zip
from chat.archive.tables import BY_LABEL, FORMAT, MANIFEST, TABLES, VERSION, Row, Table
from chat.archive.values import InvalidValueError, from_json
from chat.models import Attachment, Conversation
from memory.documents.revisions import BEGINNINGS
from memory.forget_epoch import lock_user
from memory.forgetting.execute import apply_forget_list
from memory.index.indexer import restore_words
from memory.models import Document, ForgetList, Forgetting, Tombstone
from recall.db.postgres import new_ids
from recall.db.quotas import QuotaError, make_room

if TYPE_CHECKING:
    from accounts.models import User

MAX_SMALL_BYTES: Final = MEGABYTE
"""Bytes of the manifest and of the user's settings, which are parsed whole; usually a few thousand."""
MAX_ROW_BYTES: Final = 16 * MEGABYTE
"""Bytes of one row, and of rows written together. A text has at most two million characters of at most six bytes."""
MAX_FILE_ROW_BYTES: Final = 64 * MEGABYTE
"""Bytes of a row with a file: 30 MB are 40 MB in Base64, plus its text (chat/attachments/limits.py)."""
MAX_ROWS: Final = 20_000_000
"""Rows of all tables: their ids are held in memory, about a hundred bytes each."""
MAX_ID_BITS: Final = 63
"""Bits of a row's id, as in its column."""

USER_MEMBER: Final = "person.json"
UNCOUNTED: Final = (Forgetting, ForgetList, Tombstone, UsageDay)
"""Rows that an empty account may have: what was forgotten stays forgotten, and past usage stays counted."""
KEPT: Final[Mapping[type[models.Model], tuple[str, ...]]] = {
    Limit: ("what", "per", "set_by_staff"),
    UsageDay: ("day", "model"),
}
"""Models of which the account's own rows, matched by these columns, take precedence."""

PREFERENCES: Final = ("preferred_name", "time_zone", "language", "relationship_stage", "chat_model", "effort")
"""Settings of the user that are restored."""
NOT_EMPTY: Final = (
    "This account isn't empty: it has {what}. An archive can only be imported into an empty account. Sign up for a "
    "new one, or delete what is here first."
)
INCOMPLETE: Final = "This archive is incomplete: {table} should have {expected:,} rows and has {found:,}."
TOO_MANY: Final = "This archive is incomplete: {table} should have {expected:,} rows and has more."
ROW_TOO_LONG: Final = "This archive can't be imported: row {row:,} of {table} has more than {most} MB."
MEMBER_TOO_LONG: Final = "This archive can't be imported: {member} has more than {most} MB."
INVALID_ROW: Final = "This archive can't be imported: row {row:,} of {table} has an invalid value ({why})."
NO_ARCHIVE: Final = "This archive has no contents that Recall knows."
TOO_NEW: Final = "This archive is from a newer Recall. Update this one first."
NOT_CONSISTENT: Final = "This archive can't be imported: its rows are inconsistent."
TOO_LARGE: Final = "This archive has more rows than any account."


@dataclass(frozen=True, slots=True)
class _Archive:
    """The zip, and the number of rows of each table by its manifest; no more are read."""

    packed: BoundedZip
    counts: dict[str, int]


def is_archive(file: BinaryIO) -> bool:
    """Whether this is a Recall archive.

    Raises:
        NotImportedError: it is a zip that can't be opened.
    """
    if not is_zip(file):
        return False
    with open_zip(file) as packed:
        return MANIFEST in packed.namelist()


def restore_archive(user: User, file: BinaryIO) -> dict[str, int]:
    """Restore an archive into an empty account, within the caller's transaction; rows by table.

    Raises:
        NotImportedError: nothing was imported, and why.
    """
    with open_zip(file) as opened, _explain_failures():
        packed = BoundedZip(opened)
        archive = _Archive(packed, _read_manifest(packed))
        _check_empty(user)
        Document.objects.for_user(user).filter(_is_empty_beginning()).delete()
        ids = _assign_ids(archive)
        _restore_preferences(user, packed)  # before the texts, which are indexed in the user's language
        for table in _imported_tables():
            _import_table(user, table, archive, ids)
        _check_files(user)
        if not is_acyclic(user):
            raise NotImportedError(NOT_CONSISTENT)
        apply_forget_list(user)
        restore_words(user.pk)
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # report broken references here, not at the commit
    return {label: rows for label, rows in archive.counts.items() if not BY_LABEL[label].is_export_only}


def describe_contents(user: User) -> str:
    """What the account contains, such as “1 role and 2 facts”; empty if nothing."""
    counted = [(_existing_rows(user, table).count(), table.model._meta) for table in _imported_tables()]
    named = [f"{rows:,} {of.verbose_name if rows == 1 else of.verbose_name_plural}" for rows, of in counted if rows]
    return get_text_list(named, "and")


def _imported_tables() -> list[Table]:
    return [table for table in TABLES if not table.is_export_only]


def _check_empty(user: User) -> None:
    lock_user(user.pk)
    what = describe_contents(user)
    if what:
        raise NotImportedError(NOT_EMPTY.format(what=what))


def _check_files(user: User) -> None:
    """A small archive may hold large files."""
    try:
        make_room(Attachment.objects.for_user(user), user.pk, more=0)
    except QuotaError as full:
        raise NotImportedError(str(full)) from full


def _existing_rows(user: User, table: Table) -> models.QuerySet[Any]:
    """The account's rows, except its forget list, its usage, limits set by staff and empty starter documents."""
    found = table.model._default_manager.filter(user=user)
    if table.model in UNCOUNTED:
        return found.none()
    if table.model is Limit:
        return found.exclude(set_by_staff=True)
    if table.model is Document:
        return found.exclude(_is_empty_beginning())
    return found


def _is_empty_beginning() -> models.Q:
    return models.Q(path__in=[document.path for document in BEGINNINGS], text="", revisions__isnull=True)


# Reading ---------------------------------------------------------------------------------------------------------


def _read_manifest(packed: BoundedZip) -> dict[str, int]:
    """Rows by table, of the tables that this version knows."""
    parsed = _parse_object(_read_small(packed, MANIFEST))
    if parsed.get("format") != FORMAT or type(parsed.get("version")) is not int:
        raise NotImportedError(NO_ARCHIVE)
    if parsed["version"] > VERSION:
        raise NotImportedError(TOO_NEW)
    counts = parsed.get("rows")
    known = {label: n for label, n in counts.items() if label in BY_LABEL} if isinstance(counts, dict) else {}
    if not all(type(rows) is int and rows >= 0 for rows in known.values()):
        raise NotImportedError(NO_ARCHIVE)
    if sum(known.values()) > MAX_ROWS:
        raise NotImportedError(TOO_LARGE)
    return known


def _read_small(packed: BoundedZip, member: str) -> bytes:
    """The whole content of a small member."""
    with packed.open_member(member) as content:
        text = content.read(MAX_SMALL_BYTES + 1)
    if len(text) > MAX_SMALL_BYTES:
        raise NotImportedError(MEMBER_TOO_LONG.format(member=member, most=MAX_SMALL_BYTES // MEGABYTE))
    return text


def _read_lines(archive: _Archive, table: Table) -> Iterator[bytes]:
    """The table's raw rows, one in memory at a time; never more than the manifest says."""
    member, most, expected = f"data/{table.label}.jsonl", _max_row_bytes(table), archive.counts.get(table.label, 0)
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


def _max_row_bytes(table: Table) -> int:
    holds_a_file = any(isinstance(column, models.BinaryField) for column in table.columns)
    return MAX_FILE_ROW_BYTES if holds_a_file else MAX_ROW_BYTES


def _batch_lines(lines: Iterable[bytes], at_once: int) -> Iterator[list[bytes]]:
    """Batches of rows whose total size is at most that of the longest row; a row with a file is a batch of its own."""
    some: list[bytes] = []
    size = 0
    for line in lines:
        if some and (len(some) == at_once or size + len(line) > MAX_ROW_BYTES):
            yield some
            some, size = [], 0
        some.append(line)
        size += len(line)
    if some:
        yield some


def _row(line: bytes, ids: IdMap) -> Row:
    """The row, with the new ids of conversations."""
    return _parse_object(ids.rename_conversations(line.decode("utf-8", "replace")))


def _parse_object(text: str | bytes) -> Row:
    parsed = json.loads(text)
    if not isinstance(parsed, dict):
        raise NotImportedError(NO_ARCHIVE)
    return parsed


def _assign_ids(archive: _Archive) -> IdMap:
    """A new id for every row, in the order of the old ones."""
    ids = IdMap()
    for table in _imported_tables():
        expected, is_named = archive.counts.get(table.label, 0), isinstance(table.model._meta.pk, models.UUIDField)
        parsed = (_parse_object(line.decode("utf-8", "replace")).get("id") for line in _read_lines(archive, table))
        old: list[Any] = [_parse_uuid(old_id) if is_named else _parse_id(old_id) for old_id in parsed]
        if len(old) != expected or len(old) != len(set(old)):
            raise NotImportedError(INCOMPLETE.format(table=table.label, expected=expected, found=len(old)))
        if is_named:
            ids.conversations = {name: str(uuid4()) for name in old}
            ids.new_conversations = frozenset(ids.conversations.values())
        else:
            ids.rows[table.label] = dict(zip(old, new_ids(table.model, len(old)), strict=True))
    return ids


def _parse_uuid(parsed: Any) -> str:
    """A conversation's id in its canonical form; anything else raises, so it isn't held in memory."""
    return str(UUID(parsed if isinstance(parsed, str) else ""))


def _parse_id(parsed: Any) -> int:
    """A row's id; anything else raises."""
    if type(parsed) is not int or parsed.bit_length() > MAX_ID_BITS:
        raise NotImportedError(NO_ARCHIVE)
    return parsed


# Writing ---------------------------------------------------------------------------------------------------------


def _import_table(user: User, table: Table, archive: _Archive, ids: IdMap) -> None:
    """Copy the table's rows into the database."""
    places = count(1)
    own = table.model._default_manager.filter(user=user) if table.model in KEPT else ()
    kept = {_kept_key(row) for row in own}
    for some in _batch_lines(_read_lines(archive, table), table.batch):
        rows = [_row(line, ids) for line in some]
        made = [_build_row(user, table, next(places), row, ids) for row in rows]
        _copy_rows(table.model, [row for row in made if not kept or _kept_key(row) not in kept])
        for name in (relation.name for relation in table.model._meta.many_to_many):
            _write_relations(table, name, rows, ids)


def _build_row(user: User, table: Table, place: int, row: Row, ids: IdMap) -> models.Model:
    """The row to write; missing columns get their defaults."""
    references = reference_columns(table.model)
    try:
        parsed = ids.renumber_row(table, row)
        values = {
            column.attname: _build_value(column, parsed, table, references, ids, user) for column in table.columns
        }
    except InvalidValueError as error:
        raise NotImportedError(INVALID_ROW.format(row=place, table=table.label, why=error)) from error
    return table.model(user_id=user.pk, **values)


def _build_value(
    column: models.Field[Any, Any], row: Row, table: Table, references: Any, ids: IdMap, user: User
) -> Any:
    parsed = row.get(column.name)
    if column.primary_key:
        return UUID(parsed) if isinstance(column, models.UUIDField) else ids.new_id(table.label, parsed)
    if column.name not in references:
        if isinstance(column, models.ForeignKey):
            return user.pk if parsed == "self" else None
        return from_json(column, parsed) if column.name in row else column.get_default()
    return _resolve_reference(column, parsed, references[column.name], ids)


def _resolve_reference(column: models.Field[Any, Any], parsed: Any, label: str, ids: IdMap) -> Any:
    """The referenced row, always one of this archive."""
    if label == "chat.conversation":
        found: Any = UUID(parsed) if isinstance(parsed, str) and parsed in ids.new_conversations else None
    else:
        found = ids.new_id(label, parsed)
    if found is None and not column.null:
        raise InvalidValueError(column.name)
    return found


def _copy_rows(model: type[models.Model], made: Iterable[models.Model]) -> None:
    """Write rows with COPY, which is fast and keeps times that `bulk_create` would set to now.

    By way of a temporary table: PostgreSQL doesn't COPY into one with row-level security.
    """
    columns = [column for column in model._meta.concrete_fields if not column.generated]
    names = sql.SQL(", ").join(sql.Identifier(str(column.column)) for column in columns)
    table = sql.Identifier(model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(
            sql.SQL("CREATE TEMPORARY TABLE restored AS SELECT {} FROM {} WITH NO DATA").format(names, table)
        )
        with connection.wrap_database_errors, cursor.copy("COPY restored FROM STDIN") as copy:
            for instance in made:
                copy.write_row(
                    [column.get_db_prep_save(getattr(instance, column.attname), connection) for column in columns]
                )
        cursor.execute(sql.SQL("INSERT INTO {} ({}) SELECT * FROM restored").format(table, names))
        cursor.execute("DROP TABLE restored")


def _write_relations(table: Table, name: str, rows: Iterable[Row], ids: IdMap) -> None:
    """Write many-to-many relations, such as the facts of an episode."""
    many = table.model._meta.get_field(name)
    assert isinstance(many, models.ManyToManyField)
    target = str(many.related_model._meta.label_lower)
    through = many.remote_field.through
    assert through is not None
    pairs = [
        (ids.new_id(table.label, row.get("id")), new)
        for row in rows
        for other in (row[name] if isinstance(row.get(name), list) else ())
        if (new := ids.new_id(target, other)) is not None
    ]
    source, other = many.m2m_column_name(), many.m2m_reverse_name()
    through._default_manager.bulk_create(
        [through(**{source: first, other: second}) for first, second in dict.fromkeys(pairs)]
    )


def _kept_key(row: models.Model) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in KEPT[type(row)])


def _restore_preferences(user: User, packed: BoundedZip) -> None:
    """Restore name, time zone, model and the date of joining."""
    parsed = _parse_object(_read_small(packed, USER_MEMBER)) if USER_MEMBER in packed else {}
    person = Person.objects.get(pk=user.pk)
    for name in PREFERENCES:
        if isinstance(parsed.get(name), str):
            setattr(person, name, parsed[name][:64])
    person.language = person.language if person.language in Language else user.language
    person.effort = person.effort if person.effort in Conversation.Effort else ""
    person.relationship_stage = person.relationship_stage if person.relationship_stage in Person.Stage else ""
    try:
        validate_time_zone(person.time_zone)
    except ValidationError:
        person.time_zone = user.time_zone
    person.date_joined = min(person.date_joined, _parse_joined(parsed.get("date_joined")) or person.date_joined)
    person.save(update_fields=[*PREFERENCES, "date_joined"])


def _parse_joined(parsed: Any) -> datetime | None:
    found = parse_datetime(parsed) if isinstance(parsed, str) else None
    return found if found is not None and found.tzinfo is not None else None


@contextmanager
def _explain_failures() -> Iterator[None]:
    """Turn any defect of the archive into a sentence for the user; the transaction is rolled back."""
    try:
        with transaction.atomic():
            yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, KeyError) as error:
        raise NotImportedError(INVALID_ZIP) from error
    except (ValueError, RecursionError, ValidationError) as error:
        raise NotImportedError(NO_ARCHIVE) from error
    except (IntegrityError, DataError) as error:
        raise NotImportedError(NOT_CONSISTENT) from error
