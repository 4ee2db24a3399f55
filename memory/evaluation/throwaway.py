"""Whose conversations are they meanwhile? A user's who cannot sign in, and who goes with all that is theirs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final
from uuid import uuid4

from django.utils import timezone

from accounts.models import User

DOMAIN: Final = "evaluation.invalid"
"""Of their e-mail addresses; no real address ends so (RFC 2606)."""
LEFT_BEHIND_AFTER: Final = timedelta(days=1)
"""No evaluation takes so long: a user of this age was left by one whose process was killed."""


@contextmanager
def throw_away_user() -> Iterator[User]:
    """A user of their own for one conversation, removed however the block ends."""
    remove_left_behind()
    user = User.objects.create_user(f"{uuid4().hex}@{DOMAIN}", preferred_name="Evaluation", is_active=False)
    try:
        yield user
    finally:
        user.delete()


def remove_left_behind() -> None:
    """Remove the users of evaluations that could not clean up; one that runs now keeps its own."""
    long_ago = timezone.now() - LEFT_BEHIND_AFTER
    User.objects.filter(email__endswith=f"@{DOMAIN}", date_joined__lt=long_ago).delete()
