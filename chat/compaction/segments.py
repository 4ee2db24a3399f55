"""How does a stretch of turns become a segment? Its summary is written, the originals are archived, none is deleted.

Stage 1 takes long tool results out of the way, stage 2 folds the turns. What was folded stays in its rows: pages show
it, search finds it, and branches that leave the stretch half-way go on reading the messages themselves.
"""

from __future__ import annotations

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
from chat.compaction.summaries.schema import Exchange, Summary, Verbosity, render
from chat.compaction.window import SizedTurn, select_turns, too_many
from chat.messages.history import ConversationHistory, Turn, load_history, tool_lines, with_attachment_outlines
from chat.models import Conversation, Message, Segment
from memory.documents.artifacts import store_artifact
from memory.documents.revisions import PathTakenError
from memory.forget_epoch import lock_forget_epoch
from memory.index.indexer import index_segment
from memory.models import Chunk
from recall.environment import setting
from recall.llm.client import get_capabilities
from recall.llm.tokens import count_tokens

LONG_RESULT: Final = setting("artifact_from_tokens", 1_000)
"""Base tokens of a tool result from which on it becomes a document (DESIGN §4, stage 1)."""
ELSEWHERE_TURNS: Final = 200
"""So many turns show what a conversation speaks of all the time; a longer one is not read whole for each folding."""
REFERENCE: Final = "[{characters:,} characters of results are kept at {path}; the tool read_document opens them.]"
"""What stands in its place."""


# Stage 1: long tool results --------------------------------------------------------------------------------------


def keep_long_results(conversation: Conversation) -> int:
    """Move long tool results into `/artifacts`; how many. What was moved before is short by now."""
    results = Message.objects.filter(conversation=conversation, event_type=Message.Event.TOOL_RESULT)
    long = results.annotate(characters=Length("text")).filter(characters__gt=LONG_RESULT).defer("search")
    return sum(_keep_result(conversation, result) for result in long if count_tokens(result.text) > LONG_RESULT)


@transaction.atomic
def _keep_result(conversation: Conversation, result: Message) -> bool:
    """Keep one result; the document and the reference to it come to be together, or not at all: what was deleted or
    forgotten since it was read is not kept."""
    lock_forget_epoch(conversation.user_id)  # nothing is forgotten between the two
    unchanged = Message.objects.filter(pk=result.pk, text=result.text)
    if unchanged.select_for_update().values_list("pk").first() is None:
        return False
    name = f"{result.author or 'tool'} {result.turn}"
    try:
        path = store_artifact(conversation.user, str(conversation.pk), name, result.text)
    except (PathTakenError, ValidationError):  # no room at that path: the result stays where it is
        return False
    reference = REFERENCE.format(characters=len(result.text), path=path)
    return bool(unchanged.update(text=reference, event_data={**result.event_data, "artifact": path}))


# Stage 2: what to fold -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CompactionSpan:
    """Turns that are to be folded, in a row."""

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
        """As an engine reads them."""
        return [
            Exchange(
                t.number,
                in_short(t.question.text, t.attachments),
                t.answer.text,
                tool_lines(t.answer),
                t.question.created_at,
            )
            for t in self.turns
        ]

    def is_current(self, before: ConversationHistory) -> bool:
        """Whether none of it was folded, edited or left for another branch meanwhile."""
        today = {turn.answer.pk: turn for turn in before.turns}
        return all((now := today.get(turn.answer.pk)) is not None and _told(now) == _told(turn) for turn in self.turns)


def _told(turn: Turn) -> tuple[str, str, list[str]]:
    """All of it that an engine reads."""
    return turn.question.text, turn.answer.text, tool_lines(turn.answer)


def load_uncompacted(conversation: Conversation) -> ConversationHistory:
    """What the active branch holds, without an answer that is still being written."""
    found = with_attachment_outlines(load_history(conversation, conversation.active_leaf_id))
    written = tuple(turn for turn in found.turns if turn.answer.status != Message.Status.STREAMING)
    return ConversationHistory(written, found.segments)


def next_span(conversation: Conversation, before: ConversationHistory, *, was_asked: bool) -> CompactionSpan | None:
    """The turns to fold next; None: none."""
    model = conversation.model or settings.ENVIRONMENT.chat_model
    plan = plan_for(conversation.user, get_capabilities(model).context_window)
    sizes = sized(before.turns, calibration.ratios(model))
    found = select_turns(sizes, plan.ceilings[Section.HISTORY], was_asked=was_asked)
    return None if found is None else CompactionSpan(tuple(turn for turn in before.turns if turn.number in found))


