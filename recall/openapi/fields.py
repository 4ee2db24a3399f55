"""What may a field of the API hold? Numbers of rows, moments of a calendar, and text that the database can store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, Final, cast

from django.http import HttpRequest
from django.utils.datastructures import MultiValueDict
from ninja.parser import Parser
from pydantic import AfterValidator, AwareDatetime, Field

from recall.openapi.problems import ProblemError
from recall.text import storable

MOST_NUMBER: Final = 2**63 - 1
EARLIEST: Final = datetime(1900, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(2200, 1, 1, tzinfo=UTC)
"""Beyond these, reckoning with time zones and days would leave the calendar."""
NOT_TEXT: Final = "There are characters in it that no text may hold: NUL, or half of a surrogate pair."


def _within(moment: datetime) -> datetime:
    if not EARLIEST <= moment <= LATEST:
        raise ValueError(f"a moment between {EARLIEST.year} and {LATEST.year}")
    return moment


Number = Annotated[int, Field(ge=1, le=MOST_NUMBER)]
"""Of a row."""
Moment = Annotated[AwareDatetime, AfterValidator(_within)]
"""With its offset from UTC."""


class PlainText(Parser):
    """Reads bodies and addresses, and refuses text that cannot be stored, wherever it stands."""

    def parse_body(self, request: HttpRequest) -> dict[str, Any]:
        """A JSON body."""
        body = json.loads(request.body)
        _check(body)
        return cast("dict[str, Any]", body)

    def parse_querydict(
        self, data: MultiValueDict[str, Any], list_fields: list[str], request: HttpRequest
    ) -> dict[str, Any]:
        """A query, a form, or files."""
        _check([data.getlist(name) for name in data])
        return super().parse_querydict(data, list_fields, request)


def _check(value: Any) -> None:
    if any(text != storable(text) for text in _texts(value)):
        raise ProblemError(422, NOT_TEXT)


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            waiting += one
