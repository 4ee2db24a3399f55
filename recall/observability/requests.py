"""Names, counts, times and traces each HTTP request."""

import time
from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse

from recall.observability import metrics, request_id, tracing

HEADER: Final = "X-Request-ID"


class RequestMiddleware:
    """The outermost middleware."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        named, started = request_id.begin(request.headers.get(HEADER, "")), time.perf_counter()
        response = self.get_response(request)
        seconds = time.perf_counter() - started
        metrics.REQUEST_SECONDS.observe(seconds)
        metrics.REQUESTS.labels(status=f"{response.status_code // 100}xx").inc()
        response[HEADER] = named
        _trace(request, response, named, seconds)
        return response


def _trace(request: HttpRequest, response: HttpResponse, named: str, seconds: float) -> None:
    route = request.resolver_match.route if request.resolver_match else ""
    tracing.record(
        f"{request.method} {route}".strip(),
        seconds,
        request_id=named,
        attributes={
            "http.request.method": str(request.method),
            "http.route": route,
            "http.response.status_code": response.status_code,
        },
        failed=response.status_code >= 500,
    )
