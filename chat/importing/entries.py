"""The entries of an export, a JSON file or a zip of them, read in bounded memory.

Nothing is unpacked to the disk, so a path in a zip is only a name. Entries come in the same order each time, so a
number records how far a file has been read.
"""

import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import Any, BinaryIO, Final

from chat.archive.safe_zip import INVALID_ZIP, BoundedZip, NotImportedError, is_zip, open_zip
from chat.importing import chatgpt, claude
from chat.importing.fields import as_id, as_list, as_mapping, as_text
from chat.importing.json_stream import NotJsonError, split_entries
from chat.importing.tree import BrokenEntryError, ParsedEntry

CONVERSATION_FILES: Final = re.compile(
    r"(?:^|.*/)(?:(?:conversations|memories|projects)(?:[-_]\d+)?|projects/[^/]+|memories/[^/]+|conversations/[^/]+)\.json$"
)
"""Files in a zip that are read; images, `chat.html`, `user.json` and feedback are not."""
CHUNK: Final = 1 << 16
MAX_ENTRY_BYTES: Final = 32_000_000
"""Bytes of one conversation as JSON. The longest real ones have a few megabytes; parsed, a byte takes about five in
memory."""

NOT_AN_EXPORT: Final = (
    "This isn't an export that Recall knows. Choose the zip or the conversations.json of ChatGPT or Claude, or a "
    "Recall archive."
)


def raw_entries(file: BinaryIO) -> Iterator[bytes | None]:
    """Each raw entry; None for one that is too large.

    Raises:
        NotImportedError: nothing in it can be read.
    """
    if not is_zip(file):
        yield from _split(file, NOT_AN_EXPORT)
        return
    with open_zip(file) as packed:
        wanted = sorted(info.filename for info in packed.infolist() if _is_wanted(info.filename))
        if not wanted:
            raise NotImportedError(NOT_AN_EXPORT)
        unpacked = BoundedZip(packed)
        for member in wanted:
            with unpacked.open_member(member) as content:
                yield from _split(content, "")


def parse_entry(raw: bytes | None) -> list[ParsedEntry | BrokenEntryError]:
    """The parsed contents of an entry, usually one; empty for a type that isn't imported."""
    if raw is None:
        return [BrokenEntryError(f"larger than {MAX_ENTRY_BYTES // 1_000_000} MB")]
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return [BrokenEntryError(_title_within(raw))]
    return [found for item in _unwrap(value) if (found := _parse_value(item)) is not None]


def detect_origin(raw: bytes | None) -> str:
    """The service an entry was exported from; empty if unknown."""
    try:
        value = json.loads(raw or b"null")
    except (ValueError, RecursionError):
        return ""
    for item in _unwrap(value):
        if chatgpt.is_conversation(item):
            return chatgpt.ORIGIN
        if claude.is_conversation(item) or claude.is_memory(item) or claude.is_project(item):
            return claude.ORIGIN
    return ""


def _is_wanted(member: str) -> bool:
    hidden = "__MACOSX/" in member or PurePosixPath(member).name.startswith(".")
    return not hidden and CONVERSATION_FILES.match(member.lower()) is not None


def _split(content: BinaryIO | zipfile.ZipExtFile, refusal: str) -> Iterator[bytes | None]:
    """The entries; a file that isn't JSON is refused if it is the only one, otherwise a broken entry."""
    try:
        yield from split_entries(iter(partial(content.read, CHUNK), b""), MAX_ENTRY_BYTES)
    except NotJsonError as error:
        if refusal:
            raise NotImportedError(refusal) from error
        yield b""
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError) as error:
        raise NotImportedError(INVALID_ZIP) from error


def _unwrap(value: Any) -> list[Any]:
    """Conversations in a nested list, or in an object with the key `conversations`, as some tools write them."""
    if isinstance(value, list):
        return value
    inner = as_list(as_mapping(value).get("conversations"))
    return inner or [value]


def _parse_value(value: Any) -> ParsedEntry | BrokenEntryError | None:
    try:
        if chatgpt.is_conversation(value):
            return chatgpt.parse_conversation(value)
        if claude.is_conversation(value):
            return claude.parse_conversation(value)
    except BrokenEntryError as broken:
        return broken
    if claude.is_memory(value):
        return claude.parse_memory(value)
    if claude.is_project(value):
        return claude.parse_project(value)
    if {"mapping", "chat_messages"} & as_mapping(value).keys() or not isinstance(value, dict):
        return BrokenEntryError(
            as_text(as_mapping(value).get("title") or as_mapping(value).get("name"))
            or as_id(as_mapping(value).get("id"))
        )
    return None


_TITLE: Final = re.compile(rb'"(?:title|name)"\s*:\s*("(?:[^"\\]|\\.){0,400}")')


def _title_within(raw: bytes) -> str:
    """The title of an entry that doesn't parse, if it can be found."""
    found = _TITLE.search(raw[:100_000])
    try:
        return as_text(json.loads(found[1])) if found else ""
    except ValueError:
        return ""
