"""What does a field hold, if it holds what it should? Anything may be missing, null, or of another type."""

import hashlib
import math
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.utils import timezone

from recall.text import storable

MILLISECONDS_FROM: Final = 100_000_000_000
"""A time of more seconds than this lies beyond the year 5000: it is told in milliseconds."""
ID_CHARS: Final = 100
"""Of a message's external id, the column's width; a longer id is replaced by its digest."""
FIRST: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""Nobody talked with an assistant before: an earlier time is none."""


def mapping(value: Any) -> dict[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """The array, or an empty one."""
    return value if isinstance(value, list) else []


def text(value: Any) -> str:
    """The text as it can be stored, or none."""
    return storable(value) if isinstance(value, str) else ""


def name(value: Any) -> str:
    """What something is called elsewhere, within the column's width; none: it has no name."""
    told = text(value).strip() if isinstance(value, str) else str(value) if type(value) is int else ""
    if len(told) <= ID_CHARS:
        return told
    return hashlib.sha256(told.encode()).hexdigest()


def moment(value: Any) -> datetime | None:
    """A time told in seconds or milliseconds since 1970, or by ISO 8601; None: it is no time that can be."""
    try:
        told = _moment(value)
    except (ValueError, OverflowError, OSError):
        return None
    return told if told is not None and FIRST <= told <= timezone.now() + timedelta(days=1) else None


def _moment(value: Any) -> datetime | None:
    if isinstance(value, str):
        told = datetime.fromisoformat(value.strip())
        return told.astimezone(UTC) if told.tzinfo else told.replace(tzinfo=UTC)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return datetime.fromtimestamp(value / 1000 if value > MILLISECONDS_FROM else value, tz=UTC)
