"""Sessions, and side effects of signing in or out and of password changes.

open sockets   all are closed and reopen; the handshake refuses those without a valid session
API keys       keep working after a password change, whose page says so. A reset revokes them all: someone else may
               have created them
the session    records when it started (`accounts/reauthentication.py`)
"""

import logging
import time
from typing import Any, Final

from allauth.account.internal.flows.login import (
    _AUTHENTICATION_METHODS_USER_SESSION_KEY,
    AUTHENTICATION_METHODS_SESSION_KEY,
)
from allauth.account.signals import password_changed, password_reset, password_set
from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.backends.db import SessionStore as DatabaseSessionStore
from django.db import DatabaseError, transaction
from django.db.models.signals import post_save
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from accounts.api import keys
from accounts.models import User
from accounts.reauthentication import SIGNED_IN_AT
from recall.db.notify import publish_event

log = logging.getLogger(__name__)

SESSIONS_CHANGED = "sessions_changed"

KEPT: Final = frozenset(
    {SESSION_KEY, BACKEND_SESSION_KEY, HASH_SESSION_KEY, SIGNED_IN_AT}
    | {AUTHENTICATION_METHODS_SESSION_KEY, _AUTHENTICATION_METHODS_USER_SESSION_KEY}
)
"""Keys without which a user would be signed out or asked for the password again; none holds the user's words."""


class SessionStore(DatabaseSessionStore):
    """Django's, which asks the database for any key in a cookie: it refuses a NUL with an error."""

    def _validate_session_key(self, key: str | None) -> bool:
        is_key: bool = super()._validate_session_key(key)  # type: ignore[misc]  # the stubs leave it out
        return is_key and bool(key and key.isascii() and key.isalnum())


def list_sessions(user: User) -> list[UserSession]:
    """The user's sessions that haven't ended; rows of those that have are removed, unless nothing can be written."""
    try:
        with transaction.atomic():
            return list(UserSession.objects.purge_and_list(user))
    except DatabaseError as error:
        log.warning("Ended sessions were not removed (%s).", type(error).__name__)
        return [session for session in UserSession.objects.filter(user=user) if session.exists()]


def forget_words(user: User, current: SessionBase | None = None) -> None:
    """Remove everything but KEPT from the user's sessions: messages to be shown, paths, names. They stay signed in.

    `current`: the session of this request, which is saved at its end.
    """
    for key in UserSession.objects.filter(user=user).values_list("session_key", flat=True):
        session = SessionStore(key)
        if _strip(session):
            session.save()
    if current is not None:
        _strip(current)


def _strip(session: SessionBase) -> bool:
    more = session.keys() - KEPT
    for name in more:
        del session[name]
    return bool(more)


@receiver(user_logged_in)
def record_sign_in(request: HttpRequest, **_: Any) -> None:
    """Record a sign-in by password, passkey or sign-up: allauth's own records omit the last."""
    request.session[SIGNED_IN_AT] = time.time()


@receiver(password_reset)
def revoke_keys(request: HttpRequest, user: User, **_: Any) -> None:
    """Revoke all keys; the page after the reset says so."""
    if count := keys.active_keys(user).update(revoked_at=timezone.now()):
        revoked = "This account's API key was" if count == 1 else f"All {count} API keys of this account were"
        messages.warning(request, f"{revoked} revoked, in case someone else created {'it' if count == 1 else 'them'}.")


@receiver([user_logged_out, password_changed, password_reset, password_set])
def close_user_sockets(user: User | None, **_: Any) -> None:
    """Have every process close the user's sockets; they reconnect if their session is still valid."""
    if user is not None:
        publish_event(f"user-{user.pk}", SESSIONS_CHANGED)


@receiver(post_save, sender=User)
def close_deactivated_user_sockets(instance: User, **_: Any) -> None:
    """Close a deactivated user's open sockets, too."""
    if not instance.is_active:
        publish_event(f"user-{instance.pk}", SESSIONS_CHANGED)
