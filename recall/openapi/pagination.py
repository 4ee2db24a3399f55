"""Cursor pagination of API lists: `limit`, and an opaque `cursor` that marks the last row of the page before.

A cursor holds the ordering columns of that row. So no row is missed or repeated when others come and go, and a page
deep down costs as much as the first. A cursor grants no access: each list starts from the user's own rows.
"""

import base64
import binascii
import json
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode

from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from ninja import Schema
from pydantic import Field

DEFAULT_LIMIT: Final = 50
MAX_LIMIT: Final = 200
"""Rows of one page."""
NEXT: Final = "recall.next_page"
"""META key of the next page's address, for the Link header (RFC 8288)."""
MAX_CURSOR_CHARS: Final = 2_000
INVALID_CURSOR: Final = "This cursor isn't valid. Start again without one."


class Paging(Schema):
    """Page size and position."""

    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT, description="Items per page")
    cursor: str = Field(
        "", max_length=MAX_CURSOR_CHARS, description="The previous page's `next_cursor`; empty: first page"
    )


class Page[Item](Schema):
    """A page of a list. The `Link` header also has the next page's address."""

    items: list[Item]
    next_cursor: str | None = Field(description="Pass it as `cursor` for the next page; null on the last page")


def paginate(request: HttpRequest, rows: QuerySet[Any], order: Sequence[str], given: Paging) -> dict[str, Any]:
    """The requested page and the cursor of the next one.

    `order`: columns, with “-” for descending; none may be null, and the last must be unique.

    Raises:
        ValidationError: the cursor doesn't belong to this list.
    """
    if given.cursor:
        rows = rows.filter(_keyset_filter(order, _read(rows, order, given.cursor)))
    found = list(rows.order_by(*order)[: given.limit + 1])
    shown, more = found[: given.limit], len(found) > given.limit
    cursor = _cursor([getattr(shown[-1], name.lstrip("-")) for name in order]) if more else None
    if cursor is not None:
        set_next_link(request, cursor)
    return {"items": shown, "next_cursor": cursor}


def set_next_link(request: HttpRequest, cursor: str) -> None:
    """Keep the next page's address for the Link header."""
    asked = [(name, value) for name, values in request.GET.lists() for value in values if name != "cursor"]
    request.META[NEXT] = request.build_absolute_uri(f"{request.path}?{urlencode([*asked, ('cursor', cursor)])}")


def _cursor(values: Sequence[Any]) -> str:
    text = json.dumps(values, default=_as_text, ensure_ascii=False)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _as_text(value: Any) -> str:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _read(rows: QuerySet[Any], order: Sequence[str], cursor: str) -> list[Any]:
    try:
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        raise ValidationError(INVALID_CURSOR) from None
    if not isinstance(values, list) or len(values) != len(order) or not all(map(_is_plain, values)):
        raise ValidationError(INVALID_CURSOR)
    fields = [_field(rows, name.lstrip("-")) for name in order]
    try:
        return [_cleaned(field, value) for field, value in zip(fields, values, strict=True)]
    except (ValidationError, ValueError, TypeError, OverflowError):
        raise ValidationError(INVALID_CURSOR) from None


def _field(rows: QuerySet[Any], name: str) -> Any:
    return rows.model._meta.pk if name == "pk" else rows.model._meta.get_field(name)


def _is_plain(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number or (isinstance(value, str) and "\x00" not in value)


def _cleaned(field: Any, value: Any) -> Any:
    cleaned = field.to_python(value)
    if hasattr(cleaned, "tzinfo") and cleaned.tzinfo is None:
        raise ValidationError(INVALID_CURSOR)
    field.get_prep_value(cleaned)  # raises for what the column could not hold
    return cleaned


def _keyset_filter(order: Sequence[str], values: Sequence[Any]) -> Q:
    """Rows after these values: a > 1, or a = 1 and b > 2, and so on."""
    after, equal = Q(), Q()
    for name, value in zip(order, values, strict=True):
        column, test = name.lstrip("-"), "lt" if name.startswith("-") else "gt"
        after |= equal & Q(**{f"{column}__{test}": value})
        equal &= Q(**{column: value})
    return after
