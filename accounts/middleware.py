"""Middleware: pages use the signed-in user's time zone, and sessions record when they were last used."""

import time
from collections.abc import Callable
from typing import Final

from allauth.usersessions.models import UserSession
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts.models import User

SEEN_EVERY: Final = 600
"""Seconds between two records that a session is in use: the list needs no finer time, and writes stay few."""
_SEEN = "seen_at"


class TimeZoneMiddleware:
    """Activates the user's time zone during the request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        zone = request.user.zone if isinstance(request.user, User) else None
        with timezone.override(zone):
            return self.get_response(request)


class SessionSeenMiddleware:
    """Records when and from where each session was last used. allauth's own middleware writes on every request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.session.session_key and isinstance(request.user, User):
            self._record(request)
        return self.get_response(request)

    def _record(self, request: HttpRequest) -> None:
        now = int(time.time())
        if now - request.session.get(_SEEN, 0) >= SEEN_EVERY:
            request.session[_SEEN] = now
            UserSession.objects.create_from_request(request)
