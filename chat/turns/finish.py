"""How is an answer kept? The reply, its tool rounds, its receipt and what was learned from it: one transaction."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from budget.counting.estimate import TextClass, estimate
from budget.models import Receipt
from budget.planning.fit import Cut, Piece
from budget.planning.plan import Section
from budget.receipts import record
from budget.receipts.debug import STEP
from chat.compaction.jobs import request_if_due
from chat.compaction.segments import size_turns
from chat.compaction.topic_shift import topic_has_shifted
from chat.compaction.triggers import ConversationState, first_trigger
from chat.compaction.window import select_turns
from chat.conversations import titles
from chat.forgetting import erase_answer, erase_receipt, is_prompt_intact
from chat.ingest.source import is_said, utterance
from chat.messages.activity import serialize_steps
from chat.messages.history import finished_turns
from chat.messages.outcomes import outcome_for
from chat.messages.rendering import message_html
from chat.models import Conversation, Message
from chat.prompt.assemble import AssembledPrompt
from chat.prompt.replay import ingredients
from chat.tools.memory_search import refs_in_result
from chat.tools.output_budget import with_task
from chat.tools.read_document import result_reference
from chat.tools.registry import history_line
from chat.tools.task_state import save_task
from chat.turn import BESIDE, AcceptedTurn, AgentRun, ToolUse
from chat.turns.live import Frame
from chat.turns.metrics import report_turn
from memory.forget_epoch import lock_forget_epoch
from memory.index.indexer import index_utterances
from memory.retrieval.recall import mark_used
from recall.db.notify import PROCESS_KEY, publish_event
from recall.llm.tokens import count_tokens
from recall.text import storable, storable_json

TASK_TOOL = "update_task"
TOOL_NAME_CHARS = 80
"""A model may invent a name as long as it likes; the column is this wide."""


def save_draft_receipt(opened: AcceptedTurn, compiled: AssembledPrompt) -> None:
    """Save the receipt as far as it is known before the answer, so that the panel fills and a crash leaves a trace."""
    with transaction.atomic():
        if lock_forget_epoch(opened.answer.user_id) != compiled.inputs.read.epoch:
            return  # what it shows may be forgotten by now: it is settled with the answer
        _draft(opened, compiled).save(force_insert=True)
        publish_event(f"user-{opened.answer.user_id}", "budget", conversation=str(opened.conversation.pk))


def save_partial(message_id: int, text: str) -> None:
    """Save the text so far: all that a crash of this process would leave."""
    Message.objects.filter(pk=message_id, process_key=PROCESS_KEY).update(text=text)


def close_turn(
    opened: AcceptedTurn, text: str, compiled: AssembledPrompt | None, answered: AgentRun, began: float
) -> Frame:
    """Keep the answer; doing it again (the confirmation got lost) changes nothing. The `done` frame."""
    answer = ended(opened, text.strip(), answered)
    with transaction.atomic():
        was_forgotten = _was_something_forgotten(opened, compiled)
        # What a tool brought stood in no prompt that could be compared.
        erased = compiled is not None and was_forgotten and (bool(answered.tools) or not is_prompt_intact(compiled))
        if erased:
            _erase_task(opened, answered)
            erase_answer(answer, answered)
        if _keep(answer):
            taken = _keep_tools(opened, answered.tools)
            _keep_standing(opened, compiled, taken)
            publish_event(f"user-{answer.user_id}", "conversation", conversation=str(opened.conversation.pk))
            if not opened.is_trial:
                _go_on_from(opened, answer, compiled, answered)
            receipt = _draft(opened, compiled, answered.task) if compiled is not None else None
            if was_forgotten and receipt is not None:
                erase_receipt(receipt)  # it names what was only considered, too
            if compiled is not None and receipt is not None:
                record.finalize_receipt(receipt, ending(answer, answered, began))
            # What follows is no part of the answer: if it fails, it is logged, and the answer is shown all the same.
            transaction.on_commit(partial(report_turn, answer, receipt), robust=True)
            if compiled is not None and not opened.is_trial:
                transaction.on_commit(partial(_fold_if_due, opened, compiled, answer, answered), robust=True)
    html = message_html(answer, user=opened.conversation.user)
    return {"type": "done", "message": answer.pk, "outcome": answer.status, "html": html}


def _was_something_forgotten(opened: AcceptedTurn, compiled: AssembledPrompt | None) -> bool:
    """Whether anything was forgotten while the answer was written; nothing is from here to the end."""
    now = lock_forget_epoch(opened.answer.user_id)
    return compiled is not None and now != compiled.inputs.read.epoch


def _erase_task(opened: AcceptedTurn, answered: AgentRun) -> None:
    """The task that this answer noted may hold in other words what was forgotten."""
    if any(call.name == TASK_TOOL for call in answered.tools):
        save_task(opened.conversation, {})


def _go_on_from(opened: AcceptedTurn, answer: Message, compiled: AssembledPrompt | None, answered: AgentRun) -> None:
    """What an answer means for the conversation and for memory; one that is only tried means nothing to either."""
    conversation = opened.conversation
    said = [utterance(message) for message in (opened.question, answer) if is_said(message)]
    index_utterances(answer.user_id, conversation.pk, said)
    if compiled is not None:
        by_tools = {ref for call in answered.tools for ref in refs_in_result(call.result)}
        mark_used(conversation.user, {*compiled.used_refs, *by_tools}, timezone.now())
    titles.request_if_due(conversation, answer)


def ended(opened: AcceptedTurn, text: str, answered: AgentRun) -> Message:
    """The answer as it will be kept."""
    answer = opened.answer
    lines = [storable(line) for line in _tool_lines(answer, answered.tools)]
    answer.text, answer.process_key = text, None
    answer.tokens = count_tokens("\n".join([*lines, text]))  # all that stands in a prompt once the turn is history
    marks = {name: answer.event_data[name] for name in ("without", BESIDE) if name in answer.event_data}
    failure = answered.failure
    if failure is not None:
        answer.status = Message.Status.INTERRUPTED if text else Message.Status.FAILED
        answer.event_data = {**marks, "error": {"code": failure.code, "sentence": failure.sentence}}
    else:
        answer.status = outcome_for(answered.stop_reason).status
        answer.event_data = {**marks, "stop_reason": answered.stop_reason}
    if answered.tools:
        answer.event_data |= {"tool_lines": lines, "tools": serialize_steps(answered.tools)}
    if answered.thought is not None:
        answer.event_data["thought"] = round(answered.thought, 1)
    return answer


def _tool_lines(answer: Message, calls: Sequence[ToolUse]) -> list[str]:
    """One for each; a temporary answer has no row, and nothing that could be opened later."""
    is_kept = answer.pk > 0
    return [
        history_line(call, result_reference(answer.pk, number) if is_kept else "")
        for number, call in enumerate(calls, 1)
    ]


def _keep(answer: Message) -> bool:
    """Write the answer, if it is still this process's to write, also if it was marked as abandoned meanwhile."""
    mine = Message.objects.filter(pk=answer.pk, process_key=PROCESS_KEY)
    return bool(
        mine.update(
            text=answer.text,
            tokens=answer.tokens,
            status=answer.status,
            event_data=answer.event_data,
            process_key=None,
        )
    )


