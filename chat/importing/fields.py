"""Typed access to fields of an export, any of which may be missing, null or of another type."""

import hashlib
import math
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.utils import timezone

from recall.text import storable

MILLISECONDS_FROM: Final = 100_000_000_000
"""A larger number is in milliseconds: as seconds it would be after the year 5000."""
ID_CHARS: Final = 100
"""Characters of a message's external id, the column's width; a longer id is replaced by its digest."""
EARLIEST: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""There were no assistants before: an earlier time is invalid."""


def as_mapping(value: Any) -> dict[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """The array, or an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: Any) -> str:
    """The text without characters that can't be stored, or an empty one."""
    return storable(value) if isinstance(value, str) else ""


def as_id(value: Any) -> str:
    """An id at the origin, within the column's width; empty if there is none."""
    parsed = as_text(value).strip() if isinstance(value, str) else str(value) if type(value) is int else ""
    if len(parsed) <= ID_CHARS:
        return parsed
    return hashlib.sha256(parsed.encode()).hexdigest()


def as_time(value: Any) -> datetime | None:
    """A time given in seconds or milliseconds since 1970, or as ISO 8601; None if it isn't a possible time."""
    try:
        parsed = _parse_time(value)
    except (ValueError, OverflowError, OSError):
        return None
    return parsed if parsed is not None and EARLIEST <= parsed <= timezone.now() + timedelta(days=1) else None


def _parse_time(value: Any) -> datetime | None:
    if isinstance(value, str):
        parsed = datetime.fromisoformat(value.strip())
        return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return datetime.fromtimestamp(value / 1000 if value > MILLISECONDS_FROM else value, tz=UTC)
