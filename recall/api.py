"""The API: its routers, and the problem (RFC 9457) that each error becomes.

Each app's routes are its own edge (`memory/api/`, `chat/api/`, `budget/api.py`) and pass one middleware
(accounts/api/middleware.py). Apps above this one are named by dotted path. `recall/openapi/schema.py` builds the
description, served at `/api/v1/openapi.json` and, as a page, at `/api/v1/docs`.
"""

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
from ninja.operation import Operation

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
"""django-ninja's own root, which has no page."""
DESCRIPTION: Final = "openapi-json"
"""320 kB and the same for everyone, so it is compressed to a tenth."""
NOT_FOUND: Final = "Not found."


class Api(NinjaAPI):
    """django-ninja's API, with problems also for unknown addresses, and a complete description."""

    _description: OpenAPISchema | None = None

    def _get_urls(self) -> list[URLResolver | URLPattern]:
        patterns = [self._with_problems(url) for url in super()._get_urls() if isinstance(url, URLPattern)]
        return [*patterns, path("docs", reference, name="docs"), re_path("", _unknown_address, name="unknown")]

    def _with_problems(self, pattern: URLPattern) -> URLPattern:
        view = _unknown_address if pattern.name == ROOT else _with_405_as_problem(pattern.callback)
        view = gzip_page(view) if pattern.name == DESCRIPTION else view
        return path(str(pattern.pattern), view, name=pattern.name)

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """The name of its function, unless it names another."""
        return operation.view_func.__name__

    def get_openapi_schema(self, **where: Any) -> OpenAPISchema:
        """The description with everything that all operations share, built once per process."""
        if self._description is None:
            self._description = schema.complete_schema(super().get_openapi_schema(**where), self)
        return self._description


def _with_405_as_problem(view: Callable[..., Any]) -> Callable[..., Any]:

    @wraps(view, updated=())
    def run(request: HttpRequest, **arguments: Any) -> HttpResponseBase:
        return _problem_if_not_allowed(request, view(request, **arguments))

    @wraps(view, updated=())
    async def run_async(request: HttpRequest, **arguments: Any) -> HttpResponseBase:
        return _problem_if_not_allowed(request, await view(request, **arguments))

    wrapped: Any = run_async if inspect.iscoroutinefunction(view) else run
    wrapped.csrf_exempt = True  # the middleware checks the token of sessions
    exempt: Callable[..., Any] = wrapped
    return exempt


def _problem_if_not_allowed(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    if not isinstance(response, HttpResponseNotAllowed):
        return response
    allowed = response["Allow"]
    sentence = f"{(request.method or '')[:20]} isn't allowed here. Use {allowed}."
    return problem_response(HTTPStatus.METHOD_NOT_ALLOWED, sentence, headers={"Allow": allowed})


def _unknown_address(request: HttpRequest) -> HttpResponse:
    return problem_response(HTTPStatus.NOT_FOUND, "There is no API operation at this address.")


_unknown_address.csrf_exempt = True  # type: ignore[attr-defined]

api = Api(
    title="Recall",
    version="1",
    description=schema.INTRODUCTION,
    openapi_extra={"tags": schema.tags()},
    docs_url=None,  # it loads scripts from elsewhere; see recall/openapi/reference_page.py
    urls_namespace="api",
    parser=PlainText(),
)
api.add_decorator(import_string(API_MIDDLEWARE), mode="view")
for _at, _router in ROUTERS.items():
    api.add_router(_at, _router)


# Errors as problems -----------------------------------------------------------------------------------------------


@api.exception_handler(HttpError)
def _http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    if isinstance(error, ProblemError):
        return problem_response(error.status_code, str(error), error.kind, error.headers, **error.more)
    # django-ninja's own error says too much where DEBUG is on.
    is_parsing = error.status_code == HTTPStatus.BAD_REQUEST and str(error).startswith("Cannot parse")
    if is_parsing and isinstance(error.__cause__, RequestDataTooBig | HttpError):
        return api.on_exception(request, error.__cause__)
    return problem_response(error.status_code, "The request body isn't valid JSON." if is_parsing else str(error))


@api.exception_handler(AuthenticationError)
def _not_authenticated(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    return problem_response(HTTPStatus.UNAUTHORIZED, str(error), headers={"WWW-Authenticate": CHALLENGE})


@api.exception_handler(Http404)
def _not_found(request: HttpRequest, error: Http404) -> HttpResponse:
    return problem_response(HTTPStatus.NOT_FOUND, NOT_FOUND)


@api.exception_handler(ValidationError)
def _not_valid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    return problem_response(HTTPStatus.UNPROCESSABLE_ENTITY, " ".join(error.messages))


@api.exception_handler(BadInput)
def _bad_input(request: HttpRequest, error: BadInput) -> HttpResponse:
    wrong = [{"where": ".".join(map(str, fault["loc"])), "what": fault["msg"]} for fault in error.errors]
    detail = "; ".join(f"{field['where']}: {field['what']}" for field in wrong)
    return problem_response(HTTPStatus.UNPROCESSABLE_ENTITY, detail, "not-valid", errors=wrong)


@api.exception_handler(BadRequest)
@api.exception_handler(SuspiciousOperation)
@api.exception_handler(MultiPartParserError)
@api.exception_handler(UnreadablePostError)
def _unreadable(request: HttpRequest, error: Exception) -> HttpResponse:
    return problem_response(HTTPStatus.BAD_REQUEST, "The request can't be read. It is incomplete or malformed.")


@api.exception_handler(RequestDataTooBig)
def _too_big(request: HttpRequest, error: Exception) -> HttpResponse:
    limit = (settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0) / 1_000_000
    sentence = f"The request body is larger than the limit of {limit:.1f} MB (files not included)."
    return problem_response(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, sentence)


@api.exception_handler(OperationalError)
@api.exception_handler(InterfaceError)
def _no_database(request: HttpRequest, error: Exception) -> HttpResponse:
    logger.error("The API could not reach the database: %s.", type(error).__name__)
    sentence = "The database isn't available. Try again in a moment."
    return problem_response(HTTPStatus.SERVICE_UNAVAILABLE, sentence, headers={"Retry-After": "2"})


@api.exception_handler(Exception)
def _unexpected(request: HttpRequest, error: Exception) -> HttpResponse:
    logger.error("An API operation failed.", exc_info=error)
    sentence = "Something went wrong on our side. Details are in the server log. Try again later."
    return problem_response(HTTPStatus.INTERNAL_SERVER_ERROR, sentence)
