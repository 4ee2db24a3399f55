"""Field types of the API (row ids, moments), and the parser that refuses text the database can't store."""

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

MAX_NUMBER: Final = 2**63 - 1
EARLIEST: Final = datetime(1900, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(2200, 1, 1, tzinfo=UTC)
"""Beyond these, time zone arithmetic would leave Python's calendar."""
NOT_TEXT: Final = "Text can't contain NUL characters or unpaired surrogates."


def _within(moment: datetime) -> datetime:
    if not EARLIEST <= moment <= LATEST:
        raise ValueError(f"must be between {EARLIEST.year} and {LATEST.year}")
    return moment


Number = Annotated[int, Field(ge=1, le=MAX_NUMBER)]
"""A row id."""
Moment = Annotated[AwareDatetime, AfterValidator(_within)]
"""A moment with its offset from UTC."""


class PlainText(Parser):
    """Parses bodies, queries and forms, and refuses text that can't be stored anywhere in them."""

    def parse_body(self, request: HttpRequest) -> dict[str, Any]:
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
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            waiting += item
