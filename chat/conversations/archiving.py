"""Archiving: an archived conversation leaves the list, but is found, recalled and read as before.

    archive    sets `archived_at`, the same time for all that are archived together
    undo       clears it for those archived at that time only
    unarchive  clears it for the given ones

A new message unarchives a conversation, too (chat/turns/intake.py).
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from django.utils import timezone

from accounts.models import User
from chat.models import Conversation, ConversationQuerySet
from recall.db.notify import publish_event

UNDO: Final = "undo-archiving"
"""Extra tag of a notice that offers to undo archiving, followed by its time (templates/base.html)."""
NOTHING_TO_UNDO: Final = "Nothing to restore. It is already in your list, or was deleted."


def archive(user: User, conversations: Sequence[UUID]) -> tuple[datetime, int]:
    """Archive these conversations of the user; returns the time, which `undo` takes, and how many they were."""
    moment = timezone.now()
    changed = _own_conversations(user).filter(pk__in=conversations, archived_at=None).update(archived_at=moment)
    publish_event(f"user-{user.pk}", "conversations")
    return moment, changed


def undo(user: User, moment: datetime) -> list[UUID]:
    """Unarchive what was archived at that time; returns the ids."""
    found = list(_own_conversations(user).filter(archived_at=moment).values_list("pk", flat=True))
    unarchive(user, found)
    return found


def unarchive(user: User, conversations: Sequence[UUID]) -> int:
    """Unarchive these conversations of the user; returns how many changed."""
    changed = _own_conversations(user).filter(pk__in=conversations, archived_at__isnull=False).update(archived_at=None)
    publish_event(f"user-{user.pk}", "conversations")
    return changed


def _own_conversations(user: User) -> ConversationQuerySet:
    return Conversation.objects.not_deleted().for_user(user)
