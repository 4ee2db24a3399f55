"""How is a temporary chat held? In the memory of this process, by one socket; it ends with it, and leaves no row.

It is made of the pure parts of a stored turn: weigh, fit, render, answer. What differs is said here: where the turns
are (in `Chat`), what the model may call (nothing that writes), and what is written down (the counter of use, alone).
"""

from __future__ import annotations

import asyncio
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
from chat.messages.rendering import exchange_html, message_html
from chat.models import Conversation, Message, Role
from chat.prompt.assemble import AssembledPrompt, assemble_from_inputs
from chat.prompt.inputs import (
    CONTEXT_TURNS,
    ClockInputs,
    HistoryInputs,
    InstructionInputs,
    ProfileInputs,
    PromptInputs,
    QuestionInputs,
    ReadInputs,
    add_opening_memory,
    load_budget,
    load_model,
)
from chat.prompt.pinned_profile import already_in_profile, count_lines
from chat.prompt.user_context import RelationshipStats, load_relationship
from chat.protocol import Temporary
from chat.tools.read_document import READ_DOCUMENT
from chat.tools.registry import Definition, run_tool
from chat.tools.search_conversation import SEARCH_CONVERSATION
from chat.tools.search_knowledge import SEARCH_KNOWLEDGE
from chat.turn import AcceptedTurn, ToolUse, TurnRejectedError
from chat.turns.finish import draft, ended, ending
from chat.turns.intake import BUSY, CONTINUE_TEXT, validate_text
from chat.turns.live import TURN_REGISTRY, UNSTORED, Follower, Frame, RunningTurn
from chat.turns.run import (
    OUTAGES,
    PATIENCE_CLOSING,
    SHOW_CONTEXT_AFTER,
    Progress,
    TurnBackend,
    generate_answer,
    note_how_it_ended,
    retry_during_outage,
)
from memory.documents.profile import profile_lines
from memory.models import Boundary
from memory.retrieval.recall import AlreadyInPrompt, RetrievalResult, retrieve
from recall.db.connections import run_in_thread
from recall.llm.tokens import count_tokens
from recall.observability.stopwatch import Stopwatch

log = logging.getLogger(__name__)

MOST_TURNS: Final = 100
MOST_CHARS: Final = 500_000
"""Of all its texts together: a process holds one such chat a socket, and nothing else bounds them."""
READING: Final[tuple[Definition, ...]] = (
    READ_DOCUMENT.definition,
    SEARCH_CONVERSATION.definition,
    SEARCH_KNOWLEDGE.definition,
)
"""Tools of a chat that reads memory: those that only look. One that does not read it has none."""
INSTRUCTIONS: Final = (
    "This is a temporary chat: nothing of it is kept, and it is gone when the page is closed. You cannot remember "
    "anything from it or note tasks in it; if the person asks for that, say so."
)
NO_MEMORY: Final = " You were given nothing of the person's memory, and cannot look anything up in it."
STRANGER: Final = RelationshipStats(sessions=1, last_session=None)
"""How well a chat knows the person that does not read memory."""
FULL: Final = ("full", "This temporary chat is as long as one can be. Begin another; nothing of this one is kept.")
NOTHING_SAID: Final = ("not_last", "There is no answer in this temporary chat to go on from.")
SIGNED_OUT: Final = ("signed_out", "You are not signed in any more. Sign in and send again.")
SLOW_DOWN: Final = ("slow_down", "Several answers are being written for you already. Wait for one of them.")


@dataclass(frozen=True, slots=True)
class PendingTurn:
    """One question, the answer that is to come, and whether memory may be read for it."""

    opened: AcceptedTurn
    reads_memory: bool
    client_id: UUID


@dataclass(eq=False, slots=True)
class TemporaryChat:
    """A temporary chat: all there is of it."""

    user: User
    follower: Follower
    id: UUID = field(default_factory=uuid4)
    """Its name on the socket; no row has it."""
    turns: list[Turn] = field(default_factory=list)
    latest: PendingTurn | None = None
    cut: TurnRange | None = None
    """Turns that stand behind the placeholder, as `Conversation.cut_from` and `cut_until`."""
    last_id: int = 0

    def next_id(self) -> int:
        """Below 0, so that it is never a stored message's."""
        self.last_id -= 1
        return self.last_id

    @property
    def chars(self) -> int:
        """Characters of all that was said."""
        return sum(len(turn.question.text) + len(turn.answer.text) for turn in self.turns)

    def end(self) -> None:
        """The socket is gone: so is what is being written. Its tokens are counted all the same."""
        TURN_REGISTRY.stop(self.id)
        TURN_REGISTRY.unsubscribe(self.id, self.follower)


