"""Stop across processes: an event to every web process, and the task that receives it."""

from __future__ import annotations

import asyncio
from typing import Any, Final
from uuid import UUID

from channels.layers import get_channel_layer
from django.dispatch import receiver

from accounts.deletion import account_deletion_started
from accounts.models import User
from chat.models import Message
from chat.turns.live import TURN_REGISTRY
from recall.db.notify import publish_event

PROCESSES: Final = "web-processes"
"""Channel group of every web process."""
REJOIN_EVERY: Final = 3600.0
"""Seconds: a channel layer drops members after a day."""


def publish_stop(conversation_id: UUID) -> None:
    """Ask the process that is writing in this conversation to stop."""
    publish_event(PROCESSES, "stop", conversation=str(conversation_id))


@receiver(account_deletion_started)
def stop_answers(user: User, **_: Any) -> None:
    """Stop every answer to this user: what it writes afterwards finds no row."""
    running = Message.objects.for_user(user).streaming()
    for conversation_id in running.values_list("conversation_id", flat=True):
        publish_stop(conversation_id)


async def listen_for_stops() -> None:
    """Stop this process's turns when another process asks for it. Runs as long as the process serves."""
    layer = get_channel_layer()
    channel = await layer.new_channel("stops")
    while True:
        await layer.group_add(PROCESSES, channel)
        try:
            async with asyncio.timeout(REJOIN_EVERY):
                while True:
                    _handle(await layer.receive(channel))
        except TimeoutError:
            continue


def _handle(message: dict[str, Any]) -> None:
    if message.get("kind") == "stop":
        TURN_REGISTRY.stop(UUID(message["conversation"]))
