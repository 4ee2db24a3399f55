"""When the librarian reads a conversation: when it ends, idles, is left for a new one, or every 6 user turns.

Also queues conversations with messages that are missing from the index.
"""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from accounts.models import User
from chat.compaction import jobs
from chat.models import Conversation, ConversationQuerySet, Message
from memory.index.indexer import INDEX_TASK
from memory.librarian.run import request_reading
from recall.celery import enqueue_on_commit
from recall.db.notify import publish_event
from recall.db.prepared import PreparedQuery, PreparedUpdate
from recall.db.sql_files import load_sql
from recall.environment import setting
from recall.redaction import FORGOTTEN

IDLE = timedelta(minutes=setting("session_idle_minutes", 20))
"""A conversation without a message for this long is paused (DESIGN §6)."""
TURNS_BETWEEN_READINGS = setting("librarian_every_turns", 6)
"""User turns between two readings of an active conversation (DESIGN §6)."""
LATEST = 50_000
"""Messages, by id, that are looked through each time: more than thousands of users write in ten minutes."""
INDEX_BATCH = 200
"""Conversations queued for the index at a time, latest first; the scheduler calls again."""
NIGHTLY_BATCH = 10_000
"""The same at night, when older ones are found too."""


_OTHERS: Final = PreparedQuery(
    lambda user, kept: _unattended().filter(user=user).exclude(pk=kept).values_list("pk", flat=True),
    user=int,
    kept=UUID,
)
_LOCKED: Final = PreparedQuery(
    lambda conversation: Conversation.objects.not_deleted().filter(pk=conversation).select_for_update(),
    conversation=UUID,
)
_LEAF: Final = PreparedQuery(lambda message: Message.objects.filter(pk=message).defer("text", "search"), message=int)
_SAVED: Final = PreparedUpdate(Conversation, "status", "ended_at", "librarian_watermark")


@transaction.atomic
def end(conversation: Conversation) -> bool:
    """End the conversation at the user's request and have its unread rest read; returns whether there was any.

    A new message reopens it.
    """
    locked = _lock_conversation(conversation.pk)
    if locked is None:
        return False
    was_read = locked.librarian_watermark >= locked.next_seq - 1
    is_handed_over = _close(locked, Conversation.Status.ENDED, "ended")
    jobs.request_at_end(locked)
    if was_read:  # otherwise the run over the rest writes the conversation's document
        enqueue_on_commit("memory.tasks.file_conversation", locked.user_id, str(locked.pk))
    return is_handed_over


def pause_idle() -> int:
    """Pause every idle conversation and have it read; returns how many."""
    before = timezone.now() - IDLE
    quiet = _unattended().filter(last_activity_at__lt=before).values_list("pk", flat=True)
    return sum(_pause(pk, "idle", before) for pk in quiet)


def leave_others(user: User, kept: UUID) -> None:
    """A new conversation was started: pause the other active ones and have them read."""
    for pk in _OTHERS(user=user.pk, kept=kept):
        _pause(pk, "left", timezone.now())


def find_unread(user: User) -> Conversation | None:
    """The latest active conversation with words of the user that no reading covers yet. Imported ones aren't active."""
    said = Message.objects.filter(
        conversation=OuterRef("pk"), role=Message.Role.USER, seq__gt=OuterRef("librarian_watermark")
    )
    active = Conversation.objects.not_deleted().filter(user=user, status=Conversation.Status.ACTIVE)
    return active.filter(Exists(said)).order_by("-last_activity_at").first()


def _unattended() -> ConversationQuerySet:
    """Active conversations without an answer in progress: a half-written answer would be handed over and never read
    again. The scheduler calls again."""
    active = Conversation.objects.not_deleted().filter(status=Conversation.Status.ACTIVE)
    return active.exclude(active_leaf__status=Message.Status.STREAMING)


def read_if_due(conversation: Conversation, turn: int) -> None:
    """Have an active conversation read every TURNS_BETWEEN_READINGS turns."""
    if turn % TURNS_BETWEEN_READINGS == 0:
        with transaction.atomic():
            locked = _lock_conversation(conversation.pk)
            if locked is not None:
                _hand_over(locked, "turns")


@transaction.atomic
def _pause(pk: UUID, trigger: str, before: datetime) -> bool:
    """Pause the conversation if under its lock it is still unattended, and quiet since `before`; returns whether."""
    conversation = _lock_conversation(pk)
    if conversation is None or not _is_unattended(conversation) or conversation.last_activity_at >= before:
        return False
    _close(conversation, Conversation.Status.PAUSED, trigger)
    return True


def _is_unattended(conversation: Conversation) -> bool:
    leaf = conversation.active_leaf
    is_answered = leaf is None or leaf.status != Message.Status.STREAMING
    return conversation.status == Conversation.Status.ACTIVE and is_answered


def _close(conversation: Conversation, status: Conversation.Status, trigger: str) -> bool:
    """Set the status and hand the conversation over; returns whether anything is to be read. It is locked."""
    conversation.status = status
    conversation.ended_at = timezone.now() if status == Conversation.Status.ENDED else None
    is_handed_over = _hand_over(conversation, trigger)
    publish_event(f"user-{conversation.user_id}", "conversations")
    return is_handed_over


def _hand_over(conversation: Conversation, trigger: str) -> bool:
    """Have the librarian read everything after its watermark, except an answer in progress, and save the row, which is
    locked; returns whether anything is to be read."""
    leaf = conversation.active_leaf
    first, covered = conversation.librarian_watermark + 1, conversation.next_seq - 1
    last = leaf.seq if leaf is not None else covered  # later messages are on other branches
    if leaf is not None and leaf.status == Message.Status.STREAMING:
        last = covered = leaf.seq - 1
    if first <= last:
        request_reading(conversation.user_id, conversation.pk, first, last, trigger)
    conversation.librarian_watermark = max(covered, conversation.librarian_watermark)
    _SAVED(conversation)
    return first <= last


def _lock_conversation(pk: UUID) -> Conversation | None:
    """Lock the conversation; None if it was deleted. Its leaf is read after locking: a join would give the old one."""
    found = _LOCKED.first(conversation=pk)
    if found is not None and found.active_leaf_id is not None:
        found.active_leaf = _LEAF.first(message=found.active_leaf_id)
    return found


def queue_missing_indexes(*, everywhere: bool = False) -> int:
    """Queue the conversations with a user message that has no passage; returns how many.

    Looks at the latest messages, which a crash may have left, or everywhere, which takes longer the more there are.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT max(id) FROM chat_message")
        after = 0 if everywhere else (cursor.fetchone()[0] or 0) - LATEST  # as a value: the planner sees how few follow
        batch = NIGHTLY_BATCH if everywhere else INDEX_BATCH
        cursor.execute(_UNINDEXED, {"forgotten": FORGOTTEN, "batch": batch, "after": after})
        found = [conversation_id for (conversation_id,) in cursor.fetchall()]
    for conversation_id in found:
        enqueue_on_commit(INDEX_TASK, str(conversation_id))
    return len(found)


_UNINDEXED: Final = load_sql(Path(__file__).with_suffix(".sql"))
