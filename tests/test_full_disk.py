"""Every page is shown while the database can only be read: a full disk takes nothing from those who read."""

import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.urls import reverse

from tests.test_isolation import HERS, OWN_PAGES, Hers, hers

__all__ = ["hers"]

WRITES = re.compile(r"\s*(INSERT|UPDATE|DELETE|COPY|TRUNCATE)\b", re.IGNORECASE)


def refuse_writes(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
    """What PostgreSQL does on a full disk."""
    if WRITES.match(sql):
        raise OperationalError("could not extend file: No space left on device")
    return execute(sql, *rest)


@pytest.mark.django_db(transaction=True)
def test_every_page_is_shown_while_nothing_can_be_written(hers: Hers, alice: Any, sign_in: Any) -> None:
    client = sign_in(alice)
    client.raise_request_exception = False
    addresses = {name: reverse(name) for name in OWN_PAGES}
    for name, (method, arguments) in HERS.items():
        if method == "get":
            addresses[name] = reverse(name, kwargs=arguments(hers))
    faults = []
    with connection.execute_wrapper(refuse_writes):
        for name, address in addresses.items():
            response = client.get(address)
            if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
                faults.append(name)
    assert faults == []
