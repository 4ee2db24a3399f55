"""Who is shown the first words? Whoever has begun no conversation, and has not said that they read them."""

from __future__ import annotations

from django.utils import timezone

from accounts.models import User
from chat.models import Conversation


def is_first(user: User) -> bool:
    """Whether the empty chat begins with the first words. One query, for those who never closed them."""
    return user.welcomed_at is None and not Conversation.objects.for_user(user).exists()


def close(user: User) -> None:
    """They were read: the time is that of the first time."""
    User.objects.filter(pk=user.pk, welcomed_at=None).update(welcomed_at=timezone.now())
