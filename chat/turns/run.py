"""The story of one turn: open (already committed) · compile · stream · close · queue the librarian.

A turn is a task of the process. What it has written is kept whatever ends it: the model, a Stop, an outage, a shutdown.
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field

import psycopg
from django.db import InterfaceError, OperationalError

from accounts.models import User
from chat.ingest import librarian_triggers
from chat.messages.outcomes import CRASHED, STOPPED
from chat.prompt.assemble import AssembledPrompt, assemble_prompt
from chat.prompt.preflight import StoreResult, ToolLoop, ensure_fits, store_result
from chat.tools.registry import run_tool
from chat.turn import AcceptedTurn, AgentRun, ToolUse, TurnRejectedError
from chat.turns.agent_loop import ToolRunner, run_agent_loop
from chat.turns.finish import close_turn, save_draft_receipt, save_partial
from chat.turns.live import TURN_REGISTRY, Frame, RunningTurn
from chat.turns.recovery import abandon_answer
from recall.db.connections import run_in_thread
from recall.llm.failures import Failure

log = logging.getLogger(__name__)

SAVE_EVERY = 1.0
"""Seconds between two saves of the text so far: what a crash can cost."""
SHOW_CONTEXT_AFTER = 0.1
"""Seconds until the panel is filled before the answer is complete: an answer that takes less is booked once."""
OUTAGES = (OperationalError, InterfaceError, psycopg.OperationalError)
"""The database is away or restarting."""
PATIENCE_COMPILING, PATIENCE_CLOSING = 20.0, 600.0
"""Seconds an outage of the database is waited out: before the answer the user waits too; after it nobody does."""
NO_DATABASE = Failure("database", "The database could not be reached. Your message is kept; retry in a moment.")


@dataclass(slots=True)
class Progress:
    """How far a turn has come, whatever ends it."""

    began: float = field(default_factory=time.monotonic)
    compiled: AssembledPrompt | None = None
    answered: AgentRun = field(default_factory=AgentRun)


@dataclass(frozen=True, slots=True)
class TurnBackend:
    """How `talk` gets at what it needs: a stored turn by its rows, a temporary one by what the process holds."""

    build_prompt: Callable[[], AssembledPrompt]
    """On a thread. Raises `Refused`."""
    use_tool: ToolRunner
    keep: StoreResult
    show: Callable[[AssembledPrompt], Coroutine[None, None, None]]
    """Fill the panel while the model writes."""


async def run_turn(turn: RunningTurn, opened: AcceptedTurn) -> None:
    """From a committed question to a saved answer with its receipt."""
    progress = Progress()
    turn.task = asyncio.create_task(generate_answer(turn, progress, _ways(turn, opened)))
    if turn.stopped:
        turn.task.cancel()
    saving = asyncio.create_task(_save_now_and_then(turn))
    closed = False
    try:
        await asyncio.wait([turn.task])
        saving.cancel()
        closed = await _close(turn, opened, progress)
    finally:
        TURN_REGISTRY.finish(turn)
        if not closed:
            await run_in_thread(abandon_answer, turn.message_id, turn.text)


def _ways(turn: RunningTurn, opened: AcceptedTurn) -> TurnBackend:
    async def use_tool(call: ToolUse) -> None:
        await run_in_thread(run_tool, opened, call)

    async def keep(call: ToolUse) -> str:
        return await run_in_thread(store_result, opened, call)

    async def show(compiled: AssembledPrompt) -> None:
        await _show_context(turn, opened, compiled)

    return TurnBackend(lambda: assemble_prompt(opened), use_tool, keep, show)


async def generate_answer(turn: RunningTurn, progress: Progress, ways: TurnBackend) -> None:
    """The part a Stop cancels."""
    turn.set_status("recalling", "Recalling")
    try:
        compiled = await retry_during_outage(turn, PATIENCE_COMPILING, ways.build_prompt)
        compiled = await ensure_fits(compiled)
    except TurnRejectedError as refused:
        progress.answered.failure = Failure(refused.code, refused.sentence)
        return
    except OUTAGES:
        progress.answered.failure = NO_DATABASE
        return
    progress.compiled = compiled
    shown = asyncio.create_task(ways.show(compiled))
    loop = ToolLoop(compiled, progress.answered, ways.keep)
    try:
        await run_agent_loop(turn, compiled.request, progress.answered, ways.use_tool, loop.next_request)
    finally:
        shown.cancel()  # if it is still waiting; what a thread has begun is done to its end
        await asyncio.wait([shown])


async def _show_context(turn: RunningTurn, opened: AcceptedTurn, compiled: AssembledPrompt) -> None:
    """Save the receipt as far as it is known, and let the panel fetch it, while the model writes."""
    await asyncio.sleep(SHOW_CONTEXT_AFTER)
    try:
        await run_in_thread(save_draft_receipt, opened, compiled)
    except OUTAGES:
        log.warning("The receipt of message %s is saved with its answer.", turn.message_id)
    except User.DoesNotExist:
        return  # said when the answer is closed
    else:
        turn.broadcast({"type": "context", "message": turn.message_id})


async def _save_now_and_then(turn: RunningTurn) -> None:
    saved = 0
    while True:
        await asyncio.sleep(SAVE_EVERY)
        if len(turn.text) == saved:
            continue
        saved = len(turn.text)
        try:
            await run_in_thread(save_partial, turn.message_id, turn.text)
        except OUTAGES:
            log.warning("The text so far of message %s could not be saved.", turn.message_id)


async def _close(turn: RunningTurn, opened: AcceptedTurn, progress: Progress) -> bool:
    """Save the answer with its receipt, queue the librarian, then show the answer as the page will; False: in vain."""
    turn.flush()
    note_how_it_ended(turn, progress.answered)

    def keep() -> Frame:
        done = close_turn(opened, turn.text, progress.compiled, progress.answered, progress.began)
        if not opened.is_trial:
            _queue_librarian(opened)
        return done

    try:
        done = await retry_during_outage(turn, PATIENCE_CLOSING, keep)
    except OUTAGES:
        log.exception("The answer of message %s could not be saved.", turn.message_id)
        return False
    except User.DoesNotExist:
        log.info("The answer of message %s is not kept: its account was deleted.", turn.message_id)
        return False
    turn.broadcast(done)
    if progress.compiled is not None:
        turn.broadcast({"type": "context", "message": turn.message_id})
    return True


def note_how_it_ended(turn: RunningTurn, answered: AgentRun) -> None:
    """A cancelled talk was stopped by the user or by the end of the process; any other exception is a fault of ours."""
    assert turn.task is not None
    if turn.task.cancelled():
        answered.stop_reason = STOPPED if turn.stopped else CRASHED
        return
    fault = turn.task.exception()
    if fault is not None:
        # Type and place, no message: it may quote what the person or the model wrote.
        where = "".join(traceback.format_tb(fault.__traceback__))
        log.error("The turn of message %s failed: %s\n%s", turn.message_id, type(fault).__name__, where)
        answered.failure = Failure("fault", "Recall made a mistake while answering. Your message is kept; retry.")


async def retry_during_outage[R](turn: RunningTurn, patience: float, work: Callable[[], R]) -> R:
    """Do `work` in a thread, again and again while the database is away."""
    until, pause = time.monotonic() + patience, 0.2
    while True:
        try:
            return await run_in_thread(work)
        except OUTAGES:
            if time.monotonic() > until:
                raise
            turn.set_status("waiting", "The database is away; waiting for it.")
            await asyncio.sleep(pause)
            pause = min(pause * 2, 5.0)


def _queue_librarian(opened: AcceptedTurn) -> None:
    """After the turn: the conversations that were left for this one, and this one every few turns, are read."""
    try:
        if opened.created:
            librarian_triggers.leave_others(opened.conversation.user, opened.conversation.pk)
        librarian_triggers.read_if_due(opened.conversation, opened.answer.turn)
    except OUTAGES:
        log.warning("Conversation %s is read when it goes quiet.", opened.conversation.pk)
