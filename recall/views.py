"""View helpers that every app uses: the signed-in user, htmx requests, form errors, and what a view requires."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from django.contrib.auth.decorators import login_required
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from recall.observability import request_id

if TYPE_CHECKING:
    from django.contrib.auth.models import _User as User


SERVER_ERROR: Final = (
    "Something went wrong on our side. Your saved data is safe. Details are in the server log, request {}."
)
BAD_REQUEST: Final = "Recall can't read this request. Nothing was changed. Go back, reload the page and try again."


def signed_in_user(request: HttpRequest) -> User:
    """The user of a view behind `login_required`."""
    assert request.user.is_authenticated
    return request.user


def server_error(request: HttpRequest) -> HttpResponse:
    """The page for a fault, with the request's id, by which the log is searched."""
    return _fault("Server error", SERVER_ERROR.format(request_id.current()), HTTPStatus.INTERNAL_SERVER_ERROR)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The page for a request that can't be read. Django's own reads the form again, and fails."""
    return _fault("Bad request", BAD_REQUEST, HTTPStatus.BAD_REQUEST)


def _fault(title: str, sentence: str, status: HTTPStatus) -> HttpResponse:
    return HttpResponse(render_to_string("fault.html", {"title": title, "sentence": sentence}), status=status)


def is_htmx(request: HttpRequest) -> bool:
    """Whether htmx sent the request: it takes a fragment, any other browser a page or a redirect."""
    return bool(request.htmx)  # type: ignore[attr-defined]


def first_error(form: BaseForm) -> str:
    """The first error of an invalid form, as one sentence."""
    return str(next(iter(form.errors.values()))[0])


def signed_in_page[View: Callable[..., Any]](view: View) -> View:
    """A page or partial of the signed-in user, never cached."""
    return require_safe(login_required(never_cache(view)))


def signed_in_form[View: Callable[..., Any]](view: View) -> View:
    """A page of the signed-in user and the form on it, never cached."""
    return require_http_methods(["GET", "HEAD", "POST"])(login_required(never_cache(view)))


def signed_in_post[View: Callable[..., Any]](view: View) -> View:
    """An action of the signed-in user."""
    return require_POST(login_required(view))


def post_only[**P](
    page: str, *shared: str, at: str = ""
) -> Callable[[Callable[P, HttpResponse]], Callable[P, HttpResponse]]:
    """An action of the signed-in user; GET (a typed or reloaded form address) redirects to `page`, at the anchor `at`.

    `shared`: the URL arguments that both addresses have.
    """

    def decorate(view: Callable[P, HttpResponse]) -> Callable[P, HttpResponse]:
        post_view: Callable[P, HttpResponse] = signed_in_post(view)

        @wraps(view)
        def answer(*args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            request = args[0]
            assert isinstance(request, HttpRequest)
            if request.method not in {"GET", "HEAD"}:
                return post_view(*args, **kwargs)
            address = reverse(page, kwargs={name: kwargs[name] for name in shared})
            return redirect(f"{address}#{at}" if at else address)

        return answer

    return decorate
