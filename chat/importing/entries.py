"""Which entries does a file hold? A JSON file, or the zip it came in: read from beginning to end in bounded memory.

Nothing is ever unpacked to the disk, so a path in a zip is no more than a name. Entries come in the same order each
time: their numbers tell how far a reading has come.
"""

from __future__ import annotations

import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import Any, BinaryIO, Final

from chat.importing import chatgpt, claude
from chat.importing.fields import items, mapping, name, text
from chat.importing.json_stream import NotJsonError, entries
from chat.importing.limits import ENTRY_BYTES, PACKED_TO, UNPACKED_BYTES, UNPACKED_FREELY, ZIP_MEMBERS
from chat.importing.threads import BrokenEntryError, ParsedEntry

WANTED: Final = re.compile(
    r"(?:^|.*/)(?:(?:conversations|memories|projects)(?:[-_]\d+)?|projects/[^/]+|memories/[^/]+|conversations/[^/]+)\.json$"
)
"""Files of a zip that hold something; pictures, `chat.html`, `user.json` and feedback do not."""
CHUNK: Final = 1 << 16
METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Of packing, as every export is packed. Others (bzip2, LZMA) are unpacked in one piece, whatever was asked for: 64 kB
of bzip2 become a gigabyte before anybody can count them."""
MANIFEST: Final = "recall.json"
"""What tells a zip of Recall's own from all others."""

NOT_AN_EXPORT: Final = (
    "This is no export that Recall knows. It reads the zip or the conversations.json of ChatGPT and Claude, and "
    "Recall's own archive."
)
NO_ZIP: Final = "This zip cannot be opened: it is damaged, or not a zip at all."
LOCKED: Final = "This zip has a password. Take it off and try again."
PACKED_OTHERWISE: Final = "This zip is packed in a way that is not read here. Pack it again as an ordinary zip."
A_TRAP: Final = "This zip unpacks to more than any export: it was not read."


class NotImportedError(Exception):
    """The file is not read; the message is one sentence for its owner."""


def is_zip(file: BinaryIO) -> bool:
    """Whether it begins as a zip does."""
    file.seek(0)
    begins = file.read(4)
    file.seek(0)
    return begins[:2] == b"PK"


def is_archive(file: BinaryIO) -> bool:
    """Whether this is an archive of Recall's own.

    Raises:
        NotImportedError: it is a zip that cannot be opened.
    """
    if not is_zip(file):
        return False
    with open_zip(file) as packed:
        return MANIFEST in packed.namelist()


def raw_entries(file: BinaryIO) -> Iterator[bytes | None]:
    """Each entry as it is written; None: it is too large.

    Raises:
        NotImportedError: nothing in it can be read.
    """
    if not is_zip(file):
        yield from _split(file, NOT_AN_EXPORT)
        return
    with open_zip(file) as packed:
        wanted = sorted(one.filename for one in packed.infolist() if _is_wanted(one.filename))
        if not wanted:
            raise NotImportedError(NOT_AN_EXPORT)
        unpacked = Unpacked(packed)
        for member in wanted:
            with unpacked.opened(member) as content:
                yield from _split(content, "")


def understood(raw: bytes | None) -> list[ParsedEntry | BrokenEntryError]:
    """What an entry holds: one thing, rarely a list of them; nothing, where it is of a kind that is not read."""
    if raw is None:
        return [BrokenEntryError(f"larger than {ENTRY_BYTES // 1_000_000} MB")]
    try:
        told = json.loads(raw)
    except (ValueError, RecursionError):
        return [BrokenEntryError(_title_within(raw))]
    return [found for one in _unwrapped(told) if (found := _understood(one)) is not None]


def origin(raw: bytes | None) -> str:
    """Whose export an entry is of; empty: it does not tell."""
    try:
        told = json.loads(raw or b"null")
    except (ValueError, RecursionError):
        return ""
    for one in _unwrapped(told):
        if chatgpt.is_conversation(one):
            return chatgpt.ORIGIN
        if claude.is_conversation(one) or claude.is_memory(one) or claude.is_project(one):
            return claude.ORIGIN
    return ""


