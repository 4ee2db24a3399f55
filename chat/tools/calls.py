"""What is a tool's call and its answer, and what may stand in its input?"""

from __future__ import annotations

from typing import Any, Final

from recall.text import storable

ToolResult = dict[str, Any]
"""What a tool answers, as it goes to the model in JSON; and what the model gave it."""
MAX_TEXT: Final = 2_000
"""Characters of one text in a call; the rest is dropped."""


class ToolInputError(Exception):
    """The call cannot be answered; the message is a sentence for the model."""


def get_text(given: ToolResult, name: str, most: int = MAX_TEXT) -> str:
    """The text called `name`, at most `most` characters of it; raises `ToolRefused`."""
    value = given.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ToolInputError(f"“{name}” must be a text.")
    return storable(value)[:most]


def get_int(given: ToolResult, name: str, *, default: int, most: int, least: int = 1) -> int:
    """The whole number called `name`, from `least` to `most`; raises `ToolRefused`."""
    value = given.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ToolInputError(f"“{name}” must be a number from {least} to {most}.")
    return value
