"""Who calls the API, and may they? A session is the person and may do all; a key may do what its scopes say.

Each operation declares its scope where it is defined: `@router.get("/facts", auth=needs("memory:read"))`. A key that is
sent counts alone, whatever cookies come with it, and needs no CSRF token: no foreign page can send it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Any, Final

from django.http import HttpRequest
from ninja.errors import AuthenticationError
from ninja.utils import check_csrf

from accounts.api.keys import find_active_key
from accounts.api.scopes import SCOPES
from accounts.models import ApiKey, User
from accounts.reauthentication import is_confirmed
from recall.openapi.problems import ProblemError

_CALLER: Final = "recall.api_caller"
"""Where a request keeps who calls: asked once."""
NOT_GOOD: Final = "This key opens nothing: it was mistyped, revoked, or has expired."
NO_ONE: Final = "Sign in first, or send a key: “Authorization: Bearer rcl_…”."
CONFIRM_FIRST: Final = "Show first that it is you, at /accounts/reauthenticate/, and try again."
NOT_FROM_HERE: Final = "A session sends its CSRF token with each change, in the header X-CSRFToken."


class Replay(StrEnum):
    """What a second request with the same Idempotency-Key is answered."""

    STORED = "stored"
    """The first one's answer."""
    NO_TEXT = "no text"
    """The same; the answer holds numbers and addresses only, so that forgetting may leave it."""
    NONE = "none"
    """The header means nothing: nothing is changed, or a client id says what came twice."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever calls."""

    user: User
    key: ApiKey | None
    """None: by a session."""

    @property
    def bucket(self) -> str:
        """Whose requests are counted together."""
        return f"key:{self.key.pk}" if self.key is not None else f"user:{self.user.pk}"

    def has_scope(self, scope: str) -> bool:
        """Whether this is among what they may do."""
        return self.key is None or scope in self.key.scopes


class ScopeAuth:
    """What an operation asks of its caller. Called by django-ninja before the operation is."""

    def __init__(self, scope: str, replay: Replay, also: str = "") -> None:
        for name in filter(None, (scope, also)):
            if name not in SCOPES:
                raise ValueError(f"There is no scope “{name}”.")
        self.scope = scope
        self.replay = replay
        self.also = also

    def __call__(self, request: HttpRequest) -> Caller:
        """The caller.

        Raises:
            AuthenticationError: nobody, or a key that is not good.
            Refusal: a key without the scope, or a session without its token.
        """
        return check_scope(request, self.scope)


def check_scope(request: HttpRequest, scope: str) -> Caller:
    """The caller, who may do this; for what depends on more than the operation, too.

    Raises:
        AuthenticationError, Refusal: as `Access`.
    """
    caller = get_caller(request)
    if not caller.has_scope(scope):
        detail = f"This key may not do that: it lacks the scope “{scope}”."
        raise ProblemError(HTTPStatus.FORBIDDEN, detail, "missing-scope", scope=scope)
    return caller


def require_reauthentication(request: HttpRequest) -> None:
    """See to it that it is still the person who signed in, as the pages do; a key says so by itself.

    Raises:
        Refusal: a browser that was left open a while ago.
    """
    if get_caller(request).key is None and not is_confirmed(request):
        raise ProblemError(HTTPStatus.FORBIDDEN, CONFIRM_FIRST)


def require_scope(scope: str, replay: Replay = Replay.STORED, *, also: str = "") -> ScopeAuth:
    """What an operation asks of its caller; `replay` counts for those that change something.

    `also`: a further scope that the operation itself asks for at some places (`allowed`), told in its description.
    """
    return ScopeAuth(scope, replay, also)


def get_caller(request: HttpRequest) -> Caller:
    """Whoever calls; from here on `request.user` is that person.

    Raises:
        AuthenticationError: nobody, or a key that is not good.
        Refusal: a session without its token.
    """
    known: Caller | None = request.META.get(_CALLER)
    if known is None:
        known = request.META[_CALLER] = _identified(request)
        request.user = known.user
    return known


def person(request: HttpRequest) -> Any:
    """Who calls: nobody else gets as far as an operation."""
    return request.user


def _identified(request: HttpRequest) -> Caller:
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        key = find_active_key(secret.strip())
        if key is None:
            raise AuthenticationError(message=NOT_GOOD)
        return Caller(key.user, key)
    user = request.user
    if not isinstance(user, User):
        user = getattr(user, "_wrapped", user)  # the lazy object of a session, once it was looked at
    if not request.user.is_authenticated:
        raise AuthenticationError(message=NO_ONE)
    if check_csrf(request) is not None:
        raise ProblemError(HTTPStatus.FORBIDDEN, NOT_FROM_HERE)
    return Caller(user, None)  # type: ignore[arg-type]
