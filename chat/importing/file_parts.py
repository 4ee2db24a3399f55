"""An uploaded file as rows of 1 MiB each, readable as one file."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast

from chat.models import ImportPart

if TYPE_CHECKING:
    from chat.models import ImportJob

PART_BYTES: Final = 1 << 20


def store_parts(job: ImportJob, chunks: Iterable[bytes]) -> None:
    """Store the file as rows, one in memory at a time."""
    number, piece = 0, bytearray()
    for chunk in chunks:
        piece += chunk
        while len(piece) >= PART_BYTES:
            _store_part(job, number, bytes(piece[:PART_BYTES]))
            del piece[:PART_BYTES]
            number += 1
    if piece:
        _store_part(job, number, bytes(piece))


def _store_part(job: ImportJob, number: int, content: bytes) -> None:
    ImportPart.objects.create(user_id=job.user_id, job=job, number=number, content=content)


def open_file(job: ImportJob) -> BinaryIO:
    """The file, readable and seekable; one row is in memory at a time."""
    return cast(BinaryIO, io.BufferedReader(_Parts(job), PART_BYTES))


class _Parts(io.RawIOBase):
    """The rows of a job as a file."""

    def __init__(self, job: ImportJob) -> None:
        self._job_id, self._size = job.pk, job.size
        self._at = 0
        self._number, self._content = -1, b""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if start + offset < 0:
            raise ValueError("The position is before the start of the file.")
        self._at = start + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        number, within = divmod(self._at, PART_BYTES)
        piece = self._part(number)[within : within + len(buffer)]
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def _part(self, number: int) -> bytes:
        if number != self._number:
            rows = ImportPart.objects.filter(job=self._job_id, number=number)
            self._number, self._content = number, bytes(rows.values_list("content", flat=True).first() or b"")
        return self._content
