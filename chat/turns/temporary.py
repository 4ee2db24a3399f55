"""Temporary chats: held in this process by one socket, gone with it, and never stored.

The turn is the same as a stored one with another backend (`TemporaryTurn`): the turns are in `TemporaryChat`, the model
has no tool that writes, and only the token usage is recorded.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID, uuid4

from django.db import transaction
from django.template.loader import get_template
from django.utils import timezone

from accounts.models import User
from budget.models import ProfileSnapshot, Receipt
from budget.pages.context_panel import panel
from budget.planning.history_cut import TurnRange
from budget.receipts import record
from budget.spending import limits
from chat.conversations.model_choice import defaults_of
from chat.messages.history import Turn, finished_turns
from chat.messages.rendering import message_html, messages_html
from chat.models import Conversation, Message, Role
from chat.prompt.ablation import exclude_memories
from chat.prompt.assemble import AssembledPrompt, assemble_from_inputs
from chat.prompt.forgotten_topics import load_forgotten
from chat.prompt.inputs import (
    CONTEXT_TURNS,
    ClockInputs,
    HistoryInputs,
    InstructionInputs,
    ProfileInputs,
    PromptInputs,
    QuestionInputs,
    ReadInputs,
    load_budget,
    load_model,
)
from chat.prompt.last_session import add_opening_memory
from chat.prompt.pinned_profile import already_in_profile, count_lines
from chat.prompt.stated_identity import load_stated, stated_in
from chat.prompt.user_context import RelationshipStats, load_relationship
from chat.protocol import Temporary
from chat.tools.read_document import READ_DOCUMENT
from chat.tools.registry import Definition, run_tool
from chat.tools.search_conversation import SEARCH_CONVERSATION
from chat.tools.search_knowledge import SEARCH_KNOWLEDGE
from chat.turn import AcceptedTurn, ToolUse, TurnRejectedError
from chat.turns.backend import Progress
from chat.turns.finish import build_answer, build_receipt, turn_outcome
from chat.turns.intake import BUSY, CONTINUE_TEXT, SIGNED_OUT, SLOW_DOWN, validate_text
from chat.turns.live import TURN_REGISTRY, UNSTORED, Follower, RunningTurn
from chat.turns.live_text import Frame
from chat.turns.run import run_turn
from memory.documents.profile import profile_lines
from memory.forget_epoch import forget_epoch
from memory.models import Boundary
from memory.retrieval.recall import AlreadyInPrompt, RetrievalResult, retrieve
from recall.db.connections import run_at_once
from recall.llm.tokens import count_tokens
from recall.observability import request_id
from recall.observability.stopwatch import Stopwatch

log = logging.getLogger(__name__)

MAX_TURNS: Final = 100
MAX_CHARS: Final = 500_000
"""Of all its texts together: a process holds one such chat a socket, and nothing else limits them."""
READING_TOOLS: Final[tuple[Definition, ...]] = (
    READ_DOCUMENT.definition,
    SEARCH_CONVERSATION.definition,
    SEARCH_KNOWLEDGE.definition,
)
"""For a chat that reads memory. One that does not has no tools."""
INSTRUCTIONS: Final = (
    "This is a temporary chat: nothing of it is kept, and it is gone when the page is closed. You cannot remember "
    "anything from it or note tasks in it; if the person asks for that, say so."
)
NO_MEMORY: Final = " You were given nothing of the person's memory, and cannot look anything up in it."
NO_SUCH_TOOL: Final = "There is no such tool in a temporary chat: nothing of it is kept."
STRANGER: Final = RelationshipStats(sessions=1, last_session=None)
"""For a chat that does not read memory."""
FULL: Final = ("full", "This temporary chat has reached its maximum length. Start a new one.")
FORGOTTEN_SINCE: Final = (
    "forgotten",
    "You've had Recall forget something since, which this temporary chat may still know. Start a new one.",
)
NOTHING_TO_CONTINUE: Final = ("not_last", "This temporary chat has no answer to continue.")


@dataclass(eq=False, slots=True)
class TemporaryChat:
    user: User
    follower: Follower
    id: UUID = field(default_factory=uuid4)
    """Its id on the socket; no row has it."""
    turns: list[Turn] = field(default_factory=list)
    latest: TemporaryTurn | None = None
    cut: TurnRange | None = None
    """Turns behind the placeholder, as `Conversation.cut_from` and `cut_until`."""
    last_id: int = 0
    epoch: int | None = None
    """The forget epoch in which it first read memory; None: it hasn't."""

    @property
    def chars(self) -> int:
        """Characters of all texts."""
        return sum(len(turn.question.text) + len(turn.answer.text) for turn in self.turns)

    def end(self) -> None:
        """The socket is gone: stop the answer. Its tokens are counted all the same."""
        TURN_REGISTRY.stop(self.id)
        TURN_REGISTRY.unsubscribe(self.id, self.follower)


