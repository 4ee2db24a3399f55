"""What becomes of a conversation that is deleted? It is out of sight at once, and for good half an hour later.

    delete    sets `deleted_at`: lists, pages, search and recall begin at `standing()` (chat/models.py) and pass it by
    undo      takes it off again: nothing was removed, so everything is as it was, vectors and counters included
    empty     by the clock: the rows go, with what hangs on them, and with what was kept or told of it in documents

What was learned from it stays in any case, with the words it rests on; `memory/forgetting/` takes that away.
"""

from __future__ import annotations

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
from memory.librarian.document_updates import remove_told
from recall.db.notify import publish_event

UNDO_FOR: Final = timedelta(minutes=30)
"""Long enough to notice a slip; short enough for “deleted” to be true the same hour."""
UNDO: Final = "undo"
"""Extra tag of a notice that offers to bring back what was deleted, followed by the moment (templates/base.html)."""
AT_ONCE: Final = 200
"""Conversations the clock removes in one round: the next comes in a minute."""


class StillAnswering(Exception):
    """Nothing was deleted: an answer is being written in one of them."""


@transaction.atomic
def delete(user: User, conversations: Sequence[UUID]) -> tuple[datetime, int]:
    """Put those of the user's out of sight; the moment, by which `undo` finds them, and how many they were.

    Raises:
        StillAnswering: an answer is being written in one of them.
    """
    mine = Conversation.objects.not_deleted().for_user(user).filter(pk__in=conversations)
    found = list(mine.order_by("pk").select_for_update().values_list("pk", flat=True))
    if Message.objects.streaming().filter(conversation__in=found).exists():
        raise StillAnswering
    moment = timezone.now()
    Conversation.objects.filter(pk__in=found).update(deleted_at=moment)
    notify_lists(user)
    return moment, len(found)


@transaction.atomic
def undo(user: User, moment: datetime) -> list[UUID]:
    """Bring back what was deleted at that moment; those it brought back."""
    gone = Conversation.objects.for_user(user).filter(deleted_at=moment)
    found = list(gone.select_for_update().values_list("pk", flat=True))
    Conversation.objects.filter(pk__in=found).update(deleted_at=None)
    notify_lists(user)
    return found


def purge(now: datetime) -> int:
    """Remove for good what was deleted longer ago than `UNDO_FOR`; how many."""
    due = Conversation.objects.filter(deleted_at__lte=now - UNDO_FOR).order_by("deleted_at", "pk")
    found = list(due.values_list("pk", flat=True)[:AT_ONCE])
    return sum(remove(pk, due) is not None for pk in found)


@transaction.atomic
def remove(pk: UUID, due: ConversationQuerySet) -> User | None:
    """Remove one for good, if it is still `due` now that it is locked; whose it was. None: it is not, or is busy."""
    locked = due.select_related("user").select_for_update(of=("self",))
    conversation: Conversation | None = locked.filter(pk=pk).first()
    if conversation is None or Message.objects.streaming().filter(conversation=pk).exists():
        return None
    user = conversation.user
    conversation.delete()
    remove_artifacts(user, str(pk))  # afterwards: a worker that keeps one now holds its message's row
    remove_told(user, pk)
    idempotency.drop_answers(user)
    return user


def notify_lists(user: User) -> None:
    """Have their open pages read anew which conversations there are."""
    publish_event(f"user-{user.pk}", "conversations")
    publish_event(f"user-{user.pk}", "budget")
