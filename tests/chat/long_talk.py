"""Conversations of any length, as rows, and the prompt of their next turn."""

from collections.abc import Sequence
from uuid import UUID, uuid4

from accounts.models import User
from chat.compaction import jobs
from chat.messages.history import load_history
from chat.models import Conversation, Message
from chat.prompt.assemble import AssembledPrompt, assemble_prompt
from chat.turn import AcceptedTurn
from chat.turns.intake import accept_message
from memory.index.indexer import index_conversation
from recall.llm.tokens import count_tokens

Exchange = tuple[str, str]
"""Question and answer."""


def numbered(turns: int, first: int = 1) -> list[Exchange]:
    """Exchanges that name their turn."""
    return [(f"Question number {n}?", f"This is answer number {n}.") for n in range(first, first + turns)]


def begin(user: User, said: Sequence[Exchange] = (), *, index: bool = False) -> Conversation:
    """A conversation with these exchanges."""
    conversation = Conversation.objects.create(user=user, title="A long talk")
    go_on(conversation, said)
    if index:
        index_conversation(conversation.pk)
    return conversation


def go_on(conversation: Conversation, said: Sequence[Exchange], after: Message | None = None) -> list[Message]:
    """Add exchanges at the end, or below `after` as a new branch, which becomes active."""
    conversation.refresh_from_db()
    leaf = after or conversation.active_leaf
    turn, seq = (leaf.turn if leaf else 0), conversation.next_seq
    rows = []
    for question, answer in said:
        turn += 1
        rows += [_message(conversation, seq, turn, question), _message(conversation, seq + 1, turn, answer)]
        seq += 2
    Message.objects.bulk_create(rows)
    for row, parent in zip(rows, [leaf, *rows], strict=False):
        row.parent = parent
    Message.objects.bulk_update(rows, ["parent"], batch_size=500)
    conversation.active_leaf = rows[-1] if rows else leaf
    conversation.next_seq = seq
    conversation.save(update_fields=["active_leaf", "next_seq"])
    return rows


def _message(conversation: Conversation, seq: int, turn: int, text: str) -> Message:
    is_question = seq % 2 == 1
    return Message(
        user_id=conversation.user_id,
        conversation=conversation,
        seq=seq,
        turn=turn,
        role=Message.Role.USER if is_question else Message.Role.ASSISTANT,
        event_type=Message.Event.USER_MESSAGE if is_question else Message.Event.ASSISTANT_RESPONSE,
        text=text,
        tokens=count_tokens(text),
    )


def ask(conversation: Conversation, text: str) -> tuple[AcceptedTurn, AssembledPrompt]:
    """Open the next turn and assemble its prompt."""
    opened = accept_message(conversation.user, uuid4(), conversation.pk, text)
    return opened, assemble_prompt(opened)


def answered(opened: AcceptedTurn, text: str = "An answer.") -> None:
    """End the turn, as far as the next prompt sees it."""
    Message.objects.filter(pk=opened.answer.pk).update(
        text=text, tokens=count_tokens(text), status=Message.Status.COMPLETE, process_key=None
    )


def fold(conversation_id: UUID, why: str) -> None:
    """Compact everything there is to compact, now and in this process."""
    wish = jobs.request_compaction(Conversation.objects.get(pk=conversation_id), why)
    while wish is not None and jobs.run_compaction(wish.pk):
        pass


def standing(conversation: Conversation) -> tuple[list[int], list[tuple[int, int]]]:
    """What the next prompt reads: the verbatim turns, and the compacted ranges."""
    conversation.refresh_from_db()
    found = load_history(conversation, conversation.active_leaf_id)
    return [turn.number for turn in found.turns], [
        (segment.first_turn, segment.last_turn) for segment in found.segments
    ]
