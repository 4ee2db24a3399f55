"""What the librarian may read of a conversation: chat's side of `memory.source.Source`."""

from __future__ import annotations

from uuid import UUID

from django.urls import reverse

from chat.history import active_path
from chat.models import Conversation, Message
from memory.source import Speaker, Utterance


class Conversations:
    """The conversations of the chat as a source for the librarian."""

    def utterances(self, conversation_id: UUID, first: int, last: int) -> list[Utterance]:
        """The active branch's messages numbered `first` to `last`; what Recall itself wrote in is no utterance."""
        path = active_path(Conversation.objects.select_related("user").get(pk=conversation_id))
        return [utterance(m) for m in path if first <= m.seq <= last and m.text and "continues" not in m.event_data]

    def link(self, message_id: int) -> str:
        """Address that leads to the message in its conversation."""
        return reverse("message", args=[message_id])


def utterance(message: Message) -> Utterance:
    """A message as the librarian reads it."""
    speaker: Speaker = "user" if message.role == Message.Role.USER else "assistant"
    return Utterance(message.pk, message.seq, speaker, message.text, message.created_at)
