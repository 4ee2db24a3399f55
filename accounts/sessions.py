"""What else ends when somebody signs out: their open sockets, which were let in by the session."""

from __future__ import annotations

import hashlib
from typing import Any

from django.contrib.auth.signals import user_logged_out
from django.dispatch import receiver
from django.http import HttpRequest

from accounts.models import User
from recall.nudges import nudge


def session_digest(session_key: str | None) -> str:
    """What names a session between processes: the key itself would let its reader in."""
    return hashlib.sha256(session_key.encode()).hexdigest()[:32] if session_key else ""


@receiver(user_logged_out)
def close_sockets(user: User | None, request: HttpRequest, **_: Any) -> None:
    """Tell every process to close the sockets of the session that ends."""
    if user is not None:
        nudge(f"user-{user.pk}", "signed_out", session=session_digest(request.session.session_key))
