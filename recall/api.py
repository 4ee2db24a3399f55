"""The API: where it is, who may call it, and how it says what went wrong (problem details, RFC 9457).

Each app's routes are its own edge (`memory/api.py`). For now a session is what lets one in, with its CSRF token, as for
a page; the description is at `/api/v1/openapi.json`.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError
from ninja.errors import ValidationError as BadRequest
from ninja.security import SessionAuth

api = NinjaAPI(
    title="Recall",
    version="1",
    description="What Recall remembers of you, and how to change it. Errors are problem details (RFC 9457).",
    auth=SessionAuth(csrf=True),
    docs_url=None,  # its page loads scripts from elsewhere
    urls_namespace="api",
)
api.add_router("/memory", "memory.api.router", tags=["memory"])


def problem(request: HttpRequest, status: int, detail: str, **more: Any) -> HttpResponse:
    """A refusal as problem details: what kind, and one sentence that says what is wrong."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail, **more}
    response = api.create_response(request, body, status=status)
    response["Content-Type"] = "application/problem+json"
    return response


@api.exception_handler(HttpError)
def _refused(request: HttpRequest, error: HttpError) -> HttpResponse:
    return problem(request, error.status_code, str(error))


@api.exception_handler(AuthenticationError)
def _unknown_person(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    return problem(request, HTTPStatus.UNAUTHORIZED, "Sign in first.")


@api.exception_handler(Http404)
def _not_found(request: HttpRequest, error: Http404) -> HttpResponse:
    return problem(request, HTTPStatus.NOT_FOUND, "There is no such thing of yours.")


@api.exception_handler(ValidationError)
def _not_valid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    return problem(request, HTTPStatus.UNPROCESSABLE_ENTITY, " ".join(error.messages))


@api.exception_handler(BadRequest)
def _bad_request(request: HttpRequest, error: BadRequest) -> HttpResponse:
    wrong = [{"where": ".".join(map(str, one["loc"])), "what": one["msg"]} for one in error.errors]
    detail = "; ".join(f"{one['where']}: {one['what']}" for one in wrong)
    return problem(request, HTTPStatus.UNPROCESSABLE_ENTITY, detail, errors=wrong)