async def accept(chat: TemporaryChat, frame: Temporary) -> None:
    """Accept a message, start its turn and tell the follower; the same client id again changes nothing.

    Raises:
        TurnRejectedError: nothing has changed.
    """
    if chat.latest is not None and chat.latest.client_id == frame.client_id:
        return
    user_id = chat.user.pk
    with TURN_REGISTRY.opening(user_id) as has_place:
        if not has_place:
            raise TurnRejectedError(*SLOW_DOWN)
        if chat.id in TURN_REGISTRY.by_conversation:
            raise TurnRejectedError(*BUSY)
        backend, earlier = _build_turn(chat, frame), chat.latest
        UNSTORED[user_id] += 1
        try:
            epoch = await run_at_once(_check_allowed, user_id, chat.epoch)
        except BaseException:  # including a cancellation: the place is free again
            UNSTORED[user_id] -= 1
            raise
        chat.latest = backend
        if frame.memory and chat.epoch is None:
            chat.epoch = epoch
        chat.turns = [turn for turn in chat.turns if turn.number < backend.turn.question.turn]
        retried = earlier.turn.answer.pk if earlier and frame.again == "retry" else None
        turn = RunningTurn(user_id, chat.id, backend.turn.answer.pk)
        TURN_REGISTRY.subscribe(chat.id, chat.follower)
        TURN_REGISTRY.start(turn, _run(turn, backend))
        turn.announce(_accepted_frame(backend, retried))


async def _run(turn: RunningTurn, backend: TemporaryTurn) -> None:
    try:
        await run_turn(turn, backend)
    finally:
        UNSTORED[turn.user_id] -= 1


def _check_allowed(user_id: int, epoch: int | None) -> int:
    """Read the user again, since a socket outlives a sign-out, and check the limits. Returns the forget epoch.

    `epoch`: the one in which the chat read memory, if it did. No forgetting reaches what it holds since.
    """
    with transaction.atomic():
        user = User.objects.filter(pk=user_id, is_active=True).first()
        if user is None:
            raise TurnRejectedError(*SIGNED_OUT)
        now = forget_epoch(user_id)
        if epoch is not None and epoch != now:
            raise TurnRejectedError(*FORGOTTEN_SINCE)
        beyond = limits.check_limits(user, lambda: UNSTORED[user_id] - 1)  # without this one
    if beyond is not None:
        raise TurnRejectedError("limit", beyond)
    return now


def _build_turn(chat: TemporaryChat, frame: Temporary) -> TemporaryTurn:
    """The question with its empty answer; neither has a row."""
    latest = chat.latest.turn if chat.latest else None
    if frame.again and latest is None:
        raise TurnRejectedError(*NOTHING_TO_CONTINUE)
    number = len(chat.turns) + 1
    if frame.again == "retry" and latest is not None:
        question, number = latest.question, latest.question.turn
    else:
        text = CONTINUE_TEXT if frame.again else validate_text(frame.text)
        extra = {"continues": latest.answer.pk} if frame.again and latest else {}
        question = _message(chat, Message.Role.USER, number, text=text, tokens=count_tokens(text), event_data=extra)
    if number > MAX_TURNS or chat.chars + len(question.text) > MAX_CHARS:
        raise TurnRejectedError(*FULL)
    answer = _message(chat, Message.Role.ASSISTANT, number, status=Message.Status.STREAMING)
    conversation = Conversation(pk=chat.id, user=chat.user)
    turn = AcceptedTurn(conversation, question, answer, created=False, is_duplicate=False)
    return TemporaryTurn(chat, turn, frame.memory, frame.client_id)


def _message(chat: TemporaryChat, role: Message.Role, turn: int, **fields: object) -> Message:
    chat.last_id -= 1  # below 0, so that it is never a stored message's
    return Message(pk=chat.last_id, user=chat.user, role=role, turn=turn, **fields)


def _accepted_frame(backend: TemporaryTurn, retried: int | None) -> Frame:
    turn, user = backend.turn, backend.chat.user
    shown = message_html(turn.answer, user=user) if retried else ""
    return {
        "type": "accepted",
        "request": request_id.current(),
        "temporary": True,
        "client_id": str(backend.client_id),
        "conversation": str(turn.conversation.pk),
        "created": False,
        "duplicate": False,
        "message": turn.answer.pk,
        "replaces": retried,
        "html": shown or messages_html([turn.question, turn.answer], user=user),
    }


