"""What of the chat stops when somebody leaves? Answers that are being written, in whatever process they are."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from accounts.deletion import account_deletion_started
from accounts.models import User
from chat.models import Message
from chat.turns.stop import publish_stop


@receiver(account_deletion_started)
def stop_answers(user: User, **_: Any) -> None:
    """Have every answer to this person stopped: what it writes afterwards finds no row."""
    running = Message.objects.for_user(user).streaming()
    for conversation_id in running.values_list("conversation_id", flat=True):
        publish_stop(conversation_id)
