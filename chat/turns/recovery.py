"""Crash recovery: mark answers interrupted whose process died while writing them; their saved text stays.

Each web process holds an advisory lock on its key (`recall/db/notify.py`), so a dead owner is detected at once. A
living process loses its lock for a moment when the database restarts: a marked answer keeps the key, and if its
process finishes it after all, that result wins (`chat/turns/finish.py`).
"""

from typing import Any

from django.db import transaction

from budget.receipts.record import PROCESS_ENDED, close_abandoned
from chat.messages.thinking import masked_thinking, merged_event_data, thinking_of
from chat.models import Message
from memory.forget_epoch import forgotten_since, try_lock_user
from memory.index.indexer import INDEX_TASK
from recall.celery import enqueue_on_commit
from recall.db.notify import PROCESS_KEY, abandoned_keys, publish_event
from recall.redaction import FORGOTTEN


def mark_abandoned_answers() -> int:
    """Mark every answer whose process is gone; returns their number. Runs at startup and on a schedule."""
    streaming = list(Message.objects.streaming().exclude(process_key=PROCESS_KEY))
    gone = abandoned_keys(m.process_key for m in streaming if m.process_key is not None)
    return sum(mark_if_abandoned(m) for m in streaming if m.process_key is None or m.process_key in gone)


def take_up(message_id: int) -> bool:
    """Whether the answer is this process's and not finished. One that was marked while the database had restarted, and
    this process hadn't its lock back yet, is being generated again."""
    unfinished = Message.objects.filter(status__in=(Message.Status.STREAMING, Message.Status.INTERRUPTED))
    return unfinished.filter(pk=message_id, process_key=PROCESS_KEY).update(status=Message.Status.STREAMING) > 0


def abandon_answer(message_id: int) -> None:
    """Give up an answer of this process that could not be saved; `mark_abandoned_answers` marks it."""
    Message.objects.filter(pk=message_id, process_key=PROCESS_KEY).update(process_key=None)


def mark_if_abandoned(message: Message) -> bool:
    """Mark one answer interrupted if its process is gone, or has given it up."""
    key = message.process_key
    if key is not None and (key == PROCESS_KEY or not abandoned_keys([key])):
        return False
    with transaction.atomic():  # status and usage change together: budget/spending/limits.py
        marked = (
            Message.objects.streaming()
            .filter(pk=message.pk, process_key=key)
            .update(status=Message.Status.INTERRUPTED, **_abandoned_contents(message))
        )
        if not marked:
            return False
        close_abandoned(message.pk)
        enqueue_on_commit(INDEX_TASK, str(message.conversation_id))  # the dead process would have indexed the question
    message.status = Message.Status.INTERRUPTED
    publish_event(f"user-{message.user_id}", "conversation", conversation=str(message.conversation_id))
    return True


def _abandoned_contents(message: Message) -> dict[str, Any]:
    """How it ended. Text and thinking are erased if anything was forgotten since: only the dead process knew whether
    its prompt held it."""
    try_lock_user(message.user_id)
    if forgotten_since(message.user_id, message.created_at):
        return {"event_data": merged_event_data(stop_reason=PROCESS_ENDED, thinking=""), "text": FORGOTTEN}
    question = message.parent.text if message.parent is not None else ""
    thinking = masked_thinking(thinking_of(message.event_data), question)
    return {"event_data": merged_event_data(stop_reason=PROCESS_ENDED, **({"thinking": thinking} if thinking else {}))}