async def accept(chat: TemporaryChat, frame: Temporary) -> None:
    """Take a message and start its turn; the follower is told. One that was taken already is not taken again.

    Raises:
        Refused: nothing has changed.
    """
    if chat.latest is not None and chat.latest.client_id == frame.client_id:
        return
    user_id = chat.user.pk
    with TURN_REGISTRY.opening(user_id) as has_place:
        if not has_place:
            raise TurnRejectedError(*SLOW_DOWN)
        if chat.id in TURN_REGISTRY.by_conversation:
            raise TurnRejectedError(*BUSY)
        before = chat.latest
        asked = _asked(chat, frame)
        UNSTORED[user_id] += 1
        try:
            await run_in_thread(_allow, user_id)
        except BaseException:  # a cancellation, too: the place it was counted for is free again
            UNSTORED[user_id] -= 1
            raise
        chat.latest = asked
        chat.turns = [turn for turn in chat.turns if turn.number < asked.opened.question.turn]
        _start(chat, asked, frame, before)


def _asked(chat: TemporaryChat, frame: Temporary) -> PendingTurn:
    """The question with its empty answer; neither has a row."""
    latest = chat.latest.opened if chat.latest else None
    if frame.again and latest is None:
        raise TurnRejectedError(*NOTHING_SAID)
    number = len(chat.turns) + 1
    if frame.again == "retry" and latest is not None:
        question, number = latest.question, latest.question.turn
    else:
        text = CONTINUE_TEXT if frame.again else validate_text(frame.text)
        extra = {"continues": latest.answer.pk} if frame.again and latest else {}
        question = _message(chat, Message.Role.USER, number, text=text, tokens=count_tokens(text), event_data=extra)
    if number > MOST_TURNS or chat.chars + len(question.text) > MOST_CHARS:
        raise TurnRejectedError(*FULL)
    answer = _message(chat, Message.Role.ASSISTANT, number, status=Message.Status.STREAMING)
    conversation = Conversation(pk=chat.id, user=chat.user)
    opened = AcceptedTurn(conversation, question, answer, created=False, is_duplicate=False)
    return PendingTurn(opened, frame.memory, frame.client_id)


def _message(chat: TemporaryChat, role: Message.Role, turn: int, **fields: object) -> Message:
    return Message(pk=chat.next_id(), user=chat.user, role=role, turn=turn, **fields)


def _allow(user_id: int) -> None:
    """Ask anew who it is, since a socket outlives a sign-out, and whether the limits leave room."""
    with transaction.atomic():
        user = User.objects.filter(pk=user_id, is_active=True).first()
        if user is None:
            raise TurnRejectedError(*SIGNED_OUT)
        beyond = limits.check_limits(user, lambda: UNSTORED[user_id] - 1)  # but for this one
    if beyond is not None:
        raise TurnRejectedError("limit", beyond)


def _start(chat: TemporaryChat, asked: PendingTurn, frame: Temporary, before: PendingTurn | None) -> None:
    opened = asked.opened
    turn = RunningTurn(chat.user.pk, chat.id, opened.answer.pk)
    TURN_REGISTRY.subscribe(chat.id, chat.follower)
    TURN_REGISTRY.start(turn, _run(chat, turn, asked))
    retried = before.opened.answer.pk if before and frame.again == "retry" else None
    turn.announce(_accepted(asked, frame, retried))


def _accepted(asked: PendingTurn, frame: Temporary, retried: int | None) -> Frame:
    opened = asked.opened
    user = opened.conversation.user
    alone = message_html(opened.answer, user=user) if retried else ""
    return {
        "type": "accepted",
        "temporary": True,
        "client_id": str(frame.client_id),
        "conversation": str(opened.conversation.pk),
        "created": False,
        "duplicate": False,
        "message": opened.answer.pk,
        "replaces": retried,
        "html": alone or exchange_html(opened.question, opened.answer, user=user),
    }


# The turn ----------------------------------------------------------------------------------------------------------


async def _run(chat: TemporaryChat, turn: RunningTurn, asked: PendingTurn) -> None:
    """From an accepted question to an answer on the page, and its tokens on the counter."""
    progress = Progress()
    turn.task = asyncio.create_task(generate_answer(turn, progress, _ways(chat, turn, asked)))
    if turn.stopped:
        turn.task.cancel()
    try:
        await asyncio.wait([turn.task])
        turn.flush()
        note_how_it_ended(turn, progress.answered)
        await _close(chat, turn, asked, progress)
    finally:
        TURN_REGISTRY.finish(turn)
        UNSTORED[turn.user_id] -= 1


