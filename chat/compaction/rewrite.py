"""Regenerates the summary of a segment after something it was based on was forgotten.

The row stays, so its turns stay compacted. A placeholder replaces the text until the new summary is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.db import transaction

from budget.spending import usage
from chat.compaction.segments import CompactionSpan
from chat.compaction.summaries.merge import merge
from chat.compaction.summaries.schema import DEFAULT_VERBOSITY, Summary, render
from chat.compaction.summaries.select_engine import RULES, choose_engine, summarize
from chat.conversations.model_choice import must_use_rules
from chat.messages.history import Turn, finished_turns
from chat.models import Message, Segment
from memory.forget_epoch import forget_epoch, lock_forget_epoch
from memory.index.indexer import index_segment
from recall.db.connections import release_connection
from recall.llm.tokens import count_tokens

if TYPE_CHECKING:
    from accounts.models import User
DROPPED: Final = "The summary of turns {first} to {last} was dropped, as something in it was forgotten."
"""Replaces a summary until it is regenerated."""


def is_dropped(segment: Segment) -> bool:
    """Whether its text is the placeholder."""
    return segment.text == DROPPED.format(first=segment.first_turn, last=segment.last_turn)


def regenerate_summary(user: User, segment_id: int) -> bool:
    """Regenerate a dropped summary. False: something was forgotten meanwhile, or a merged part is still dropped."""
    epoch = forget_epoch(user.pk)
    segment: Segment | None = Segment.objects.for_user(user).filter(pk=segment_id).first()
    if segment is None or not is_dropped(segment):
        return True
    parts = list(segment.merged.order_by("first_turn"))
    if any(is_dropped(part) for part in parts):
        return False
    if parts:
        merged = [(part.first_turn, part.last_turn, Summary.from_json(part.summary)) for part in parts]
        return _save_summary(segment, merge(merged, DEFAULT_VERBOSITY.limit), epoch)
    return _save_summary(segment, _summarize_turns(user, segment), epoch)


def _summarize_turns(user: User, segment: Segment) -> Summary:
    turns = _load_turns(segment)
    engine = RULES if must_use_rules(user) else choose_engine()
    release_connection()
    result = summarize(CompactionSpan(turns).exchanges(), engine=engine)
    model = settings.ENVIRONMENT.librarian_model
    usage.add_background(user.pk, model, result.usage.input_tokens, result.usage.output_tokens)
    return result.summary


def _load_turns(segment: Segment) -> tuple[Turn, ...]:
    """The turns of the segment, from its last message back."""
    rows = Message.objects.filter(conversation=segment.conversation_id).exclude(role=Message.Role.TOOL)
    by_id = rows.defer("search").in_bulk()
    path: list[Message] = []
    message = by_id.get(segment.last_message_id or 0)
    while message is not None and message.pk != segment.before_id:
        path.append(message)
        message = by_id.get(message.parent_id or 0)
    return tuple(finished_turns(path[::-1]))


@transaction.atomic
def _save_summary(segment: Segment, summary: Summary, epoch: int) -> bool:
    if lock_forget_epoch(segment.user_id) != epoch:
        return False
    text = render(summary, segment.first_turn, segment.last_turn, DEFAULT_VERBOSITY.limit)
    changed = Segment.objects.filter(pk=segment.pk, text=segment.text).update(
        text=text, summary=summary.as_json(), topics=list(summary.topics), tokens=count_tokens(text)
    )
    if changed:
        place = segment.last_message.seq if segment.last_message is not None else 0
        index_segment(segment.user_id, segment.conversation_id, segment.pk, text, place=place)
    return True
