"""Splitting a JSON array into entries without parsing it, so that a file of any size needs little memory.

An entry that doesn't parse then affects only itself.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

_BLANK: Final = b" \t\r\n"
_BOM: Final = b"\xef\xbb\xbf"
_STRING: Final = rb'"(?:[^"\\]++|\\.)*+"'
_WITHIN: Final = re.compile(rb'(?:[^"\[\]{}]++|' + _STRING + rb")*+", re.DOTALL)
_BETWEEN: Final = re.compile(rb'(?:[^"\[\]{},]++|' + _STRING + rb")*+", re.DOTALL)
"""Everything up to the next structural character, whole strings included; within an entry, commas are not."""
_REST_OF_STRING: Final = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)


class NotJsonError(Exception):
    """The file starts with neither an array nor an object."""


def split_entries(chunks: Iterable[bytes], largest: int) -> Iterator[bytes | None]:
    """The raw entries of a top-level array, or the one top-level object; None for one larger than `largest` bytes.

    A truncated entry is returned as far as it goes; it won't parse.

    Raises:
        NotJsonError: it is not a JSON array or object.
    """
    splitter = _Splitter(largest)
    for chunk in chunks:
        yield from splitter.feed(chunk)
        if splitter.has_ended:
            return
    yield from splitter.end()


class _Splitter:
    """Tracks brackets and braces outside strings."""

    def __init__(self, largest: int) -> None:
        self.largest = largest
        self.has_ended = False
        self._outer: int | None = None  # depth of the entries: 1 in an array, 0 for a single object
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self._piece = bytearray()
        self._too_large = False
        self._lead = b""

    def feed(self, chunk: bytes) -> Iterator[bytes | None]:
        """The entries that end in this chunk."""
        if self._outer is None:
            chunk = self._begin(chunk)
        start = position = 0
        while (found := self._next_mark(chunk, position)) is not None:
            mark, position = chunk[found : found + 1], found + 1
            ends = self._ends_entry(mark)
            if ends:
                until = found + (mark in b"}]" and self._outer == 0)
                self._add(chunk[start:until])
                start = position
                yield from self._take()
            if self.has_ended:
                return
        self._add(chunk[start:])

    def end(self) -> Iterator[bytes | None]:
        """The truncated last entry.

        Raises:
            NotJsonError: the file has nothing but whitespace.
        """
        if self._outer is None:
            raise NotJsonError
        yield from self._take()

    def _begin(self, chunk: bytes) -> bytes:
        text = (self._lead + chunk).removeprefix(_BOM).lstrip(_BLANK)
        if not text or _BOM.startswith(text):
            self._lead = text
            return b""
        if text[:1] not in (b"[", b"{"):
            raise NotJsonError
        self._outer = 1 if text[:1] == b"[" else 0
        if self._outer:
            self._depth = 1
            return text[1:]
        return text

    def _next_mark(self, chunk: bytes, position: int) -> int | None:
        """Position of the next structural character outside strings."""
        while position < len(chunk):
            if self._in_string:
                position = self._leave_string(chunk, position)
                continue
            skipped = (_BETWEEN if self._depth == self._outer == 1 else _WITHIN).match(chunk, position)
            position = skipped.end() if skipped else position
            if chunk[position : position + 1] != b'"':
                return position if position < len(chunk) else None
            self._in_string, position = True, position + 1  # the string continues in the next chunk
        return None

    def _leave_string(self, chunk: bytes, position: int) -> int:
        if self._escaped:
            self._escaped, position = False, position + 1
        rest = _REST_OF_STRING.match(chunk, position)
        end = rest.end() if rest else position
        if end < len(chunk):
            self._in_string = self._escaped = chunk[end : end + 1] == b"\\"  # a lone backslash at the end of the chunk
        return end + 1

    def _ends_entry(self, mark: bytes) -> bool:
        if mark in b"[{":
            self._depth += 1
            return False
        if mark == b",":
            return self._depth == self._outer == 1
        self._depth -= 1
        self.has_ended = self._depth <= 0
        return self.has_ended

    def _add(self, text: bytes) -> None:
        if self._too_large or len(self._piece) + len(text) > self.largest:
            self._too_large = True
            self._piece.clear()
        else:
            self._piece += text

    def _take(self) -> Iterator[bytes | None]:
        piece, too_large = bytes(self._piece).strip(_BLANK), self._too_large
        self._piece.clear()
        self._too_large = False
        if too_large or piece:
            yield None if too_large else piece
