"""What happens when the model wants something remembered? A proposal at most, and the truth about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from chat.opening import Opened
from chat.tools.calls import Answer, text
from chat.utterances import utterance
from memory.remembering import propose

if TYPE_CHECKING:  # the SDK takes 1.5 s to load; pages and commands start without it
    from anthropic.types import ToolParam

REMEMBER: Final[ToolParam] = {
    "name": "remember",
    "description": (
        "Propose one self-contained statement about the person to be remembered, when they ask for it. The person "
        "decides later; the result says truthfully what happened."
    ),
    "input_schema": {
        "type": "object",
        "properties": {"statement": {"type": "string", "description": "In the third person: “The user …”"}},
        "required": ["statement"],
        "additionalProperties": False,
    },
}


def remember(opened: Opened, given: Answer) -> Answer:
    """Propose the statement; it rests on what the person just wrote."""
    return {
        "outcome": propose(
            opened.conversation.user, text(given, "statement"), utterance(opened.question), opened.answer.created_at
        )
    }
