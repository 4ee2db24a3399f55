"""Finishing a turn: save the answer, index it, record the receipt, notify, queue the librarian.

The first three are one transaction; everything that is not part of the answer runs on commit, where a failure is logged
and the answer is shown all the same.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Exists, OuterRef
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
from chat.ingest import librarian_triggers
from chat.ingest.source import utterances
from chat.messages.activity import serialize_steps
from chat.messages.history import finished_turns
from chat.messages.outcomes import outcome_for
from chat.messages.rendering import message_html
from chat.messages.thinking import THINKING, masked_thinking, merged_event_data
from chat.models import Conversation, Message
from chat.prompt.assemble import AssembledPrompt
from chat.prompt.replay import ingredients
from chat.tools.memory_search import refs_in_result
from chat.tools.output_budget import with_task
from chat.tools.read_document import result_reference
from chat.tools.registry import history_line
from chat.tools.task_state import save_task
from chat.tools.update_task import UPDATE_TASK
from chat.turn import BESIDE, AcceptedTurn, AgentRun, ToolUse
from chat.turns.live_text import Frame
from chat.turns.metrics import report_turn
from memory.forget_epoch import epoch_reads, lock_forget_epoch
from memory.index.indexer import index_utterances
from memory.retrieval.recall import mark_used
from memory.text.message_kinds import repeats_memories
from memory.tombstones import lists_read
from recall.db.notify import PROCESS_KEY, publish_event
from recall.db.prepared import PreparedQuery, PreparedUpdate, Read, read_together, write_together
from recall.llm.tokens import count_tokens
from recall.text import storable, storable_json

SAID_BEFORE: Final = 10
"""Turns whose questions an answer may merely repeat: that is no memory of its own, and is stale once corrected."""
TOOL_NAME_CHARS: Final = 80
"""A model may invent a name of any length; the column is this wide."""
_LOCKED: Final = PreparedQuery(
    lambda conversation: Conversation.objects.filter(pk=conversation).select_for_update().only("next_seq"),
    conversation=UUID,
)
"""The conversation, locked before its answer: an edit locks it first, and then marks the answers it leaves."""
_CLAIMED: Final = PreparedQuery(
    lambda answer: Message.objects.filter(pk=answer, process_key=PROCESS_KEY).select_for_update().only("pk"), answer=int
)
"""The answer, locked, if it is still this process's to write, even if it was marked abandoned meanwhile."""
_AWAITED: Final = PreparedQuery(
    lambda answer: (
        Message.objects.streaming()
        .filter(pk=answer, process_key=PROCESS_KEY, receipt=None)
        .values_list("pk", flat=True)
    ),
    answer=int,
)
"""The answer, if it is being written and has no receipt yet."""
_SAVED: Final = PreparedUpdate(Message, "text", "tokens", "status", "event_data", "process_key")
STATES: Final = {
    Message.Status.COMPLETE: Receipt.State.COMPLETE,
    Message.Status.INTERRUPTED: Receipt.State.STOPPED,
    Message.Status.FAILED: Receipt.State.FAILED,
}


def save_draft_receipt(turn: AcceptedTurn, prompt: AssembledPrompt) -> None:
    """Save the receipt as far as it is known before the answer, so that the panel fills and a crash leaves a trace.

    Doing it again changes nothing. If this process was taken for dead, its answer is closed: a receipt that is opened
    afterwards stays open, unless `finish_turn` closes it.
    """
    with transaction.atomic(), read_together(*_reads_of_draft(turn)):
        if lock_forget_epoch(turn.answer.user_id) != prompt.inputs.read.epoch:
            return  # what it names may be forgotten by now: `finish_turn` decides
        if _AWAITED.first(answer=turn.answer.pk) is None:
            return
        receipt = build_receipt(turn, prompt)
        receipt.ingredients = ingredients(prompt)
        receipt.save(force_insert=True)
        publish_event(f"user-{turn.answer.user_id}", "budget", conversation=str(turn.conversation.pk))


def _reads_of_draft(turn: AcceptedTurn) -> Iterator[Read]:
    yield from epoch_reads(turn.answer.user_id, lock=True)
    yield _AWAITED.read(answer=turn.answer.pk)


