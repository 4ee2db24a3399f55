"""View helpers that every app uses: the signed-in user, htmx requests, and the first error of a form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.forms import BaseForm
from django.http import HttpRequest

if TYPE_CHECKING:
    from django.contrib.auth.models import _User as User


def signed_in_user(request: HttpRequest) -> User:
    """The user of a view behind `login_required`."""
    assert request.user.is_authenticated
    return request.user


def is_htmx(request: HttpRequest) -> bool:
    """Whether htmx sent the request: it takes a fragment, any other browser a page or a redirect."""
    return bool(request.htmx)  # type: ignore[attr-defined]


def first_error(form: BaseForm) -> str:
    """The first error of an invalid form, as one sentence."""
    return str(next(iter(form.errors.values()))[0])