def _keep_tools(opened: AcceptedTurn, calls: list[ToolUse]) -> int:
    """Two events a tool use, hung below the answer they served; how many sequence numbers they took."""
    if not calls:
        return 0
    conversation = Conversation.objects.select_for_update().only("next_seq").get(pk=opened.conversation.pk)
    events = [event for call in calls for event in _events(opened, call)]
    for number, event in enumerate(events):
        event.seq = conversation.next_seq + number
    Message.objects.bulk_create(events)
    return len(events)


def _events(opened: AcceptedTurn, call: ToolUse) -> tuple[Message, Message]:
    common: dict[str, Any] = {
        "user_id": opened.answer.user_id,
        "conversation": opened.conversation,
        "parent": opened.answer,
        "turn": opened.answer.turn,
        "role": Message.Role.TOOL,
        "author": storable(call.name)[:TOOL_NAME_CHARS],
    }
    asked = Message(
        event_type=Message.Event.TOOL_CALL, event_data=storable_json({"id": call.id, "input": call.input}), **common
    )
    told = Message(
        event_type=Message.Event.TOOL_RESULT,
        text=storable(call.result),
        event_data=storable_json({"id": call.id, "is_error": call.is_error}),
        **common,
    )
    return asked, told


def _keep_standing(opened: AcceptedTurn, compiled: AssembledPrompt | None, taken: int) -> None:
    """What changes in the conversation's row. `taken`: sequence numbers that went to tools.

    The turns behind the placeholder are kept, so that the next request has the same bytes. A folding that came
    meanwhile has settled them; none can come in between, as each holds the person's row, and so does the caller.
    """
    followed = compiled if not opened.is_trial else None
    gap = followed.fitted.cut_turns if followed is not None else None
    values: dict[str, UUID | datetime | int | None] = {
        "conversation": opened.conversation.pk,
        "taken": taken,
        "now": None if opened.is_trial else timezone.now(),
        "newest": followed.inputs.history.newest_segment if followed is not None else None,
        "cut_from": gap.first if gap else 0,
        "cut_until": gap.last if gap else 0,
    }
    with connection.cursor() as cursor:
        cursor.execute(_KEEP_STANDING, values)


