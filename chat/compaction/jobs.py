"""Background jobs that compact long conversations: each exactly once, and off the critical path of an answer.

`request_compaction` writes a row and queues a task; `run_compaction` claims the row, stores long tool results as
documents, summarizes without a database connection, and creates the segment in the transaction that ends or restarts
the row (`recall/jobs.py`). A turn that starts meanwhile uses the stored cut point and placeholder
(`budget/planning/history_cut.py`).
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from budget.spending import usage
from chat.compaction.segments import (
    CompactionSpan,
    create_segment,
    load_other_questions,
    load_uncompacted,
    next_span,
    store_long_results,
)
from chat.compaction.summaries.engine import SummaryResult
from chat.compaction.summaries.rule_engine import RuleEngine
from chat.compaction.summaries.select_engine import choose_engine, summarize
from chat.compaction.triggers import BY_NAME, QUIET, ConversationState, first_trigger
from chat.compaction.window import MIN_CONVERSATION_TURNS
from chat.conversations.model_choice import must_use_rules
from chat.models import Compaction, Conversation, Message
from memory.forget_epoch import forget_epoch, try_lock_user
from recall.db.connections import release_connection
from recall.db.notify import publish_event
from recall.jobs import LeasedJob
from recall.llm.client import cached_capabilities, configured_capabilities

if TYPE_CHECKING:
    from memory.ports.spending import Usage

TASK: Final = "chat.tasks.compact"
RETRY_AFTER: Final = timedelta(seconds=30)
"""Pause after the conversation changed during a compaction."""
MAX_QUIET_AGE: Final = timedelta(days=1)
"""A silence that started while no worker ran is still compacted within this time."""
MAX_QUIET: Final = 100
"""Maximum quiet conversations requested in one round, the longest quiet first; the scheduler starts the next round."""
CHANGED: Final = "The conversation changed during the compaction."

State = Compaction.State


def _notify(compaction: Compaction) -> None:
    publish_event(f"user-{compaction.user_id}", "compaction", conversation=str(compaction.conversation_id))


COMPACTIONS: Final = LeasedJob(
    Compaction,
    TASK,
    _notify,
    backoff=(RETRY_AFTER,),
    waiting=State.PENDING,
    eligible=Q(conversation__deleted_at=None),
    related=("conversation__user",),
)


# Requesting ------------------------------------------------------------------------------------------------------


def request_compaction(conversation: Conversation, trigger: str) -> Compaction | None:
    """Queue the compaction of the older turns after the caller's commit. `trigger`: a name of `triggers.py`.

    A conversation has at most one open compaction, which is returned. None if it ended at this very moment.
    """
    row = Compaction(user_id=conversation.user_id, conversation=conversation, reason=BY_NAME[trigger].name)
    Compaction.objects.bulk_create([row], ignore_conflicts=True)
    compaction: Compaction | None = Compaction.objects.open().filter(conversation=conversation).first()
    if compaction is not None:
        COMPACTIONS.enqueue(compaction)
    return compaction


def request_if_due(conversation: Conversation, now: ConversationState, *, can_compact: bool) -> None:
    """Request a compaction if a trigger holds and there is something to compact."""
    trigger = first_trigger(now)
    if trigger is not None and can_compact:
        with transaction.atomic():
            request_compaction(conversation, trigger)


def request_at_end(conversation: Conversation) -> None:
    """Request the compaction of an ended conversation, unless it is too short to have anything to compact."""
    leaf = conversation.active_leaf
    results = Message.objects.filter(conversation=conversation, event_type=Message.Event.TOOL_RESULT)
    if (leaf is not None and leaf.turn >= MIN_CONVERSATION_TURNS) or results.exists():
        request_compaction(conversation, "ended")


def request_where_quiet() -> int:
    """Request compactions where the provider's cache has expired, once per silence; return how many conversations."""
    now = timezone.now()
    requested = Compaction.objects.filter(
        conversation=OuterRef("pk"), reason="quiet", created_at__gt=OuterRef("last_activity_at")
    )
    quiet = Conversation.objects.not_deleted().filter(
        ~Exists(requested),
        last_activity_at__range=(now - QUIET - MAX_QUIET_AGE, now - QUIET),
        active_leaf__turn__gte=MIN_CONVERSATION_TURNS,
    )
    quiet = quiet.exclude(status=Conversation.Status.ENDED).exclude(active_leaf__status=Message.Status.STREAMING)
    cached = [row for row in quiet.order_by("last_activity_at")[:MAX_QUIET] if _has_cache(row)]
    for conversation in cached:
        request_if_due(conversation, ConversationState(silence=now - conversation.last_activity_at), can_compact=True)
    return len(cached)


