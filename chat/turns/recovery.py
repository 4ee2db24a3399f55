"""What becomes of an answer whose process died while it wrote it? It is marked interrupted; what was saved stays.

Each web process holds an advisory lock on its key (`recall/db/notify.py`), so a dead owner is known at once. A living
one is without its lock for a moment when the database starts again: a marked answer keeps the key, and when its process
closes it after all, that rules (`chat/turns/finish.py`).
"""

from __future__ import annotations

from django.db import transaction
from django.db.models import F, Func, JSONField, Value

from budget.receipts.record import close_abandoned
from chat.messages.outcomes import CRASHED
from chat.models import Message
from memory.forget_epoch import forgotten_since, try_lock_user
from recall.db.notify import PROCESS_KEY, abandoned_keys, publish_event
from recall.redaction import FORGOTTEN


def mark_abandoned_answers() -> int:
    """Mark each answer whose process is gone; how many there were. Runs at start and by the clock."""
    written = list(Message.objects.streaming().exclude(process_key=PROCESS_KEY))
    gone = abandoned_keys(m.process_key for m in written if m.process_key is not None)
    return sum(mark_if_abandoned(m) for m in written if m.process_key is None or m.process_key in gone)


def waits_here(message_id: int) -> bool:
    """Whether this process is to write the answer, and has not closed it."""
    return Message.objects.streaming().filter(pk=message_id, process_key=PROCESS_KEY).exists()


def abandon_answer(message_id: int, text: str) -> None:
    """Give up an answer of this process that could not be closed in order, with its text; it is marked as any other."""
    Message.objects.filter(pk=message_id, process_key=PROCESS_KEY).update(text=text, process_key=None)


def mark_if_abandoned(message: Message) -> bool:
    """Mark one answer interrupted if its process is gone, or has let it go."""
    key = message.process_key
    if key is not None and (key == PROCESS_KEY or not abandoned_keys([key])):
        return False
    told = Func(
        F("event_data"), Value({"stop_reason": CRASHED}, JSONField()), template="%(expressions)s", arg_joiner=" || "
    )
    with transaction.atomic():  # it stops being written and is counted as used at once: budget/spending/limits.py
        marked = (
            Message.objects.streaming()
            .filter(pk=message.pk, process_key=key)
            .update(status=Message.Status.INTERRUPTED, event_data=told, **_text_now(message))
        )
        if not marked:
            return False
        close_abandoned(message.pk)
    message.status = Message.Status.INTERRUPTED
    publish_event(f"user-{message.user_id}", "conversation", conversation=str(message.conversation_id))
    return True


def _text_now(message: Message) -> dict[str, str]:
    """Whether its prompt held what was forgotten meanwhile, only its process knew: the text goes in any case."""
    try_lock_user(message.user_id)
    return {"text": FORGOTTEN} if forgotten_since(message.user_id, message.created_at) else {}
