"""How does a conversation that was held elsewhere come in? As if it had been held here, ended, and read by nobody yet.

Who speaks keeps their name (`Message.author`). In a conversation between people the first speaker is the user, in the
place of the other the answers stand; a message that no answer follows is a turn by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from chat.models import Conversation, Message
from memory.index.indexer import index_conversation
from memory.ports.source import Utterance
from recall.llm.tokens import count_tokens
from recall.text import storable

TITLE_CHARS = 200


@transaction.atomic
def store(user: User, title: str, said: Sequence[Utterance]) -> list[int]:
    """Keep the conversation, indexed by its words; the ids of its messages, in the order given."""
    began, ended = (said[0].said_at, said[-1].said_at) if said else (timezone.now(), timezone.now())
    conversation = Conversation.objects.create(
        user=user,
        title=storable(title)[:TITLE_CHARS],
        status=Conversation.Status.ENDED,
        started_at=began,
        last_activity_at=ended,
        ended_at=ended,
        next_seq=len(said) + 1,
        librarian_watermark=len(said),
    )
    messages = Message.objects.bulk_create(_messages(conversation, said))
    for earlier, later in pairwise(messages):
        later.parent = earlier
    Message.objects.bulk_update(messages, ["parent"])
    if messages:
        conversation.active_leaf = messages[-1]
        conversation.save(update_fields=["active_leaf"])
        index_conversation(conversation.pk)
    return [message.pk for message in messages]


def _messages(conversation: Conversation, said: Sequence[Utterance]) -> list[Message]:
    messages, turn, before = [], 0, ""
    for seq, one in enumerate(said, start=1):
        role = _role(said[0], one)
        turn += role == Message.Role.USER or before == ""
        before = role
        text = storable(one.text)
        messages.append(
            Message(
                user_id=conversation.user_id,
                conversation=conversation,
                seq=seq,
                turn=turn,
                role=role,
                author=storable(one.author)[:80],
                event_type=EVENTS[role],
                text=text,
                tokens=count_tokens(text),
                created_at=one.said_at,
            )
        )
    return messages


EVENTS = {
    Message.Role.USER: Message.Event.USER_MESSAGE,
    Message.Role.ASSISTANT: Message.Event.ASSISTANT_RESPONSE,
}


def _role(first: Utterance, one: Utterance) -> Message.Role:
    if one.author:
        return Message.Role.USER if one.author == first.author else Message.Role.ASSISTANT
    return Message.Role.USER if one.speaker == "user" else Message.Role.ASSISTANT
