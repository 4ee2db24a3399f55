"""API errors as problem details (RFC 9457): one shape, and one table of problem types.

`detail` is a sentence for the developer of the calling program. It never quotes stored data or an exception's message.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, Final

from django.http import HttpResponse, JsonResponse
from ninja import Schema
from ninja.errors import HttpError
from pydantic import ConfigDict, Field

MEDIA_TYPE: Final = "application/problem+json"
TYPES_AT: Final = "/api/v1/docs#"
"""Where the named problem types are documented."""

KINDS: Final[Mapping[str, str]] = {
    "missing-scope": "The API key lacks the scope named in `scope`. Create a key that has it.",
    "idempotency-in-progress": "The first request with this Idempotency-Key is still running. Try again.",
    "idempotency-key-reused": "This Idempotency-Key was used with a different request. Use a new key for each request.",
    "rate-limit": "Too many requests. Wait the number of seconds in `Retry-After`.",
    "not-valid": "The request is not valid. `errors` lists each field and what is wrong with it.",
}
"""Problem types with a name of their own, where the status alone isn't enough; the others are `about:blank`."""

EXAMPLES: Final[Mapping[int, dict[str, Any]]] = {
    400: {"detail": "The request body isn't valid JSON."},
    401: {"detail": "Sign in, or send an API key: “Authorization: Bearer rcl_…”."},
    403: {
        "kind": "missing-scope",
        "detail": "This API key lacks the scope “review”.",
        "scope": "review",
    },
    404: {"detail": "Not found."},
    405: {"detail": "GET isn't allowed here. Use POST."},
    409: {"detail": "This fact has changed. It is now active."},
    413: {"detail": "The request is larger than the limit of 20 MB."},
    415: {"detail": "Send this as application/json."},
    422: {
        "kind": "not-valid",
        "detail": "query.limit: Input should be less than or equal to 200",
        "errors": [{"where": "query.limit", "what": "Input should be less than or equal to 200"}],
    },
    429: {"kind": "rate-limit", "detail": "Too many requests. Try again in 2 seconds."},
    500: {"detail": "Something went wrong on our side. Details are in the server log. Try again later."},
    503: {"detail": "The database isn't available. Try again in a moment."},
}
"""An example for each status that any operation may return."""


class Wrong(Schema):
    """One invalid field."""

    where: str = Field(description="Path of the field, such as body.given.text or query.limit")
    what: str


class Problem(Schema):
    """What went wrong (RFC 9457)."""

    model_config = ConfigDict(extra="forbid")

    type: str = Field("about:blank", description="Problem type; about:blank: nothing beyond the status")
    title: str = Field(description="The status in words")
    status: int
    detail: str = Field(description="A readable sentence")
    errors: list[Wrong] = Field([], description="For a 422: each invalid field")
    scope: str = Field("", description="For a 403: the scope that the key lacks")


class ProblemError(HttpError):
    """An error response with a kind (of KINDS), headers and further members besides its status and sentence."""

    def __init__(
        self, status: int, detail: str, kind: str = "", headers: Mapping[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(status, detail)
        self.kind = kind
        self.headers = dict(headers or {})
        self.more = more


@contextmanager
def refused_with(status: HTTPStatus, *errors: type[Exception]) -> Iterator[None]:
    """Answer one of these errors, which are written for users, with the status and its sentence."""
    try:
        yield
    except errors as refused:
        raise ProblemError(status, str(refused)) from refused


def members(status: int, detail: str, kind: str = "", **more: Any) -> dict[str, Any]:
    """The body of a problem."""
    named = TYPES_AT + kind if kind else "about:blank"
    return {"type": named, "title": HTTPStatus(status).phrase, "status": status, "detail": detail, **more}


def problem_response(
    status: int, detail: str, kind: str = "", headers: Mapping[str, str] | None = None, **more: Any
) -> HttpResponse:
    """An error as a response."""
    body = members(status, detail, kind, **more)
    return JsonResponse(body, status=status, content_type=MEDIA_TYPE, headers=dict(headers or {}))


def example(status: int) -> dict[str, Any]:
    """The example response body of a status."""
    return members(status, **EXAMPLES[status])
