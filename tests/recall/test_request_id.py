"""A request's id goes from the response to the log and to the tasks it queued."""

import json
import logging
from typing import Any

import pytest
from django.test import Client

from recall import celery
from recall.observability import request_id
from recall.observability.logs import JsonLines


def line() -> dict[str, Any]:
    record = logging.LogRecord("recall", logging.INFO, "", 1, "said", (), None)
    written: dict[str, Any] = json.loads(JsonLines().format(record))
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
    celery.send_task_now("tests.named", ())
    assert sent == [{request_id.TASK_HEADER: started}]
