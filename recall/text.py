"""What text can be stored? PostgreSQL takes neither NUL nor half of a surrogate pair; a model may send either."""

from __future__ import annotations

from typing import Any


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