def _ways(chat: TemporaryChat, turn: RunningTurn, asked: PendingTurn) -> TurnBackend:
    async def use_tool(call: ToolUse) -> None:
        await run_in_thread(_use_tool, asked, call)

    async def keep(call: ToolUse) -> str:
        path = call.input.get("path")
        return path if call.name == "read_document" and isinstance(path, str) else ""

    async def show(compiled: AssembledPrompt) -> None:
        await asyncio.sleep(SHOW_CONTEXT_AFTER)
        turn.broadcast(_context(asked.opened.answer.pk, draft(asked.opened, compiled)))

    def compiled() -> AssembledPrompt:
        return assemble_from_inputs(_gathered(chat, asked), time.perf_counter())

    return TurnBackend(compiled, use_tool, keep, show)


def _use_tool(asked: PendingTurn, call: ToolUse) -> None:
    """Run a tool that only reads; whatever else the model calls for is not there."""
    if call.name in {tool["name"] for tool in _tools(asked)}:
        run_tool(asked.opened, call)
        return
    call.result, call.is_error = "There is no such tool in a temporary chat: nothing of it is kept.", True


def _tools(asked: PendingTurn) -> tuple[Definition, ...]:
    return READING if asked.reads_memory else ()


async def _close(chat: TemporaryChat, turn: RunningTurn, asked: PendingTurn, progress: Progress) -> None:
    """Hold the answer, count its tokens, and show it as the page will."""
    opened, compiled = asked.opened, progress.compiled
    answer = ended(opened, turn.text.strip(), progress.answered)
    chat.turns += finished_turns([opened.question, answer])
    done = {"type": "done", "message": answer.pk, "outcome": answer.status}
    done["html"] = message_html(answer, user=chat.user)
    if compiled is None:
        turn.broadcast(done)
        return
    chat.cut = compiled.fitted.cut_turns
    receipt = draft(opened, compiled, progress.answered.task)
    how = ending(answer, progress.answered, progress.began)
    try:
        await retry_during_outage(turn, PATIENCE_CLOSING, lambda: record.record_usage_only(receipt, how))
    except OUTAGES:
        log.warning("The tokens of a temporary answer could not be counted.")
    turn.broadcast(done)
    turn.broadcast(_context(answer.pk, receipt))


def _context(message_id: int, receipt: Receipt) -> Frame:
    """What the panel shows; nobody can fetch it, so it comes along."""
    html = get_template("budget/receipt.html").render({"panel": panel(receipt), "receipt": receipt})
    return {"type": "context", "message": message_id, "html": html}


# What the model gets to see ----------------------------------------------------------------------------------------


def _gathered(chat: TemporaryChat, asked: PendingTurn) -> PromptInputs:
    """As `chat/prompt/inputs.py`, from what the process holds; the person's memory only where it may be read."""
    now, timed, user = timezone.now(), Stopwatch(), chat.user
    model = load_model(*defaults_of(user), tools=_tools(asked))
    lines = profile_lines(user) if asked.reads_memory else []
    timed.lap("profile")
    budget = load_budget(user, model)
    told = already_in_profile(lines, budget.plan, budget.ratios)
    recalled = _recalled(chat, asked, told) if asked.reads_memory else RetrievalResult()
    timed.lap("retrieve")
    relationship = load_relationship(asked.opened.conversation) if asked.reads_memory else STRANGER
    return PromptInputs(
        user=user,
        clock=ClockInputs(now, relationship),
        model=model,
        budget=budget,
        instructions=InstructionInputs(Boundary.for_prompt(user), _role(asked)),
        profile=ProfileInputs(ProfileSnapshot(), count_lines(lines), {line.ref: line for line in lines}),
        history=HistoryInputs(tuple(chat.turns), cut=chat.cut),
        recalled=recalled,
        question=QuestionInputs(asked.opened.question),
        read=ReadInputs(timings=timed.laps),
    )


def _role(asked: PendingTurn) -> Role:
    """Told where a role's instructions stand, so that the request keeps its first bytes from turn to turn."""
    return Role(pk=0, name="Temporary chat", instructions=INSTRUCTIONS + ("" if asked.reads_memory else NO_MEMORY))


def _recalled(chat: TemporaryChat, asked: PendingTurn, told: AlreadyInPrompt) -> RetrievalResult:
    now = timezone.now()
    context = [message.text for turn in chat.turns[-CONTEXT_TURNS:] for message in (turn.question, turn.answer)]
    found = retrieve(chat.user, asked.opened.question.text, now=now, context=context, told=told)
    return found if chat.turns else add_opening_memory(chat.user, found, now, told)
