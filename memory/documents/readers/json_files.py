"""JSON reader: one line per object with its path, so that each object can be found alone."""

import json
from collections.abc import Iterator
from typing import Any, Final

from memory.documents.readers import limits
from memory.documents.readers.formats import NotReadableError
from memory.documents.readers.text_files import decode

TOO_DEEP: Final = f"This JSON is nested more than {limits.JSON_DEPTH} levels deep."

type Way = tuple[str, ...]


def read(content: bytes) -> str:
    """The JSON's objects as a Markdown list; numbers stay as written.

    Raises:
        NotReadableError: it isn't JSON, or nested too deeply.
    """
    try:
        value = json.loads(decode(content), parse_int=str, parse_float=str, parse_constant=str)
    except json.JSONDecodeError as error:
        raise NotReadableError(f"This is no JSON: {error.msg} in line {error.lineno}.") from error
    except RecursionError:
        raise NotReadableError(TOO_DEEP) from None
    return "\n".join(f"- {line}" for line in _lines(value, ()))


def _lines(value: Any, way: Way) -> Iterator[str]:
    if len(way) > limits.JSON_DEPTH:
        raise NotReadableError(TOO_DEEP)
    members = _members(value)
    plain = [f"{name}: {said}" if name else said for name, one in members if (said := _plain(one))]
    if plain:
        yield " › ".join(way) + (": " if way else "") + "; ".join(plain)
    for name, one in members:
        if not _plain(one):
            yield from _lines(one, (*way, name) if name else way)


def _members(value: Any) -> list[tuple[str, Any]]:
    """Name and value of each member; list items are numbered if they have members of their own."""
    if isinstance(value, dict):
        return [(_one_line(name), one) for name, one in value.items() if not _says_nothing(one)]
    if isinstance(value, list):
        entries = [(number, one) for number, one in enumerate(value, start=1) if not _says_nothing(one)]
        return [("" if _plain(one) else str(number), one) for number, one in entries]
    return [("", value)]


def _says_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, str | dict | list) and not value)


def _plain(value: Any) -> str:
    """A single value, or a list of such values, on one line; empty if it needs lines of its own."""
    if isinstance(value, list):
        return ", ".join(map(_plain, value)) if not any(isinstance(one, dict | list) for one in value) else ""
    if isinstance(value, dict):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _one_line(value) if value is not None else "–"


def _one_line(value: object) -> str:
    return " ".join(str(value).split()) or "–"
