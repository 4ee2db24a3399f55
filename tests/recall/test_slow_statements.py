"""A slow statement is logged with its text and its time, never with the values in it."""

import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection, transaction

from recall.db.prepared import Read, read_together, write_together

pytestmark = pytest.mark.django_db

LOGGER = "recall.observability.slow_statements"


@pytest.fixture
def slow_from(settings: Any) -> Any:
    return lambda ms: setattr(settings, "ENVIRONMENT", SimpleNamespace(slow_statement_ms=ms))


def ask() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(0.05), %s", ["a secret of Alice's"])


def test_it_is_logged_without_its_values(slow_from: Any, caplog: pytest.LogCaptureFixture) -> None:
    slow_from(20)
    with caplog.at_level(logging.WARNING, LOGGER):
        ask()
    (line,) = [record for record in caplog.records if record.name == LOGGER]
    assert line.getMessage().endswith("ms: SELECT pg_sleep(0.05), %s")
    assert line.fields["ms"] >= 50  # type: ignore[attr-defined]
    assert "secret" not in caplog.text


def read() -> None:
    with read_together(Read("SELECT pg_sleep(0.05), $1", ["a secret of Alice's"]), Read("SELECT 2", [])):
        pass


def write() -> None:
    with transaction.atomic(), write_together(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(0.05), %s", ["a secret of Alice's"])
        cursor.execute("SELECT 2")


@pytest.mark.parametrize(("work", "place"), [(read, "$1"), (write, "%s")])
def test_those_sent_together_are_logged_as_one(
    work: Callable[[], None], place: str, slow_from: Any, caplog: pytest.LogCaptureFixture
) -> None:
    slow_from(20)
    with caplog.at_level(logging.WARNING, LOGGER):
        work()
    (line,) = [record for record in caplog.records if record.name == LOGGER]
    assert line.getMessage().startswith("2 statements sent together took ")
    assert line.getMessage().endswith(f" ms: SELECT pg_sleep(0.05), {place}; SELECT 2")
    assert line.fields["ms"] >= 50  # type: ignore[attr-defined]
    assert "secret" not in caplog.text


def test_a_quick_one_is_not(slow_from: Any, caplog: pytest.LogCaptureFixture) -> None:
    slow_from(10_000)
    ask()
    read()
    assert [record for record in caplog.records if record.name == LOGGER] == []
