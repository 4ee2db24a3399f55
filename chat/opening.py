"""How is a message accepted? It is committed, with the empty answer beside it, before anything else happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import User
from chat.models import Conversation, Message
from chat.recovery import mark_if_abandoned
from recall.nudges import PROCESS_KEY
from recall.text import storable
from recall.tokens import count

CONTINUE_TEXT = "Please continue exactly where you stopped."
TITLE_CHARS = 60


class Refused(Exception):
    """A message that was not accepted; nothing was saved. `code` is one of docs/protocol.md."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code, self.sentence = code, sentence


NOT_FOUND = ("not_found", "There is no such conversation or message of yours.")
NOT_LAST = ("not_last", "Only the last answer can be tried again or gone on from.")  # the rest would be out of sight
BUSY = ("busy", "An answer is still being written here. Stop it first, or wait for it.")


@dataclass(frozen=True, slots=True)
class Opened:
    """A turn that has begun: the committed question and the answer to be written."""

    conversation: Conversation
    question: Message
    answer: Message
    created: bool
    """The conversation is new."""
    duplicate: bool
    """This very message had been accepted before; nothing was done again."""


def checked_text(text: str) -> str:
    """The text as it may be stored.

    Raises:
        Refused: it is empty, too long, or holds NUL bytes.
    """
    if "\x00" in text:
        raise Refused(
            "bad_text", "The message holds NUL characters, which cannot be stored. Remove them and send again."
        )
    if not text.strip():
        raise Refused("empty", "There is nothing in this message yet.")
    longest: int = settings.ENVIRONMENT.max_message_chars
    if len(text) > longest:
        raise Refused("too_long", f"The message has {len(text):,} characters; at most {longest:,} can be sent at once.")
    return storable(text)


def send(user: User, client_id: UUID, conversation_id: UUID | None, text: str) -> Opened:
    """Accept a new message; the same `client_id` again changes nothing.

    Raises:
        Refused: see `checked_text`; or the conversation is not the user's, or busy.
    """
    text = checked_text(text)
    return _once(user, client_id, lambda: _send(user, client_id, conversation_id, text, {}))


def retry(user: User, client_id: UUID, answer_id: int) -> Opened:
    """Answer the question of `answer_id` again, as a new branch.

    Raises:
        Refused: the answer is not the user's, or the conversation is busy.
    """
    return _once(user, client_id, lambda: _retry(user, client_id, answer_id))


def go_on(user: User, client_id: UUID, answer_id: int) -> Opened:
    """Ask the model to go on from where `answer_id` ended.

    Raises:
        Refused: the answer is not the user's, or the conversation is busy.
    """
    answer = _answer(user, answer_id)
    extra: dict[str, object] = {"continues": answer.pk}
    return _once(user, client_id, lambda: _send(user, client_id, answer.conversation_id, CONTINUE_TEXT, extra))


def _once(user: User, client_id: UUID, begin: Callable[[], Opened]) -> Opened:
    """Begin; where that cannot be, because this very message has begun already, say what became of it."""
    try:
        with transaction.atomic():
            return begin()
    except IntegrityError:  # `sent_once`: the client id is known; or another tab was a moment faster
        refused = Refused(*BUSY)
    except Refused as error:
        refused = error
    earlier = _accepted_before(user, client_id)
    if earlier is None:
        raise refused
    return earlier


def _send(user: User, client_id: UUID, conversation_id: UUID | None, text: str, extra: dict[str, object]) -> Opened:
    conversation = _locked(user, conversation_id) if conversation_id else _new(user, text)
    parent = conversation.active_leaf
    if "continues" in extra and conversation.active_leaf_id != extra["continues"]:
        raise Refused(*NOT_LAST)
    question = Message(
        user=user,
        conversation=conversation,
        seq=conversation.next_seq,
        parent=parent,
        turn=parent.turn + 1 if parent else 1,
        role=Message.Role.USER,
        event_type=Message.Event.USER_MESSAGE,
        text=text,
        tokens=count(text),
        event_data=extra,
        client_id=client_id,
    )
    answer = _empty_answer(conversation, question, seq=question.seq + 1)
    question.save(force_insert=True)
    answer.save(force_insert=True)
    _follow(conversation, answer)
    return Opened(conversation, question, answer, created=conversation_id is None, duplicate=False)


def _retry(user: User, client_id: UUID, answer_id: int) -> Opened:
    earlier = _answer(user, answer_id)
    conversation = _locked(user, earlier.conversation_id)
    if conversation.active_leaf_id != answer_id:
        raise Refused(*NOT_LAST)
    question = earlier.parent
    assert question is not None
    answer = _empty_answer(conversation, question, seq=conversation.next_seq, client_id=client_id)
    answer.save(force_insert=True)
    _follow(conversation, answer)
    return Opened(conversation, question, answer, created=False, duplicate=False)


def _new(user: User, text: str) -> Conversation:
    title = " ".join(text.split())
    title = title if len(title) <= TITLE_CHARS else title[: TITLE_CHARS - 1].rsplit(" ", 1)[0] + "…"
    return Conversation.objects.create(user=user, title=title)


def _locked(user: User, conversation_id: UUID) -> Conversation:
    try:
        # Only the conversation is locked: turns of one conversation are opened one after the other.
        conversation: Conversation = (
            Conversation.objects.for_user(user)
            .select_related("active_leaf", "role")
            .defer("active_leaf__text", "active_leaf__search")  # they may be long, and are not asked for
            .select_for_update(of=("self",))
            .get(pk=conversation_id)
        )
    except Conversation.DoesNotExist:
        raise Refused(*NOT_FOUND) from None
    return conversation


def _answer(user: User, answer_id: int) -> Message:
    answer: Message | None = (
        Message.objects.for_user(user)
        .select_related("parent")
        .filter(pk=answer_id, event_type=Message.Event.ASSISTANT_RESPONSE)
        .first()
    )
    if answer is None or answer.parent is None:
        raise Refused(*NOT_FOUND)
    return answer


def _empty_answer(conversation: Conversation, question: Message, *, seq: int, client_id: UUID | None = None) -> Message:
    leaf = conversation.active_leaf
    if leaf is not None and leaf.status == Message.Status.STREAMING and not mark_if_abandoned(leaf):
        raise Refused(*BUSY)
    return Message(
        user_id=question.user_id,
        conversation=conversation,
        seq=seq,
        parent=question,
        turn=question.turn,
        role=Message.Role.ASSISTANT,
        event_type=Message.Event.ASSISTANT_RESPONSE,
        status=Message.Status.STREAMING,
        process_key=PROCESS_KEY,
        client_id=client_id,
    )


def _follow(conversation: Conversation, answer: Message) -> None:
    conversation.active_leaf = answer
    conversation.next_seq = answer.seq + 1
    conversation.status, conversation.ended_at = Conversation.Status.ACTIVE, None
    conversation.last_activity_at = timezone.now()
    conversation.save(update_fields=["active_leaf", "next_seq", "status", "ended_at", "last_activity_at"])


def _accepted_before(user: User, client_id: UUID) -> Opened | None:
    message: Message | None = (
        Message.objects.for_user(user).select_related("conversation", "parent").filter(client_id=client_id).first()
    )
    if message is None:
        return None
    if message.role == Message.Role.ASSISTANT:
        assert message.parent is not None
        return Opened(message.conversation, message.parent, message, created=False, duplicate=True)
    answer = message.children.filter(role=Message.Role.ASSISTANT).order_by("seq")[0]
    return Opened(message.conversation, message, answer, created=message.seq == 1, duplicate=True)
