"""Which turns came before, and how do they stand in a request? Rendered from rows by a pure function, so that two
consecutive requests share their bytes (docs/turn.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from chat.models import Conversation, Message

if TYPE_CHECKING:  # the SDK takes 1.5 s to load; pages and commands start without it
    from anthropic.types import MessageParam, TextBlockParam


@dataclass(frozen=True, slots=True)
class Turn:
    """One finished exchange of the active branch."""

    number: int
    question: Message
    answer: Message


def active_path(conversation: Conversation) -> list[Message]:
    """The active branch's questions and answers, oldest first, each with `conversation` set."""
    rows = (
        Message.objects.filter(
            conversation=conversation,
            user_id=conversation.user_id,
            event_type__in=[Message.Event.USER_MESSAGE, Message.Event.ASSISTANT_RESPONSE],
        )
        .defer("search")
        .in_bulk()
    )
    path: list[Message] = []
    message = rows.get(conversation.active_leaf_id or 0)
    while message is not None:
        message.conversation = conversation
        path.append(message)
        message = rows.get(message.parent_id or 0)
    return path[::-1]


def finished_turns(path: Sequence[Message]) -> list[Turn]:
    """The turns that stand in a prompt: a failed one without text is left out, an interrupted one stands as shown."""
    pairs = pairwise(path)
    return [
        Turn(question.turn, question, answer)
        for question, answer in pairs
        if question.role == Message.Role.USER and answer.role == Message.Role.ASSISTANT and answer.text
    ]


def render_turn(turn: Turn) -> list[MessageParam]:
    """A finished turn as two messages: the user's text, and the answer after one line for each tool round."""
    answer: list[TextBlockParam] = [_text(line) for line in tool_lines(turn.answer)]
    return [
        {"role": "user", "content": [_text(turn.question.text)]},
        {"role": "assistant", "content": [*answer, _text(turn.answer.text)]},
    ]


def tool_lines(answer: Message) -> list[str]:
    """The immutable lines that stand for an answer's tool rounds, written when it was closed."""
    lines: list[str] = answer.event_data.get("tool_lines", [])
    return lines


def _text(text: str) -> TextBlockParam:
    return {"type": "text", "text": text}
