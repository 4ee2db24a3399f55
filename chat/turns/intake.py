"""Message intake, exactly once: the message and its empty answer are committed before the turn starts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import User
from budget.models import Receipt
from budget.spending import limits
from chat.attachments import drafts
from chat.conversations import options
from chat.conversations.model_choice import ModelNotOfferedError
from chat.conversations.titles import first_words, is_of_first_words
from chat.messages.branches import KEPT, Links, is_typed, links_of, newest_below, notify_branch_switched, switch_branch
from chat.models import Attachment, Conversation, Message
from chat.prompt.ablation import excludable_items, load_exclusion
from chat.prompt.forgotten_topics import find_withheld, load_forgotten
from chat.protocol import NO_OPTIONS, ConversationOptions
from chat.turn import BESIDE, WITHHOLDS, AcceptedTurn, TurnRejectedError
from chat.turns.live import MAX_RUNNING, UNSTORED
from chat.turns.recovery import mark_if_abandoned
from memory.forget_requests.requests import find_request
from recall.db.notify import PROCESS_KEY, publish_event
from recall.db.postgres import new_ids, new_ids_read
from recall.db.prepared import PreparedInsert, PreparedQuery, PreparedUpdate, Read, read_together, write_together
from recall.db.quotas import QuotaError, make_room
from recall.llm.tokens import count_tokens
from recall.text import storable

CONTINUE_TEXT: Final = "Please continue exactly where you stopped."


NOT_FOUND: Final = ("not_found", "Conversation or message not found.")
NOT_LAST: Final = ("not_last", "You can only continue the last answer.")
NOT_GIVEN: Final = ("not_given", "That answer didn't use this memory, so there is nothing to leave out.")
NOT_YOURS: Final = ("not_yours", "You can only edit messages you wrote.")
BUSY: Final = ("busy", "An answer is still being written. Wait for it, or stop it first.")
SIGNED_OUT: Final = ("signed_out", "You're signed out. Sign in and send again.")
SLOW_DOWN: Final = ("slow_down", f"You already have {MAX_RUNNING} answers in progress. Wait for one to finish.")

_CONVERSATION: Final[PreparedQuery[Conversation]] = PreparedQuery(
    lambda user, conversation: (
        Conversation.objects.not_deleted().filter(user=user, pk=conversation).select_for_update()
    ),
    user=int,
    conversation=UUID,
)
# Without the messages' texts, which may be long.
_LEAF: Final = PreparedQuery(
    lambda user, conversation: Message.objects.filter(
        pk__in=Conversation.objects.filter(user=user, pk=conversation).values("active_leaf")
    ).defer("text", "search"),
    user=int,
    conversation=UUID,
)
_WRITING: Final = PreparedQuery(
    lambda conversation: (
        Message.objects.streaming().filter(conversation=conversation).order_by("pk").defer("text", "search")[:1]
    ),
    conversation=UUID,
)
_NEW_MESSAGES: Final = PreparedInsert(Message)
_FOLLOWED: Final = PreparedUpdate(
    Conversation, "active_leaf", "next_seq", "status", "ended_at", "last_activity_at", "archived_at"
)


def validate_text(text: str, *, may_be_empty: bool = False) -> str:
    """The text as it is stored. `may_be_empty`: the message has attachments.

    Raises:
        TurnRejectedError: it is empty, too long, or holds NUL bytes.
    """
    if "\x00" in text:
        raise TurnRejectedError(
            "bad_text", "The message contains NUL characters, which can't be stored. Remove them and send again."
        )
    if not text.strip():
        if may_be_empty:
            return ""
        raise TurnRejectedError("empty", "The message is empty.")
    limit: int = settings.ENVIRONMENT.max_message_chars
    if len(text) > limit:
        raise TurnRejectedError("too_long", f"The message has {len(text):,} characters. The limit is {limit:,}.")
    return storable(text)


def accept_message(
    user: User,
    client_id: UUID,
    conversation_id: UUID | None,
    text: str,
    attachments: Sequence[int] = (),
    chosen: ConversationOptions = NO_OPTIONS,
) -> AcceptedTurn:
    """Accept a new message with these draft attachments; the same `client_id` again changes nothing.

    `chosen`: options of a new conversation.

    Raises:
        TurnRejectedError: see `validate_text`; or the conversation is not the user's, or busy; or a limit is reached
            (`limit`); or an attachment is not the user's, or was sent before (`attachments`); or an option does not
            exist.
    """
    text = validate_text(text, may_be_empty=bool(attachments))
    return _accept_once(user, client_id, lambda: _send(user, client_id, conversation_id, text, {}, attachments, chosen))


def accept_edit(user: User, client_id: UUID, message_id: int, text: str) -> AcceptedTurn:
    """Ask this instead of `message_id`, as a new branch; the earlier question and what followed it are kept.

    Raises:
        TurnRejectedError: see `validate_text`; or it is no message that the user wrote, the conversation is busy, or
            a limit is reached.
    """
    text = validate_text(text)
    return _accept_once(user, client_id, lambda: _edit(user, client_id, message_id, text))


def accept_retry(user: User, client_id: UUID, answer_id: int) -> AcceptedTurn:
    """Answer the question of `answer_id` again, as a new branch; the earlier answer and what followed it are kept.

    Raises:
        TurnRejectedError: the answer is not the user's, the conversation is busy, or a limit is reached.
    """
    return _accept_once(user, client_id, lambda: _retry(user, client_id, answer_id))


def accept_continue(user: User, client_id: UUID, answer_id: int) -> AcceptedTurn:
    """Ask the model to continue where `answer_id` ended.

    Raises:
        TurnRejectedError: the answer is not the user's, the conversation is busy, or a limit is reached.
    """
    answer = _get_own_answer(user, answer_id)
    extra: dict[str, object] = {"continues": answer.pk}
    return _accept_once(user, client_id, lambda: _send(user, client_id, answer.conversation_id, CONTINUE_TEXT, extra))


def accept_exclusion(user: User, client_id: UUID, answer_id: int, refs: Sequence[str]) -> AcceptedTurn:
    """Answer the question of `answer_id` again without these memories, as a trial beside the answer on the branch.

    Raises:
        TurnRejectedError: the answer is not the user's, its prompt did not have all of them, the conversation is
            busy, or a limit is reached.
    """
    turn = _accept_once(user, client_id, lambda: _exclude(user, client_id, answer_id, refs))
    return replace(turn, exclusion=turn.exclusion.and_also(load_exclusion(turn.answer)))


def choose_answer(user: User, answer_id: int) -> Conversation:
    """Continue from this answer instead of the other one to the same question; doing it again changes nothing.

    Raises:
        TurnRejectedError: there is no such answer with a text, or the conversation was continued from the other one.
    """
    with transaction.atomic():
        answer = _get_own_answer(user, answer_id)
        conversation = _lock_conversation(user, answer.conversation_id)
        leaf = conversation.active_leaf
        if not answer.text or leaf is None or leaf.parent_id != answer.parent_id:
            raise TurnRejectedError(*(NOT_LAST if answer.text else NOT_FOUND))
        if Message.Status.STREAMING in (leaf.status, answer.status):
            raise TurnRejectedError(*BUSY)
        if BESIDE in answer.event_data:
            Message.objects.filter(pk=answer.pk).update(event_data={**answer.event_data, KEPT: True})
        _follow_leaf(conversation, links_of(conversation), answer.pk)  # read here, because it only now is a branch
    return conversation


def follow_branch(user: User, message_id: int) -> Conversation:
    """Switch to the newest branch that goes through this message; doing it again changes nothing.

    Raises:
        TurnRejectedError: there is no such question or answer of the user's, or an answer is being written.
    """
    with transaction.atomic():
        message = _get_own_message(user, message_id)
        conversation = _lock_conversation(user, message.conversation_id)
        links = links_of(conversation)
        if message.pk not in links:  # a trial
            raise TurnRejectedError(*NOT_FOUND)
        _check_not_busy(conversation)
        _follow_leaf(conversation, links, newest_below(links, message.pk))
    return conversation


def _follow_leaf(conversation: Conversation, links: Links, leaf: int) -> None:
    if conversation.active_leaf_id == leaf:
        return
    switch_branch(conversation, links, leaf)
    conversation.active_leaf_id = leaf
    conversation.save(update_fields=["active_leaf"])
    notify_branch_switched(conversation)


def _accept_once(user: User, client_id: UUID, save: Callable[[], AcceptedTurn]) -> AcceptedTurn:
    """Save the turn; if this very message was accepted before, return that turn. With what the user asked to forget."""
    turn = _save_or_find(user, client_id, save)
    return replace(turn, exclusion=load_forgotten(user, asked_now=turn.question))


def _save_or_find(user: User, client_id: UUID, save: Callable[[], AcceptedTurn]) -> AcceptedTurn:
    try:
        with transaction.atomic():
            return save()
    except IntegrityError:  # `sent_once`: the client id is known; or another tab was a moment faster
        rejection = TurnRejectedError(*BUSY)
    except TurnRejectedError as error:
        rejection = error
    earlier = _find_accepted(user, client_id)
    if earlier is None:
        raise rejection
    return earlier


def _send(
    user: User,
    client_id: UUID,
    conversation_id: UUID | None,
    text: str,
    extra: dict[str, object],
    attachments: Sequence[int] = (),
    chosen: ConversationOptions = NO_OPTIONS,
) -> AcceptedTurn:
    with read_together(*_reads_of_send(user, conversation_id)):
        if conversation_id:
            conversation = _lock_conversation(user, conversation_id)
        else:
            conversation = _create_conversation(user, text or drafts.names(user, attachments), chosen)
        parent = conversation.active_leaf
        if "continues" in extra and conversation.active_leaf_id != extra["continues"]:
            raise TurnRejectedError(*NOT_LAST)
        question = _build_question(user, conversation, parent, client_id, text, extra)
        answer = _save_question(conversation, question)
    try:
        drafts.bind(question, attachments)
    except drafts.NotBoundError as error:
        raise TurnRejectedError("attachments", str(error)) from error
    return AcceptedTurn(conversation, question, answer, created=conversation_id is None, is_duplicate=False)


def _reads_of_send(user: User, conversation_id: UUID | None) -> Iterator[Read]:
    """What a new message reads, in this order: it locks the conversation, then the limits."""
    if conversation_id:
        yield _CONVERSATION.read(user=user.pk, conversation=conversation_id)
        yield _LEAF.read(user=user.pk, conversation=conversation_id)
        yield _WRITING.read(conversation=conversation_id)
    yield limits.limits_read(user)
    yield new_ids_read(Message, 2)


def _build_question(
    user: User, conversation: Conversation, parent: Message | None, client_id: UUID, text: str, extra: dict[str, object]
) -> Message:
    return Message(
        user=user,
        conversation=conversation,
        seq=conversation.next_seq,
        parent=parent,
        turn=parent.turn + 1 if parent else 1,
        role=Message.Role.USER,
        event_type=Message.Event.USER_MESSAGE,
        text=text,
        tokens=count_tokens(text),
        event_data=extra,
        client_id=client_id,
    )


def _save_question(conversation: Conversation, question: Message) -> Message:
    """Save the question and its empty answer, which becomes the end of the active branch."""
    answer = _build_answer(conversation, question, seq=question.seq + 1)
    _note_forget_request(question)
    question.pk, answer.pk = new_ids(Message, 2)
    answer.parent_id = question.pk
    with write_together():
        _NEW_MESSAGES([question, answer])
        _follow_answer(conversation, answer)
    return answer


def _note_forget_request(question: Message) -> None:
    """If the message asks to forget something, note what: it is not used from now on."""
    request = find_request(question.text)
    if request is not None:
        question.event_data = {**question.event_data, WITHHOLDS: find_withheld(question.user, request, question.parent)}


def _edit(user: User, client_id: UUID, message_id: int, text: str) -> AcceptedTurn:
    earlier = editable(user, message_id)
    conversation = _lock_conversation(user, earlier.conversation_id)
    # Rolled back with the rest if that is rejected.
    is_changed = text != earlier.text
    switch_branch(conversation, links_of(conversation), earlier.parent_id, takes_words_back=is_changed)
    is_own = conversation.title_is_own or not is_of_first_words(conversation.title, earlier.text)
    if earlier.parent_id is None and not is_own:
        conversation.title = first_words(text)
        conversation.save(update_fields=["title"])
        publish_event(f"user-{user.pk}", "conversations")
    question = _build_question(user, conversation, earlier.parent, client_id, text, {})
    answer = _save_question(conversation, question)
    _copy_attachments(earlier, question)
    return AcceptedTurn(conversation, question, answer, created=False, is_duplicate=False)


def editable(user: User, message_id: int) -> Message:
    """The message, to be edited.

    Raises:
        TurnRejectedError: it is not the user's, or they did not write it.
    """
    message = _get_own_message(user, message_id)
    if not is_typed(message):
        raise TurnRejectedError(*NOT_YOURS)
    return message


def _copy_attachments(earlier: Message, question: Message) -> None:
    """Copy the images, files and pastes of the earlier wording; each keeps its own."""
    rows = list(Attachment.objects.filter(message=earlier))
    if not rows:
        return
    owned = Attachment.objects.for_user(question.user)
    try:
        make_room(owned, question.user_id, more=len(rows), size=sum(row.stored_bytes for row in rows))
    except QuotaError as full:
        raise TurnRejectedError("attachments", str(full)) from full
    for row in rows:
        row.pk, row.message = None, question
    Attachment.objects.bulk_create(rows)


def _retry(user: User, client_id: UUID, answer_id: int) -> AcceptedTurn:
    earlier = _get_own_answer(user, answer_id)
    conversation = _lock_conversation(user, earlier.conversation_id)
    question = earlier.parent
    assert question is not None
    switch_branch(conversation, links_of(conversation), question.pk)
    answer = _build_answer(conversation, question, seq=conversation.next_seq, client_id=client_id)
    answer.save(force_insert=True)
    _follow_answer(conversation, answer)
    return AcceptedTurn(conversation, question, answer, created=False, is_duplicate=False)


def _exclude(user: User, client_id: UUID, answer_id: int, refs: Sequence[str]) -> AcceptedTurn:
    first = _get_own_answer(user, answer_id)
    receipt = Receipt.objects.filter(message=first).first()
    if receipt is None or not refs or not set(refs) <= excludable_items(receipt).keys():
        raise TurnRejectedError(*NOT_GIVEN)
    conversation = _lock_conversation(user, first.conversation_id)
    question = first.parent
    assert question is not None
    answer = _build_answer(conversation, question, seq=conversation.next_seq, client_id=client_id)
    answer.event_data = {"without": sorted(set(refs)), BESIDE: first.pk}
    answer.save(force_insert=True)
    conversation.next_seq += 1
    conversation.save(update_fields=["next_seq"])
    return AcceptedTurn(conversation, question, answer, created=False, is_duplicate=False)


def _create_conversation(user: User, text: str, chosen: ConversationOptions) -> Conversation:
    try:
        fields = options.initial_fields(user, chosen)
    except options.OptionNotFoundError as error:
        raise TurnRejectedError("not_found", str(error)) from error
    except ModelNotOfferedError as error:
        raise TurnRejectedError("not_offered", str(error)) from error
    return Conversation.objects.create(user=user, title=first_words(text), **fields)


def _lock_conversation(user: User, conversation_id: UUID) -> Conversation:
    """Lock the conversation: its turns are accepted one after the other."""
    conversation = _CONVERSATION.first(user=user.pk, conversation=conversation_id)
    if conversation is None:
        raise TurnRejectedError(*NOT_FOUND)
    conversation.user = user  # saves a query
    if conversation.active_leaf_id is not None:
        conversation.active_leaf = _LEAF.first(user=user.pk, conversation=conversation.pk)
    return conversation


def _get_own_message(user: User, message_id: int) -> Message:
    message: Message | None = (
        Message.objects.not_deleted().for_user(user).select_related("parent").filter(pk=message_id).first()
    )
    if message is None:
        raise TurnRejectedError(*NOT_FOUND)
    return message


def _get_own_answer(user: User, answer_id: int) -> Message:
    answer = _get_own_message(user, answer_id)
    if answer.event_type != Message.Event.ASSISTANT_RESPONSE or answer.parent is None:
        raise TurnRejectedError(*NOT_FOUND)
    return answer


def _check_not_busy(conversation: Conversation) -> None:
    # Not only the leaf: a trial is beside it.
    writing = _WRITING.first(conversation=conversation.pk)
    if writing is not None and not mark_if_abandoned(writing):
        raise TurnRejectedError(*BUSY)


def _build_answer(conversation: Conversation, question: Message, *, seq: int, client_id: UUID | None = None) -> Message:
    _check_not_busy(conversation)
    beyond = limits.check_limits(conversation.user, lambda: UNSTORED[conversation.user_id])
    if beyond is not None:
        raise TurnRejectedError("limit", beyond)
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


def _follow_answer(conversation: Conversation, answer: Message) -> None:
    """Make the answer the end of the active branch."""
    conversation.active_leaf = answer
    conversation.next_seq = answer.seq + 1
    conversation.status, conversation.ended_at = Conversation.Status.ACTIVE, None
    conversation.last_activity_at, conversation.archived_at = timezone.now(), None
    _FOLLOWED(conversation)


def _find_accepted(user: User, client_id: UUID) -> AcceptedTurn | None:
    message: Message | None = (
        Message.objects.for_user(user).select_related("conversation", "parent").filter(client_id=client_id).first()
    )
    if message is None:
        return None
    if message.role == Message.Role.ASSISTANT:
        assert message.parent is not None
        return AcceptedTurn(message.conversation, message.parent, message, created=False, is_duplicate=True)
    answer = message.children.filter(role=Message.Role.ASSISTANT).order_by("seq")[0]
    return AcceptedTurn(message.conversation, message, answer, created=message.seq == 1, is_duplicate=True)
