"""Requests that /mcp doesn't admit are refused before anything is read: by key, scope, host, origin, method and
size."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

from accounts.api import keys
from accounts.models import ApiKey, User
from chat.mcp.server import MAX_BODY
from recall.observability import metrics
from tests.chat.mcp.conftest import Assistant

type With = Callable[..., Assistant]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("one_thread")]

LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()


def test_a_good_key_is_let_in_without_any_session(alice: User, assistant: With) -> None:
    answer = assistant(alice).post(LIST)

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert "mcp-session-id" not in answer.headers
    assert len(answer.json()["result"]["tools"]) == 4


@pytest.mark.parametrize(("authorization", "status"), [({}, "2xx"), ({"authorization": ""}, "4xx")])
def test_a_request_is_named_and_counted_like_those_for_pages(
    alice: User, assistant: With, authorization: dict[str, str], status: str
) -> None:
    counter = metrics.REQUESTS.labels(status=status)
    before = counter._value.get()
    answer = assistant(alice).post(LIST, **authorization, **{"x-request-id": "from-the-proxy"})
    assert answer.headers["x-request-id"] == "from-the-proxy"
    assert counter._value.get() == before + 1


@pytest.mark.parametrize("authorization", [{}, {"authorization": ""}])
def test_no_answer_is_kept_by_a_cache_or_taken_for_a_page(
    alice: User, assistant: With, authorization: dict[str, str]
) -> None:
    headers = assistant(alice).post(LIST, **authorization).headers
    assert headers["cache-control"] == "private, no-store"
    assert headers["content-security-policy"] == "default-src 'none'"
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "authorization", ["", "Bearer", "Bearer ", "Basic YTpi", "Bearer rcl_unknown", "Bearer rcl_" + "x" * 200]
)
def test_no_key_is_asked_for_one(authorization: str) -> None:
    answer = Assistant("").post(LIST, authorization=authorization)

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith('Bearer realm="Recall"')
    assert answer.json()["error"] == "invalid_token"


@pytest.mark.parametrize("fields", [{"revoked_at": timezone.now()}, {"expires_at": timezone.now()}, {"user": None}])
def test_a_key_that_opens_nothing_any_more_is_refused(alice: User, assistant: With, fields: dict[str, Any]) -> None:
    hers = assistant(alice)
    assert hers.post(LIST).status_code == 200

    if fields == {"user": None}:
        User.objects.update(is_active=False)
    else:
        ApiKey.objects.update(**fields)

    answer = hers.post(LIST)
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


def test_a_key_that_has_not_expired_yet_is_good(alice: User) -> None:
    _, secret = keys.create_key(alice, "Notes", ["memory:read"], timezone.now() + timedelta(hours=1))

    assert Assistant(secret).post(LIST).status_code == 200


def test_a_key_for_other_things_is_told_which_scopes_it_lacks(alice: User, assistant: With) -> None:
    answer = assistant(alice, ["budget:read"]).post(LIST)

    assert answer.status_code == 403
    assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]
    assert "memory:read" in answer.json()["error_description"]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "", "127.0.0.1.evil.example"])
def test_a_name_that_somebody_pointed_here_is_not_answered_for(alice: User, assistant: With, host: str) -> None:
    assert assistant(alice).post(LIST, host=host).status_code == 421


@pytest.mark.parametrize("origin", ["https://evil.example", "http://localhost:9999", "null", ""])
def test_a_page_of_another_origin_may_not_ask(alice: User, assistant: With, origin: str) -> None:
    assert assistant(alice).post(LIST, origin=origin).status_code == 403


def test_the_public_address_is_answered_for_and_its_pages_may_ask(alice: User, assistant: With, settings: Any) -> None:
    settings.ALLOWED_HOSTS = [".example.org"]
    settings.CSRF_TRUSTED_ORIGINS = ["https://chat.example.org"]
    hers = assistant(alice)

    assert hers.post(LIST, host="chat.example.org", origin="https://chat.example.org").status_code == 200
    assert hers.post(LIST, host="localhost").status_code == 421


def test_there_is_no_stream_to_listen_to_and_no_session_to_end(alice: User, assistant: With) -> None:
    hers = assistant(alice)

    async def asked() -> list[tuple[int, str]]:
        async with hers.http() as http:
            answers = [await http.request(method, "http://localhost/mcp/") for method in ("GET", "DELETE", "PUT")]
        return [(answer.status_code, answer.headers["allow"]) for answer in answers]

    assert async_to_sync(asked)() == [(405, "POST")] * 3


def test_a_key_that_asks_too_often_is_told_how_long_to_wait(alice: User, assistant: With, settings: Any) -> None:
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"api_rate_per_minute": 2})
    hers = assistant(alice)

    answers = [hers.post(LIST) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert int(answers[2].headers["retry-after"]) > 0


def test_a_request_too_large_for_any_tool_is_refused(alice: User, assistant: With) -> None:
    assert assistant(alice).post(b"x" * (MAX_BODY + 1)).status_code == 413


@pytest.mark.parametrize("content", [b"", b"not json", b"[]", b'{"jsonrpc": "2.0", "id": 1, "method": "no/such"}'])
def test_what_is_not_the_protocol_is_answered_and_not_a_fault(alice: User, assistant: With, content: bytes) -> None:
    answer = assistant(alice).post(content)

    assert answer.status_code < 500
    assert "error" in answer.json()


def test_all_other_addresses_are_the_pages(alice: User, assistant: With) -> None:
    hers = assistant(alice)
    hers.address = "http://localhost/mcp-and-more"

    assert hers.post(LIST).status_code == 418
