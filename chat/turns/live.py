"""The turns running in this process, and the sockets that watch each conversation.

A turn belongs to the process, not to a socket: it continues when the page is closed.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final
from uuid import UUID

from chat.messages.thinking import CUT, MAX_CHARS
from chat.turns.live_text import Frame, LiveText
from recall.text import storable

Follower = Callable[[Frame], None]
"""Takes a frame without waiting: each socket has its own outbox, so that a slow one does not block the others."""

COALESCE: Final = 0.03
"""Seconds within which deltas are combined into one frame: fast enough for the eye, few enough for the socket."""
REST: Final = 8
"""Pause after rendering a delta, in times of what that took: a block made to be slow costs an eighth of a core."""
QUICK_SECONDS: Final = 0.001
QUICK_CHARS: Final = 200
"""Text is rendered without a thread if it is at most this long and the text before it took no longer: a thread costs
more than such a rendering, and would keep the other sockets waiting for the interpreter all the same."""
MAX_RUNNING: Final = 4
"""Running turns of one user in one process."""


@dataclass(eq=False)
class RunningTurn:
    """One answer while it is being written."""

    user_id: int
    conversation_id: UUID
    message_id: int
    text: str = ""
    """The answer so far."""
    thinking: str = ""
    """What the model thought so far, as the provider summarizes it."""
    label: Frame | None = None
    """The latest `status` frame."""
    steps: list[str] = field(default_factory=list)
    """One line for each tool call; every `status` frame has all of them."""
    stopped: bool = False
    announced: bool = False
    """Followers got the `accepted` frame; frames of the turn that come earlier wait in `_held`."""
    task: asyncio.Task[Any] | None = None
    """The part that a Stop cancels: generating the answer, not saving it."""
    followers: set[Follower] = field(default_factory=set)
    shared: int | None = None
    """Characters that were published to other processes; None: no one asked."""
    thinking_shared: int = 0
    """The same of its thinking."""
    _thinking_kept: int | None = None
    """Characters of its thinking that still hold, of what is shown; None: all."""
    _shown: LiveText = field(init=False)
    _next_flush: float = 0.0
    _render_seconds: float = 0.0
    """Processor time of the last rendering."""
    _showing: asyncio.Task[None] | None = None
    _rendering: asyncio.Lock = field(default_factory=asyncio.Lock)
    _held: list[Frame] = field(default_factory=list)
    _after_text: list[Frame] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._shown = LiveText(self.message_id)

    def write(self, text: str) -> None:
        """Add text; it is sent soon, together with what comes meanwhile."""
        self.text += storable(text)
        self._show_soon()

    def think(self, text: str) -> None:
        """Add thinking, up to `MAX_CHARS`; it is sent like text, in frames of its own."""
        room = MAX_CHARS - len(self.thinking)
        if room > 0:
            text = storable(text)
            self.thinking += text if len(text) <= room else text[:room] + CUT
            self._show_soon()

    def rethink(self, length: int) -> None:
        """Drop the thinking after this length: its request failed and is sent again."""
        self.thinking = self.thinking[:length]
        self.thinking_shared = min(self.thinking_shared, length)
        self._thinking_kept = length if self._thinking_kept is None else min(self._thinking_kept, length)
        self._show_soon()

    def _show_soon(self) -> None:
        if self._showing is None or self._showing.done():
            self._showing = asyncio.get_running_loop().create_task(self._show())

    async def _show(self) -> None:
        while self.announced and self._is_behind:
            await asyncio.sleep(max(0.0, self._next_flush - time.monotonic()))
            await self.flush()

    @property
    def _is_behind(self) -> bool:
        return len(self._shown.text) < len(self.text) or self._is_thinking_behind

    @property
    def _is_thinking_behind(self) -> bool:
        return self._thinking_kept is not None or len(self._shown.thinking) < len(self.thinking)

    async def flush(self) -> None:
        """Send what was not sent yet."""
        async with self._rendering:
            if self._is_thinking_behind:
                shown, self._thinking_kept = self._thinking_shown, None
                await self._show_part(partial(self._shown.think, offset=shown), self.thinking[shown:])
            if len(self._shown.text) < len(self.text):
                await self._show_part(self._shown.grow, self.text[len(self._shown.text) :])
            waiting, self._after_text = self._after_text, []
        for each in waiting:
            self.broadcast(each)

    @property
    def _thinking_shown(self) -> int:
        """Characters of the thinking that is shown and still holds."""
        shown = len(self._shown.thinking)
        return shown if self._thinking_kept is None else min(shown, self._thinking_kept)

    async def _show_part(self, grow: Callable[[str], Frame], more: str) -> None:
        """Render in a thread if it may take long, so that other sockets don't wait for it."""
        is_quick = len(more) <= QUICK_CHARS and self._render_seconds <= QUICK_SECONDS
        frame = self._render(grow, more) if is_quick else await asyncio.to_thread(self._render, grow, more)
        self._next_flush = time.monotonic() + max(COALESCE, REST * self._render_seconds)
        self.broadcast(frame)

    def _render(self, grow: Callable[[str], Frame], more: str) -> Frame:
        started = time.thread_time()
        frame = grow(more)
        self._render_seconds = time.thread_time() - started
        return frame

    def set_status(self, state: str, label: str = "") -> None:
        """Publish a status line, after the text that was written before it."""
        self.label = {"type": "status", "message": self.message_id, "state": state, "label": label}
        if self.steps:
            self.label["steps"] = list(self.steps)
        if self.announced and (self._is_behind or self._rendering.locked()):
            self._after_text.append(self.label)
            self._show_soon()
        elif self.announced:
            self.broadcast(self.label)

    def announce(self, accepted: Frame | None) -> None:
        """Send the `accepted` frame, then the status, the text so far, and the frames that waited."""
        self.announced = True
        held, self._held = self._held, []
        for frame in (accepted, self.label):
            if frame is not None:
                self.broadcast(frame)
        self._show_soon()
        for frame in held:
            self.broadcast(frame)

    def broadcast(self, frame: Frame) -> None:
        """Send a frame to every follower, after the `accepted` frame: a short turn may end before that is rendered."""
        if not self.announced:
            self._held.append(frame)
            return
        for follower in tuple(self.followers):
            follower(frame)

    def stop(self) -> None:
        """Stop generating; the turn then saves what was written and finishes."""
        self.stopped = True
        if self.task is not None:
            self.task.cancel()

    async def snapshot(self) -> Frame:
        """The state for a follower that joins in the middle; the deltas that it gets next continue it."""
        async with self._rendering:
            return {**self._shown.snapshot(), "status": self.label}


