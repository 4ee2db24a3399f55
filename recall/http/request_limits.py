"""Request limits before Django: ASGI middleware that refuses cross-origin sockets and oversized request bodies."""

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
"""Requests below it are refused with a problem (RFC 9457)."""
EXPORT_UPLOAD_PATHS: Final = ("/import", "/api/v1/imports")
"""Addresses that accept whole exports; a test compares them with the pages."""
FORM_OVERHEAD_BYTES: Final = 1_000_000
"""Bytes a request may have beside the largest file."""


class SameOriginWebSocketMiddleware:
    """Lets a page open a socket only to its own origin, port included.

    Besides SameSite cookies this is a socket's only protection against other sites. Cookies ignore ports: without it, a
    page of another program on the same machine would be signed in.
    """

    def __init__(self, inner: Application) -> None:
        self.inner = inner
        self.deny = WebsocketDenier()

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Pass on, or deny the socket."""
        headers = dict(scope["headers"])
        origin = headers.get(b"origin", b"").decode("latin-1")
        allowed = is_same_origin(origin, headers.get(b"host", b"").decode("latin-1"))
        await (self.inner if allowed else self.deny)(scope, receive, send)


def is_same_origin(origin: str, host: str) -> bool:
    """Whether `origin` is this server, addressed as `host`, or its public address."""
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
    """Refuses request bodies over the size limit: Django would write them to disk first."""

    def __init__(self, inner: Application, limit: int, larger: Mapping[str, int] | None = None) -> None:
        """`larger`: addresses with a higher limit, in bytes."""
        self.inner = inner
        self.limit = limit
        self.larger = larger or {}

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Pass on a body whose announced length is within the limit, and no more than that."""
        limit = self.larger.get(scope["path"], self.limit) if self.larger else self.limit
        announced = dict(scope["headers"]).get(b"content-length", b"")
        if announced and int(announced) > limit:
            await _answer_too_large(send, limit, as_problem=scope.get("path", "").startswith(API))
            return
        taken = 0

        async def counted() -> Event:
            nonlocal taken
            event = await receive()
            taken += len(event.get("body", b""))
            # A body of unknown length passed the limit: to the application, the client disconnected.
            return event if taken <= limit else {"type": "http.disconnect"}

        await self.inner(scope, counted, send)


async def _answer_too_large(send: Send, limit: int, *, as_problem: bool) -> None:
    sentence = f"The request is larger than the limit of {limit // 1_000_000} MB."
    media_type = PROBLEM if as_problem else "text/plain; charset=utf-8"
    text = (json.dumps(members(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, sentence)) if as_problem else sentence).encode()
    headers = [(b"content-type", media_type.encode()), (b"content-length", str(len(text)).encode())]
    await send({"type": "http.response.start", "status": 413, "headers": [*headers, (b"connection", b"close")]})
    await send({"type": "http.response.body", "body": text})
