"""The API: which routes it is made of, and which problem each error becomes (RFC 9457).

Each app's routes are its own edge (`memory/api/`, `chat/api/`, `budget/api.py`); all go through one door
(accounts/api/middleware.py). Apps are named by their dotted path, as this one knows none of those above it. How it is
described stands in recall/openapi/schema.py: served at `/api/v1/openapi.json` and, to be read, at `/api/v1/docs`.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any, Final

from django.conf import settings
from django.core.exceptions import BadRequest, RequestDataTooBig, SuspiciousOperation, ValidationError
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.multipartparser import MultiPartParserError
from django.http.request import UnreadablePostError
from django.http.response import HttpResponseBase
from django.urls import URLPattern, URLResolver, path, re_path
from django.utils.module_loading import import_string
from django.views.decorators.gzip import gzip_page
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError
from ninja.errors import ValidationError as BadInput
from ninja.openapi.schema import OpenAPISchema

from recall.openapi import schema
from recall.openapi.fields import PlainText
from recall.openapi.problems import ProblemError, problem_response
from recall.openapi.reference_page import reference

logger = logging.getLogger(__name__)

ROUTERS: Final = {
    "/turns": "chat.api.turns.router",
    "/conversations": "chat.api.conversations.router",
    "/conversations/search": "chat.api.search.router",
    "/attachments": "chat.api.attachments.router",
    "/projects": "chat.api.projects.router",
    "/roles": "chat.api.roles.router",
    "/memory": "memory.api.routes.router",
    "/budget": "budget.api.router",
    "/me": "chat.api.me.router",
    "/imports": "chat.api.data.imports",
    "/export": "chat.api.data.exports",
}
API_MIDDLEWARE: Final = "accounts.api.middleware.api_middleware"
CHALLENGE: Final = 'Bearer realm="Recall"'
ROOT: Final = "api-root"
"""Django-ninja finds its own address by it; there is nothing to see."""
DESCRIPTION: Final = "openapi-json"
"""The one answer that is large and the same for everybody: 320 kB, a tenth of it on the way."""
NO_SUCH_THING: Final = "There is no such thing of yours."


class Api(NinjaAPI):
    """Django-ninja's, with problems also where no operation is reached, and our description."""

    _description: OpenAPISchema | None = None

    def _get_urls(self) -> list[URLResolver | URLPattern]:
        found = [self._with_problems(one) for one in super()._get_urls() if isinstance(one, URLPattern)]
        return [*found, path("docs", reference, name="docs"), re_path("", _nowhere, name="nowhere")]

    def _with_problems(self, pattern: URLPattern) -> URLPattern:
        view = _nowhere if pattern.name == ROOT else _told(pattern.callback)
        view = gzip_page(view) if pattern.name == DESCRIPTION else view
        return path(str(pattern.pattern), view, name=pattern.name)

    def get_openapi_schema(self, **where: Any) -> OpenAPISchema:
        """The description with everything that is the same for all operations. Made once: only the code changes it."""
        if self._description is None:
            self._description = schema.complete_schema(super().get_openapi_schema(**where), self)
        return self._description


def _told(view: Callable[..., Any]) -> Callable[..., Any]:
    """The same view, whose 405 is a problem, too."""

    @wraps(view, updated=())
    def told(request: HttpRequest, **given: Any) -> HttpResponseBase:
        return _or_not_allowed(request, view(request, **given))

    @wraps(view, updated=())
    async def told_async(request: HttpRequest, **given: Any) -> HttpResponseBase:
        return _or_not_allowed(request, await view(request, **given))

    chosen: Any = told_async if inspect.iscoroutinefunction(view) else told
    chosen.csrf_exempt = True  # the door asks sessions for it
    exempt: Callable[..., Any] = chosen
    return exempt


