"""The API middleware: what every request passes before and after its operation.

authentication      401 or 403 (accounts/api/auth.py)
rate limit          429 with Retry-After (accounts/api/rate_limit.py)
scope               403 that names the scope
media type          415
idempotency key     the stored response, 409 or 422 (accounts/api/idempotency.py)
… the operation …
response            stored for replay · headers: RateLimit, Link, no caching
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from http import HTTPStatus
from typing import Any, Final, cast

from django.core.exceptions import BadRequest, SuspiciousOperation
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.http.request import UnreadablePostError
from django.http.response import HttpResponseBase
from ninja.errors import HttpError
from ninja.operation import Operation

from accounts.api import idempotency, rate_limit
from accounts.api.auth import Replay, ScopeAuth, get_caller
from accounts.api.idempotency import Claim
from accounts.models import IdempotentRequest
from recall.db.acting import act_for
from recall.db.connections import run_in_thread
from recall.openapi.pagination import NEXT
from recall.openapi.problems import ProblemError

Headers = dict[str, str]
WRITE_METHODS: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
"""Methods that change data."""
MEDIA_TYPES: Final = {
    "file": "multipart/form-data",
    "body": "application/json",
    "form": "application/x-www-form-urlencoded",
}
"""django-ninja's parameter source → the media type of the body; a form with a file is sent as the first."""
REQUEST_ERRORS: Final = (
    HttpError,
    BadRequest,
    SuspiciousOperation,
    MultiPartParserError,
    UnreadablePostError,
    DatabaseError,
)
"""Errors before the operation is reached; recall/api.py turns each into a problem."""


@dataclass(slots=True)
class ApiRequest:
    """One request passing the middleware."""

    operation: Operation
    request: HttpRequest
    headers: Headers = field(default_factory=dict)
    claim: Claim | None = None

    @property
    def access(self) -> ScopeAuth:
        """The operation's auth callback."""
        return cast(ScopeAuth, self.operation.auth_callbacks[0])

    def process_request(self) -> HttpResponse | None:
        """Check the request; a response ends it here."""
        try:
            return self._check()
        except REQUEST_ERRORS as refused:
            return self.operation.api.on_exception(self.request, refused)

    def _check(self) -> HttpResponse | None:
        caller = get_caller(self.request)
        limit = rate_limit.take_token(caller.bucket, caller.user.pk)
        self.headers |= limit.headers
        if limit.wait:
            detail = f"Too many requests. Try again in {limit.wait} second{'' if limit.wait == 1 else 's'}."
            raise ProblemError(HTTPStatus.TOO_MANY_REQUESTS, detail, "rate-limit")
        self.access(self.request)
        self._check_media_type()
        return self._claim(caller.bucket)

    def _check_media_type(self) -> None:
        sources = {model.__ninja_param_source__ for model in self.operation.models}
        read = next((media_type for name, media_type in MEDIA_TYPES.items() if name in sources), None)
        is_sent = self.request.META.get("CONTENT_LENGTH") not in (None, "", "0") or self.request.content_type
        if read is not None and is_sent and self.request.content_type != read:
            raise ProblemError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"Send this as {read}.", headers={"Accept": read})

    def _claim(self, caller: str) -> HttpResponse | None:
        key = self.request.headers.get(idempotency.HEADER)
        if key is None or self.request.method not in WRITE_METHODS or self.access.replay == Replay.NONE:
            return None
        fingerprint = idempotency.fingerprint_of(self.request, caller)
        holds_text = self.access.replay != Replay.NO_TEXT
        found = idempotency.claim(get_caller(self.request).user, key, fingerprint, holds_text=holds_text)
        if isinstance(found, IdempotentRequest):
            headers = {idempotency.REPLAYED: "true"}
            return HttpResponse(bytes(found.body), found.content_type, found.status, headers=headers)
        self.claim = found
        return None

    def process_response(self, response: HttpResponseBase) -> HttpResponseBase:
        """Store the response for replay and add the common headers."""
        if self.claim is not None:
            body = response.content if isinstance(response, HttpResponse) else b""
            idempotency.store_response(self.claim, response.status_code, response.get("Content-Type", ""), body)
        return self.add_headers(response)

    def add_headers(self, response: HttpResponseBase) -> HttpResponseBase:
        """The response with the common headers."""
        for name, value in self.headers.items():
            response.headers.setdefault(name, value)
        if NEXT in self.request.META and response.status_code == HTTPStatus.OK:
            response["Link"] = f'<{self.request.META[NEXT]}>; rel="next"'
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response


def api_middleware(run: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap an operation: for `NinjaAPI.add_decorator(api_middleware, mode="view")`."""
    operation: Operation = run.__self__  # type: ignore[attr-defined]

    @wraps(run)
    def run_sync(request: HttpRequest, **arguments: Any) -> HttpResponseBase:
        api_request = ApiRequest(operation, request)
        refused = api_request.process_request()
        if refused is not None:
            return api_request.add_headers(refused)
        response = run(request, **arguments)
        return api_request.process_response(response)

    @wraps(run)
    async def run_async(request: HttpRequest, **arguments: Any) -> HttpResponseBase:
        api_request = ApiRequest(operation, request)
        refused = await run_in_thread(api_request.process_request)
        if refused is not None:
            return api_request.add_headers(refused)
        act_for(get_caller(request).user.pk)  # a thread's context is a copy
        response = await run(request, **arguments)
        return await run_in_thread(api_request.process_response, response)

    return run_async if operation.is_async else run_sync
