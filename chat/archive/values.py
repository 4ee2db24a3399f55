"""How is a column's value written as JSON, and read again? Every type there is; whatever else is an error at once."""

import base64
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import models

from recall.text import storable_json


class NotFittingError(Exception):
    """A value does not fit its column; the message names the column."""


def written(value: Any) -> Any:
    """The value as JSON has it: times by ISO 8601, amounts and names as texts, bytes as base64.

    Raises:
        TypeError: nobody has decided how this type is written.
    """
    if value is None or isinstance(value, str | bool | int | float | list | dict):
        return value
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Decimal | UUID):
        return str(value)
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(value).decode()
    raise TypeError(f"No archive knows how to write a {type(value).__name__}.")


def read(column: models.Field[Any, Any], value: Any) -> Any:
    """The value for the column, checked as a form would: an archive may have been changed, or made up.

    Raises:
        NotFittingError: it does not fit.
    """
    if value is None:
        if not column.null:
            raise NotFittingError(column.name)
        return None
    try:
        if isinstance(column, models.BinaryField):
            return base64.b64decode(value, validate=True)
        told = column.to_python(storable_json(_of_its_type(column, value)))
        column.run_validators(told)
    except (ValidationError, ValueError, TypeError, ArithmeticError) as error:
        raise NotFittingError(column.name) from error
    if column.choices and told not in dict(column.flatchoices):
        raise NotFittingError(column.name)
    return told


def _of_its_type(column: models.Field[Any, Any], value: Any) -> Any:
    """Nothing but a text passes for one: Django would make one of anything."""
    if isinstance(column, models.CharField | models.TextField) and not isinstance(value, str):
        raise ValueError("no text")
    return value