def _or_not_allowed(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    if not isinstance(response, HttpResponseNotAllowed):
        return response
    allowed = response["Allow"]
    sentence = f"{(request.method or '')[:20]} is not possible here; {allowed} is."
    return problem_response(HTTPStatus.METHOD_NOT_ALLOWED, sentence, headers={"Allow": allowed})


def _nowhere(request: HttpRequest) -> HttpResponse:
    return problem_response(HTTPStatus.NOT_FOUND, "There is nothing at this address.")


_nowhere.csrf_exempt = True  # type: ignore[attr-defined]

api = Api(
    title="Recall",
    version="1",
    description=schema.INTRODUCTION,
    openapi_extra={"tags": schema.tags()},
    docs_url=None,  # its page loads scripts from elsewhere; ours is recall/openapi/reference_page.py's
    urls_namespace="api",
    parser=PlainText(),
)
api.add_decorator(import_string(API_MIDDLEWARE), mode="view")
for _at, _router in ROUTERS.items():
    api.add_router(_at, _router)


# What each error becomes -----------------------------------------------------------------------------------------


@api.exception_handler(HttpError)
def _refused(request: HttpRequest, error: HttpError) -> HttpResponse:
    if isinstance(error, ProblemError):
        return problem_response(error.status_code, str(error), error.kind, error.headers, **error.more)
    # django-ninja's own: it tells more than is anybody's business where DEBUG is on.
    is_parsing = error.status_code == HTTPStatus.BAD_REQUEST and str(error).startswith("Cannot parse")
    if is_parsing and isinstance(error.__cause__, RequestDataTooBig | HttpError):
        return api.on_exception(request, error.__cause__)
    return problem_response(error.status_code, "The body is not JSON." if is_parsing else str(error))


@api.exception_handler(AuthenticationError)
def _unknown_person(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    return problem_response(HTTPStatus.UNAUTHORIZED, str(error), headers={"WWW-Authenticate": CHALLENGE})


@api.exception_handler(Http404)
def _not_found(request: HttpRequest, error: Http404) -> HttpResponse:
    return problem_response(HTTPStatus.NOT_FOUND, NO_SUCH_THING)


@api.exception_handler(ValidationError)
def _not_valid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    return problem_response(HTTPStatus.UNPROCESSABLE_ENTITY, " ".join(error.messages))


@api.exception_handler(BadInput)
def _bad_input(request: HttpRequest, error: BadInput) -> HttpResponse:
    wrong = [{"where": ".".join(map(str, one["loc"])), "what": one["msg"]} for one in error.errors]
    detail = "; ".join(f"{one['where']}: {one['what']}" for one in wrong)
    return problem_response(HTTPStatus.UNPROCESSABLE_ENTITY, detail, "not-valid", errors=wrong)


@api.exception_handler(BadRequest)
@api.exception_handler(SuspiciousOperation)
@api.exception_handler(MultiPartParserError)
@api.exception_handler(UnreadablePostError)
def _unreadable(request: HttpRequest, error: Exception) -> HttpResponse:
    return problem_response(
        HTTPStatus.BAD_REQUEST, "This request cannot be read: it is cut off, or not what it says it is."
    )


@api.exception_handler(RequestDataTooBig)
def _too_big(request: HttpRequest, error: Exception) -> HttpResponse:
    most = (settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0) / 1_000_000
    sentence = f"The body is larger than {most:.1f} MB, the most that is taken beside files."
    return problem_response(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, sentence)


@api.exception_handler(OperationalError)
@api.exception_handler(InterfaceError)
def _no_database(request: HttpRequest, error: Exception) -> HttpResponse:
    logger.error("The API did not reach the database: %s.", type(error).__name__)
    sentence = "The database cannot be reached. Try again in a moment."
    return problem_response(HTTPStatus.SERVICE_UNAVAILABLE, sentence, headers={"Retry-After": "2"})


@api.exception_handler(Exception)
def _unexpected(request: HttpRequest, error: Exception) -> HttpResponse:
    logger.error("An operation of the API failed.", exc_info=error)
    sentence = "Something went wrong here. It was written to the log; try again later."
    return problem_response(HTTPStatus.INTERNAL_SERVER_ERROR, sentence)
