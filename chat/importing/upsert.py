"""Storing imported conversations: only rows that are new; existing ones are recognized by external id and unchanged.

Importing an export twice adds nothing, a newer export adds the newer messages, and what was forgotten or continued here
stays as it is. All branches are imported. The active branch is the exported one, unless the conversation was continued
here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from chat.conversations.titles import given_title
from chat.importing.tree import TITLE_CHARS
from chat.models import Conversation, Message
from memory.index.indexer import index_conversation
from memory.text.plain_words import plain_words
from memory.tombstones import mask
from recall.db.postgres import new_ids
from recall.llm.tokens import count_tokens
from recall.redaction import FORGOTTEN
from recall.text import storable_json

if TYPE_CHECKING:
    from accounts.models import User
    from chat.importing.tree import ImportedConversation, ImportedMessage, ToolStep

FIRST_WORDS_CHARS: Final = 60
"""Characters of the first message used as a title, if the conversation has none."""
AUTHOR_CHARS: Final = 80
"""Characters of a tool's name: the column's width."""


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """The result of storing a conversation."""

    conversation_id: UUID | None
    """None: it was empty."""
    is_new: bool = False
    messages: int = 0
    """New messages, without tool calls."""


@dataclass(slots=True)
class _StoredMessage:
    """The place of a message, new or existing."""

    pk: int
    turn: int
    at: datetime
    is_forgotten: bool = False
    """Whether the user repeated something forgotten in it: the answer may repeat it in words that no list has."""


@transaction.atomic
def store_conversation(user: User, thread: ImportedConversation) -> StoredConversation:
    """Store the new messages of a conversation, searchable by words at once; vectors follow."""
    if not thread.messages:
        return StoredConversation(None)
    conversation, is_new = _conversation(user, thread)
    if conversation.deleted_at is not None:  # imported again while in the trash: restore it
        conversation.deleted_at = None
        conversation.save(update_fields=["deleted_at"])
    places = {} if is_new else _load_stored(conversation)
    fresh = [message for message in thread.messages if message.key not in places]
    if fresh:
        Message.objects.bulk_create(list(_build_rows(conversation, thread, fresh, places)), batch_size=500)
    leaf = places.get(thread.leaf or "")
    moved = leaf is not None and _follow_branch(conversation, leaf.pk)
    if fresh or moved:
        _save_conversation(conversation, thread)
        index_conversation(conversation.pk)
    return StoredConversation(conversation.pk, is_new, len(fresh))


def external_id(thread: ImportedConversation) -> str:
    """Its id at the origin; without one, a digest that is the same for each import."""
    if thread.key:
        return thread.key
    first = thread.messages[0]
    identity = f"{thread.title}\n{thread.started_at}\n{first.key}\n{first.text}"
    return hashlib.sha256(identity.encode()).hexdigest()


def _conversation(user: User, thread: ImportedConversation) -> tuple[Conversation, bool]:
    """The conversation's row, locked, and whether it was created."""
    began = thread.started_at or timezone.now()
    found, is_new = Conversation.objects.select_for_update().get_or_create(
        user=user,
        origin=thread.origin,
        external_id=external_id(thread),
        defaults={
            "title": mask(user.pk, given_title(thread.title) or _first_words(thread))[:TITLE_CHARS],
            "status": Conversation.Status.ENDED,
            "started_at": began,
            "last_activity_at": thread.ended_at or began,
            "ended_at": thread.ended_at or began,
        },
    )
    return found, is_new


def _first_words(thread: ImportedConversation) -> str:
    words = next((message.text for message in thread.messages if message.speaker == "user"), "")
    return given_title(plain_words(words))[:FIRST_WORDS_CHARS]


def _load_stored(conversation: Conversation) -> dict[str, _StoredMessage]:
    rows = Message.objects.filter(conversation=conversation).exclude(external_id="")
    stored = rows.values_list("external_id", "pk", "turn", "created_at")
    return {name: _StoredMessage(pk, turn, at) for name, pk, turn, at in stored.iterator()}


