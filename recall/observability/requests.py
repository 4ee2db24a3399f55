"""Names, counts and times each HTTP request."""

import time
from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse

from recall.observability import metrics, request_id

HEADER: Final = "X-Request-ID"


class RequestMiddleware:
    """The outermost middleware."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        named, started = request_id.begin(request.headers.get(HEADER, "")), time.perf_counter()
        response = self.get_response(request)
        metrics.REQUEST_SECONDS.observe(time.perf_counter() - started)
        metrics.REQUESTS.labels(status=f"{response.status_code // 100}xx").inc()
        response[HEADER] = named
        return response
