"""Middleware: requests act for the signed-in user, in their time zone; sessions record their last use."""

import logging
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Final

from allauth.usersessions.models import UserSession
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.cache import add_never_cache_headers

from accounts.models import User
from recall.db.acting import Actor, acting, as_user, by, current

SEEN_EVERY: Final = 600
"""Seconds between two records that a session is in use: the list needs no finer time, and writes stay few."""
MAX_SEEN: Final = 100_000
"""Sessions a process remembers; beyond that it starts over."""

WAYS_BY_PATH: Final[Mapping[str, str]] = {"/accounts/": "sign-in", "/admin/": "staff"}
"""Addresses whose pages see more than the user's own rows; the admin only for staff."""

log = logging.getLogger(__name__)


class ActingMiddleware:
    """The request acts for the signed-in user, and what it streams does, too. What they are shown isn't kept: after a
    sign-out, the browser's Back would show it, and recovery codes with it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with by("sign-in"):
            user = request.user if isinstance(request.user, User) else None
        with as_user(user.pk if user else None), _way(request.path_info, user):
            response = self.get_response(request)
            _stream_as(current(), response)
        if user is not None and "Cache-Control" not in response:
            add_never_cache_headers(response)
        return response


def _way(path: str, user: User | None) -> AbstractContextManager[None]:
    way = next((way for start, way in WAYS_BY_PATH.items() if path.startswith(start)), None)
    if way is None or (way == "staff" and not (user and user.is_active and user.is_staff)):
        return acting(current())
    return by(way)


def _stream_as(actor: Actor, response: HttpResponseBase) -> None:
    if isinstance(response, StreamingHttpResponse):
        stream: Callable[[Actor, Any], Any] = _stream_async if response.is_async else _stream
        response.streaming_content = stream(actor, response.streaming_content)


def _stream(actor: Actor, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces, each made by `actor`: the server reads them after the middleware has returned."""
    iterator = iter(pieces)
    while True:
        with acting(actor):
            piece = next(iterator, None)
        if piece is None:
            return
        yield piece


async def _stream_async(actor: Actor, pieces: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """The same of an asynchronous stream."""
    iterator = aiter(pieces)
    try:
        while True:
            with acting(actor):
                piece = await anext(iterator, None)
            if piece is None:
                return
            yield piece
    finally:
        if hasattr(iterator, "aclose"):
            await iterator.aclose()


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
