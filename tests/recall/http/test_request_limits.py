"""What is refused before Django: pages of other servers, and endless bodies."""

from typing import Any

import pytest
from django.test import override_settings

from recall.http.request_limits import BodySizeLimitMiddleware, Event, is_same_origin


@pytest.mark.parametrize(
    ("origin", "host", "same"),
    [
        ("http://127.0.0.1:8000", "127.0.0.1:8000", True),
        ("http://recall.example", "recall.example:80", True),
        ("https://recall.example", "recall.example", True),
        ("http://[::1]:8000", "[::1]:8000", True),
        ("http://127.0.0.1:3000", "127.0.0.1:8000", False),
        ("http://evil.example:8000", "127.0.0.1:8000", False),
        ("http://foreign.example", "foreign.example", False),  # not a name of this server
        ("file://", "", False),
        ("", "127.0.0.1:8000", False),
    ],
)
@override_settings(ALLOWED_HOSTS=["127.0.0.1", "[::1]", "recall.example"], CSRF_TRUSTED_ORIGINS=[])
def test_a_page_is_of_this_server_or_not(origin: str, host: str, same: bool) -> None:
    assert is_same_origin(origin, host) is same


@override_settings(ALLOWED_HOSTS=["internal"], CSRF_TRUSTED_ORIGINS=["https://recall.example"])
def test_the_public_address_is_trusted_behind_a_proxy_that_names_another_host() -> None:
    assert is_same_origin("https://recall.example", "internal:8000")


async def ask(body: list[bytes], announced: int | None) -> tuple[list[Event], bytes]:
    """The response, and what the application behind the middleware received."""
    given = bytearray()
    sent: list[Event] = []

    async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
        while (event := await receive())["type"] == "http.request":
            given.extend(event["body"])
            if not event["more_body"]:
                await send({"type": "http.response.start", "status": 200})
                return

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body.pop(0), "more_body": bool(body)}

    async def send(event: Event) -> None:
        sent.append(event)

    headers = [(b"content-length", str(announced).encode())] if announced is not None else []
    await BodySizeLimitMiddleware(application, limit=10)({"type": "http", "headers": headers}, receive, send)
    return sent, bytes(given)


async def test_a_body_within_the_limit_passes() -> None:
    sent, given = await ask([b"12345", b"67890"], 10)
    assert (sent[0]["status"], given) == (200, b"1234567890")


async def test_a_body_announced_too_large_is_refused_unread() -> None:
    sent, given = await ask([b"x" * 11], 11)
    assert (sent[0]["status"], given) == (413, b"")


async def test_a_body_that_never_ends_is_read_no_further_than_the_limit() -> None:
    sent, given = await ask([b"12345"] * 100, None)
    assert (sent, given) == ([], b"12345" * 2)
