"""What the librarian may read of a conversation: chat's side of `memory.ports.source.ConversationSource`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time
from decimal import Decimal
from functools import lru_cache
from uuid import UUID

from django.urls import reverse

from accounts.models import User
from budget.spending import limits, usage
from chat.ingest.echo_sources import from_tools, put_in
from chat.ingest.transcript import store
from chat.messages.history import active_path
from chat.models import Conversation, Message
from memory.librarian.engine import Usage
from memory.librarian.spending import SpendingStop
from memory.ports.source import ContextText, ConversationDigest, Speaker, Utterance
from recall.redaction import FORGOTTEN


class ChatSource:
    """The conversations of the chat as a source for the librarian."""

    def load_range(self, conversation_id: UUID, first: int, last: int) -> tuple[list[Utterance], list[ContextText]]:
        """The active branch's messages numbered `first` to `last`, where what Recall itself wrote in is no utterance;
        and what was said before them, with what tools and Recall brought up to `last`."""
        _, said = self.load_all(conversation_id)
        before = [ContextText(one.number, one.text, one.speaker == "user") for one in said if one.number < first]
        heard = [*before, *from_tools(conversation_id, last), *put_in(conversation_id, last)]
        return [one for one in said if first <= one.number <= last], heard

    def load_all(self, conversation_id: UUID) -> tuple[int, list[Utterance]]:
        """The owner's id and all of the active branch; an answer still being written is not yet said."""
        conversation = Conversation.objects.select_related("user").get(pk=conversation_id)
        path = active_path(conversation)
        return conversation.user_id, [utterance(m) for m in path if is_said(m)]

    def load_digest(self, conversation_id: UUID) -> ConversationDigest | None:
        """The conversation in short."""
        from chat.ingest.conversation_digest import (
            retold,  # late: segments index what they fold, and so know the source
        )

        return retold(conversation_id)

    def import_conversation(self, user: User, title: str, said: Sequence[Utterance]) -> list[int]:
        """Keep a conversation that was held elsewhere."""
        return store(user, title, said)

    def message_url(self, message_id: int) -> str:
        """Address that leads to the message in its conversation."""
        return _address(message_id)


@lru_cache(maxsize=4096)  # a receipt has some fifty, most of them those of the turn before
def _address(message_id: int) -> str:
    return reverse("message", args=[message_id])


def is_said(message: Message) -> bool:
    """Whether a message is somebody's words: not an empty answer, nor one that was forgotten, nor the request to go on
    that Recall wrote."""
    is_whole = message.status != Message.Status.STREAMING
    return is_whole and message.text not in ("", FORGOTTEN) and "continues" not in message.event_data


def utterance(message: Message) -> Utterance:
    """A message as the librarian reads it."""
    speaker: Speaker = "user" if message.role == Message.Role.USER and not message.author else "assistant"
    return Utterance(message.pk, message.seq, speaker, message.text, message.created_at, message.author, message.turn)


class ChatUsageLedger:
    """The person's counters of the day."""

    def add(self, user_id: int, used: Usage) -> Decimal:
        """Count the tokens; their price."""
        return usage.add_background(user_id, used.model, used.input_tokens, used.output_tokens, calls=used.calls)

    def spending_stop(self, user_id: int) -> SpendingStop | None:
        """The limit of tokens or money that is used up, until its next period begins."""
        user = User.objects.get(pk=user_id)
        used_up = limits.stops_spending(user)
        if used_up is None:
            return None
        return SpendingStop(datetime.combine(used_up.free_on, time.min, user.zone), used_up.sentence)
