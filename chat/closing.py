"""How is an answer kept? The reply, its tool rounds, its receipt and what was learned from it: one transaction."""

from __future__ import annotations

import time
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from budget import receipts
from budget.models import Receipt
from chat.answering import Answered, ToolUse
from chat.context import Compiled
from chat.models import Conversation, Message
from chat.opening import Opened
from chat.outcomes import of
from chat.pages import message_html
from chat.running import Frame
from chat.utterances import is_said, utterance
from memory.indexing import INDEX_TASK, index_utterances
from memory.retrieval import mark_used
from recall.celery import queue
from recall.nudges import PROCESS_KEY, nudge
from recall.text import storable, storable_json
from recall.tokens import count

TOOL_NAME_CHARS = 80
"""A model may invent a name as long as it likes; the column is this wide."""


def open_receipt(opened: Opened, compiled: Compiled) -> None:
    """Save the receipt as far as it is known before the answer, so that the panel fills and a crash leaves a trace."""
    _draft(opened, compiled).save(force_insert=True)


def save_partial(message_id: int, text: str) -> None:
    """Save the text so far: all that a crash of this process would leave."""
    Message.objects.filter(pk=message_id, process_key=PROCESS_KEY).update(text=text)


def close_turn(opened: Opened, text: str, compiled: Compiled | None, answered: Answered, began: float) -> Frame:
    """Keep the answer; doing it again (the confirmation got lost) changes nothing. The `done` frame."""
    answer = _ended(opened, text.strip(), answered)
    with transaction.atomic():
        if _keep(answer):
            opened_tools = _keep_tools(opened, answered.tools)
            Conversation.objects.filter(pk=opened.conversation.pk).update(
                last_activity_at=timezone.now(), next_seq=F("next_seq") + opened_tools, **_cut_point(compiled)
            )
            nudge(f"user-{answer.user_id}", "conversation", conversation=str(opened.conversation.pk))
            said = [utterance(message) for message in (opened.question, answer) if is_said(message)]
            index_utterances(answer.user_id, opened.conversation.pk, said)
            if answer.seq != opened.question.seq + 1:  # another answer stood here, and leaves the index
                queue(INDEX_TASK, str(opened.conversation.pk))
            if compiled is not None:
                mark_used(opened.conversation.user, compiled.used_refs, timezone.now())
                receipts.book(_draft(opened, compiled), _ending(answer, answered, began))
    html = message_html(answer, user=opened.conversation.user)
    return {"type": "done", "message": answer.pk, "outcome": answer.status, "html": html}


def _ended(opened: Opened, text: str, answered: Answered) -> Message:
    """The answer as it will be kept."""
    answer = opened.answer
    lines = [storable(call.line) for call in answered.tools]
    answer.text, answer.process_key = text, None
    answer.tokens = count("\n".join([*lines, text]))  # all that stands in a prompt once the turn is history
    failure = answered.failure
    if failure is not None:
        answer.status = Message.Status.INTERRUPTED if text else Message.Status.FAILED
        answer.event_data = {"error": {"code": failure.code, "sentence": failure.sentence}}
    else:
        answer.status = of(answered.stop_reason).status
        answer.event_data = {"stop_reason": answered.stop_reason}
    if answered.tools:
        answer.event_data["tool_lines"] = lines
    return answer


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


def _keep_tools(opened: Opened, calls: list[ToolUse]) -> int:
    """Two events a tool use, hung below the answer they served; how many sequence numbers they took."""
    if not calls:
        return 0
    conversation = Conversation.objects.select_for_update().only("next_seq").get(pk=opened.conversation.pk)
    events = [event for call in calls for event in _events(opened, call)]
    for number, event in enumerate(events):
        event.seq = conversation.next_seq + number
    Message.objects.bulk_create(events)
    return len(events)


def _events(opened: Opened, call: ToolUse) -> tuple[Message, Message]:
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


def _cut_point(compiled: Compiled | None) -> dict[str, int]:
    """The turns behind the placeholder, so that the next request keeps the same bytes."""
    if compiled is None:
        return {}
    gap = compiled.fitted.cut_turns
    return {"cut_from": gap.first if gap else 0, "cut_until": gap.last if gap else 0}


def _draft(opened: Opened, compiled: Compiled) -> Receipt:
    return receipts.draft(
        user_id=opened.answer.user_id,
        conversation_id=opened.conversation.pk,
        message_id=opened.answer.pk,
        turn=opened.answer.turn,
        model=compiled.known.model,
        plan=compiled.known.plan,
        fitted=compiled.fitted,
        base_by_class=compiled.base_by_class,
        request_digest=compiled.digest,
        snapshot_id=compiled.known.snapshot.pk,
        not_taken=compiled.not_taken,
        timings=compiled.timings,
    )


def _ending(answer: Message, answered: Answered, began: float) -> receipts.Ending:
    states = {
        Message.Status.COMPLETE: Receipt.State.COMPLETE,
        Message.Status.INTERRUPTED: Receipt.State.STOPPED,
        Message.Status.FAILED: Receipt.State.FAILED,
    }
    timings = {"total": (time.monotonic() - began) * 1000}
    if answered.first_token is not None:
        timings["first_token"] = answered.first_token
    return receipts.Ending(
        state=states[Message.Status(answer.status)],
        rounds=answered.rounds,
        text=answer.text,
        stop_reason=answered.stop_reason,
        timings=timings,
    )
