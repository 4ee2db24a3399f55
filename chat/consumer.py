"""The WebSocket consumer: parse frames, call, send. One object a tab; turns run in `chat/turns/live.py`."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from traceback import format_tb
from typing import Any
from uuid import UUID

import psycopg
from channels.consumer import get_handler_name
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import Error as DatabaseError

from accounts.models import User
from accounts.sessions import SESSIONS_CHANGED
from accounts.socket_auth import user_of
from chat.models import Conversation, Message
from chat.protocol import (
    VERSION,
    BadFrameError,
    Continue,
    Edit,
    Incoming,
    Open,
    Ping,
    Retry,
    Send,
    Stop,
    Temporary,
    client_id_of,
    error_frame,
    parse,
)
from chat.turn import TurnRejectedError
from chat.turns import temporary
from chat.turns.intake import NOT_FOUND
from chat.turns.live import TURN_REGISTRY
from chat.turns.live_text import Frame, LiveText
from chat.turns.remote import DELTA, STARTED, THOUGHT, publish_stop, publish_watch
from chat.turns.start import accept
from recall.db.connections import run_at_once
from recall.db.notify import PROCESS_KEY, RESYNC
from recall.observability import request_id
from recall.observability.metrics import SOCKETS

log = logging.getLogger(__name__)

NOT_SIGNED_IN, TOO_MANY, OPEN_AGAIN = 4401, 4429, 4408
"""Close codes: sign in · close another tab · connect again, the handshake decides."""
MAX_SOCKETS = 30
"""Open sockets of one user in one process."""
OUTBOX_BYTES = 4 * 1024 * 1024
"""What may wait for a socket that does not read; beyond that it is closed and reconnects."""
_open_sockets: Counter[int] = Counter()
FULL = ""
"""Marks the end of an outbox that overflowed: no frame is empty."""
UNAVAILABLE = (
    "The database can't be reached. Your message will be sent again. Details are in the server log, request {}."
)
FAULT = "Something went wrong. Try again. Details are in the server log, request {}."


class ChatConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """One tab's socket."""

    user: User
    following: UUID | None = None
    remote: LiveText | None = None
    """An answer that another process is writing and this tab shows."""
    temporary: temporary.TemporaryChat | None = None

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Handle an event. Channels would first wait for the one thread of all sockets, where no query of ours runs."""
        await getattr(self, get_handler_name(message))(message)

    async def connect(self) -> None:
        """Accept signed-in users only."""
        user = self.scope["user"]
        await self.accept()
        if not isinstance(user, User):
            await self.close(NOT_SIGNED_IN)
            return
        if _open_sockets[user.pk] >= MAX_SOCKETS:
            await self.close(TOO_MANY)
            return
        self.user = user
        _open_sockets[user.pk] += 1
        SOCKETS.inc()
        self.outbox: asyncio.Queue[str] = asyncio.Queue()
        self.waiting = 0
        self.sender = asyncio.create_task(self._send_outbox())
        await self.channel_layer.group_add(f"user-{user.pk}", self.channel_name)
        self.tell({"type": "hello", "v": VERSION, "user": user.pk})

    async def disconnect(self, code: int) -> None:
        """Unsubscribe; the turn continues."""
        if not hasattr(self, "sender"):
            return
        self._unfollow()
        self._end_temporary()
        self.sender.cancel()
        _open_sockets[self.user.pk] -= 1
        SOCKETS.dec()
        await self.channel_layer.group_discard(f"user-{self.user.pk}", self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """One frame: parse it and do it, or answer with an error frame."""
        if not hasattr(self, "sender"):
            return  # the socket of a signed-out user is closing
        request_id.begin()
        text = text_data if text_data is not None else ""
        try:
            await self._handle(parse(text))
        except BadFrameError as error:
            self._reject("bad_frame", str(error), text)
        except TurnRejectedError as rejection:
            self._reject(rejection.code, rejection.sentence, text)
        except (DatabaseError, psycopg.Error) as error:
            log.warning("A frame wasn't handled: %s.", type(error).__name__)
            self._reject("unavailable", UNAVAILABLE.format(request_id.current()), text)
        except Exception as fault:  # noqa: BLE001 - the socket would close, and its page send the frame again and again
            log.error("A frame failed: %s\n%s", type(fault).__name__, "".join(format_tb(fault.__traceback__)))
            self._reject("fault", FAULT.format(request_id.current()), text)

    async def _handle(self, frame: Incoming) -> None:
        match frame:
            case Send() | Edit() | Retry() | Continue():
                answer = await accept(self.user.pk, frame, self.tell)
                self._follow(UUID(answer["conversation"]))
                if answer["duplicate"]:
                    self.tell(answer)
            case Temporary():
                await self._accept_temporary(frame)
            case Open():
                await self._open(frame.conversation)
            case Stop() if self.temporary is not None and frame.conversation == self.temporary.id:
                TURN_REGISTRY.stop(frame.conversation)
            case Stop():
                await run_at_once(_load_streaming_answer, self.user, frame.conversation)
                if not TURN_REGISTRY.stop(frame.conversation):
                    await run_at_once(publish_stop, frame.conversation)
            case Ping():
                self.tell({"type": "pong"})

    async def _open(self, conversation_id: UUID) -> None:
        stored = await run_at_once(_load_streaming_answer, self.user, conversation_id)
        self._follow(conversation_id)
        turn = TURN_REGISTRY.by_conversation.get(conversation_id)
        self.remote, answer = None, None
        if turn is not None:
            answer = await turn.snapshot()
        elif stored is not None:
            self.remote = LiveText(stored.pk)
            await asyncio.to_thread(self.remote.grow, stored.text)
            answer = self.remote.snapshot()
            await run_at_once(publish_watch, conversation_id, len(stored.text))
        self.tell({"type": "opened", "conversation": str(conversation_id), "answer": answer})
        TURN_REGISTRY.subscribe(conversation_id, self.tell)

    async def _accept_temporary(self, frame: Temporary) -> None:
        chat = self.temporary or temporary.TemporaryChat(self.user, self.tell)
        await temporary.accept(chat, frame)
        self.temporary = chat
        self._unfollow()

    def _end_temporary(self) -> None:
        if self.temporary is not None:
            self.temporary.end()
            self.temporary = None

    def _follow(self, conversation_id: UUID) -> None:
        self._end_temporary()  # the page shows another conversation now
        if self.following != conversation_id:
            self._unfollow()
            self.following = conversation_id

    def _unfollow(self) -> None:
        if self.following is not None:
            TURN_REGISTRY.unsubscribe(self.following, self.tell)
            self.following = self.remote = None

    def tell(self, frame: Frame) -> None:
        """Put a frame into the outbox, without waiting."""
        text = json.dumps(frame, ensure_ascii=False)
        self.waiting += len(text)
        self.outbox.put_nowait(text if self.waiting <= OUTBOX_BYTES else FULL)

    async def _send_outbox(self) -> None:
        while (text := await self.outbox.get()) != FULL:
            await self.send(text)
            self.waiting -= len(text)
        await self.close(OPEN_AGAIN)

    async def nudge(self, event: dict[str, Any]) -> None:
        """Something changed in another process or tab: the page fetches it."""
        is_signed_out = event["kind"] == SESSIONS_CHANGED
        if event["kind"] == RESYNC:
            is_signed_out = not await self._is_signed_in()
        if is_signed_out:
            await self.close(OPEN_AGAIN)
            return
        if event["kind"] in (DELTA, THOUGHT):
            await self._relay(event)
            return
        if event["kind"] == STARTED:
            if event["process"] == PROCESS_KEY:
                return
            event = {"kind": "conversation", "conversation": event["conversation"]}
        self.tell({**event, "type": "nudge"})

    async def _is_signed_in(self) -> bool:
        """Whether the session is still valid: the event of its end may be among those that were lost."""
        try:
            return await user_of(self.scope["session_key"]) == self.user
        except (DatabaseError, psycopg.Error):
            return False

    async def _relay(self, event: dict[str, Any]) -> None:
        """Text of another process's answer: tell what is new of it, or ask again for what was lost."""
        if self.remote is None or self.remote.message_id != event["message"]:
            return
        known, thought = len(self.remote.text), len(self.remote.thinking)
        if event["offset"] > (thought if event["kind"] == THOUGHT else known):
            await run_at_once(publish_watch, UUID(event["conversation"]), known)
        elif event["kind"] == THOUGHT:
            self.tell(await asyncio.to_thread(self.remote.think, event["text"], event["offset"]))
        elif text := event["text"][known - event["offset"] :]:
            self.tell(await asyncio.to_thread(self.remote.grow, text))

    def _reject(self, code: str, sentence: str, text: str) -> None:
        frame = error_frame(code, sentence)
        client_id = client_id_of(text)
        self.tell({**frame, "client_id": client_id} if client_id else frame)


def _load_streaming_answer(user: User, conversation_id: UUID) -> Message | None:
    """The answer that is being written in the user's own conversation, as far as it is saved, or None."""
    conversations = Conversation.objects.not_deleted().for_user(user).select_related("active_leaf")
    conversation = conversations.filter(pk=conversation_id).first()
    if conversation is None:
        raise TurnRejectedError(*NOT_FOUND)
    leaf: Message | None = conversation.active_leaf
    return leaf if leaf is not None and leaf.status == Message.Status.STREAMING else None