def save_partial(message_id: int, text: str, thinking: str = "") -> None:
    """Save the text and thinking so far: all that a crash of this process would leave.

    Not into an answer that was marked abandoned: its receipt counts the text it had, and forgetting has passed over it.
    Not before its receipt is saved: after a crash nothing would count what the text has cost.
    """
    changed: dict[str, Any] = {"event_data": merged_event_data(thinking=thinking)} if thinking else {}
    has_receipt = Exists(Receipt.objects.filter(message=OuterRef("pk")))  # no join: the update reads the row again
    answer = Message.objects.streaming().filter(has_receipt, pk=message_id, process_key=PROCESS_KEY)
    answer.update(text=text, **changed)


def finish_turn(
    turn: AcceptedTurn, text: str, prompt: AssembledPrompt | None, run: AgentRun, started_at: float
) -> list[Frame]:
    """Save the answer and everything that belongs to it; doing it again (the confirmation got lost) changes nothing.

    `prompt`: None if the turn was rejected before there was one. Returns the frames that show the answer.
    """
    answer = build_answer(turn, text.strip(), run)
    if prompt is not None and repeats_memories(answer.text, turn.question.text, _memories_in(prompt, run)):
        answer.event_data["from_memories"] = True  # its sources are recalled, not the answer
    with transaction.atomic(), read_together(*_reads_of_finish(turn)), write_together():
        was_forgotten = _erase_forgotten(turn, answer, prompt, run)
        locked = _LOCKED.first(conversation=turn.conversation.pk)
        if locked is not None and _CLAIMED.first(answer=answer.pk) is not None:
            _SAVED(answer)
            _update_conversation(turn, prompt, _save_tool_events(turn, run.tools, locked.next_seq))
            if not turn.is_trial:
                _index_answer(turn, answer, prompt, run)
            receipt = _record_receipt(turn, answer, prompt, run, started_at, was_forgotten=was_forgotten)
            _notify(turn, answer, receipt)
            if prompt is not None and not turn.is_trial:
                _on_commit(partial(_request_compaction_if_due, turn, prompt, answer, run))
        if not turn.is_trial:
            _on_commit(partial(_queue_librarian, turn))
    frames: list[Frame] = [
        {
            "type": "done",
            "message": answer.pk,
            "outcome": answer.status,
            "html": message_html(answer, user=turn.conversation.user, is_alone=answer.seq == turn.question.seq + 1),
        }
    ]
    return frames if prompt is None else [*frames, {"type": "context", "message": answer.pk}]


def _reads_of_finish(turn: AcceptedTurn) -> Iterator[Read]:
    """What finishing reads: it locks the user's row before any other."""
    yield from epoch_reads(turn.answer.user_id, lock=True)
    yield _LOCKED.read(conversation=turn.conversation.pk)
    yield _CLAIMED.read(answer=turn.answer.pk)
    yield lists_read(turn.answer.user_id)
    yield record.earlier_read(turn.answer.pk)


# The answer -------------------------------------------------------------------------------------------------------


def build_answer(turn: AcceptedTurn, text: str, run: AgentRun) -> Message:
    """The answer as it is stored."""
    answer = turn.answer
    lines = [storable(line) for line in _tool_lines(answer, run.tools)]
    answer.text, answer.process_key = text, None
    answer.tokens = count_tokens("\n".join([*lines, text]))  # all of it is in the prompt once the turn is history
    marks = {name: answer.event_data[name] for name in ("without", BESIDE) if name in answer.event_data}
    failure = run.failure
    if failure is not None:
        answer.status = Message.Status.INTERRUPTED if text else Message.Status.FAILED
        answer.event_data = {**marks, "error": {"code": failure.code, "sentence": failure.sentence}}
    else:
        answer.status = outcome_for(run.stop_reason).status
        answer.event_data = {**marks, "stop_reason": run.stop_reason}
    if run.tools:
        answer.event_data |= {"tool_lines": lines, "tools": serialize_steps(run.tools)}
    if run.thought is not None:
        answer.event_data["thought"] = round(run.thought, 1)
    if thinking := masked_thinking(run.thinking, turn.question.text):
        answer.event_data[THINKING] = thinking
    return answer


