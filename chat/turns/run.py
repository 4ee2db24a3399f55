"""The course of one turn: build the prompt, run the agent loop, finish the answer.

A turn is a task of the process, not of a socket. Its text is kept however it ends: by the model, a Stop, an outage or a
shutdown. Stored and temporary turns differ only in their `TurnBackend`.
"""

import asyncio
import logging
import time
import traceback
from collections.abc import Callable
from typing import Final

import psycopg
from django.db import InterfaceError, OperationalError

from accounts.models import User
from budget.receipts.record import PROCESS_ENDED
from chat.messages.outcomes import STOPPED
from chat.prompt.assemble import AssembledPrompt
from chat.prompt.preflight import ToolLoop, ensure_fits
from chat.turn import AgentRun, ToolUse, TurnRejectedError
from chat.turns.admission import ADMISSION
from chat.turns.agent_loop import run_agent_loop
from chat.turns.backend import Progress, TurnBackend
from chat.turns.live import TURN_REGISTRY, RunningTurn
from recall.db.connections import run_in_thread
from recall.llm.failures import Failure
from recall.observability import request_id

log = logging.getLogger(__name__)

SAVE_EVERY: Final = 1.0
"""Seconds between two saves of the text so far: what a crash can cost."""
SHOW_CONTEXT_AFTER: Final = 0.1
"""Seconds until the panel is filled before the answer is complete: a shorter answer saves its receipt only once."""
OUTAGES: Final = (OperationalError, InterfaceError, psycopg.OperationalError)
"""The database is down or restarting."""
MAX_OUTAGE_BEFORE, MAX_OUTAGE_AFTER = 20.0, 600.0
"""Seconds to wait for the database: before the answer the user waits too; after it no one does."""
NO_DATABASE: Final = Failure("database", "The database could not be reached. Your message is saved. Try again.")
IN_LINE: Final = "Many people are asking. You are number {} in line"
FAULT: Final = (
    "Something went wrong while generating the answer. Your message is saved. Try again. "
    "Details are in the server log, request {}."
)


async def run_turn(turn: RunningTurn, backend: TurnBackend) -> None:
    """From an accepted question to a finished answer."""
    progress = Progress()
    turn.task = asyncio.create_task(generate_answer(turn, progress, backend))
    if turn.stopped:
        turn.task.cancel()
    saving = asyncio.create_task(_save_periodically(turn, backend))
    is_finished = False
    try:
        await asyncio.wait([turn.task])
        saving.cancel()
        is_finished = await _finish(turn, progress, backend)
    finally:
        TURN_REGISTRY.finish(turn)
        if not is_finished:
            for frame in await run_in_thread(backend.abandon, turn.text, progress):
                turn.broadcast(frame)


async def generate_answer(turn: RunningTurn, progress: Progress, backend: TurnBackend) -> None:
    """A place, the prompt, preflight, the agent loop: the part that a Stop cancels."""
    async with ADMISSION.place(turn.user_id, lambda number: turn.set_status("queued", IN_LINE.format(number))):
        await _generate(turn, progress, backend)


async def _generate(turn: RunningTurn, progress: Progress, backend: TurnBackend) -> None:
    turn.set_status("recalling", "Recalling")
    run = progress.run
    try:
        prompt = await retry_during_outage(turn, MAX_OUTAGE_BEFORE, backend.build_prompt)
        prompt = await ensure_fits(prompt)
    except TurnRejectedError as rejection:
        run.failure = Failure(rejection.code, rejection.sentence)
        return
    except OUTAGES:
        run.failure = NO_DATABASE
        return

    async def run_tool(call: ToolUse) -> None:
        await run_in_thread(backend.run_tool, call)

    async def store_result(call: ToolUse) -> str:
        return await run_in_thread(backend.store_result, call)

    progress.prompt = prompt
    showing = asyncio.create_task(_show_context(turn, prompt, backend))
    loop = ToolLoop(prompt, run, store_result)
    try:
        await run_agent_loop(turn, prompt.request, run, run_tool, loop.next_request)
    finally:
        showing.cancel()  # has an effect only while it sleeps; work already in a thread runs to completion
        await asyncio.wait([showing])


async def _show_context(turn: RunningTurn, prompt: AssembledPrompt, backend: TurnBackend) -> None:
    """Fill the context panel while the model writes, an outage later: a crash then leaves a receipt with the text."""
    await asyncio.sleep(SHOW_CONTEXT_AFTER)
    while True:
        try:
            frame = await run_in_thread(backend.show_context, prompt)
        except OUTAGES:
            log.warning("The receipt of message %s could not be saved.", turn.message_id)
            await asyncio.sleep(SAVE_EVERY)
        except User.DoesNotExist:
            return  # logged by `_finish`
        else:
            turn.broadcast(frame)
            return


async def _save_periodically(turn: RunningTurn, backend: TurnBackend) -> None:
    saved = (0, 0)
    while True:
        await asyncio.sleep(SAVE_EVERY)
        if (len(turn.text), len(turn.thinking)) == saved:
            continue
        saved = (len(turn.text), len(turn.thinking))
        try:
            await run_in_thread(backend.save_partial, turn.text, turn.thinking)
        except OUTAGES:
            log.warning("The text so far of message %s could not be saved.", turn.message_id)


async def _finish(turn: RunningTurn, progress: Progress, backend: TurnBackend) -> bool:
    """Save the answer and show it; False: it could not be saved."""
    await asyncio.wait([asyncio.create_task(turn.flush())])  # what can't be shown is saved all the same
    _record_ending(turn, progress.run)
    try:
        frames = await retry_during_outage(turn, MAX_OUTAGE_AFTER, lambda: backend.finish(turn.text, progress))
    except OUTAGES:
        log.exception("The answer of message %s could not be saved.", turn.message_id)
        return False
    except User.DoesNotExist:
        log.info("The answer of message %s is not kept: its account was deleted.", turn.message_id)
        return False
    for frame in frames:
        turn.broadcast(frame)
    return True


def _record_ending(turn: RunningTurn, run: AgentRun) -> None:
    """A cancelled task was stopped by the user or by the end of the process; any other exception is a bug."""
    assert turn.task is not None
    if turn.task.cancelled():
        run.stop_reason = STOPPED if turn.stopped else PROCESS_ENDED
        return
    fault = turn.task.exception()
    if fault is not None:
        # Log the type and traceback only: the exception message may contain user or model text.
        where = "".join(traceback.format_tb(fault.__traceback__))
        log.error("The turn of message %s failed: %s\n%s", turn.message_id, type(fault).__name__, where)
        run.failure = Failure("fault", FAULT.format(request_id.current()))


async def retry_during_outage[R](turn: RunningTurn, max_seconds: float, work: Callable[[], R]) -> R:
    """Do `work` in a thread, again and again while the database is down."""
    until, pause = time.monotonic() + max_seconds, 0.2
    while True:
        try:
            return await run_in_thread(work)
        except OUTAGES:
            if time.monotonic() > until:
                raise
            turn.set_status("waiting", "Reconnecting to the database")
            await asyncio.sleep(pause)
            pause = min(pause * 2, 5.0)
