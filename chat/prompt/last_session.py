"""The opening memory of a new conversation, and after a greeting also the last session's own words."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from accounts.models import User
from chat.messages.history import Turn, load_history
from chat.models import Conversation
from memory.models import Fact
from memory.retrieval.conversation_start import find_opening_memory, is_vague_opener
from memory.retrieval.recall import LAST_SESSION, AlreadyInPrompt, MemoryItem, RetrievalResult
from memory.secrets.secrets_filter import sensitive
from memory.text.message_kinds import COMMAND, kind_of_request
from memory.tombstones import mask
from recall.redaction import FORGOTTEN

MAX_AGE: Final = timedelta(days=30)
"""The same as for episodes: an older session is only recalled if the question asks for it."""
MAX_MESSAGES: Final = 3
"""Messages shown: what it started with, which names the topic, and the last ones."""
MAX_CHARS: Final = 600
"""Characters of one message: a longer one contains pasted text."""
_REQUEST: Final = re.compile(r"^\W*(?:please\b|(?:can|could|would|will) you\b|help me\b|i need\b)", re.IGNORECASE)
"""A request is a task, even with a question mark; any other question leaves nothing open."""
_LEFT_OFF: Final = re.compile(
    r"\b(?:leave|left) (?:it |things )?off\b|\bwhere (?:were|are|had|did) we(?: (?:stop|stopped|get|got)\b(?: to\b)?)?"
    r"(?= (?:with|on|in|at)\b)|\bhow far (?:did|had|have) we\b",
    re.IGNORECASE,
)
"""Asks how a named topic's conversation ended: “Where did we leave off with my script?”"""
_WITHDRAWN: Final = (Fact.Status.REJECTED, Fact.Status.SUPERSEDED)


def add_opening_memory(
    user: User,
    recalled: RetrievalResult,
    now: datetime,
    already_in_prompt: AlreadyInPrompt,
    conversation: Conversation,
    question: str,
) -> RetrievalResult:
    """For a conversation's first turn: add what the user was last working on, after the memories relevant to the
    question."""
    project, only = conversation.scope, conversation.only_project
    is_vague = is_vague_opener(question)
    known = [item.ref for item in recalled.kept]
    if not is_vague:  # after a greeting, the profile alone doesn't say which of its goals is open
        known += already_in_prompt.facts
    opening = find_opening_memory(user, now, known, project=project, only_project=only)
    items = [opening] if opening else []
    last = _last_session(user, conversation, now) if is_vague else _session_asked_for(user, question, recalled)
    if last is not None and (opening is None or opening.conversation_id != str(last.pk)):
        items += _own_words(last)
    added = {item.ref for item in items}
    kept = tuple(item for item in recalled.kept if item.ref not in added)
    cut = tuple(candidate for candidate in recalled.cut if candidate.item.ref not in added)
    return replace(recalled, kept=(*kept, *items), cut=cut) if items else recalled


def left_open(turns: Sequence[Turn]) -> list[Turn]:
    """The first and the last turns whose question claims something or asks for a task, oldest first."""
    said = [turn for turn in turns if _says_something(turn.question.text)]
    return [*said[:1], *said[1:][1 - MAX_MESSAGES :]]


def _says_something(text: str) -> bool:
    if len(text) > MAX_CHARS or FORGOTTEN in text or sensitive(text, is_own=True):
        return False
    return kind_of_request(text) in ("", COMMAND) or _REQUEST.match(text) is not None


def _last_session(user: User, conversation: Conversation, now: datetime) -> Conversation | None:
    """The conversation before this one; from the same project if recall is restricted to it."""
    others = Conversation.objects.for_user(user).not_deleted().exclude(pk=conversation.pk).exclude(active_leaf=None)
    if conversation.only_project:
        others = others.filter(scope=conversation.scope)
    recent = others.filter(last_activity_at__gte=now - MAX_AGE)
    last: Conversation | None = recent.latest_first().first()
    return last


def _session_asked_for(user: User, question: str, recalled: RetrievalResult) -> Conversation | None:
    """The conversation of the best of the user's own messages, if the question is how it ended."""
    if not _LEFT_OFF.search(question):
        return None
    said = (item.conversation_id for item in recalled.kept if item.source == "message" and item.said_by == "user")
    found: Conversation | None = Conversation.objects.for_user(user).not_deleted().filter(pk=next(said, None)).first()
    return found


def _own_words(last: Conversation) -> Iterator[MemoryItem]:
    """The user's own words in it, without messages that a rejected or retired fact was learned from."""
    turns = load_history(last, last.active_leaf_id).turns
    withdrawn = Fact.objects.for_user(last.user).filter(
        message__in=[turn.question.pk for turn in turns], status__in=_WITHDRAWN
    )
    untrue = set(withdrawn.values_list("message_id", flat=True))
    for turn in left_open([turn for turn in turns if turn.question.pk not in untrue]):
        said = turn.question
        text = mask(last.user_id, said.text)
        if not _says_something(text):
            continue
        yield MemoryItem(
            ref=f"message:{said.pk}",
            source="message",
            text=text,
            when=said.created_at,
            message_id=said.pk,
            parts={"opening": 1.0},
            score=0.0,
            answers=LAST_SESSION,
            said_by="user",
            conversation_id=str(last.pk),
            tokens=said.tokens,
        )
