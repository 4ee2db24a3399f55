"""Writing the archive of an account as a stream, from the database into a zip, a few rows at a time.

Everything is read in one repeatable-read transaction, so no row references another one that came later.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast

from django.db import connection, models, transaction
from django.utils import timezone

from accounts.models import AccessLog
from chat.archive.readable import markdown_pages
from chat.archive.tables import FORMAT, MANIFEST, TABLES, USER_COLUMNS, VERSION, Row, Table
from chat.archive.values import to_json
from memory.models import ReviewAction

if TYPE_CHECKING:
    from accounts.models import User

FLUSH_BYTES: Final = 64 * 1024
"""Bytes to collect before a piece is sent."""


def stream_archive(user: User) -> Generator[bytes]:
    """The archive of everything the user has, in pieces."""
    out = _Pipe()
    with _snapshot(), zipfile.ZipFile(cast(BinaryIO, out), "w", zipfile.ZIP_DEFLATED) as packed:
        now, counts = timezone.now(), dict.fromkeys((table.label for table in TABLES), 0)
        for table in TABLES:
            with packed.open(_member(f"data/{table.label}.jsonl", now), "w", force_zip64=True) as member:
                for row in export_rows(user, table):
                    member.write(_json(row) + b"\n")
                    counts[table.label] += 1
                    yield from out.take(FLUSH_BYTES)
        for name, text in markdown_pages(user):
            packed.writestr(_member(name, now), text)
            yield from out.take(FLUSH_BYTES)
        person = {name: to_json(getattr(user, name)) for name in USER_COLUMNS}
        packed.writestr(_member("person.json", now), _json(person))
        manifest = {"format": FORMAT, "version": VERSION, "made_at": to_json(now), "rows": counts}
        packed.writestr(_member(MANIFEST, now), _json(manifest))  # last, so that an incomplete file is recognized
    yield from out.take(0)


def file_name(user: User, now: datetime) -> str:
    """The name of the downloaded file."""
    return f"recall-{now.astimezone(user.zone):%Y-%m-%d}.zip"


def export_rows(user: User, table: Table) -> Iterator[Row]:
    """The user's rows in the form of the archive."""
    model, settled = table.model, table.final_states
    found = model._default_manager.filter(user=user).order_by(*table.order)
    many = [relation.name for relation in model._meta.many_to_many]
    for instance in found.defer(*_skipped_columns(table)).prefetch_related(*many).iterator(table.batch):
        row = {column.name: _value(instance, column) for column in table.columns}
        for name, states in settled.items():
            row[name] = states.get(row[name], row[name])
        for name in many:
            row[name] = sorted(related.pk for related in getattr(instance, name).all())
        yield _without_vectors(row) if isinstance(instance, ReviewAction) else row


def _skipped_columns(table: Table) -> list[str]:
    """Columns that are not read from the database."""
    fields = table.model._meta.concrete_fields
    return [field.name for field in fields if field.generated or field.name in table.without]


def _value(instance: models.Model, column: models.Field[Any, Any]) -> Any:
    """A column's value; references to users become “self” or “staff”."""
    value = getattr(instance, column.attname)
    if isinstance(column, models.ForeignKey) and column.related_model._meta.label_lower == "accounts.user":
        return _name_actor(instance, value)
    return to_json(value)


def _name_actor(instance: models.Model, pk: int | None) -> str | None:
    if pk is None:
        return None
    return "staff" if isinstance(instance, AccessLog) or pk != getattr(instance, "user_id", None) else "self"


def _without_vectors(row: Row) -> Row:
    """A decision's row without the vectors of its facts, which are rebuilt."""
    empty = {"vector": None, "embedded_by": ""}
    return row | {
        "before": {
            fact: columns | {name: value for name, value in empty.items() if name in columns}
            for fact, columns in row["before"].items()
        }
    }


@contextmanager
def _snapshot() -> Iterator[None]:
    """A consistent snapshot for all reads. A caller's transaction (a test's) keeps its own isolation level."""
    is_own = not connection.in_atomic_block
    with transaction.atomic():
        if is_own:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield


def _member(name: str, now: datetime) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, now.timetuple()[:6])
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


class _Pipe(io.RawIOBase):
    """The output of the zip: holds only bytes that were not sent yet."""

    def __init__(self) -> None:
        super().__init__()
        self._held = bytearray()

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        raise OSError("A stream has no position.")  # makes zipfile count bytes itself

    def write(self, content: Any) -> int:
        self._held += content
        return len(content)

    def take(self, least: int) -> Iterator[bytes]:
        """The bytes written so far, if there are more than `least`."""
        if len(self._held) > least:
            piece = bytes(self._held)
            self._held.clear()
            yield piece
