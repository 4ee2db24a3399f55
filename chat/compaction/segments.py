"""Segments: write the summary of a range of turns and archive the turns. Nothing is deleted.

Stage 1 moves long tool results to documents, stage 2 compacts the turns. Compacted messages stay in their rows: pages
show them, search finds them, and branches that leave the range halfway read the messages themselves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.db.models import Max
from django.db.models.functions import Left, Length
from django.utils import timezone

from budget.counting import calibration
from budget.counting.estimate import TextClass, classify, estimate
from budget.planning.plan import Section
from budget.planning.user_plan import plan_for
from chat.attachments.prompt_blocks import PromptAttachment, in_short
from chat.compaction.summaries.merge import merge
from chat.compaction.summaries.schema import DEFAULT_VERBOSITY, Exchange, Summary, render
from chat.compaction.window import SizedTurn, count_to_merge, select_turns
from chat.conversations.topics import READ_CHARACTERS
from chat.messages.history import ConversationHistory, Turn, load_history, tool_lines, with_attachment_outlines
from chat.models import Conversation, Message, Segment
from memory.documents.artifacts import store_artifact
from memory.documents.revisions import PathTakenError
from memory.forget_epoch import lock_forget_epoch
from memory.index.indexer import index_segment
from memory.models import Chunk
from memory.secrets.secrets_filter import mask_secrets
from recall.environment import setting
from recall.llm.client import get_capabilities
from recall.llm.tokens import count_tokens

MIN_ARTIFACT_TOKENS: Final = setting("artifact_from_tokens", 1_000)
"""Base tokens from which a tool result becomes a document (DESIGN §4, stage 1)."""
ELSEWHERE_TURNS: Final = 200
"""Maximum turns sampled for what the conversation is about elsewhere."""
REFERENCE: Final = "[{characters:,} characters of results are kept at {path}; the tool read_document opens them.]"
"""Replaces a moved tool result."""


# Stage 1: long tool results --------------------------------------------------------------------------------------


def store_long_results(conversation: Conversation) -> int:
    """Move long tool results into `/artifacts` and return how many. Results moved earlier are short by now."""
    results = Message.objects.filter(conversation=conversation, event_type=Message.Event.TOOL_RESULT)
    long = results.annotate(characters=Length("text")).filter(characters__gt=MIN_ARTIFACT_TOKENS).defer("search")
    return sum(
        _store_result(conversation, result) for result in long if count_tokens(result.text) > MIN_ARTIFACT_TOKENS
    )


@transaction.atomic
def _store_result(conversation: Conversation, result: Message) -> bool:
    """Move one result, with its reference, in one transaction; not if it was deleted or forgotten since it was read."""
    lock_forget_epoch(conversation.user_id)  # nothing can be forgotten between check and update
    unchanged = Message.objects.filter(pk=result.pk, text=result.text)
    if unchanged.select_for_update().values_list("pk").first() is None:
        return False
    name = f"{result.author or 'tool'} {result.turn}"
    try:
        path = store_artifact(conversation.user, str(conversation.pk), name, result.text)
    except (PathTakenError, ValidationError):  # the path is taken: the result stays where it is
        return False
    reference = REFERENCE.format(characters=len(result.text), path=path)
    return bool(unchanged.update(text=reference, event_data={**result.event_data, "artifact": path}))


# Stage 2: which turns to compact ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CompactionSpan:
    """Consecutive turns to summarize."""

    turns: tuple[Turn, ...]

    @property
    def first(self) -> int:
        """Number of the first turn."""
        return self.turns[0].number

    @property
    def last(self) -> int:
        """Number of the last turn."""
        return self.turns[-1].number

    def exchanges(self) -> list[Exchange]:
        """The turns as an engine reads them."""
        return [
            Exchange(
                t.number,
                in_short(t.masked_question(), t.attachments),
                t.masked_answer(),
                [mask_secrets(line, t.secrets, is_own=False) for line in tool_lines(t.answer)],
                t.question.created_at,
            )
            for t in self.turns
        ]

    def is_current(self, before: ConversationHistory) -> bool:
        """Whether none of it has since been compacted, edited or left for another branch."""
        today = {turn.answer.pk: turn for turn in before.turns}
        return all(
            (now := today.get(turn.answer.pk)) is not None and _engine_input(now) == _engine_input(turn)
            for turn in self.turns
        )


def _engine_input(turn: Turn) -> tuple[str, str, list[str]]:
    """Everything in a turn that an engine reads."""
    return turn.question.text, turn.answer.text, tool_lines(turn.answer)


def load_uncompacted(conversation: Conversation) -> ConversationHistory:
    """History of the active branch, without an answer still being generated."""
    found = with_attachment_outlines(load_history(conversation, conversation.active_leaf_id))
    written = tuple(turn for turn in found.turns if turn.answer.status != Message.Status.STREAMING)
    return ConversationHistory(written, found.segments)


def next_span(conversation: Conversation, before: ConversationHistory, *, was_asked: bool) -> CompactionSpan | None:
    """The turns to compact next, or None."""
    model = conversation.model or settings.ENVIRONMENT.chat_model
    plan = plan_for(conversation.user, get_capabilities(model).context_window)
    sizes = size_turns(before.turns, calibration.ratios(model))
    found = select_turns(sizes, plan.ceilings[Section.HISTORY], was_asked=was_asked)
    return None if found is None else CompactionSpan(tuple(turn for turn in before.turns if turn.number in found))


def load_other_questions(conversation: Conversation, span: CompactionSpan) -> list[str]:
    """The user's messages in other turns, latest first: their words count less as topics here."""
    messages = Message.objects.for_user(conversation.user).filter(conversation=conversation)
    questions = messages.filter(event_type=Message.Event.USER_MESSAGE).exclude(turn__range=(span.first, span.last))
    beginnings = questions.order_by("-seq").annotate(beginning=Left("text", READ_CHARACTERS))
    return list(beginnings.values_list("beginning", flat=True)[:ELSEWHERE_TURNS])