def open_zip(file: BinaryIO) -> zipfile.ZipFile:
    """The zip, if it is one.

    Raises:
        NotImportedError: it is damaged, or has more files than any export.
    """
    try:
        packed = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError, EOFError) as error:
        raise NotImportedError(NO_ZIP) from error
    if len(packed.infolist()) > ZIP_MEMBERS:
        raise NotImportedError(A_TRAP)
    return packed


class Unpacked:
    """A zip of which no more is unpacked than its limits allow; a member that is read again counts once."""

    def __init__(self, packed: zipfile.ZipFile) -> None:
        self._packed = packed
        self._counted: set[str] = set()
        self._names = frozenset(packed.namelist())
        self.bytes = 0

    def __contains__(self, member: object) -> bool:
        return member in self._names

    def opened(self, member: str) -> zipfile.ZipExtFile:
        """The member, which gives no more bytes than it claims to have; KeyError: there is none.

        Raises:
            NotImportedError: it cannot be opened, or claims more than any export has.
        """
        info = self._packed.getinfo(member)
        if info.flag_bits & 1:
            raise NotImportedError(LOCKED)
        if info.compress_type not in METHODS:
            raise NotImportedError(PACKED_OTHERWISE)
        self._count(info)
        try:
            content = self._packed.open(info)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise NotImportedError(NO_ZIP) from error
        assert isinstance(content, zipfile.ZipExtFile)
        return content

    def _count(self, info: zipfile.ZipInfo) -> None:
        if info.filename not in self._counted:
            self._counted.add(info.filename)
            self.bytes += info.file_size
        grows = info.file_size > UNPACKED_FREELY and info.file_size > PACKED_TO * info.compress_size
        if grows or self.bytes > UNPACKED_BYTES:
            raise NotImportedError(A_TRAP)


def _is_wanted(member: str) -> bool:
    hidden = "__MACOSX/" in member or PurePosixPath(member).name.startswith(".")
    return not hidden and WANTED.match(member.lower()) is not None


def _split(content: BinaryIO | zipfile.ZipExtFile, refusal: str) -> Iterator[bytes | None]:
    """The entries; a file that is no JSON is a refusal where it is the only one, and else a broken entry."""
    try:
        yield from entries(iter(partial(content.read, CHUNK), b""), ENTRY_BYTES)
    except NotJsonError as error:
        if refusal:
            raise NotImportedError(refusal) from error
        yield b""
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError) as error:
        raise NotImportedError(NO_ZIP) from error


def _unwrapped(told: Any) -> list[Any]:
    """Conversations that stand in an object of their own, as some tools write them, or a list within the list."""
    if isinstance(told, list):
        return told
    inner = items(mapping(told).get("conversations"))
    return inner or [told]


def _understood(told: Any) -> ParsedEntry | BrokenEntryError | None:
    try:
        if chatgpt.is_conversation(told):
            return chatgpt.read(told)
        if claude.is_conversation(told):
            return claude.read(told)
    except BrokenEntryError as broken:
        return broken
    if claude.is_memory(told):
        return claude.memory(told)
    if claude.is_project(told):
        return claude.project(told)
    if {"mapping", "chat_messages"} & mapping(told).keys() or not isinstance(told, dict):
        return BrokenEntryError(
            text(mapping(told).get("title") or mapping(told).get("name")) or name(mapping(told).get("id"))
        )
    return None


_TITLE: Final = re.compile(rb'"(?:title|name)"\s*:\s*("(?:[^"\\]|\\.){0,400}")')


def _title_within(raw: bytes) -> str:
    """The title of what does not parse, as far as it can be seen."""
    found = _TITLE.search(raw[:100_000])
    try:
        return text(json.loads(found[1])) if found else ""
    except ValueError:
        return ""
