"""Dates on pages are told in the signed-in person's own time zone, and a session is noted as seen now and then."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from allauth.usersessions.models import UserSession
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts.models import User

SEEN_EVERY: Final = 600
"""Seconds between two notes that a session is in use: their list needs no finer time, and pages no more writes."""
_SEEN = "seen_at"


class TimeZoneMiddleware:
    """Activates the user's time zone for the length of one request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        zone = request.user.zone if isinstance(request.user, User) else None
        with timezone.override(zone):
            return self.get_response(request)


class SessionSeenMiddleware:
    """Keeps when and from where each session was last used, for the page of sessions. Takes the place of allauth's own,
    which writes with every request.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.session.session_key and isinstance(request.user, User):
            self._note(request)
        return self.get_response(request)

    def _note(self, request: HttpRequest) -> None:
        now = int(time.time())
        if now - request.session.get(_SEEN, 0) >= SEEN_EVERY:
            request.session[_SEEN] = now
            UserSession.objects.create_from_request(request)