def _build_rows(
    conversation: Conversation,
    thread: ImportedConversation,
    fresh: Sequence[ImportedMessage],
    places: dict[str, _StoredMessage],
) -> Iterator[Message]:
    """The rows, parents first; adds their places to `places`."""
    ids = iter(new_ids(Message, len(fresh)))
    began = thread.started_at or conversation.started_at
    for message in fresh:
        before = places.get(message.parent or "")
        turn = (before.turn if before else 0) + (message.speaker == "user" or before is None)
        at = message.at or (before.at if before else began)
        stored = places[message.key] = _StoredMessage(next(ids), turn, at)
        yield _build_message(conversation, message, stored, before)
        yield from _build_tool_events(conversation, message, stored)


def _build_message(
    conversation: Conversation, message: ImportedMessage, stored: _StoredMessage, before: _StoredMessage | None
) -> Message:
    is_user, text = message.speaker == "user", mask(conversation.user_id, message.text)
    stored.is_forgotten = is_user and text != message.text
    text = FORGOTTEN if before and before.is_forgotten and not is_user else text
    return Message(
        pk=stored.pk,
        user_id=conversation.user_id,
        conversation=conversation,
        seq=_next_seq(conversation),
        parent_id=before.pk if before else None,
        turn=stored.turn,
        role=Message.Role.USER if is_user else Message.Role.ASSISTANT,
        event_type=Message.Event.USER_MESSAGE if is_user else Message.Event.ASSISTANT_RESPONSE,
        text=text,
        event_data={"model": message.model} if message.model else {},
        tokens=count_tokens(text),
        external_id=message.key,
        created_at=stored.at,
    )


def _build_tool_events(
    conversation: Conversation, message: ImportedMessage, stored: _StoredMessage
) -> Iterator[Message]:
    """Tool calls and results, as children of their answer."""
    common: dict[str, Any] = {"user_id": conversation.user_id, "conversation": conversation, "parent_id": stored.pk}
    common |= {"turn": stored.turn, "role": Message.Role.TOOL, "created_at": stored.at}
    for place, step in enumerate(message.tools):
        yield Message(
            seq=_next_seq(conversation),
            author=step.name[:AUTHOR_CHARS],
            **_event_columns(step, f"{message.key}:{place}", conversation.user_id),
            **common,
        )


def _event_columns(step: ToolStep, key: str, user_id: int) -> Mapping[str, Any]:
    if step.input is not None:
        return {
            "event_type": Message.Event.TOOL_CALL,
            "event_data": storable_json({"id": key, "input": step.input}),
        }
    return {
        "event_type": Message.Event.TOOL_RESULT,
        "text": mask(user_id, step.output),
        "event_data": {"id": key, "is_error": False},
    }


def _next_seq(conversation: Conversation) -> int:
    conversation.next_seq += 1
    return conversation.next_seq - 1


def _follow_branch(conversation: Conversation, leaf: int) -> bool:
    """Make `leaf` the active leaf, unless the conversation was continued here; return whether it changed."""
    if conversation.active_leaf_id == leaf:
        return False
    has_gone_on = Message.objects.filter(pk=conversation.active_leaf_id or 0, external_id="").exists()
    if not has_gone_on:
        conversation.active_leaf_id = leaf
    return not has_gone_on


def _save_conversation(conversation: Conversation, thread: ImportedConversation) -> None:
    """Imported messages count as read by the librarian: the user can ask for them to be read."""
    if thread.ended_at is not None:
        conversation.last_activity_at = max(conversation.last_activity_at, thread.ended_at)
    had_unread = Message.objects.filter(
        conversation=conversation, seq__gt=conversation.librarian_watermark, external_id="", role=Message.Role.USER
    ).exists()
    if not had_unread:
        conversation.librarian_watermark = conversation.next_seq - 1
    conversation.save(update_fields=["active_leaf", "next_seq", "last_activity_at", "librarian_watermark"])
