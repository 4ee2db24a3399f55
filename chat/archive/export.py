"""How is the archive written? As a stream: rows go from the database into the zip and out, few at a time.

All of it is read in one transaction that sees one moment, so that no row names another one that came later.
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
from chat.archive.readable import pages
from chat.archive.tables import FORMAT, MANIFEST, PERSON, TABLES, VERSION, Row, Table
from chat.archive.values import written
from memory.models import ReviewAction

if TYPE_CHECKING:
    from accounts.models import User

SENT_FROM: Final = 64 * 1024
"""Bytes that are gathered before they are handed on."""


def archive(user: User) -> Generator[bytes]:
    """The archive of everything the person has, piece by piece."""
    out = _Pipe()
    with _one_moment(), zipfile.ZipFile(cast(BinaryIO, out), "w", zipfile.ZIP_DEFLATED) as packed:
        now, counts = timezone.now(), dict.fromkeys((table.label for table in TABLES), 0)
        for table in TABLES:
            with packed.open(_member(f"data/{table.label}.jsonl", now), "w", force_zip64=True) as member:
                for row in rows(user, table):
                    member.write(_json(row) + b"\n")
                    counts[table.label] += 1
                    yield from out.taken(SENT_FROM)
        for name, text in pages(user):
            packed.writestr(_member(name, now), text)
            yield from out.taken(SENT_FROM)
        packed.writestr(_member("person.json", now), _json(person(user)))
        packed.writestr(_member(MANIFEST, now), _json(manifest(counts, now)))
    yield from out.taken(0)


def file_name(user: User, now: datetime) -> str:
    """What the file is called."""
    return f"recall-{now.astimezone(user.zone):%Y-%m-%d}.zip"


def manifest(counts: dict[str, int], now: datetime) -> Row:
    """What this is, and how many rows each table has: it is written last, so that a torn file is known as one."""
    return {"format": FORMAT, "version": VERSION, "made_at": written(now), "rows": counts}


def person(user: User) -> Row:
    """The person's own columns; nothing they sign in with."""
    return {name: written(getattr(user, name)) for name in PERSON}


def rows(user: User, table: Table) -> Iterator[Row]:
    """The person's rows as the archive has them."""
    model, settled = table.model, table.settled
    found = model._default_manager.filter(user=user).order_by(*table.order)
    many = [one.name for one in model._meta.many_to_many]
    for one in found.defer(*_unread(table)).prefetch_related(*many).iterator(table.at_once):
        row = {column.name: _value(one, column) for column in table.columns}
        for name, states in settled.items():
            row[name] = states.get(row[name], row[name])
        for name in many:
            row[name] = sorted(related.pk for related in getattr(one, name).all())
        yield _without_vectors(row) if isinstance(one, ReviewAction) else row


def _unread(table: Table) -> list[str]:
    """Columns that are not even read from the database."""
    own = [one for one in table.model._meta.concrete_fields if one.generated or one.name in table.without]
    return [one.name for one in own]


def _value(one: models.Model, column: models.Field[Any, Any]) -> Any:
    """A column's value; who did something is “self”, or nobody who is told."""
    value = getattr(one, column.attname)
    if isinstance(column, models.ForeignKey) and column.related_model._meta.label_lower == "accounts.user":
        return _whom(one, value)
    return written(value)


def _whom(one: models.Model, pk: int | None) -> str | None:
    if pk is None:
        return None
    return "staff" if isinstance(one, AccessLog) or pk != getattr(one, "user_id", None) else "self"


def _without_vectors(row: Row) -> Row:
    """A decision keeps a fact's columns as they stood; of these the vector is made anew."""
    empty = {"vector": None, "embedded_by": ""}
    return row | {
        "before": {
            fact: columns | {name: value for name, value in empty.items() if name in columns}
            for fact, columns in row["before"].items()
        }
    }


@contextmanager
def _one_moment() -> Iterator[None]:
    """One state of the database for all that is read. A caller's transaction (a test's) keeps its own."""
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
    """What the zip is written to: it holds no more than was not handed on yet."""

    def __init__(self) -> None:
        super().__init__()
        self._held = bytearray()

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        raise OSError("A stream has no position.")  # asks zipfile to count by itself

    def write(self, content: Any) -> int:
        self._held += content
        return len(content)

    def taken(self, least: int) -> Iterator[bytes]:
        """What is there, if it is worth handing on."""
        if len(self._held) > least:
            piece = bytes(self._held)
            self._held.clear()
            yield piece
