"""How is a long conversation compacted, exactly once, and never on the way of an answer?

    ask, ask_…        a row is written, a task is queued: the row is the truth, the task only says “look”
    retry             by a person: one that failed starts afresh
    carry_out         claim the row · stage 1 · summarize, holding no connection · fold, in one transaction
    requeue_due       by the clock: what waits, or whose worker was lost, is queued again

A turn that comes before it is done goes on with the stored cut point and placeholder
(`budget/planning/history_cut.py`). A worker may be killed at any moment, and a task delivered twice: a segment, the
archived turns and the end of the row come to be in one transaction, by the worker whose claim still stands.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from budget.spending import usage
from chat.compaction.segments import (
    CompactionSpan,
    create_segment,
    keep_long_results,
    load_uncompacted,
    next_span,
    said_elsewhere,
)
from chat.compaction.summaries.engine import SummaryResult
from chat.compaction.summaries.rule_engine import RuleEngine
from chat.compaction.summaries.schema import DEFAULT_VERBOSITY
from chat.compaction.summaries.select_engine import choose_engine, summarize
from chat.compaction.triggers import BY_NAME, QUIET, ConversationState, first_trigger
from chat.compaction.window import LEAST_TURNS
from chat.conversations.model_choice import must_use_rules
from chat.models import Compaction, Conversation, Message
from memory.forget_epoch import forget_epoch, try_lock_user
from recall.celery import LEASE_SECONDS, enqueue_on_commit
from recall.db.connections import release_connection
from recall.db.notify import publish_event
from recall.llm.client import cached_capabilities, configured_capabilities

if TYPE_CHECKING:
    from memory.librarian.engine import Usage

TASK: Final = "chat.tasks.compact"
LEASE: Final = timedelta(seconds=LEASE_SECONDS)
"""When a worker that does not come back counts as dead: no task takes longer."""
RETRY_AFTER: Final = timedelta(seconds=30)
"""Pause where the conversation changed under the worker's hands."""
MAX_ATTEMPTS: Final = 5
REQUEUE_AT_ONCE: Final = 100
MADE_UP_FOR: Final = timedelta(days=1)
"""Silences that began while no worker ran are made up for within this time."""
QUIET_AT_ONCE: Final = 100
"""Conversations at a time, the longest quiet first: the clock comes again."""
GAVE_UP: Final = f"It was begun {MAX_ATTEMPTS} times and never came to an end; the worker's log says why."
CHANGED: Final = "The conversation changed meanwhile."

State = Compaction.State


# Asking for it ---------------------------------------------------------------------------------------------------


def request_compaction(conversation: Conversation, why: str) -> Compaction | None:
    """Have the older turns folded, once the caller's transaction is committed. `why`: the name of a trigger.

    There is one at a time: where one waits or is being done, that is it. None: it was done this very moment.
    """
    wish = _wish(conversation, why)
    if wish is not None:
        enqueue_on_commit(TASK, wish.pk)
        _tell(wish)
    return wish


def request_if_due(conversation: Conversation, now: ConversationState, *, can_fold: bool) -> None:
    """Have the older turns folded if one of the triggers holds, and there is something to fold."""
    why = first_trigger(now)
    if why is not None and can_fold:
        with transaction.atomic():
            request_compaction(conversation, why)


def ask_at_the_end(conversation: Conversation) -> None:
    """Have an ended conversation folded, where there can be anything to do: most are short, and the queue is for
    those that are not."""
    leaf = conversation.active_leaf
    results = Message.objects.filter(conversation=conversation, event_type=Message.Event.TOOL_RESULT)
    if (leaf is not None and leaf.turn >= LEAST_TURNS) or results.exists():
        request_compaction(conversation, "ended")


def ask_where_quiet() -> int:
    """Have conversations folded of which the provider's cache has forgotten all, each once a silence; how many."""
    now = timezone.now()
    asked = Compaction.objects.filter(
        conversation=OuterRef("pk"), reason="quiet", created_at__gt=OuterRef("last_activity_at")
    )
    quiet = Conversation.objects.not_deleted().filter(
        ~Exists(asked),
        last_activity_at__range=(now - QUIET - MADE_UP_FOR, now - QUIET),
        active_leaf__turn__gte=LEAST_TURNS,
    )
    quiet = quiet.exclude(status=Conversation.Status.ENDED).exclude(active_leaf__status=Message.Status.STREAMING)
    found = [one for one in quiet.order_by("last_activity_at")[:QUIET_AT_ONCE] if _has_cache(one)]
    for conversation in found:
        request_if_due(conversation, ConversationState(silence=now - conversation.last_activity_at), can_fold=True)
    return len(found)


def _has_cache(conversation: Conversation) -> bool:
    able = cached_capabilities(conversation.model or settings.ENVIRONMENT.chat_model) or configured_capabilities()
    return able.caching


def retry(failed: Compaction) -> bool:
    """Start a failed one afresh; False: it has not failed, or there is another one to be done there."""
    with transaction.atomic():
        Conversation.objects.select_for_update(no_key=True).filter(pk=failed.conversation_id).first()  # one at a time
        if Compaction.objects.open().filter(conversation=failed.conversation_id).exists():
            return False
        changed = Compaction.objects.filter(pk=failed.pk, state=State.FAILED).update(
            state=State.PENDING, attempts=0, not_before=timezone.now(), error="", finished_at=None
        )
        if changed:
            enqueue_on_commit(TASK, failed.pk)
            _tell(failed)
    return bool(changed)