@dataclass(eq=False, slots=True)
class TemporaryTurn:
    """The backend of a temporary chat: what the process holds (`chat/turns/backend.py: TurnBackend`)."""

    chat: TemporaryChat
    turn: AcceptedTurn
    reads_memory: bool
    client_id: UUID
    receipt: Receipt | None = None
    """Unsaved; kept so that a repeated `finish` records the same."""

    @property
    def tools(self) -> tuple[Definition, ...]:
        return READING_TOOLS if self.reads_memory else ()

    def build_prompt(self) -> AssembledPrompt:
        """From the turns of the chat, and the user's memory if it may be read."""
        started = time.perf_counter()
        inputs = _load_inputs(self)
        inputs = exclude_memories(inputs, load_forgotten(self.chat.user)) if self.reads_memory else inputs
        return assemble_from_inputs(inputs, started)

    def run_tool(self, call: ToolUse) -> None:
        """A tool that only reads; any other does not exist here."""
        if call.name in {tool["name"] for tool in self.tools}:
            run_tool(self.turn, call)
        else:
            call.result, call.is_error = NO_SUCH_TOOL, True

    def store_result(self, call: ToolUse) -> str:
        """Nothing is stored; a document's own text has its path."""
        path = call.input.get("path")
        return path if call.name == "read_document" and isinstance(path, str) else ""

    def show_context(self, prompt: AssembledPrompt) -> Frame:
        """The panel itself: there is no receipt to fetch."""
        return _context_frame(self.turn.answer.pk, build_receipt(self.turn, prompt))

    def save_partial(self, text: str, thinking: str) -> None:
        """Nothing is saved."""

    def finish(self, text: str, progress: Progress) -> list[Frame]:
        """Add the turn to the chat and record its usage."""
        answer = self._hold_answer(text, progress)
        if self.receipt is not None:
            record.record_usage_only(self.receipt, turn_outcome(answer, progress.run, progress.started_at))
        return self._frames(answer)

    def abandon(self, text: str, progress: Progress) -> list[Frame]:
        """Show the answer all the same: only its usage could not be recorded."""
        log.warning("The tokens of a temporary answer could not be counted.")
        return self._frames(self._hold_answer(text, progress))

    def _hold_answer(self, text: str, progress: Progress) -> Message:
        chat, prompt = self.chat, progress.prompt
        answer = build_answer(self.turn, text.strip(), progress.run)
        earlier = [turn for turn in chat.turns if turn.number < self.turn.question.turn]
        chat.turns = [*earlier, *finished_turns([self.turn.question, answer])]
        if prompt is not None and self.receipt is None:
            chat.cut = prompt.fitted.cut_turns
            self.receipt = build_receipt(self.turn, prompt, progress.run.task)
        return answer

    def _frames(self, answer: Message) -> list[Frame]:
        html = message_html(answer, user=self.chat.user)
        done: Frame = {"type": "done", "message": answer.pk, "outcome": answer.status, "html": html}
        return [done] if self.receipt is None else [done, _context_frame(answer.pk, self.receipt)]


def _context_frame(message_id: int, receipt: Receipt) -> Frame:
    html = get_template("budget/receipt.html").render({"panel": panel(receipt), "receipt": receipt})
    return {"type": "context", "message": message_id, "html": html}


def _load_inputs(backend: TemporaryTurn) -> PromptInputs:
    """As `chat/prompt/inputs.py: load_prompt_inputs`, from what the process holds."""
    chat, user, now, stopwatch = backend.chat, backend.chat.user, timezone.now(), Stopwatch()
    model = load_model(*defaults_of(user), tools=backend.tools)
    lines = profile_lines(user) if backend.reads_memory else []
    stopwatch.lap("profile")
    budget = load_budget(user, model)
    in_profile = already_in_profile(lines, budget.plan, budget.ratios)
    recalled = _retrieve(backend, in_profile) if backend.reads_memory else RetrievalResult()
    stopwatch.lap("retrieve")
    relationship = load_relationship(backend.turn.conversation) if backend.reads_memory else STRANGER
    texts = [*(turn.question.text for turn in chat.turns), backend.turn.question.text]
    stated = load_stated(user, texts) if backend.reads_memory else stated_in(texts)
    return PromptInputs(
        user=user,
        clock=ClockInputs(now, relationship, stated),
        model=model,
        budget=budget,
        instructions=InstructionInputs(Boundary.for_prompt(user), _role(backend)),
        profile=ProfileInputs(ProfileSnapshot(), count_lines(lines), {line.ref: line for line in lines}),
        history=HistoryInputs(tuple(chat.turns), cut=chat.cut),
        recalled=recalled,
        question=QuestionInputs(backend.turn.question),
        read=ReadInputs(timings=stopwatch.laps),
    )


def _role(backend: TemporaryTurn) -> Role:
    """The instructions take the place of a role's, so that the request keeps its first bytes from turn to turn."""
    return Role(pk=0, name="Temporary chat", instructions=INSTRUCTIONS + ("" if backend.reads_memory else NO_MEMORY))


def _retrieve(backend: TemporaryTurn, in_profile: AlreadyInPrompt) -> RetrievalResult:
    chat, now = backend.chat, timezone.now()
    context = [message.text for turn in chat.turns[-CONTEXT_TURNS:] for message in (turn.question, turn.answer)]
    turn = backend.turn
    recalled = retrieve(chat.user, turn.question.text, now=now, context=context, told=in_profile, reads=True)
    if chat.turns:
        return recalled
    return add_opening_memory(chat.user, recalled, now, in_profile, turn.conversation, turn.question.text)
