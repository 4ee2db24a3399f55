"""Column values as JSON and back, for every column type in use; any other type raises at once."""

import base64
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import models

from recall.text import storable_json


class InvalidValueError(Exception):
    """A value that isn't valid for its column; the message names the column."""


def to_json(value: Any) -> Any:
    """The value for JSON: times as ISO 8601, decimals and UUIDs as text, bytes as Base64.

    Raises:
        TypeError: the type is not supported.
    """
    if value is None or isinstance(value, str | bool | int | float | list | dict):
        return value
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Decimal | UUID):
        return str(value)
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(value).decode()
    raise TypeError(f"Archives don't support values of type {type(value).__name__}.")


def from_json(column: models.Field[Any, Any], value: Any) -> Any:
    """The value for the column, checked as a form would: an archive may have been changed, or made up.

    Raises:
        InvalidValueError: it is not valid.
    """
    if value is None:
        if not column.null:
            raise InvalidValueError(column.name)
        return None
    if isinstance(column, models.CharField | models.TextField) and not isinstance(value, str):
        raise InvalidValueError(column.name)  # Django would convert anything to text
    try:
        if isinstance(column, models.BinaryField):
            return base64.b64decode(value, validate=True)
        parsed = column.to_python(storable_json(value))
        column.run_validators(parsed)
    except (ValidationError, ValueError, TypeError, ArithmeticError) as error:
        raise InvalidValueError(column.name) from error
    if column.choices and parsed not in dict(column.flatchoices):
        raise InvalidValueError(column.name)
    return parsed
