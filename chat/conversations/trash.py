"""Soft delete of conversations: hidden at once, restorable for 30 minutes, then purged.

    delete   sets `deleted_at`: lists, pages, search and recall start at `not_deleted()` (chat/models.py)
    undo     clears it: nothing was removed, so vectors and counters are as before
    purge    by the scheduler: deletes the rows, what belongs to them, and documents made from them

What was learned from it stays, with the quoted words; `memory/forgetting/` erases that.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.api import idempotency
from accounts.models import User
from chat.models import Conversation, ConversationQuerySet, Message
from memory.documents.artifacts import remove_artifacts
from memory.librarian.document_updates import remove_digest
from recall.db.notify import publish_event

UNDO_FOR: Final = timedelta(minutes=30)
"""Long enough to notice a mistake; short enough for “deleted” to be true within the hour."""
UNDO: Final = "undo"
"""Extra tag of a notice that offers to undo a deletion, followed by its time (templates/base.html)."""
BATCH: Final = 200
"""Conversations purged in one round; the next round is a minute later."""


class AnswerStreamingError(Exception):
    """Nothing was deleted, because an answer is being generated in one of them."""


@transaction.atomic
def delete(user: User, conversations: Sequence[UUID]) -> tuple[datetime, int]:
    """Hide these conversations of the user; returns the time, which `undo` takes, and how many they were.

    Raises:
        AnswerStreamingError: an answer is being generated in one of them.
    """
    owned = Conversation.objects.not_deleted().for_user(user).filter(pk__in=conversations)
    found = list(owned.order_by("pk").select_for_update().values_list("pk", flat=True))
    if Message.objects.streaming().filter(conversation__in=found).exists():
        raise AnswerStreamingError
    moment = timezone.now()
    Conversation.objects.filter(pk__in=found).update(deleted_at=moment)
    notify_lists(user)
    return moment, len(found)


@transaction.atomic
def undo(user: User, moment: datetime) -> list[UUID]:
    """Restore what was deleted at that time; returns the restored ids."""
    gone = Conversation.objects.for_user(user).filter(deleted_at=moment)
    found = list(gone.select_for_update().values_list("pk", flat=True))
    Conversation.objects.filter(pk__in=found).update(deleted_at=None)
    notify_lists(user)
    return found


def purge(now: datetime) -> int:
    """Delete permanently what was deleted longer ago than `UNDO_FOR`; returns how many."""
    due = Conversation.objects.filter(deleted_at__lte=now - UNDO_FOR).order_by("deleted_at", "pk")
    found = list(due.values_list("pk", flat=True)[:BATCH])
    return sum(remove(pk, due) is not None for pk in found)


@transaction.atomic
def remove(pk: UUID, due: ConversationQuerySet) -> User | None:
    """Delete one permanently if it is still `due` under its lock. Returns its owner, or None if not due or busy."""
    locked = due.select_related("user").select_for_update(of=("self",))
    conversation: Conversation | None = locked.filter(pk=pk).first()
    if conversation is None or Message.objects.streaming().filter(conversation=pk).exists():
        return None
    user = conversation.user
    conversation.delete()
    remove_artifacts(user, str(pk))  # after the delete: a worker storing an artifact locks its message row
    remove_digest(user, pk)
    idempotency.drop_answers(user)
    return user


def notify_lists(user: User) -> None:
    """Have the user's open pages reload the conversation list."""
    publish_event(f"user-{user.pk}", "conversations")
    publish_event(f"user-{user.pk}", "budget")
