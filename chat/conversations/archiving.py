"""What becomes of a conversation that is archived? It is out of the list; it is found, recalled and read as before.

    archive    sets `archived_at`, the same moment for all that go by one click
    undo       takes it off those that went at that moment, so that what was archived before stays where it is
    put_back   takes it off those that are named

A new message in one puts it back, too (chat/turns/intake.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from django.utils import timezone

from accounts.models import User
from chat.models import Conversation, ConversationQuerySet
from recall.db.notify import publish_event

UNDO: Final = "undo-archiving"
"""Extra tag of a notice that offers to put back what was archived, followed by the moment (templates/base.html)."""
NOTHING_TO_UNDO: Final = "There is nothing to put back: it is in your list already, or was deleted."


def archive(user: User, conversations: Sequence[UUID]) -> tuple[datetime, int]:
    """Take those of the user's out of the list; the moment, by which `undo` finds them, and how many they were."""
    moment = timezone.now()
    changed = _mine(user).filter(pk__in=conversations, archived_at=None).update(archived_at=moment)
    _tell(user)
    return moment, changed


def undo(user: User, moment: datetime) -> list[UUID]:
    """Put back what was archived at that moment; those it put back."""
    found = list(_mine(user).filter(archived_at=moment).values_list("pk", flat=True))
    put_back(user, found)
    return found


def put_back(user: User, conversations: Sequence[UUID]) -> int:
    """Put those of the user's back into the list; how many changed their place."""
    changed = _mine(user).filter(pk__in=conversations, archived_at__isnull=False).update(archived_at=None)
    _tell(user)
    return changed


def _mine(user: User) -> ConversationQuerySet:
    return Conversation.objects.not_deleted().for_user(user)


def _tell(user: User) -> None:
    publish_event(f"user-{user.pk}", "conversations")
