"""What does every request to the API pass before and after its operation? The same door for all of them.

who calls?          401, or 403 (accounts/api/auth.py)
too often?          429 with Retry-After (accounts/api/rate_limit.py)
may they?           403 that names the scope
a type we read?     415
done already?       the stored answer, 409 or 422 (accounts/api/idempotency.py)
… the operation …
what is told        the answer is stored · headers: RateLimit, Link, no caching
"""

from __future__ import annotations

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
from recall.db.connections import run_in_thread
from recall.openapi.pagination import NEXT
from recall.openapi.problems import ProblemError

Headers = dict[str, str]
CHANGES: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
"""Methods that change something."""
READS: Final = {
    "body": "application/json",
    "form": "application/x-www-form-urlencoded",
    "file": "multipart/form-data",
}
"""Where django-ninja takes a parameter from → the media type of such a body."""
AT_THE_DOOR: Final = (
    HttpError,
    BadRequest,
    SuspiciousOperation,
    MultiPartParserError,
    UnreadablePostError,
    DatabaseError,
)
"""What may go wrong before the operation is reached; each has its problem in recall/api.py."""


@dataclass(slots=True)
class ApiRequest:
    """One request on its way through."""

    operation: Operation
    request: HttpRequest
    headers: Headers = field(default_factory=dict)
    claim: Claim | None = None

    @property
    def access(self) -> ScopeAuth:
        """What the operation asks of its caller."""
        return cast(ScopeAuth, self.operation.auth_callbacks[0])

    def process_request(self) -> HttpResponse | None:
        """Go in; a response: here it ends."""
        try:
            return self._enter()
        except AT_THE_DOOR as refused:
            return self.operation.api.on_exception(self.request, refused)

    def _enter(self) -> HttpResponse | None:
        caller = get_caller(self.request)
        allowance = rate_limit.take_token(caller.bucket, caller.user.pk)
        self.headers |= allowance.headers
        if allowance.wait:
            detail = f"That was too much at once: wait {allowance.wait} second{'' if allowance.wait == 1 else 's'}."
            raise ProblemError(HTTPStatus.TOO_MANY_REQUESTS, detail, "rate-limit")
        self.access(self.request)
        self._check_media_type()
        return self._claim(caller.bucket)

    def _check_media_type(self) -> None:
        sources = {model.__ninja_param_source__ for model in self.operation.models}
        read = READS["file"] if "file" in sources else next((READS[one] for one in READS if one in sources), None)
        is_sent = self.request.META.get("CONTENT_LENGTH") not in (None, "", "0") or self.request.content_type
        if read is not None and is_sent and self.request.content_type != read:
            raise ProblemError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"Send this as {read}.", headers={"Accept": read})

    def _claim(self, caller: str) -> HttpResponse | None:
        key = self.request.headers.get(idempotency.HEADER)
        if key is None or self.request.method not in CHANGES or self.access.replay == Replay.NONE:
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
        """Go out: what was answered is stored, and told with its headers."""
        if self.claim is not None:
            body = response.content if isinstance(response, HttpResponse) else b""
            idempotency.store_response(self.claim, response.status_code, response.get("Content-Type", ""), body)
        return self.add_headers(response)

    def add_headers(self, response: HttpResponseBase) -> HttpResponseBase:
        """The response with the headers that each has."""
        for name, value in self.headers.items():
            response.headers.setdefault(name, value)
        if NEXT in self.request.META and response.status_code == HTTPStatus.OK:
            response["Link"] = f'<{self.request.META[NEXT]}>; rel="next"'
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response


def api_middleware(run: Callable[..., Any]) -> Callable[..., Any]:
    """Put the door before an operation: for `NinjaAPI.add_decorator(guarded, mode="view")`."""
    operation: Operation = run.__self__  # type: ignore[attr-defined]

    @wraps(run)
    def through(request: HttpRequest, **given: Any) -> HttpResponseBase:
        passage = ApiRequest(operation, request)
        refused = passage.process_request()
        if refused is not None:
            return passage.add_headers(refused)
        response = run(request, **given)
        return passage.process_response(response)

    @wraps(run)
    async def through_async(request: HttpRequest, **given: Any) -> HttpResponseBase:
        passage = ApiRequest(operation, request)
        refused = await run_in_thread(passage.process_request)
        if refused is not None:
            return passage.add_headers(refused)
        response = await run(request, **given)
        return await run_in_thread(passage.process_response, response)

    return through_async if operation.is_async else through
