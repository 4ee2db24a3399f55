"""Turns of other web processes: stop them, and watch what they write.

A process publishes an answer's text only after another one asked for it, so a turn that no one watches from elsewhere
costs nothing. Text goes to the owner's sockets as events, some 150 ms of it at a time.
"""

import asyncio
from functools import partial
from typing import Any, Final
from uuid import UUID

import psycopg
from channels.layers import get_channel_layer
from django.db import Error as DatabaseError

from accounts.models import User
from chat.messages.thinking import merged_event_data
from chat.models import Message
from chat.turns.live import TURN_REGISTRY, RunningTurn
from recall.db.acting import as_user
from recall.db.connections import run_at_once, run_in_thread
from recall.db.notify import PROCESS_KEY, RESYNC, publish_event

PROCESSES: Final = "web-processes"
"""Channel group of every web process."""
SHARE_EVERY: Final = 0.15
"""Seconds between two events of one answer: text is seen elsewhere within 300 ms."""
SHARE_AGAIN: Final = 1.0
"""Seconds until the next attempt after the database refused one."""
PIECE: Final = 1_200
"""Characters of one event: a notification holds 8,000 bytes, and a character takes up to six of them as JSON."""
STOP_ASKED: Final = "stop_asked"
"""Key of an answer's `event_data` until it ends."""
STARTED, DELTA, THOUGHT = "started", "delta", "thought"
"""Kinds of events to the user's sockets: another process writes in this conversation; more of its text, of its
thinking."""


def publish_stop(conversation_id: UUID) -> None:
    """Ask the process that is writing in this conversation to stop: by an event, and by a mark in case that is lost."""
    answer = Message.objects.streaming().filter(conversation=conversation_id)
    answer.update(event_data=merged_event_data(**{STOP_ASKED: True}))
    publish_event(PROCESSES, "stop", conversation=str(conversation_id))


def publish_watch(conversation_id: UUID, offset: int) -> None:
    """Ask the process that is writing in this conversation to publish its thinking, and its text from this character
    on."""
    publish_event(PROCESSES, "watch", conversation=str(conversation_id), offset=offset)


def publish_start(user_id: int, conversation_id: UUID) -> None:
    """Tell the user's tabs on other processes that an answer is being written here."""
    publish_event(f"user-{user_id}", STARTED, conversation=str(conversation_id), process=PROCESS_KEY)


def stop_answers(user: User, **_: Any) -> None:
    """Stop every answer to this user: what it writes afterwards finds no row."""
    running = Message.objects.for_user(user).streaming()
    for conversation_id in running.values_list("conversation_id", flat=True):
        publish_stop(conversation_id)


async def listen() -> None:
    """Do what other processes ask of this process's turns. Runs as long as the process serves."""
    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add(PROCESSES, channel)
    sharing: set[asyncio.Task[None]] = set()
    while True:
        message = await layer.receive(channel)
        if message["kind"] == RESYNC:
            await _stop_where_asked()
            continue
        conversation_id = UUID(message.get("conversation", str(UUID(int=0))))
        turn = TURN_REGISTRY.by_conversation.get(conversation_id)
        if turn is None:
            continue
        match message["kind"]:
            case "stop":
                turn.stop()
            case "watch" if turn.shared is None:
                turn.shared = int(message["offset"])
                task = asyncio.create_task(share(turn))
                sharing.add(task)
                task.add_done_callback(sharing.discard)
            case "watch":
                turn.shared, turn.thinking_shared = min(turn.shared or 0, int(message["offset"])), 0


async def _stop_where_asked() -> None:
    """Events were lost: stop the turns whose Stop was among them."""
    for turn in tuple(TURN_REGISTRY.by_conversation.values()):
        try:
            with as_user(turn.user_id):
                if await run_at_once(_is_stop_asked, turn.message_id):
                    turn.stop()
        except (DatabaseError, psycopg.Error):  # there is another resync when it is back
            return


def _is_stop_asked(message_id: int) -> bool:
    return Message.objects.filter(pk=message_id, event_data__has_key=STOP_ASKED).exists()


async def share(turn: RunningTurn) -> None:
    """Publish the turn's thinking, and its text from `turn.shared` on, until the turn ends; the page then fetches the
    whole answer."""
    while TURN_REGISTRY.by_conversation.get(turn.conversation_id) is turn:
        offset, thought = turn.shared or 0, turn.thinking_shared
        text, thinking = turn.text[offset : offset + PIECE], turn.thinking[thought : thought + PIECE]
        turn.shared, turn.thinking_shared = offset + len(text), thought + len(thinking)
        try:
            await _publish_piece(turn, THOUGHT, thought, thinking)
            await _publish_piece(turn, DELTA, offset, text)
        except (DatabaseError, psycopg.Error):  # it restarts, maybe; meanwhile a watch may have asked for earlier text
            turn.shared, turn.thinking_shared = min(turn.shared, offset), min(turn.thinking_shared, thought)
            await asyncio.sleep(SHARE_AGAIN)
            continue
        if turn.shared == len(turn.text) and turn.thinking_shared == len(turn.thinking):
            await asyncio.sleep(SHARE_EVERY)


async def _publish_piece(turn: RunningTurn, kind: str, offset: int, text: str) -> None:
    if text:
        ids: dict[str, int | str] = {"message": turn.message_id, "offset": offset, "text": text}
        conversation = str(turn.conversation_id)
        await run_in_thread(partial(publish_event, f"user-{turn.user_id}", kind, conversation=conversation, **ids))