def said_elsewhere(conversation: Conversation, found: CompactionSpan) -> list[str]:
    """What the person wrote in other turns, the latest first: their words are less of a topic in these."""
    from chat.conversations.topics import READ_CHARACTERS

    mine = Message.objects.for_user(conversation.user).filter(conversation=conversation)
    questions = mine.filter(event_type=Message.Event.USER_MESSAGE).exclude(turn__range=(found.first, found.last))
    beginnings = questions.order_by("-seq").annotate(beginning=Left("text", READ_CHARACTERS))
    return list(beginnings.values_list("beginning", flat=True)[:ELSEWHERE_TURNS])


def sized(turns: Sequence[Turn], ratios: dict[TextClass, float]) -> list[SizedTurn]:
    """The turns with the tokens they take in a prompt."""
    return [
        SizedTurn(
            t.number,
            sum(estimate({classify(m.text): m.tokens}, ratios) for m in (t.question, t.answer))
            + sum(estimate({_kind(one): one.tokens}, ratios) for one in t.attachments),
        )
        for t in turns
    ]


def _kind(one: PromptAttachment) -> TextClass:
    return TextClass.IMAGE if one.is_image else classify(one.text)


# Stage 2: folding ------------------------------------------------------------------------------------------------


def create_segment(
    conversation: Conversation, found: CompactionSpan, summary: Summary, verbosity: Verbosity
) -> Segment:
    """Put the summary in the place of the stretch. Within a transaction that holds the conversation's row."""
    last = found.turns[-1].answer
    segment = _made(
        conversation,
        Segment(
            first_turn=found.first,
            last_turn=found.last,
            before_id=found.turns[0].question.parent_id,
            last_message=last,
        ),
        summary,
        verbosity,
    )
    _archive(segment, timezone.now())
    index_segment(conversation.user_id, conversation.pk, segment.pk, segment.text, place=last.seq)
    Chunk.objects.filter(segment=segment).update(said_at=last.created_at)
    _merge_oldest(conversation, load_history(conversation, conversation.active_leaf_id).segments, verbosity)
    # What the placeholder stood for is told by the summary now; if it does not suffice, the next prompt is cut anew.
    Conversation.objects.filter(pk=conversation.pk).update(cut_from=0, cut_until=0)
    return segment


def _merge_oldest(conversation: Conversation, standing: Sequence[Segment], verbosity: Verbosity) -> None:
    """Where too many summaries stand in the prompt, one takes the place of the oldest; these keep their rows."""
    oldest = standing[: too_many(len(standing))]
    if not oldest:
        return
    parts = [(one.first_turn, one.last_turn, Summary.from_json(one.summary)) for one in oldest]
    merged = _made(
        conversation,
        Segment(
            first_turn=oldest[0].first_turn,
            last_turn=oldest[-1].last_turn,
            before_id=oldest[0].before_id,
            last_message_id=oldest[-1].last_message_id,
        ),
        merge(parts, verbosity.limit),
        verbosity,
    )
    Segment.objects.filter(pk__in=[one.pk for one in oldest], merged_into=None).update(merged_into=merged)


def _made(conversation: Conversation, segment: Segment, summary: Summary, verbosity: Verbosity) -> Segment:
    numbers = Segment.objects.filter(conversation=conversation).aggregate(last=Max("number"))
    segment.user_id, segment.conversation = conversation.user_id, conversation
    segment.number = (numbers["last"] or 0) + 1
    segment.text = render(summary, segment.first_turn, segment.last_turn, verbosity.limit)
    segment.summary, segment.topics = summary.as_json(), list(summary.topics)
    segment.tokens = count_tokens(segment.text)
    segment.save(force_insert=True)
    return segment


# Failed turns in between are archived too, and so are the tools' events, which hang below their answers.
_ARCHIVE: Final = """
WITH RECURSIVE folded (id, parent) AS (
    SELECT id, parent_id FROM chat_message WHERE id = %(last)s
    UNION ALL
    SELECT message.id, message.parent_id FROM folded JOIN chat_message AS message ON message.id = folded.parent
    WHERE message.id IS DISTINCT FROM %(before)s
)
UPDATE chat_message SET archived_at = %(now)s
WHERE archived_at IS NULL AND conversation_id = %(conversation)s
    AND (id IN (SELECT id FROM folded) OR (role = 'tool' AND parent_id IN (SELECT id FROM folded)))
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
