"""What text can be stored, and how is a long one named in a list?

PostgreSQL takes neither NUL nor half of a surrogate pair; a model may send either.
"""

from __future__ import annotations

import re
from typing import Any, Final

_LINK: Final = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\)")
_FORM: Final = re.compile(r"(?m)^[ \t]*(?:#{1,6}|[-*+>])[ \t]+|\*\*|`+")


def storable(text: str) -> str:
    """The text without NUL characters, each lone surrogate replaced."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def storable_json(value: Any) -> Any:
    """A JSON value with every text in it storable."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(str(name)): storable_json(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [storable_json(inner) for inner in value]
    return value


def with_links_by_their_words(text: str) -> str:
    """A Markdown text as it reads where its links cannot be followed."""
    return _LINK.sub(r"\1", text)


def in_a_line(text: str, chars: int) -> str:
    """The beginning of a Markdown text as one line: links by their words, without headings, bullets and emphasis."""
    words = _FORM.sub("", with_links_by_their_words(text[: 2 * chars]))
    return " ".join(words.split())[:chars]
