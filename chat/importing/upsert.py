"""Which rows of an imported conversation are new? What is there is known by its name elsewhere and left as it is.

So the same export brings nothing twice, a newer one brings what was said since, and what was forgotten or gone on with
here stays so. All branches come in; the one that is followed here is the one that was followed there, unless somebody
has gone on here.
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

from chat.importing.threads import TITLE_CHARS
from chat.models import Conversation, Message
from memory.index.indexer import index_conversation
from recall.db.postgres import new_ids
from recall.llm.tokens import count_tokens
from recall.text import storable_json

if TYPE_CHECKING:
    from accounts.models import User
    from chat.importing.threads import ImportedConversation, ImportedMessage, ToolStep

WORDS_OF_TITLE: Final = 60
"""Characters of the first question, where the conversation has no title."""
AUTHOR_CHARS: Final = 80
"""Of a tool's name: the column's width."""


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """What became of a conversation."""

    conversation_id: UUID | None
    """None: there was nothing in it."""
    is_new: bool = False
    messages: int = 0
    """New ones; what tools did is not counted."""


@dataclass(slots=True)
class _Placed:
    """Where a message stands, new or known."""

    pk: int
    turn: int
    at: datetime


@transaction.atomic
def store_conversation(user: User, thread: ImportedConversation) -> StoredConversation:
    """Keep what is new of a conversation, findable by its words at once; its vectors follow."""
    if not thread.said:
        return StoredConversation(None)
    conversation, is_new = _conversation(user, thread)
    if conversation.deleted_at is not None:  # brought in again while it could still be brought back: that is a wish
        conversation.deleted_at = None
        conversation.save(update_fields=["deleted_at"])
    placed = {} if is_new else _known(conversation)
    fresh = [said for said in thread.said if said.key not in placed]
    if fresh:
        Message.objects.bulk_create(list(_messages(conversation, thread, fresh, placed)), batch_size=500)
    leaf = placed.get(thread.leaf or "")
    moved = leaf is not None and _follow(conversation, leaf.pk)
    if fresh or moved:
        _save(conversation, thread)
        index_conversation(conversation.pk)
    return StoredConversation(conversation.pk, is_new, len(fresh))


def external_id(thread: ImportedConversation) -> str:
    """Its name elsewhere; where it has none, one that the same conversation has each time."""
    if thread.key:
        return thread.key
    first = thread.said[0]
    told = f"{thread.title}\n{thread.began}\n{first.key}\n{first.text}"
    return hashlib.sha256(told.encode()).hexdigest()


def _conversation(user: User, thread: ImportedConversation) -> tuple[Conversation, bool]:
    """The conversation's row, locked, and whether it was made just now."""
    began = thread.began or timezone.now()
    found, is_new = Conversation.objects.select_for_update().get_or_create(
        user=user,
        origin=thread.origin,
        external_id=external_id(thread),
        defaults={
            "title": thread.title or _first_words(thread),
            "status": Conversation.Status.ENDED,
            "started_at": began,
            "last_activity_at": thread.ended or began,
            "ended_at": thread.ended or began,
        },
    )
    return found, is_new


def _first_words(thread: ImportedConversation) -> str:
    words = next((said.text for said in thread.said if said.speaker == "user"), "")
    return " ".join(words.split())[:WORDS_OF_TITLE][:TITLE_CHARS]


def _known(conversation: Conversation) -> dict[str, _Placed]:
    rows = Message.objects.filter(conversation=conversation).exclude(external_id="")
    told = rows.values_list("external_id", "pk", "turn", "created_at")
    return {name: _Placed(pk, turn, at) for name, pk, turn, at in told.iterator()}


def _messages(
    conversation: Conversation,
    thread: ImportedConversation,
    fresh: Sequence[ImportedMessage],
    placed: dict[str, _Placed],
) -> Iterator[Message]:
    """The rows, each after the one it follows; `placed` learns where they stand."""
    ids = iter(new_ids(Message, len(fresh)))
    began = thread.began or conversation.started_at
    for said in fresh:
        before = placed.get(said.parent or "")
        turn = (before.turn if before else 0) + (said.speaker == "user" or before is None)
        at = said.at or (before.at if before else began)
        own = placed[said.key] = _Placed(next(ids), turn, at)
        yield _message(conversation, said, own, before.pk if before else None)
        yield from _tools(conversation, said, own)


def _message(conversation: Conversation, said: ImportedMessage, own: _Placed, parent: int | None) -> Message:
    is_user = said.speaker == "user"
    return Message(
        pk=own.pk,
        user_id=conversation.user_id,
        conversation=conversation,
        seq=_next_seq(conversation),
        parent_id=parent,
        turn=own.turn,
        role=Message.Role.USER if is_user else Message.Role.ASSISTANT,
        event_type=Message.Event.USER_MESSAGE if is_user else Message.Event.ASSISTANT_RESPONSE,
        text=said.text,
        event_data={"model": said.model} if said.model else {},
        tokens=count_tokens(said.text),
        external_id=said.key,
        created_at=own.at,
    )


def _tools(conversation: Conversation, said: ImportedMessage, own: _Placed) -> Iterator[Message]:
    """What its tools did, hung below the answer they served."""
    common: dict[str, Any] = {"user_id": conversation.user_id, "conversation": conversation, "parent_id": own.pk}
    common |= {"turn": own.turn, "role": Message.Role.TOOL, "created_at": own.at}
    for place, step in enumerate(said.tools):
        yield Message(
            seq=_next_seq(conversation),
            author=step.name[:AUTHOR_CHARS],
            **_event(step, f"{said.key}:{place}"),
            **common,
        )


def _event(step: ToolStep, key: str) -> Mapping[str, Any]:
    if step.asked is not None:
        return {
            "event_type": Message.Event.TOOL_CALL,
            "event_data": storable_json({"id": key, "input": step.asked}),
        }
    return {
        "event_type": Message.Event.TOOL_RESULT,
        "text": step.told,
        "event_data": {"id": key, "is_error": False},
    }


def _next_seq(conversation: Conversation) -> int:
    conversation.next_seq += 1
    return conversation.next_seq - 1


def _follow(conversation: Conversation, leaf: int) -> bool:
    """Follow the branch that was followed there, unless somebody has gone on here; whether that is another one."""
    if conversation.active_leaf_id == leaf:
        return False
    has_gone_on = Message.objects.filter(pk=conversation.active_leaf_id or 0, external_id="").exists()
    if not has_gone_on:
        conversation.active_leaf_id = leaf
    return not has_gone_on


def _save(conversation: Conversation, thread: ImportedConversation) -> None:
    """What is imported counts as read by the librarian: a person may ask for its reading."""
    if thread.ended is not None:
        conversation.last_activity_at = max(conversation.last_activity_at, thread.ended)
    had_unread = Message.objects.filter(
        conversation=conversation, seq__gt=conversation.librarian_watermark, external_id="", role=Message.Role.USER
    ).exists()
    if not had_unread:
        conversation.librarian_watermark = conversation.next_seq - 1
    conversation.save(update_fields=["active_leaf", "next_seq", "last_activity_at", "librarian_watermark"])
