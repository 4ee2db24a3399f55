"""Dates on pages are told in the signed-in person's own time zone."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts.models import User


class TimeZoneMiddleware:
    """Activates the user's time zone for the length of one request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        zone = request.user.zone if isinstance(request.user, User) else None
        with timezone.override(zone):
            return self.get_response(request)