def size_turns(turns: Sequence[Turn], ratios: dict[TextClass, float]) -> list[SizedTurn]:
    """The turns with their tokens in a prompt."""
    return [
        SizedTurn(
            t.number,
            sum(estimate({classify(m.text): m.tokens}, ratios) for m in (t.question, t.answer))
            + sum(estimate({_text_class(item): item.tokens}, ratios) for item in t.attachments),
        )
        for t in turns
    ]


def _text_class(item: PromptAttachment) -> TextClass:
    return TextClass.IMAGE if item.is_image else classify(item.text)


# Stage 2: compaction ---------------------------------------------------------------------------------------------


def create_segment(conversation: Conversation, span: CompactionSpan, summary: Summary) -> None:
    """Replace the turns by their summary. The caller's transaction has locked the conversation's row."""
    last = span.turns[-1].answer
    segment = _save_segment(
        conversation,
        Segment(
            first_turn=span.first,
            last_turn=span.last,
            before_id=span.turns[0].question.parent_id,
            last_message=last,
        ),
        summary,
    )
    _archive(segment, timezone.now())
    index_segment(conversation.user_id, conversation.pk, segment.pk, segment.text, place=last.seq)
    Chunk.objects.filter(segment=segment).update(said_at=last.created_at)
    _merge_oldest(conversation, load_history(conversation, conversation.active_leaf_id).segments)
    # The summary covers what the placeholder replaced; if history is still too long, the next prompt is cut again.
    Conversation.objects.filter(pk=conversation.pk).update(cut_from=0, cut_until=0)


def _merge_oldest(conversation: Conversation, segments: Sequence[Segment]) -> None:
    """Merge the oldest summaries into one if there are too many; their rows stay."""
    oldest = segments[: count_to_merge(len(segments))]
    if not oldest:
        return
    parts = [(part.first_turn, part.last_turn, Summary.from_json(part.summary)) for part in oldest]
    merged = _save_segment(
        conversation,
        Segment(
            first_turn=oldest[0].first_turn,
            last_turn=oldest[-1].last_turn,
            before_id=oldest[0].before_id,
            last_message_id=oldest[-1].last_message_id,
        ),
        merge(parts, DEFAULT_VERBOSITY.limit),
    )
    Segment.objects.filter(pk__in=[part.pk for part in oldest], merged_into=None).update(merged_into=merged)


def _save_segment(conversation: Conversation, segment: Segment, summary: Summary) -> Segment:
    numbers = Segment.objects.filter(conversation=conversation).aggregate(last=Max("number"))
    segment.user_id, segment.conversation = conversation.user_id, conversation
    segment.number = (numbers["last"] or 0) + 1
    segment.text = render(summary, segment.first_turn, segment.last_turn, DEFAULT_VERBOSITY.limit)
    segment.summary, segment.topics = summary.as_json(), list(summary.topics)
    segment.tokens = count_tokens(segment.text)
    segment.save(force_insert=True)
    return segment


# Failed turns in between are archived too, and so are tool events, which are children of their answers.
_ARCHIVE: Final = """
WITH RECURSIVE compacted (id, parent) AS (
    SELECT id, parent_id FROM chat_message WHERE id = %(last)s
    UNION ALL
    SELECT message.id, message.parent_id FROM compacted JOIN chat_message AS message ON message.id = compacted.parent
    WHERE message.id IS DISTINCT FROM %(before)s
)
UPDATE chat_message SET archived_at = %(now)s
WHERE archived_at IS NULL AND conversation_id = %(conversation)s
    AND (id IN (SELECT id FROM compacted) OR (role = 'tool' AND parent_id IN (SELECT id FROM compacted)))
"""


def _archive(segment: Segment, now: datetime) -> None:
    values = {
        "last": segment.last_message_id,
        "before": segment.before_id,
        "now": now,
        "conversation": segment.conversation_id,
    }
    with connection.cursor() as cursor:
        cursor.execute(_ARCHIVE, values)
