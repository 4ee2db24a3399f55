"""What else changes when a session ends or a password changes: open sockets, which were let in by the session.

They are all told to open again; the handshake lets in whoever still may.
"""

from __future__ import annotations

from typing import Any

from allauth.account.signals import password_changed, password_reset, password_set
from django.contrib.auth.signals import user_logged_out
from django.db.models.signals import post_save
from django.dispatch import receiver

from accounts.models import User
from recall.nudges import nudge

SESSIONS_CHANGED = "sessions_changed"


@receiver([user_logged_out, password_changed, password_reset, password_set])
def check_sockets_again(user: User | None, **_: Any) -> None:
    """Have every process close the person's sockets, so that each is let in anew, or not."""
    if user is not None:
        nudge(f"user-{user.pk}", SESSIONS_CHANGED)


@receiver(post_save, sender=User)
def close_sockets_of_the_deactivated(instance: User, **_: Any) -> None:
    """Somebody who may not sign in any more may not go on listening, either."""
    if not instance.is_active:
        nudge(f"user-{instance.pk}", SESSIONS_CHANGED)
