"""Names, counts, times and traces each HTTP request."""

import time
from collections.abc import Callable
from typing import Any, Final

from django.http import HttpRequest, HttpResponse

from recall.observability import metrics, request_id, tracing

HEADER: Final = "X-Request-ID"
DATA_ONLY: Final = (
    (b"cache-control", b"private, no-store"),
    (b"content-security-policy", b"default-src 'none'"),
    (b"x-content-type-options", b"nosniff"),
)
"""Headers of what Django's middleware doesn't see: data for a program, never a page."""


class RequestMiddleware:
    """The outermost middleware."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        named, started = request_id.begin(request.headers.get(HEADER, "")), time.perf_counter()
        response = self.get_response(request)
        route = request.resolver_match.route if request.resolver_match else ""
        _record(str(request.method), route, response.status_code, time.perf_counter() - started)
        response[HEADER] = named
        return response


async def serve_named(application: Any, scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Serve an HTTP request that Django doesn't get: it is named, counted, timed and traced like the others."""
    given = dict(scope["headers"]).get(HEADER.lower().encode(), b"").decode("latin-1")
    named, started = request_id.begin(given), time.perf_counter()

    async def send_named(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            _record(scope["method"], scope["path"].lstrip("/"), message["status"], time.perf_counter() - started)
            added = (*DATA_ONLY, (HEADER.lower().encode(), named.encode()))
            message = {**message, "headers": [*message.get("headers", ()), *added]}
        await send(message)

    await application(scope, receive, send_named)


def _record(method: str, route: str, status: int, seconds: float) -> None:
    metrics.REQUEST_SECONDS.observe(seconds)
    metrics.REQUESTS.labels(status=f"{status // 100}xx").inc()
    tracing.record(
        f"{method} {route}".strip(),
        seconds,
        request_id=request_id.current(),
        attributes={"http.request.method": method, "http.route": route, "http.response.status_code": status},
        failed=status >= 500,
    )
