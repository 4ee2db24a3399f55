"""Middleware: pages use the signed-in user's time zone, and sessions record when they were last used."""

import logging
import time
from collections.abc import Callable
from typing import Final

from allauth.usersessions.models import UserSession
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts.models import User

SEEN_EVERY: Final = 600
"""Seconds between two records that a session is in use: the list needs no finer time, and writes stay few."""
MAX_SEEN: Final = 100_000
"""Sessions a process remembers; beyond that it starts over."""

log = logging.getLogger(__name__)


class TimeZoneMiddleware:
    """Activates the user's time zone during the request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        zone = request.user.zone if isinstance(request.user, User) else None
        with timezone.override(zone):
            return self.get_response(request)


class SessionSeenMiddleware:
    """Records when and from where each session was last used. allauth's own middleware writes on every request.

    The page doesn't depend on it: it is also shown while the database can only be read.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self._seen: dict[str, float] = {}
        """Session → when this process last recorded it."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        key = request.session.session_key
        if key and isinstance(request.user, User) and time.time() - self._seen.get(key, 0.0) >= SEEN_EVERY:
            if len(self._seen) >= MAX_SEEN:
                self._seen.clear()
            self._seen[key] = time.time()
            _record(request)
        return self.get_response(request)


def _record(request: HttpRequest) -> None:
    try:
        UserSession.objects.create_from_request(request)
    except DatabaseError as error:
        log.warning("A session's last use was not recorded (%s).", type(error).__name__)
