"""The socket: it parses frames, calls, and sends. One object a tab; the turn itself lives elsewhere (`running.py`)."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any
from uuid import UUID

import psycopg
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import Error as DatabaseError

from accounts.models import User
from accounts.sessions import SESSIONS_CHANGED
from chat.models import Conversation, Message
from chat.protocol import (
    VERSION,
    BadFrame,
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
    parse,
)
from chat.turn import TurnRejectedError
from chat.turns import temporary
from chat.turns.intake import NOT_FOUND
from chat.turns.live import TURN_REGISTRY, Frame
from chat.turns.start import accept
from chat.turns.stop import publish_stop
from recall.db.connections import run_in_thread

NOT_SIGNED_IN, TOO_MANY, OPEN_AGAIN = 4401, 4429, 4408
"""Close codes: sign in · close another tab · connect again, the handshake decides."""
SOCKETS_AT_ONCE = 30
"""Sockets one person may have open in one process."""
OUTBOX_BYTES = 4 * 1024 * 1024
"""What may wait for a socket that does not read; beyond, it is closed, and opens again where it is."""
_open_sockets: Counter[int] = Counter()
FULL = ""
"""Stands in the outbox where it overflowed: no frame is empty."""
UNAVAILABLE = TurnRejectedError(
    "unavailable", "The database cannot be reached just now. Nothing was lost; this is sent again."
)


class ChatConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """One tab's socket."""

    user: User
    following: UUID | None = None
    temporary: temporary.TemporaryChat | None = None

    async def connect(self) -> None:
        """Accept signed-in people only."""
        user = self.scope["user"]
        await self.accept()
        if not isinstance(user, User):
            await self.close(NOT_SIGNED_IN)
            return
        if _open_sockets[user.pk] >= SOCKETS_AT_ONCE:
            await self.close(TOO_MANY)
            return
        self.user = user
        _open_sockets[user.pk] += 1
        self.outbox: asyncio.Queue[str] = asyncio.Queue()
        self.waiting = 0
        self.sender = asyncio.create_task(self._send_outbox())
        await self.channel_layer.group_add(f"user-{user.pk}", self.channel_name)
        self.tell({"type": "hello", "v": VERSION})

    async def disconnect(self, code: int) -> None:
        """Leave; the turn goes on."""
        if not hasattr(self, "sender"):
            return
        self._leave()
        self._end_temporary()
        self.sender.cancel()
        _open_sockets[self.user.pk] -= 1
        await self.channel_layer.group_discard(f"user-{self.user.pk}", self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """One frame: parse it, do it, or say in a sentence why not."""
        if not hasattr(self, "sender"):
            return  # it came while the socket of somebody not signed in was closing
        text = text_data if text_data is not None else ""
        try:
            await self._do(parse(text))
        except BadFrame as error:
            self._refuse("bad_frame", str(error), text)
        except TurnRejectedError as refused:
            self._refuse(refused.code, refused.sentence, text)
        except (DatabaseError, psycopg.Error):
            self._refuse(UNAVAILABLE.code, UNAVAILABLE.sentence, text)

    async def _do(self, frame: Incoming) -> None:
        match frame:
            case Send() | Edit() | Retry() | Continue():
                answer = await accept(self.user.pk, frame, self.tell)
                self._now_following(UUID(answer["conversation"]))
                if answer["duplicate"]:
                    self.tell(answer)
            case Temporary():
                await self._talk_temporarily(frame)
            case Open():
                await self._open(frame.conversation)
            case Stop() if self.temporary is not None and frame.conversation == self.temporary.id:
                TURN_REGISTRY.stop(frame.conversation)
            case Stop():
                await run_in_thread(_own, self.user, frame.conversation)
                if not TURN_REGISTRY.stop(frame.conversation):
                    await run_in_thread(publish_stop, frame.conversation)
            case Ping():
                self.tell({"type": "pong"})

    async def _open(self, conversation_id: UUID) -> None:
        written = await run_in_thread(_own, self.user, conversation_id)
        self._now_following(conversation_id)
        turn = TURN_REGISTRY.by_conversation.get(conversation_id)
        if turn is not None:
            written = turn.snapshot()
        self.tell({"type": "opened", "conversation": str(conversation_id), "answer": written})
        TURN_REGISTRY.subscribe(conversation_id, self.tell)

    async def _talk_temporarily(self, frame: Temporary) -> None:
        chat = self.temporary or temporary.TemporaryChat(self.user, self.tell)
        await temporary.accept(chat, frame)
        self.temporary = chat
        self._leave()

    def _end_temporary(self) -> None:
        if self.temporary is not None:
            self.temporary.end()
            self.temporary = None

    def _now_following(self, conversation_id: UUID) -> None:
        self._end_temporary()  # the page shows another conversation now
        if self.following != conversation_id:
            self._leave()
            self.following = conversation_id

    def _leave(self) -> None:
        if self.following is not None:
            TURN_REGISTRY.unsubscribe(self.following, self.tell)
            self.following = None

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
        """Something changed in another process or tab: the page fetches it again."""
        if event["kind"] == SESSIONS_CHANGED:
            await self.close(OPEN_AGAIN)
            return
        self.tell({**event, "type": "nudge"})

    def _refuse(self, code: str, sentence: str, text: str) -> None:
        frame: Frame = {"type": "error", "code": code, "text": sentence}
        client_id = client_id_of(text)
        self.tell({**frame, "client_id": client_id} if client_id else frame)


def _own(user: User, conversation_id: UUID) -> Frame | None:
    """Check that the conversation is the user's; the answer that some other process is writing in it, or None."""
    own = Conversation.objects.not_deleted().for_user(user).select_related("active_leaf")
    conversation = own.filter(pk=conversation_id).first()
    if conversation is None:
        raise TurnRejectedError(*NOT_FOUND)
    leaf: Message | None = conversation.active_leaf
    if leaf is None or leaf.status != Message.Status.STREAMING:
        return None
    return {"message": leaf.pk, "text": leaf.text, "status": None}
