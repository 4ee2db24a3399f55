"""What the librarian may read of a conversation: chat's side of `memory.source.Source`."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.urls import reverse

from accounts.models import User
from chat.history import active_path
from chat.importing import store
from chat.models import Conversation, Message
from memory.source import Speaker, Utterance


class Conversations:
    """The conversations of the chat as a source for the librarian."""

    def utterances(self, conversation_id: UUID, first: int, last: int) -> list[Utterance]:
        """The active branch's messages numbered `first` to `last`; what Recall itself wrote in is no utterance."""
        _, said = self.whole(conversation_id)
        return [one for one in said if first <= one.number <= last]

    def whole(self, conversation_id: UUID) -> tuple[int, list[Utterance]]:
        """The owner's id and all of the active branch; an answer still being written is not yet said."""
        conversation = Conversation.objects.select_related("user").get(pk=conversation_id)
        path = active_path(conversation)
        return conversation.user_id, [utterance(m) for m in path if is_said(m)]

    def store(self, user: User, title: str, said: Sequence[Utterance]) -> list[int]:
        """Keep a conversation that was held elsewhere."""
        return store(user, title, said)

    def link(self, message_id: int) -> str:
        """Address that leads to the message in its conversation."""
        return reverse("message", args=[message_id])


def is_said(message: Message) -> bool:
    """Whether a message is somebody's words: not an empty answer, nor the request to go on that Recall wrote."""
    return bool(message.text) and message.status != Message.Status.STREAMING and "continues" not in message.event_data


def utterance(message: Message) -> Utterance:
    """A message as the librarian reads it."""
    speaker: Speaker = "user" if message.role == Message.Role.USER and not message.author else "assistant"
    return Utterance(message.pk, message.seq, speaker, message.text, message.created_at, message.author, message.turn)
