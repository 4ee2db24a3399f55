"""Which entries does a file hold? A JSON file, or the zip it came in: read from beginning to end in bounded memory.

Nothing is ever unpacked to the disk, so a path in a zip is no more than a name. Entries come in the same order each
time: their numbers tell how far a reading has come.
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
from chat.importing.fields import items, mapping, name, text
from chat.importing.json_stream import NotJsonError, entries
from chat.importing.threads import BrokenEntryError, ParsedEntry

WANTED: Final = re.compile(
    r"(?:^|.*/)(?:(?:conversations|memories|projects)(?:[-_]\d+)?|projects/[^/]+|memories/[^/]+|conversations/[^/]+)\.json$"
)
"""Files of a zip that hold something; pictures, `chat.html`, `user.json` and feedback do not."""
CHUNK: Final = 1 << 16
MAX_ENTRY_BYTES: Final = 32_000_000
"""One conversation as JSON. The longest real ones have some megabytes; parsed, a byte takes about five in memory."""

NOT_AN_EXPORT: Final = (
    "This is no export that Recall knows. It reads the zip or the conversations.json of ChatGPT and Claude, and "
    "Recall's own archive."
)


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
        unpacked = BoundedZip(packed)
        for member in wanted:
            with unpacked.open_member(member) as content:
                yield from _split(content, "")


def understood(raw: bytes | None) -> list[ParsedEntry | BrokenEntryError]:
    """What an entry holds: one thing, rarely a list of them; nothing, where it is of a kind that is not read."""
    if raw is None:
        return [BrokenEntryError(f"larger than {MAX_ENTRY_BYTES // 1_000_000} MB")]
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


def _is_wanted(member: str) -> bool:
    hidden = "__MACOSX/" in member or PurePosixPath(member).name.startswith(".")
    return not hidden and WANTED.match(member.lower()) is not None


def _split(content: BinaryIO | zipfile.ZipExtFile, refusal: str) -> Iterator[bytes | None]:
    """The entries; a file that is no JSON is a refusal where it is the only one, and else a broken entry."""
    try:
        yield from entries(iter(partial(content.read, CHUNK), b""), MAX_ENTRY_BYTES)
    except NotJsonError as error:
        if refusal:
            raise NotImportedError(refusal) from error
        yield b""
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError) as error:
        raise NotImportedError(INVALID_ZIP) from error


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
