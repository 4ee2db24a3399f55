"""When does the librarian read a conversation? When it ends, idles, is left for a new one, or every 6 user turns."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts.models import User
from chat.models import Conversation
from memory.librarian import request_reading
from recall.nudges import nudge

IDLE = timedelta(minutes=20)
"""A conversation is paused after this long without a word (DESIGN §6)."""
EVERY_TURNS = 6
"""User turns after which a running conversation is read (DESIGN §6)."""


def end(conversation: Conversation) -> None:
    """The user ended the conversation: the librarian reads what it has not read. A new message opens it again."""
    _close(conversation.pk, Conversation.Status.ENDED, "ended")


def pause_idle() -> int:
    """Pause every conversation that went quiet and have it read; how many there were."""
    quiet = Conversation.objects.filter(
        status=Conversation.Status.ACTIVE, last_activity_at__lt=timezone.now() - IDLE
    ).values_list("pk", flat=True)
    for pk in quiet:
        _close(pk, Conversation.Status.PAUSED, "idle")
    return len(quiet)


def leave_others(user: User, kept: UUID) -> None:
    """A new conversation was begun: those that are still active were left, and are read."""
    others = Conversation.objects.for_user(user).filter(status=Conversation.Status.ACTIVE).exclude(pk=kept)
    for pk in others.values_list("pk", flat=True):
        _close(pk, Conversation.Status.PAUSED, "left")


def read_if_due(conversation: Conversation, turn: int) -> None:
    """Have a running conversation read every EVERY_TURNS turns."""
    if turn % EVERY_TURNS == 0:
        with transaction.atomic():
            _hand_over(_locked(conversation.pk), "turns")


@transaction.atomic
def _close(pk: UUID, status: Conversation.Status, trigger: str) -> None:
    conversation = _locked(pk)
    conversation.status = status
    conversation.ended_at = timezone.now() if status == Conversation.Status.ENDED else None
    conversation.save(update_fields=["status", "ended_at"])
    _hand_over(conversation, trigger)
    nudge(f"user-{conversation.user_id}", "conversations")


def _hand_over(conversation: Conversation, trigger: str) -> None:
    """Have the librarian read all that came since its watermark. The conversation is locked."""
    first, last = conversation.librarian_watermark + 1, conversation.next_seq - 1
    if first > last:
        return
    request_reading(conversation.user, conversation.pk, first, last, trigger)
    Conversation.objects.filter(pk=conversation.pk).update(librarian_watermark=F("next_seq") - 1)


def _locked(pk: UUID) -> Conversation:
    locked: Conversation = Conversation.objects.select_related("user").select_for_update(of=("self",)).get(pk=pk)
    return locked
