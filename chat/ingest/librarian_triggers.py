"""When does the librarian read a conversation? When it ends, idles, is left for a new one, or every 6 user turns."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from accounts.models import User
from chat.compaction import jobs
from chat.models import Conversation, ConversationQuerySet, Message
from memory.index.indexer import INDEX_TASK
from memory.librarian.run import request_reading
from memory.models import Chunk
from recall.celery import enqueue_on_commit
from recall.db.notify import publish_event
from recall.environment import setting

IDLE = timedelta(minutes=setting("session_idle_minutes", 20))
"""A conversation is paused after this long without a word (DESIGN §6)."""
TURNS_BETWEEN_READINGS = setting("librarian_every_turns", 6)
"""User turns after which a running conversation is read (DESIGN §6)."""
INDEX_BATCH = 200
"""Conversations queued for the index at a time, latest first; the scheduler calls again."""


@transaction.atomic
def end(conversation: Conversation) -> None:
    """The user ended the conversation: the librarian reads what it has not read. A new message opens it again."""
    locked = _locked(conversation.pk)
    if locked is not None:
        was_read = locked.librarian_watermark >= locked.next_seq - 1
        _close(locked, Conversation.Status.ENDED, "ended")
        jobs.request_at_end(locked)
        if was_read:  # else the run that reads the rest writes the conversation's document
            enqueue_on_commit("memory.tasks.file_conversation", locked.user_id, str(locked.pk))


def pause_idle() -> int:
    """Pause every conversation that went quiet and have it read; how many there were."""
    quiet = _unattended().filter(last_activity_at__lt=timezone.now() - IDLE)
    return sum(_pause(pk, quiet, "idle") for pk in quiet.values_list("pk", flat=True))


def leave_others(user: User, kept: UUID) -> None:
    """A new conversation was begun: those that are still active were left, and are read."""
    others = _unattended().for_user(user).exclude(pk=kept)
    for pk in others.values_list("pk", flat=True):
        _pause(pk, others, "left")


def _unattended() -> ConversationQuerySet:
    """Active conversations in which nothing is being written. One that is answered at this moment is neither idle nor
    left: the half-written answer would be handed to the librarian, and never be read again. The clock comes back."""
    active = Conversation.objects.not_deleted().filter(status=Conversation.Status.ACTIVE)
    return active.exclude(active_leaf__status=Message.Status.STREAMING)


def read_if_due(conversation: Conversation, turn: int) -> None:
    """Have a running conversation read every EVERY_TURNS turns."""
    if turn % TURNS_BETWEEN_READINGS == 0:
        with transaction.atomic():
            locked = _locked(conversation.pk)
            if locked is not None:
                _hand_over(locked, "turns")


@transaction.atomic
def _pause(pk: UUID, still: ConversationQuerySet, trigger: str) -> bool:
    """Pause the conversation if it is, now that it is locked, one of those it was chosen from; whether it was."""
    conversation = _locked(pk)
    if conversation is None or not still.filter(pk=pk).exists():
        return False
    _close(conversation, Conversation.Status.PAUSED, trigger)
    return True


def _close(conversation: Conversation, status: Conversation.Status, trigger: str) -> None:
    """Write the status and hand it over. The conversation is locked."""
    conversation.status = status
    conversation.ended_at = timezone.now() if status == Conversation.Status.ENDED else None
    conversation.save(update_fields=["status", "ended_at"])
    _hand_over(conversation, trigger)
    publish_event(f"user-{conversation.user_id}", "conversations")


def _hand_over(conversation: Conversation, trigger: str) -> None:
    """Have the librarian read all that came since its watermark, but not an answer that is still being written.
    The conversation is locked."""
    leaf = conversation.active_leaf
    first, covered = conversation.librarian_watermark + 1, conversation.next_seq - 1
    last = (
        leaf.seq if leaf is not None else covered
    )  # what came later belongs to another branch (chat/messages/branches.py)
    if leaf is not None and leaf.status == Message.Status.STREAMING:
        last = covered = leaf.seq - 1
    if first <= last:
        request_reading(conversation.user, conversation.pk, first, last, trigger)
    if first <= covered:
        Conversation.objects.filter(pk=conversation.pk).update(librarian_watermark=covered)


def _locked(pk: UUID) -> Conversation | None:
    """The conversation, locked; None: it was deleted. Its leaf is read afterwards: joined, it would be as of before."""
    rows = Conversation.objects.not_deleted().select_related("user").select_for_update(of=("self",))
    found: Conversation | None = rows.filter(pk=pk).first()
    return found


def index_what_was_missed() -> int:
    """Queue the conversations that have a user's words and no passage; how many."""
    said = Message.objects.filter(conversation=OuterRef("pk"), event_type=Message.Event.USER_MESSAGE)
    passages = Chunk.objects.filter(conversation=OuterRef("pk"))
    missed = Conversation.objects.not_deleted().filter(Exists(said), ~Exists(passages), active_leaf__isnull=False)
    found = list(missed.latest_first().values_list("pk", flat=True)[:INDEX_BATCH])
    for conversation_id in found:
        enqueue_on_commit(INDEX_TASK, str(conversation_id))
    return len(found)
