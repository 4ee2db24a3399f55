"""Chat's implementation of memory's ports: conversations as the librarian's source, and its usage ledger."""

from collections.abc import Iterable, Sequence
from datetime import datetime, time
from decimal import Decimal
from functools import cache
from uuid import UUID

from django.urls import reverse

from accounts.models import User
from budget.spending import limits, usage
from chat.ingest.conversation_digest import build_digest
from chat.ingest.echo_sources import load_prompt_texts, load_tool_results
from chat.ingest.transcript import store
from chat.ingest.withheld import without_withheld
from chat.messages.history import active_path
from chat.models import Conversation, Message
from memory.ports.source import ContextText, ConversationDigest, Speaker, Utterance
from memory.ports.spending import SpendingStop, Usage
from memory.secrets.secrets_filter import lasting, mask_secrets, secret_values
from memory.text.message_kinds import FROM_MEMORIES, UNFINISHED
from recall.redaction import FORGOTTEN


class ChatSource:
    """Implements `memory.ports.source.ConversationSource`."""

    def load_range(self, conversation_id: UUID, first: int, last: int) -> tuple[list[Utterance], list[ContextText]]:
        """Utterances `first` to `last` of the active branch, and the context that may be echoed in them.

        The context is what was said earlier, and what tools and Recall added to prompts up to `last`. It leaves out
        what the user asked to forget: nothing is learned from it.
        """
        utterances = without_withheld(*self.load_all(conversation_id))
        before = [
            ContextText(item.number, item.text, item.speaker == "user") for item in utterances if item.number < first
        ]
        context = [*before, *load_tool_results(conversation_id, last), *load_prompt_texts(conversation_id, last)]
        return [item for item in utterances if first <= item.number <= last], context

    def load_all(self, conversation_id: UUID) -> tuple[int, list[Utterance]]:
        """The owner's id and the utterances of the active branch, without an answer in progress."""
        conversation = Conversation.objects.select_related("user").get(pk=conversation_id)
        path = active_path(conversation)
        return conversation.user_id, utterances(path)

    def load_digest(self, conversation_id: UUID) -> ConversationDigest | None:
        """The digest of the conversation for its document."""
        return build_digest(conversation_id)

    def import_conversation(self, user: User, title: str, said: Sequence[Utterance]) -> list[int]:
        """Store a conversation from elsewhere."""
        return store(user, title, said)

    def message_url(self, message_id: int) -> str:
        """Link to the message in its conversation."""
        return f"{_message_urls()}{message_id}"


@cache  # a receipt has about fifty links
def _message_urls() -> str:
    return reverse("message", args=[0]).removesuffix("0")


def is_said(message: Message) -> bool:
    """Whether a message was really said: not an empty or forgotten one, and not Recall's own request to continue."""
    is_whole = message.status != Message.Status.STREAMING
    return is_whole and message.text not in ("", FORGOTTEN) and "continues" not in message.event_data


def utterances(messages: Iterable[Message]) -> list[Utterance]:
    """The messages that were said, in order, without secrets: nothing learns those, and the index doesn't hold them."""
    said: list[Utterance] = []
    known: frozenset[str] = frozenset()
    for message in messages:
        if is_said(message):
            is_users = message.role == Message.Role.USER
            known |= secret_values(message.text, is_own=is_users)
            said.append(utterance(message, known))
            known = known if is_users else lasting(known)
    return said


def utterance(message: Message, known: frozenset[str] = frozenset()) -> Utterance:
    """The message as the librarian reads it. `known`: secrets of earlier messages."""
    speaker: Speaker = "user" if message.role == Message.Role.USER and not message.author else "assistant"
    return Utterance(
        message.pk,
        message.seq,
        speaker,
        mask_secrets(message.text, known, is_own=speaker == "user"),
        message.created_at,
        message.author,
        message.turn,
        omit=_omit_rule(message) if speaker == "assistant" else "",
    )


def _omit_rule(answer: Message) -> str:
    """The rule by which an answer isn't a memory, as far as its row shows."""
    if answer.status != Message.Status.COMPLETE or answer.event_data.get("stop_reason") == "refusal":
        return UNFINISHED
    return FROM_MEMORIES if answer.event_data.get("from_memories") else ""


class ChatUsageLedger:
    """Implements `memory.ports.spending.UsageLedger`, because memory and budget don't know each other."""

    def add(self, user_id: int, used: Usage) -> Decimal:
        """Count the tokens; returns their price."""
        return usage.add_background(user_id, used.model, used.input_tokens, used.output_tokens, calls=used.calls)

    def spending_stop(self, user_id: int) -> SpendingStop | None:
        """The reached limit of tokens or money, and when it resets."""
        user = User.objects.get(pk=user_id)
        limit = limits.stops_spending(user)
        if limit is None:
            return None
        return SpendingStop(datetime.combine(limit.free_on, time.min, user.zone), limit.sentence)
