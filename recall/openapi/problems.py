"""How does the API say what went wrong? As problem details (RFC 9457): one shape, and one table of what there is.

`detail` is a sentence for the person who runs the program that called. It never quotes what they stored, nor the inner
words of an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from django.http import HttpResponse, JsonResponse
from ninja import Schema
from ninja.errors import HttpError
from pydantic import ConfigDict, Field

MEDIA_TYPE: Final = "application/problem+json"
TYPES_AT: Final = "/api/v1/docs#"
"""Where the types that have a name of their own are told of."""

KINDS: Final[Mapping[str, str]] = {
    "missing-scope": "The key may not do this: `scope` names what it lacks. Make a key that has it.",
    "idempotency-in-progress": "The first request with this Idempotency-Key is still being carried out. Ask again.",
    "idempotency-key-reused": "This Idempotency-Key came with another request before. Use a new one for each request.",
    "rate-limit": "Too many requests in a short time. `Retry-After` says how many seconds to wait.",
    "not-valid": "Something that was sent is not as described: `errors` names each place and what is wrong there.",
}
"""Problems a program may want to tell apart although they share a status; the others are `about:blank`."""

EXAMPLES: Final[Mapping[int, dict[str, Any]]] = {
    400: {"detail": "The body is not JSON."},
    401: {"detail": "Sign in first, or send a key: “Authorization: Bearer rcl_…”."},
    403: {
        "kind": "missing-scope",
        "detail": "This key may not do that: it lacks the scope “review”.",
        "scope": "review",
    },
    404: {"detail": "There is no such thing of yours."},
    405: {"detail": "GET is not possible here; POST is."},
    409: {"detail": "This fact has changed meanwhile: it is active now."},
    413: {"detail": "This request is larger than 20 MB, the most that is taken."},
    415: {"detail": "Send this as application/json."},
    422: {
        "kind": "not-valid",
        "detail": "query.limit: Input should be less than or equal to 200",
        "errors": [{"where": "query.limit", "what": "Input should be less than or equal to 200"}],
    },
    429: {"kind": "rate-limit", "detail": "That was too much at once: wait 2 seconds."},
    500: {"detail": "Something went wrong here. It was written to the log; try again later."},
    503: {"detail": "The database cannot be reached. Try again in a moment."},
}
"""One for each status that any operation may answer."""


class Wrong(Schema):
    """One place that is not as described."""

    where: str = Field(description="Such as body.given.text or query.limit")
    what: str


class Problem(Schema):
    """What went wrong (RFC 9457)."""

    model_config = ConfigDict(extra="forbid")

    type: str = Field("about:blank", description="What kind; about:blank: the status says it all")
    title: str = Field(description="The status in words")
    status: int
    detail: str = Field(description="One sentence for people")
    errors: list[Wrong] = Field([], description="Of a 422: each place that is wrong")
    scope: str = Field("", description="Of a 403: the scope that the key lacks")


class ProblemError(HttpError):
    """A refusal with more than a status and a sentence: its kind (of KINDS), headers, and further members."""

    def __init__(
        self, status: int, detail: str, kind: str = "", headers: Mapping[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(status, detail)
        self.kind = kind
        self.headers = dict(headers or {})
        self.more = more


def members(status: int, detail: str, kind: str = "", **more: Any) -> dict[str, Any]:
    """The body of a problem."""
    named = TYPES_AT + kind if kind else "about:blank"
    return {"type": named, "title": HTTPStatus(status).phrase, "status": status, "detail": detail, **more}


def problem_response(
    status: int, detail: str, kind: str = "", headers: Mapping[str, str] | None = None, **more: Any
) -> HttpResponse:
    """A refusal as a response."""
    body = members(status, detail, kind, **more)
    return JsonResponse(body, status=status, content_type=MEDIA_TYPE, headers=dict(headers or {}))


def example(status: int) -> dict[str, Any]:
    """The example of a status, as it would be answered."""
    return members(status, **EXAMPLES[status])