def _memories_in(prompt: AssembledPrompt, run: AgentRun) -> Iterator[str]:
    """What the answer was given: memories recalled, in the profile or found, and what the user said shortly before."""
    yield from (turn.question.text for turn in prompt.contents.turns[-SAID_BEFORE:])
    yield from (memory.text for memory in prompt.contents.recalled)
    yield from prompt.contents.profile
    yield from prompt.contents.profile_update
    yield from (call.result for call in run.tools if any(refs_in_result(call.result)))


def _tool_lines(answer: Message, calls: Sequence[ToolUse]) -> list[str]:
    """One for each call; results of a temporary answer cannot be opened later."""
    is_stored = answer.pk > 0
    return [
        history_line(call, result_reference(answer.pk, number) if is_stored else "")
        for number, call in enumerate(calls, 1)
    ]


def _erase_forgotten(turn: AcceptedTurn, answer: Message, prompt: AssembledPrompt | None, run: AgentRun) -> bool:
    """Whether anything was forgotten while the answer was written; an answer that may repeat it is erased.

    The lock holds to the end of the transaction: nothing is forgotten meanwhile.
    """
    epoch = lock_forget_epoch(answer.user_id)
    if prompt is None or epoch == prompt.inputs.read.epoch:
        return False
    # Tool results were in no prompt that could be checked against the erased rows.
    if run.tools or not is_prompt_intact(prompt):
        if any(call.name == UPDATE_TASK.name for call in run.tools):
            save_task(turn.conversation, {})  # may repeat it in other words
        erase_answer(answer, run)
    return True


def _save_tool_events(turn: AcceptedTurn, calls: Sequence[ToolUse], next_seq: int) -> int:
    """Two events a call, as children of the answer; returns how many sequence numbers they took."""
    events = [event for call in calls for event in _tool_events(turn, call)]
    for number, event in enumerate(events):
        event.seq = next_seq + number
    if events:
        Message.objects.bulk_create(events)
    return len(events)


def _tool_events(turn: AcceptedTurn, call: ToolUse) -> tuple[Message, Message]:
    fields: dict[str, Any] = {
        "user_id": turn.answer.user_id,
        "conversation": turn.conversation,
        "parent": turn.answer,
        "turn": turn.answer.turn,
        "role": Message.Role.TOOL,
        "author": storable(call.name)[:TOOL_NAME_CHARS],
    }
    arguments = storable_json({"id": call.id, "input": call.input})
    outcome = storable_json({"id": call.id, "is_error": call.is_error})
    return (
        Message(event_type=Message.Event.TOOL_CALL, event_data=arguments, **fields),
        Message(event_type=Message.Event.TOOL_RESULT, text=storable(call.result), event_data=outcome, **fields),
    )


def _update_conversation(turn: AcceptedTurn, prompt: AssembledPrompt | None, seq_count: int) -> None:
    """Update the conversation's row. `seq_count`: sequence numbers that tool events took.

    The turns behind the placeholder are stored, so that the next request has the same bytes. A compaction since then
    has replaced them; none can come in between, because it locks the user's row, and so does the caller.
    """
    followed = prompt if not turn.is_trial else None
    cut = followed.fitted.cut_turns if followed is not None else None
    values: dict[str, UUID | datetime | int | None] = {
        "conversation": turn.conversation.pk,
        "seq_count": seq_count,
        "now": None if turn.is_trial else timezone.now(),
        "newest": followed.inputs.history.newest_segment if followed is not None else None,
        "cut_from": cut.first if cut else 0,
        "cut_until": cut.last if cut else 0,
    }
    with connection.cursor() as cursor:
        cursor.execute(_UPDATE_CONVERSATION, values)