class TurnRegistry:
    """The turns of this process, and the followers of each conversation, running or not."""

    def __init__(self) -> None:
        self.by_conversation: dict[UUID, RunningTurn] = {}
        self._followers: dict[UUID, set[Follower]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._opening: Counter[int] = Counter()

    def start(self, turn: RunningTurn, work: Coroutine[Any, Any, None]) -> None:
        """Run a turn as a task of the process."""
        turn.followers = self._followers.setdefault(turn.conversation_id, set())
        self.by_conversation[turn.conversation_id] = turn
        task = asyncio.get_running_loop().create_task(work, name=f"turn of message {turn.message_id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def finish(self, turn: RunningTurn) -> None:
        """Remove an ended turn; its conversation is free for the next."""
        if self.by_conversation.get(turn.conversation_id) is turn:
            del self.by_conversation[turn.conversation_id]
        if not turn.followers and turn.conversation_id not in self.by_conversation:
            self._followers.pop(turn.conversation_id, None)

    @contextmanager
    def opening(self, user_id: int) -> Iterator[bool]:
        """Reserve a place for one more turn of this user while its message is committed; False: there is none."""
        running = sum(turn.user_id == user_id for turn in self.by_conversation.values())
        has_place = running + self._opening[user_id] < MAX_RUNNING
        self._opening[user_id] += has_place
        try:
            yield has_place
        finally:
            self._opening[user_id] -= has_place

    def writes(self, message_id: int) -> bool:
        """Whether this process is writing this answer."""
        return any(turn.message_id == message_id for turn in self.by_conversation.values())

    def subscribe(self, conversation_id: UUID, follower: Follower) -> None:
        """Watch a conversation."""
        self._followers.setdefault(conversation_id, set()).add(follower)

    def unsubscribe(self, conversation_id: UUID, follower: Follower) -> None:
        """Stop watching."""
        watching = self._followers.get(conversation_id, set())
        watching.discard(follower)
        if not watching and conversation_id not in self.by_conversation:
            self._followers.pop(conversation_id, None)

    def stop(self, conversation_id: UUID) -> bool:
        """Stop the conversation's turn; False: no such turn runs in this process."""
        turn = self.by_conversation.get(conversation_id)
        if turn is None:
            return False
        turn.stop()
        return True

    async def shut_down(self, drain_seconds: float) -> None:
        """The process ends: turns may finish within `drain_seconds`; the others save what they have, as interrupted."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=drain_seconds)
        for turn in tuple(self.by_conversation.values()):
            if turn.task is not None:
                turn.task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=10)


TURN_REGISTRY = TurnRegistry()
UNSTORED: Counter[int] = Counter()
"""By user: running turns of temporary chats. No row counts them, so the limits get this number."""
