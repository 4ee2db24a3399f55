"""What else changes when a session begins or ends, or a password changes?

open sockets   were let in by a session: all are told to open again, and the handshake lets in whoever still may
API keys       go on when somebody changes their password, whose page says so. Whoever has to reset it may not have
               made them: all are revoked
the session    notes when it began (`accounts/reauthentication.py`)
"""

from __future__ import annotations

import time
from typing import Any, Final

from allauth.account.signals import password_changed, password_reset, password_set
from django.contrib import messages
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.db.models.signals import post_save
from django.dispatch import receiver
from django.http import HttpRequest

from accounts.api import keys
from accounts.models import User
from recall.db.notify import publish_event

SESSIONS_CHANGED = "sessions_changed"
SIGNED_IN_AT: Final = "recall.signed_in_at"
"""Where a session keeps when it began, in seconds of the epoch."""


@receiver(user_logged_in)
def note_when(request: HttpRequest, **_: Any) -> None:
    """By password, passkey or sign-up: allauth's own records leave the last one out."""
    request.session[SIGNED_IN_AT] = time.time()


@receiver(password_reset)
def revoke_keys(request: HttpRequest, user: User, **_: Any) -> None:
    """Told on the page that says the password is changed."""
    if count := keys.revoke_all(user):
        told = "The API key of this account is" if count == 1 else f"All {count} API keys of this account are"
        messages.warning(request, f"{told} revoked, as somebody else may have made {'it' if count == 1 else 'them'}.")


@receiver([user_logged_out, password_changed, password_reset, password_set])
def close_user_sockets(user: User | None, **_: Any) -> None:
    """Have every process close the person's sockets, so that each is let in anew, or not."""
    if user is not None:
        publish_event(f"user-{user.pk}", SESSIONS_CHANGED)


@receiver(post_save, sender=User)
def close_sockets_of_the_deactivated(instance: User, **_: Any) -> None:
    """Somebody who may not sign in any more may not go on listening, either."""
    if not instance.is_active:
        publish_event(f"user-{instance.pk}", SESSIONS_CHANGED)