def requeue_due() -> int:
    """Queue the compactions whose time has come, and those whose worker was lost; how many they were."""
    due = Compaction.objects.due(timezone.now()).order_by("not_before", "pk").values_list("pk", flat=True)
    found = list(due[:REQUEUE_AT_ONCE])
    for pk in found:
        enqueue_on_commit(TASK, pk)
    return len(found)


def _wish(conversation: Conversation, why: str) -> Compaction | None:
    name = BY_NAME[why].name
    wish = Compaction(user_id=conversation.user_id, conversation=conversation, reason=name)
    Compaction.objects.bulk_create([wish], ignore_conflicts=True)
    found: Compaction | None = Compaction.objects.open().filter(conversation=conversation).first()
    return found


def _tell(wish: Compaction) -> None:
    publish_event(f"user-{wish.user_id}", "compaction", conversation=str(wish.conversation_id))


# Doing it --------------------------------------------------------------------------------------------------------


def run_compaction(compaction_id: int) -> bool:
    """Make one segment, if it is due and nobody else is at it; whether there is more to do."""
    work = _claim(compaction_id)
    if work is None:
        return False
    began = forget_epoch(work.user_id)
    keep_long_results(work.conversation)
    was_asked = work.reason == "asked"
    found = next_span(work.conversation, load_uncompacted(work.conversation), was_asked=was_asked)
    if found is None:
        return _commit_segment(work, None, None, began)
    rules = RuleEngine(said_elsewhere(work.conversation, found))
    chosen = rules if must_use_rules(work.conversation.user) else choose_engine(rules)
    release_connection()
    told = summarize(found.exchanges(), engine=chosen, fallback=rules)
    _book(work, told.usage)
    return _commit_segment(work, found, told, began)


@transaction.atomic
def _claim(compaction_id: int) -> Compaction | None:
    """Make it this worker's own until its lease ends; None: it is not due, or another worker has it."""
    now = timezone.now()
    due = Compaction.objects.due(now).select_related("conversation__user")
    work: Compaction | None = due.filter(pk=compaction_id).select_for_update(skip_locked=True, of=("self",)).first()
    if work is None:
        return None
    if work.attempts >= MAX_ATTEMPTS:
        _finish(work, State.FAILED, error=work.error or GAVE_UP)
        return None
    work.state, work.claim, work.lease_until = State.RUNNING, uuid4(), now + LEASE
    work.attempts += 1
    work.save(update_fields=["state", "claim", "lease_until", "attempts"])
    return work


@transaction.atomic
def _book(work: Compaction, used: Usage) -> None:
    """Count the tokens of one call. Spent is spent, also where its summary comes too late to be of use."""
    if not used.input_tokens + used.output_tokens:
        return
    usage.add_background(work.user_id, settings.ENVIRONMENT.librarian_model, used.input_tokens, used.output_tokens)
    Compaction.objects.filter(pk=work.pk).update(
        input_tokens=F("input_tokens") + used.input_tokens, output_tokens=F("output_tokens") + used.output_tokens
    )


@transaction.atomic
def _commit_segment(work: Compaction, found: CompactionSpan | None, told: SummaryResult | None, began: int) -> bool:
    """Fold and close the row, or leave it open for the next stretch: all of it or nothing. Whether there is more.

    `began`: the forget epoch in which the turns were read; where something was forgotten since, they are read anew.
    """
    if not try_lock_user(work.user_id):
        return False
    conversation = _locked(work.conversation_id)
    mine = Compaction.objects.select_for_update(of=("self",)).filter(pk=work.pk, state=State.RUNNING, claim=work.claim)
    locked: Compaction | None = mine.first()
    if conversation is None or locked is None:  # it is gone, or the lease ran out and another worker took over
        return False
    if forget_epoch(work.user_id) != began:
        locked.attempts -= 1
        _begin_anew(locked)
        return False
    if found is None or told is None:
        _finish(locked, State.DONE)
        return False
    if not found.is_current(load_uncompacted(conversation)):
        _put_off(locked)
        return False
    create_segment(conversation, found, told.summary, DEFAULT_VERBOSITY)
    locked.engine, locked.error = told.engine_name, told.failure
    locked.segments += 1
    more = next_span(conversation, load_uncompacted(conversation), was_asked=False) is not None
    _go_on(locked) if more else _finish(locked, State.DONE, error=told.failure)
    return more


def _locked(conversation_id: UUID) -> Conversation | None:
    rows = Conversation.objects.not_deleted().select_related("user").select_for_update(of=("self",))
    found: Conversation | None = rows.filter(pk=conversation_id).first()
    return found


def _go_on(work: Compaction) -> None:
    """A segment is made and there are turns for another: the next task makes it."""
    work.attempts = 0
    _begin_anew(work)


def _begin_anew(work: Compaction) -> None:
    work.state, work.claim, work.lease_until = State.PENDING, None, None
    work.save()
    enqueue_on_commit(TASK, work.pk)
    _tell(work)


def _put_off(work: Compaction) -> None:
    work.state, work.claim, work.lease_until = State.PENDING, None, None
    work.not_before, work.error = timezone.now() + RETRY_AFTER, CHANGED
    work.save()


def _finish(work: Compaction, state: Compaction.State, *, error: str = "") -> None:
    work.state, work.error, work.finished_at = state, error, timezone.now()
    work.claim = work.lease_until = None
    work.save()
    _tell(work)
