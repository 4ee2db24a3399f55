"""Conversation history, loaded from rows and rendered by a pure function, so that two requests share their bytes.

`active_path` loads every message of the branch, for exports and the librarian. `load_history` loads what a prompt may
show: it walks back from a message and skips each compacted span in one step, so that the thousandth turn costs as much
as the thirtieth. A segment belongs to every branch that goes through its last message, and to no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from django.db import DEFAULT_DB_ALIAS

from chat.attachments.prompt_blocks import PromptAttachment, as_seen, blocks, load, messages_with_attachments
from chat.messages.branch_path import follow_parents
from chat.models import Conversation, Message, Segment
from memory.secrets.secrets_filter import mask_secrets, secret_values
from recall.db.prepared import Read
from recall.db.sql_files import load_sql

if TYPE_CHECKING:  # the SDK takes 1.5 s to load; pages and commands start without it
    from anthropic.types import MessageParam, TextBlockParam


@dataclass(frozen=True, slots=True)
class Turn:
    """One finished exchange of the active branch."""

    number: int
    question: Message
    answer: Message
    attachments: tuple[PromptAttachment, ...] = ()
    """Attachments of the question, if they were loaded (`with_attachments`)."""

    @property
    def secrets(self) -> frozenset[str]:
        """Secrets in the question that later prompts must not contain."""
        return secret_values(self.question.text)

    def masked_question(self, known: frozenset[str] = frozenset()) -> str:
        """The question as later prompts and summaries have it: without its secrets, and those of earlier turns."""
        return mask_secrets(self.question.text, known)

    def masked_answer(self, known: frozenset[str] = frozenset()) -> str:
        """The answer in the same form: it may repeat the secrets."""
        return mask_secrets(self.answer.text, self.secrets | known, is_own=False)


@dataclass(frozen=True, slots=True)
class ConversationHistory:
    """Turns and segments before a message, as a prompt may show them."""

    turns: tuple[Turn, ...] = ()
    """Turns that are not compacted, oldest first."""
    segments: tuple[Segment, ...] = ()
    """Summaries of the others, oldest first; merged segments are replaced by the one they were merged into."""

    @property
    def in_order(self) -> list[Turn | Segment]:
        """Turns and segments, in prompt order."""
        return sorted([*self.segments, *self.turns], key=first_turn)


def first_turn(entry: Turn | Segment) -> int:
    """The number of its first turn."""
    return entry.first_turn if isinstance(entry, Segment) else entry.number


def load_history(conversation: Conversation, until: int | None) -> ConversationHistory:
    """The history up to and including the message `until` (None: empty). At most two statements."""
    if until is None:
        return ConversationHistory()
    path: list[Message] = []
    folded: list[int] = []
    for *values, segment in history_read(conversation, until).fetch():
        if segment is not None:
            folded.append(segment)
        else:
            step = Message.from_db(DEFAULT_DB_ALIAS, _ATTRIBUTES, values)
            step.conversation = conversation
            path.append(step)
    segments = Segment.objects.in_bulk(folded) if folded else {}
    return ConversationHistory(tuple(finished_turns(path)), tuple(segments[pk] for pk in folded))


def history_read(conversation: Conversation, until: int) -> Read:
    """What `load_history` reads first."""
    return Read(_WALK, {"until": until, "conversation": conversation.pk, "user": conversation.user_id})


_FIELDS: Final = [field for field in Message._meta.concrete_fields if field.name != "search"]
_ATTRIBUTES: Final = [field.attname for field in _FIELDS]
_COLUMNS: Final = ", ".join(f"message.{field.column}" for field in _FIELDS)
_WALK: Final = load_sql(Path(__file__).with_suffix(".sql")).format(columns=_COLUMNS)
"""Walks from `until` back to the start, over messages and the segments that summarize everything up to them; returns
them oldest first."""


def active_path(conversation: Conversation) -> list[Message]:
    """The active branch's questions and answers, oldest first, each with `conversation` set.

    Two statements: ids, then rows; the texts of other branches aren't read.
    """
    said = Message.objects.filter(
        conversation=conversation,
        user_id=conversation.user_id,
        event_type__in=[Message.Event.USER_MESSAGE, Message.Event.ASSISTANT_RESPONSE],
    )
    parents = dict(said.values_list("pk", "parent_id"))
    path = follow_parents(parents, conversation.active_leaf_id)
    rows: dict[int, Message] = said.defer("search").in_bulk(path)
    for message in rows.values():
        message.conversation = conversation
    return [rows[pk] for pk in path]


def finished_turns(path: Sequence[Message]) -> list[Turn]:
    """The turns a prompt shows: failed ones only if they have text; interrupted ones as they were shown."""
    pairs = pairwise(path)
    return [
        Turn(question.turn, question, answer)
        for question, answer in pairs
        if question.role == Message.Role.USER and answer.role == Message.Role.ASSISTANT and answer.text
    ]


def with_attachment_outlines(before: ConversationHistory) -> ConversationHistory:
    """The history with its attachments as far as their size and a summary need them."""
    found = load([turn.question.pk for turn in before.turns], with_images=False, with_texts=False)
    turns = [replace(turn, attachments=found.get(turn.question.pk, ())) for turn in before.turns]
    return replace(before, turns=tuple(turns))


def with_attachments(
    before: ConversationHistory, question: Message, *, sees: bool
) -> tuple[ConversationHistory, tuple[PromptAttachment, ...]]:
    """The history with its attachments, and those of the question. `sees`: the model accepts images."""
    question_ids = [turn.question.pk for turn in before.turns]
    holders = messages_with_attachments(question.conversation_id)
    found = load([pk for pk in (*question_ids, question.pk) if pk in holders], with_images=sees)
    if not found:
        return before, ()
    *of_turns, of_question = as_seen([found.get(pk, ()) for pk in (*question_ids, question.pk)], sees=sees)
    turns = [replace(turn, attachments=some) for turn, some in zip(before.turns, of_turns, strict=True)]
    return replace(before, turns=tuple(turns)), of_question


def render_turn(turn: Turn, known: frozenset[str] = frozenset()) -> list[MessageParam]:
    """A finished turn as two messages: attachments and the user's text, then tool lines and the answer.

    Secrets are masked. `known`: those of earlier turns.
    """
    known |= turn.secrets
    answer: list[TextBlockParam] = [_text(mask_secrets(line, known, is_own=False)) for line in tool_lines(turn.answer)]
    attachments = [
        replace(attachment, text=mask_secrets(attachment.text, known, is_own=False)) for attachment in turn.attachments
    ]
    said = [_text(turn.masked_question(known))] if turn.question.text or not turn.attachments else []
    return [
        {"role": "user", "content": [*blocks(attachments), *said]},
        {"role": "assistant", "content": [*answer, _text(turn.masked_answer(known))]},
    ]


def tool_lines(answer: Message) -> list[str]:
    """The immutable lines that replace an answer's tool rounds, written when it was finished."""
    lines: list[str] = answer.event_data.get("tool_lines", [])
    return lines


def _text(text: str) -> TextBlockParam:
    return {"type": "text", "text": text}