_UPDATE_CONVERSATION: Final = """
    UPDATE chat_conversation SET
        next_seq = next_seq + %(seq_count)s,
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
"""As SQL: of all updates of a turn this one takes the ORM longest."""


# Memory -----------------------------------------------------------------------------------------------------------


def _index_answer(turn: AcceptedTurn, answer: Message, prompt: AssembledPrompt | None, run: AgentRun) -> None:
    """Index question and answer, mark the memories they used, and request a title. Not for a trial."""
    conversation = turn.conversation
    index_utterances(answer.user_id, conversation.pk, utterances([turn.question, answer]))
    if prompt is not None:
        from_tools = {ref for call in run.tools for ref in refs_in_result(call.result)}
        mark_used(conversation.user, {*prompt.used_refs, *from_tools}, timezone.now())
    titles.request_if_due(conversation, answer)


# The receipt ------------------------------------------------------------------------------------------------------


def build_receipt(turn: AcceptedTurn, prompt: AssembledPrompt, task: Sequence[Piece | Cut] = ()) -> Receipt:
    """What the panel shows of the prompt. `task`: what tool rounds added to it."""
    inputs = prompt.inputs
    retrieval = {f"{STEP}{name}": milliseconds for name, milliseconds in inputs.recalled.timings.items()}
    return record.draft_receipt(
        user_id=turn.answer.user_id,
        conversation_id=turn.conversation.pk,
        message_id=turn.answer.pk,
        turn=turn.answer.turn,
        model=inputs.model.name,
        plan=inputs.budget.plan,
        fitted=with_task(prompt.fitted, task),
        base_by_class=prompt.base_by_class,
        prefix=prompt.prefix.as_json(),
        request_digest=prompt.digest,
        snapshot_id=inputs.profile.snapshot.pk,
        not_taken=prompt.omitted,
        timings={**prompt.timings, **retrieval},
    )


def turn_outcome(answer: Message, run: AgentRun, started_at: float) -> record.TurnOutcome:
    """How the turn ended, with its usage."""
    timings = {"total": (time.monotonic() - started_at) * 1000}
    if run.first_token is not None:
        timings["first_token"] = run.first_token
    return record.TurnOutcome(
        state=STATES[Message.Status(answer.status)],
        rounds=run.rounds,
        text=answer.text,
        stop_reason=run.stop_reason,
        timings=timings,
    )


def _record_receipt(
    turn: AcceptedTurn,
    answer: Message,
    prompt: AssembledPrompt | None,
    run: AgentRun,
    started_at: float,
    *,
    was_forgotten: bool,
) -> Receipt | None:
    """Save the receipt with usage, cost and what `replay` needs; None: there was no prompt."""
    if prompt is None:
        return None
    receipt = build_receipt(turn, prompt, run.task)
    receipt.ingredients = ingredients(prompt)
    if was_forgotten:
        erase_receipt(receipt)  # it also names what was only considered
    record.finalize_receipt(receipt, turn_outcome(answer, run, started_at))
    return receipt


# On commit --------------------------------------------------------------------------------------------------------


def _on_commit(work: partial[None]) -> None:
    transaction.on_commit(work, robust=True)


def _notify(turn: AcceptedTurn, answer: Message, receipt: Receipt | None) -> None:
    """Tell the user's other pages and the metrics."""
    publish_event(f"user-{answer.user_id}", "conversation", conversation=str(turn.conversation.pk))
    _on_commit(partial(report_turn, answer, receipt))


def _request_compaction_if_due(turn: AcceptedTurn, prompt: AssembledPrompt, answer: Message, run: AgentRun) -> None:
    """Have older turns compacted in the background, if a trigger fires."""
    inputs, conversation = prompt.inputs, turn.conversation
    attachments, ratios = tuple(inputs.question.attachments), inputs.budget.ratios
    latest = finished_turns([turn.question, answer])
    turns = [*inputs.history.turns, *(replace(each, attachments=attachments) for each in latest)]
    sizes = size_turns(turns, ratios)
    ceiling = inputs.budget.plan.ceilings[Section.HISTORY]
    state = ConversationState(
        turns=len(turns),
        history=sum(size.tokens for size in sizes),
        ceiling=ceiling,
        prompt=prompt.fitted.tokens + estimate({TextClass.PROSE: answer.tokens}, ratios),
        window=inputs.model.capabilities.context_window,
        task_is_done=any(call.name == UPDATE_TASK.name and call.input.get("done") is True for call in run.tools),
    )
    can_compact = select_turns(sizes, ceiling) is not None
    if can_compact and first_trigger(state) is None:  # the one trigger that has to ask the database
        state = replace(state, topic_has_shifted=topic_has_shifted(conversation.user, turns))
    request_if_due(conversation, state, can_compact=can_compact)


def _queue_librarian(turn: AcceptedTurn) -> None:
    """Have the conversations that were left for this one read, and this one every few turns."""
    if turn.created:
        librarian_triggers.leave_others(turn.conversation.user, turn.conversation.pk)
    librarian_triggers.read_if_due(turn.conversation, turn.answer.turn)
