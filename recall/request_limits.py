"""Which requests are turned away at the door, before anything reads them? Sockets of foreign pages, endless bodies."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host

from recall.openapi.problems import MEDIA_TYPE as PROBLEM
from recall.openapi.problems import members

Event = Mapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
Application = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]

DEFAULT_PORTS: Final = {"http": 80, "https": 443}
API: Final = "/api/v1/"
"""Below it, whoever is refused is told so as a problem (RFC 9457)."""
TAKES_EXPORTS: Final = ("/import", "/api/v1/imports")
"""Addresses that take whole exports; a test holds them against the pages."""
BESIDE_THE_FILE: Final = 1_000_000
"""Bytes of a request beside the largest file that may be uploaded."""


class SameOriginWebSocketMiddleware:
    """Lets a page open a socket only to where the page itself came from, port included.

    The check is a socket's only protection against a foreign page, SameSite cookies aside; and cookies know no ports:
    another program's page on the same machine would be signed in.
    """

    def __init__(self, inner: Application) -> None:
        self.inner = inner
        self.deny = WebsocketDenier()

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Pass on, or close the socket unopened."""
        headers = dict(scope["headers"])
        origin = headers.get(b"origin", b"").decode("latin-1")
        allowed = is_same_origin(origin, headers.get(b"host", b"").decode("latin-1"))
        await (self.inner if allowed else self.deny)(scope, receive, send)


def is_same_origin(origin: str, host: str) -> bool:
    """Whether a page of `origin` was served by the server that is asked as `host`, or by its public address."""
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    try:
        page, asked = urlsplit(origin), urlsplit(f"//{host}")
        same = (page.hostname, _port(page, page.scheme)) == (asked.hostname, _port(asked, page.scheme))
    except ValueError:
        return False
    allowed = validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS)
    return page.scheme in DEFAULT_PORTS and same and allowed


def _port(address: SplitResult, scheme: str) -> int | None:
    return address.port or DEFAULT_PORTS.get(scheme)


class BodySizeLimitMiddleware:
    """Refuses a request whose body is larger than any that Recall takes: Django would write it all to disk first."""

    def __init__(self, inner: Application, most: int, larger: Mapping[str, int] | None = None) -> None:
        """`larger`: addresses that take more, and how much."""
        self.inner = inner
        self.most = most
        self.larger = larger or {}

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Pass on what is announced within the limit, and no more of it than that."""
        most = self.larger.get(scope["path"], self.most) if self.larger else self.most
        announced = dict(scope["headers"]).get(b"content-length", b"")
        if announced and int(announced) > most:
            await _answer_too_large(send, most, as_problem=scope.get("path", "").startswith(API))
            return
        taken = 0

        async def counted() -> Event:
            nonlocal taken
            event = await receive()
            taken += len(event.get("body", b""))
            # A body of unannounced length that goes on and on: to the application, the client has gone.
            return event if taken <= most else {"type": "http.disconnect"}

        await self.inner(scope, counted, send)


async def _answer_too_large(send: Send, most: int, *, as_problem: bool) -> None:
    sentence = f"This request is larger than {most // 1_000_000} MB, the most that is taken."
    media_type = PROBLEM if as_problem else "text/plain; charset=utf-8"
    text = (json.dumps(members(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, sentence)) if as_problem else sentence).encode()
    headers = [(b"content-type", media_type.encode()), (b"content-length", str(len(text)).encode())]
    await send({"type": "http.response.start", "status": 413, "headers": [*headers, (b"connection", b"close")]})
    await send({"type": "http.response.body", "body": text})
