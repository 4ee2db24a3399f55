"""Text helpers: text that PostgreSQL can store (no NUL, no lone surrogates), its numbers, links of Markdown, JSON."""

import json
import re
from typing import Any, Final

MAX_DIGITS: Final = 18
"""Every number of so many digits fits a column of 64 bits."""
_UNSEEN: Final = re.compile("[\x80-\x9f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e0fff]")
"""Line breaks that JSON allows in a string, marks that reorder a text, and tags and variants that no page shows."""
_LINK: Final = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\)")
_WAY_BACK: Final = re.compile(r" ?\[Open the conversation\]\((/c/[^)\s]*)\)")
"""The link of a conversation's summary: a button, not words."""


def storable(text: str) -> str:
    """The text without NUL, with lone surrogates replaced; a model may send either."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def storable_json(value: Any) -> Any:
    """A JSON value with every string made storable."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(str(name)): storable_json(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [storable_json(inner) for inner in value]
    return value


def model_json(value: Any, *, sort_keys: bool = True) -> str:
    """JSON that a model is given as data: no text can end its string or start a line, and what no one sees is written
    out, as in “\\u2028”."""
    return with_unseen_written(json.dumps(value, ensure_ascii=False, sort_keys=sort_keys))


def with_unseen_written(text: str) -> str:
    """The text with what no one sees written out, as in JSON."""
    return text if text.isascii() else _UNSEEN.sub(lambda found: json.dumps(found[0])[1:-1], text)


def whole_number(text: str) -> int | None:
    """The number that a form or an address holds, such as a row id; None if it is none, or has too many digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS else None


def with_links_by_their_words(text: str) -> str:
    """Markdown with each link replaced by its text, without a summary's link to its conversation."""
    return _LINK.sub(r"\1", _WAY_BACK.sub("", text))


def split_way_back(text: str) -> tuple[str, str]:
    """A summary without the link to its conversation, and that address; empty if it has none."""
    found = _WAY_BACK.search(text)
    return (text[: found.start()] + text[found.end() :], found[1]) if found else (text, "")
