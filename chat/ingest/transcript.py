"""Stores a conversation held elsewhere, given as a list of utterances: ended, indexed and unread by the librarian.

Speakers keep their names (`Message.author`). In a conversation between people the first speaker is the user and the
others are in the place of answers; a message without an answer is a turn of its own.
"""

from collections.abc import Sequence
from itertools import pairwise

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from chat.models import Conversation, Message
from memory.index.indexer import index_conversation
from memory.ports.source import Utterance
from memory.tombstones import mask
from recall.llm.tokens import count_tokens
from recall.redaction import FORGOTTEN
from recall.text import storable

TITLE_CHARS = 200


@transaction.atomic
def store(user: User, title: str, utterances: Sequence[Utterance]) -> list[int]:
    """Store and index the conversation; returns the ids of its messages, in order."""
    began, ended = (utterances[0].said_at, utterances[-1].said_at) if utterances else (timezone.now(), timezone.now())
    conversation = Conversation.objects.create(
        user=user,
        title=mask(user.pk, storable(title))[:TITLE_CHARS],
        status=Conversation.Status.ENDED,
        started_at=began,
        last_activity_at=ended,
        ended_at=ended,
        next_seq=len(utterances) + 1,
        librarian_watermark=len(utterances),
    )
    messages = Message.objects.bulk_create(_build_messages(conversation, utterances))
    for earlier, later in pairwise(messages):
        later.parent = earlier
    Message.objects.bulk_update(messages, ["parent"])
    if messages:
        conversation.active_leaf = messages[-1]
        conversation.save(update_fields=["active_leaf"])
        index_conversation(conversation.pk)
    return [message.pk for message in messages]


def _build_messages(conversation: Conversation, utterances: Sequence[Utterance]) -> list[Message]:
    messages, turn, before, forgotten = [], 0, "", -1
    for seq, utterance in enumerate(utterances, start=1):
        role = _speaker_role(utterances[0], utterance)
        turn += role == Message.Role.USER or before == ""
        before = role
        said = storable(utterance.text)
        text = mask(conversation.user_id, said)
        if role == Message.Role.USER and text != said:
            forgotten = turn
        elif turn == forgotten and role == Message.Role.ASSISTANT and not utterance.author:
            text = FORGOTTEN  # an answer may repeat it in words that no list has
        messages.append(
            Message(
                user_id=conversation.user_id,
                conversation=conversation,
                seq=seq,
                turn=turn,
                role=role,
                author=storable(utterance.author)[:80],
                event_type=EVENTS[role],
                text=text,
                tokens=count_tokens(text),
                created_at=utterance.said_at,
            )
        )
    return messages


EVENTS = {
    Message.Role.USER: Message.Event.USER_MESSAGE,
    Message.Role.ASSISTANT: Message.Event.ASSISTANT_RESPONSE,
}


def _speaker_role(first: Utterance, utterance: Utterance) -> Message.Role:
    if utterance.author:
        return Message.Role.USER if utterance.author == first.author else Message.Role.ASSISTANT
    return Message.Role.USER if utterance.speaker == "user" else Message.Role.ASSISTANT
