"""A request's id goes from the response to the log and to the tasks it queued."""

import json
import logging
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client

from recall import celery, unsent
from recall.observability import request_id
from recall.observability.logs import JsonLines, PlainLines

RECORD = logging.LogRecord("recall", logging.INFO, "", 1, "said", (), None)


def line() -> dict[str, Any]:
    written: dict[str, Any] = json.loads(JsonLines().format(RECORD))
    return written


@pytest.mark.django_db
def test_the_response_names_the_request() -> None:
    first, second = (Client().get("/livez")["X-Request-ID"] for _ in range(2))
    assert first != second
    assert Client().get("/livez", headers={"X-Request-ID": "from-the-proxy"})["X-Request-ID"] == "from-the-proxy"
    for wrong in ("short", "x" * 65, "with space", "a\u2028bcdefghi"):
        assert Client().get("/livez", headers={"X-Request-ID": wrong})["X-Request-ID"] != wrong


def test_a_log_line_and_a_queued_task_have_the_id(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(celery.app, "send_task", lambda name, args, headers: sent.append(headers))
    started = request_id.begin()
    assert line()["request"] == started
    assert PlainLines().format(RECORD).endswith(f"recall: said [{started}]")
    celery.send_task_now("tests.named", ())
    assert sent == [{request_id.TASK_HEADER: started}]


@pytest.mark.django_db
def test_a_task_that_was_kept_for_redis_is_sent_with_the_id() -> None:
    sent: list[dict[str, Any]] = []
    started = request_id.begin()
    unsent.store("tests.named", (1,))
    request_id.begin()
    unsent.send_all(SimpleNamespace(send_task=lambda name, args, headers: sent.append(headers)))
    assert sent == [{request_id.TASK_HEADER: started}]


@pytest.mark.django_db
def test_the_page_for_a_fault_names_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise RuntimeError

    monkeypatch.setattr("recall.observability.health.find_problem", fail)
    answer = Client(raise_request_exception=False).get("/readyz")
    assert answer.status_code == 500
    assert f"request {answer['X-Request-ID']}." in answer.content.decode()