def _has_cache(conversation: Conversation) -> bool:
    model = conversation.model or settings.ENVIRONMENT.chat_model
    return (cached_capabilities(model) or configured_capabilities()).caching


def retry(failed: Compaction) -> bool:
    """Start a failed compaction over; False if it hasn't failed, or the conversation has another open one."""
    with transaction.atomic():
        Conversation.objects.select_for_update(no_key=True).filter(pk=failed.conversation_id).first()
        if Compaction.objects.open().filter(conversation=failed.conversation_id).exists():
            return False
        return COMPACTIONS.retry_failed(failed)


# Running it ------------------------------------------------------------------------------------------------------


def run_compaction(compaction_id: int) -> bool:
    """Worker entry point: create one segment, if the row is due and unclaimed; return whether there is more to
    compact."""
    compaction = COMPACTIONS.claim(compaction_id)
    if compaction is None:
        return False
    conversation, epoch = compaction.conversation, forget_epoch(compaction.user_id)
    store_long_results(conversation)
    was_asked = compaction.reason == "asked"
    span = next_span(conversation, load_uncompacted(conversation), was_asked=was_asked)
    if span is None:
        return _commit_segment(compaction, None, None, epoch)
    rules = RuleEngine(load_other_questions(conversation, span))
    engine = rules if must_use_rules(conversation.user) else choose_engine(rules)
    release_connection()
    summary = summarize(span.exchanges(), engine=engine, fallback=rules)
    _record_usage(compaction, summary.usage)
    return _commit_segment(compaction, span, summary, epoch)


@transaction.atomic
def _record_usage(compaction: Compaction, used: Usage) -> None:
    """Count the tokens of one call, even if its summary comes too late to be used."""
    if not used.input_tokens + used.output_tokens:
        return
    usage.add_background(
        compaction.user_id, settings.ENVIRONMENT.librarian_model, used.input_tokens, used.output_tokens
    )
    Compaction.objects.filter(pk=compaction.pk).update(
        input_tokens=F("input_tokens") + used.input_tokens, output_tokens=F("output_tokens") + used.output_tokens
    )


@transaction.atomic
def _commit_segment(
    compaction: Compaction, span: CompactionSpan | None, summary: SummaryResult | None, epoch: int
) -> bool:
    """Create the segment and end the row, or restart it for the next span; return whether there is more to compact.

    `epoch`: the forget epoch in which the turns were read. If something was forgotten since, they are read again.
    """
    if not try_lock_user(compaction.user_id):
        return False
    conversation = _lock_conversation(compaction.conversation_id)
    locked = COMPACTIONS.lock_claimed(compaction)
    if conversation is None or locked is None:  # deleted, or the lease expired and another worker took over
        return False
    if forget_epoch(compaction.user_id) != epoch:
        COMPACTIONS.restart(locked, attempts=locked.attempts - 1)
        return False
    if span is None or summary is None:
        COMPACTIONS.finish(locked, State.DONE)
        return False
    if not span.is_current(load_uncompacted(conversation)):
        COMPACTIONS.reschedule(locked, CHANGED)
        return False
    create_segment(conversation, span, summary.summary)
    locked.engine, locked.segments = summary.engine_name, locked.segments + 1
    has_more = next_span(conversation, load_uncompacted(conversation), was_asked=False) is not None
    if has_more:
        COMPACTIONS.restart(locked, attempts=0, error=summary.failure)
    else:
        COMPACTIONS.finish(locked, State.DONE, error=summary.failure)
    return has_more


def _lock_conversation(conversation_id: UUID) -> Conversation | None:
    rows = Conversation.objects.not_deleted().select_related("user").select_for_update(of=("self",))
    conversation: Conversation | None = rows.filter(pk=conversation_id).first()
    return conversation
