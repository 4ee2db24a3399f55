"""API authentication and authorization: a session may do everything, a key what its scopes allow.

Each operation declares its scope: `@router.get("/facts", auth=require_scope("memory:read"))`. If a key is sent, only
the key counts, whatever the cookies, and no CSRF token is needed: other sites can't send it.
"""

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
from recall.db.acting import act_for
from recall.openapi.problems import ProblemError

_CALLER: Final = "recall.api_caller"
"""META key of the caller: authenticated once per request."""
INVALID_KEY: Final = "This API key is invalid, revoked or expired."
NOT_SIGNED_IN: Final = "Sign in, or send an API key: “Authorization: Bearer rcl_…”."
CONFIRM_FIRST: Final = "Confirm it's you at /accounts/reauthenticate/, then try again."
CSRF_REQUIRED: Final = "Requests by session that change data need the CSRF token in the X-CSRFToken header."


class Replay(StrEnum):
    """The response to a repeated request with the same Idempotency-Key."""

    STORED = "stored"
    """The first response."""
    NO_TEXT = "no text"
    """The same; the response has only numbers and URLs, so forgetting may keep it."""
    NONE = "none"
    """The header is ignored: nothing is changed, or a client id detects repeats."""


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated caller."""

    user: User
    key: ApiKey | None
    """None: signed in by session."""

    @property
    def bucket(self) -> str:
        """The rate-limit bucket."""
        return f"key:{self.key.pk}" if self.key is not None else f"user:{self.user.pk}"

    def has_scope(self, scope: str) -> bool:
        """Whether the caller has the scope; a session has them all."""
        return self.key is None or scope in self.key.scopes


class ScopeAuth:
    """The scope an operation needs. django-ninja calls it before the operation."""

    def __init__(self, scope: str, replay: Replay, also: str = "") -> None:
        for name in filter(None, (scope, also)):
            if name not in SCOPES:
                raise ValueError(f"No scope named “{name}”.")
        self.scope = scope
        self.replay = replay
        self.also = also

    def __call__(self, request: HttpRequest) -> Caller:
        """The caller.

        Raises:
            AuthenticationError: not signed in, or an invalid key.
            ProblemError: a key without the scope, or a session without its token.
        """
        return check_scope(request, self.scope)


def check_scope(request: HttpRequest, scope: str) -> Caller:
    """The caller, if they have the scope; also for checks inside an operation.

    Raises:
        AuthenticationError, ProblemError: as `ScopeAuth`.
    """
    caller = get_caller(request)
    if not caller.has_scope(scope):
        detail = f"This API key lacks the scope “{scope}”."
        raise ProblemError(HTTPStatus.FORBIDDEN, detail, "missing-scope", scope=scope)
    return caller


def require_reauthentication(request: HttpRequest) -> None:
    """Require a recent sign-in, as the pages do. Keys don't need one.

    Raises:
        ProblemError: the session's last sign-in is too long ago.
    """
    if get_caller(request).key is None and not is_confirmed(request):
        raise ProblemError(HTTPStatus.FORBIDDEN, CONFIRM_FIRST)


def require_scope(scope: str, replay: Replay = Replay.STORED, *, also: str = "") -> ScopeAuth:
    """The auth callback of an operation; `replay` matters for writes only.

    `also`: a further scope that the operation checks itself in some cases (`check_scope`), for the API description.
    """
    return ScopeAuth(scope, replay, also)


def get_caller(request: HttpRequest) -> Caller:
    """The caller; sets `request.user` to their user; the request then acts for that user.

    Raises:
        AuthenticationError: not signed in, or an invalid key.
        ProblemError: a session without its token.
    """
    known: Caller | None = request.META.get(_CALLER)
    if known is None:
        known = request.META[_CALLER] = _authenticate(request)
        request.user = known.user
    act_for(known.user.pk)
    return known


def person(request: HttpRequest) -> Any:
    """The signed-in user of an operation."""
    return request.user


def _authenticate(request: HttpRequest) -> Caller:
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        key = find_active_key(secret.strip())
        if key is None:
            raise AuthenticationError(message=INVALID_KEY)
        return Caller(key.user, key)
    user = request.user
    if not isinstance(user, User):
        user = getattr(user, "_wrapped", user)  # a session's lazy user, once evaluated
    if not request.user.is_authenticated:
        raise AuthenticationError(message=NOT_SIGNED_IN)
    if check_csrf(request) is not None:
        raise ProblemError(HTTPStatus.FORBIDDEN, CSRF_REQUIRED)
    return Caller(user, None)  # type: ignore[arg-type]