_KEEP_STANDING: Final = """
    UPDATE chat_conversation SET
        next_seq = next_seq + %(taken)s,
        last_activity_at = coalesce(%(now)s, last_activity_at),
        cut_from = CASE WHEN is_settled THEN cut_from ELSE %(cut_from)s END,
        cut_until = CASE WHEN is_settled THEN cut_until ELSE %(cut_until)s END
    FROM (
        SELECT %(newest)s IS NULL OR EXISTS (
            SELECT FROM chat_segment WHERE conversation_id = %(conversation)s AND number > %(newest)s
        ) AS is_settled
    ) AS turns
    WHERE id = %(conversation)s
"""
"""In words of our own: of all updates of a turn this one takes the ORM longest."""


def _fold_if_due(opened: AcceptedTurn, compiled: AssembledPrompt, answer: Message, answered: AgentRun) -> None:
    """Have older turns folded, in the background, if now is the moment."""
    known = compiled.inputs
    own = finished_turns([opened.question, answer])
    turns = [*known.history.turns, *(replace(turn, attachments=tuple(known.question.attachments)) for turn in own)]
    sizes = size_turns(turns, known.budget.ratios)
    ceiling = known.budget.plan.ceilings[Section.HISTORY]
    now = ConversationState(
        turns=len(turns),
        history=sum(one.tokens for one in sizes),
        ceiling=ceiling,
        prompt=compiled.fitted.tokens + estimate({TextClass.PROSE: answer.tokens}, known.budget.ratios),
        window=known.model.capabilities.context_window,
        task_is_done=any(call.name == TASK_TOOL and call.input.get("done") is True for call in answered.tools),
    )
    can_compact = select_turns(sizes, ceiling) is not None
    if can_compact and first_trigger(now) is None:  # the one trigger that has to ask the database
        now = replace(now, topic_has_shifted=topic_has_shifted(opened.conversation.user, turns))
    request_if_due(opened.conversation, now, can_compact=can_compact)


def _draft(opened: AcceptedTurn, compiled: AssembledPrompt, task: Sequence[Piece | Cut] = ()) -> Receipt:
    """The receipt as it is kept: with what `replay` needs."""
    receipt = draft(opened, compiled, task)
    receipt.ingredients = ingredients(compiled)
    return receipt


def draft(opened: AcceptedTurn, compiled: AssembledPrompt, task: Sequence[Piece | Cut] = ()) -> Receipt:
    """What the panel shows of the prompt. `task`: what tool rounds added to it."""
    return record.draft_receipt(
        user_id=opened.answer.user_id,
        conversation_id=opened.conversation.pk,
        message_id=opened.answer.pk,
        turn=opened.answer.turn,
        model=compiled.inputs.model.name,
        plan=compiled.inputs.budget.plan,
        fitted=with_task(compiled.fitted, task),
        base_by_class=compiled.base_by_class,
        prefix=compiled.prefix.as_json(),
        request_digest=compiled.digest,
        snapshot_id=compiled.inputs.profile.snapshot.pk,
        not_taken=compiled.omitted,
        timings={**compiled.timings, **_steps(compiled.inputs.recalled.timings)},
    )


def _steps(retrieval: Mapping[str, float]) -> dict[str, float]:
    """The retrieval's own timings beside those of the turn."""
    return {f"{STEP}{name}": milliseconds for name, milliseconds in retrieval.items()}


def ending(answer: Message, answered: AgentRun, began: float) -> record.TurnOutcome:
    states = {
        Message.Status.COMPLETE: Receipt.State.COMPLETE,
        Message.Status.INTERRUPTED: Receipt.State.STOPPED,
        Message.Status.FAILED: Receipt.State.FAILED,
    }
    timings = {"total": (time.monotonic() - began) * 1000}
    if answered.first_token is not None:
        timings["first_token"] = answered.first_token
    return record.TurnOutcome(
        state=states[Message.Status(answer.status)],
        rounds=answered.rounds,
        text=answer.text,
        stop_reason=answered.stop_reason,
        timings=timings,
    )
