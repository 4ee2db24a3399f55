"""Reading zips from outside within limits: bombs, passwords and unusual packing are refused with a sentence.

Nothing is unpacked to the disk, so a path in a zip is only a name.
"""

import zipfile
from typing import BinaryIO, Final

from memory.documents.readers.formats import ZIP_ENTRY

MEGABYTE: Final = 1_000_000
MAX_UNPACKED_BYTES: Final = 4_000 * MEGABYTE
"""Total unpacked from one zip; more is a bomb."""
MAX_RATIO: Final = 200
"""How many times larger a member may be unpacked: conversations grow five to twenty times, a bomb a thousand."""
MIN_CHECKED_BYTES: Final = 10 * MEGABYTE
"""Smaller members may have any ratio."""
MAX_MEMBERS: Final = 200_000
"""Files in a zip: exports include every picture."""
MAX_DIRECTORY_BYTES: Final = 40 * MEGABYTE
"""Of their names and places: 200 bytes each."""
METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compression methods of real exports. Others (bzip2, LZMA) unpack in one piece whatever size is requested: 64 kB of
bzip2 become a gigabyte before it can be counted."""

INVALID_ZIP: Final = "This zip can't be opened. It is damaged or not a zip file."
ENCRYPTED: Final = "This zip is password-protected. Remove the password and try again."
UNSUPPORTED_METHOD: Final = "This zip uses an unsupported compression method. Save it as an ordinary zip."
ZIP_BOMB: Final = "This zip unpacks to more than any export, so it was not read."


class NotImportedError(Exception):
    """The file is not read; the message is one sentence for its owner."""


def is_zip(file: BinaryIO) -> bool:
    """Whether the file starts with the zip signature."""
    file.seek(0)
    begins = file.read(4)
    file.seek(0)
    return begins[:2] == b"PK"


def open_zip(file: BinaryIO) -> zipfile.ZipFile:
    """Open the zip.

    Raises:
        NotImportedError: it is damaged or has too many files.
    """
    try:
        return zipfile.ZipFile(_BoundedDirectory(file))
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError, EOFError) as error:
        raise NotImportedError(INVALID_ZIP) from error


class _BoundedDirectory:
    """The file as `ZipFile` reads it: first its directory in one piece, from which it makes 500 bytes for each file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        """The next bytes; raises `NotImportedError` for a directory of too many files."""
        if size > MAX_DIRECTORY_BYTES:
            raise NotImportedError(ZIP_BOMB)
        content = self._file.read(size)
        if content.count(ZIP_ENTRY) > MAX_MEMBERS:
            raise NotImportedError(ZIP_BOMB)
        return content


class BoundedZip:
    """A zip that stops unpacking at its limits; a member that is read twice counts once."""

    def __init__(self, packed: zipfile.ZipFile) -> None:
        self._packed = packed
        self._counted: set[str] = set()
        self._names = frozenset(packed.namelist())
        self.bytes = 0

    def __contains__(self, member: object) -> bool:
        return member in self._names

    def open_member(self, member: str) -> zipfile.ZipExtFile:
        """Open a member, which yields at most the size it declares; raises KeyError if there is none.

        Raises:
            NotImportedError: it cannot be opened or exceeds the limits.
        """
        info = self._packed.getinfo(member)
        if info.flag_bits & 1:
            raise NotImportedError(ENCRYPTED)
        if info.compress_type not in METHODS:
            raise NotImportedError(UNSUPPORTED_METHOD)
        self._count(info)
        try:
            content = self._packed.open(info)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise NotImportedError(INVALID_ZIP) from error
        assert isinstance(content, zipfile.ZipExtFile)
        return content

    def _count(self, info: zipfile.ZipInfo) -> None:
        if info.filename not in self._counted:
            self._counted.add(info.filename)
            self.bytes += info.file_size
        grows = info.file_size > MIN_CHECKED_BYTES and info.file_size > MAX_RATIO * info.compress_size
        if grows or self.bytes > MAX_UNPACKED_BYTES:
            raise NotImportedError(ZIP_BOMB)
