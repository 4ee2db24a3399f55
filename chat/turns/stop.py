"""How does a Stop reach the process that writes the answer? At once if it is this one, else by a nudge to all."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

from channels.layers import get_channel_layer
from django.dispatch import receiver

from accounts.deletion import account_deletion_started
from accounts.models import User
from chat.models import Message
from chat.turns.live import TURN_REGISTRY
from recall.db.notify import publish_event

PROCESSES = "web-processes"
"""The group every web process listens to."""
REJOIN = 3600.0
"""Seconds after which a process joins again: a channel layer forgets members after a day."""


def publish_stop(conversation_id: UUID) -> None:
    """Ask whichever process is writing in this conversation to stop."""
    publish_event(PROCESSES, "stop", conversation=str(conversation_id))


@receiver(account_deletion_started)
def stop_answers(user: User, **_: Any) -> None:
    """Stop every answer to this user: what it writes afterwards finds no row."""
    running = Message.objects.for_user(user).streaming()
    for conversation_id in running.values_list("conversation_id", flat=True):
        publish_stop(conversation_id)


async def listen_for_stops() -> None:
    """Stop this process's turns when another process asks for it. Runs as a task for as long as the process serves."""
    layer = get_channel_layer()
    channel = await layer.new_channel("stops")
    while True:
        await layer.group_add(PROCESSES, channel)
        try:
            async with asyncio.timeout(REJOIN):
                while True:
                    _obey(await layer.receive(channel))
        except TimeoutError:
            continue


def _obey(message: dict[str, Any]) -> None:
    if message.get("kind") == "stop":
        TURN_REGISTRY.stop(UUID(message["conversation"]))
