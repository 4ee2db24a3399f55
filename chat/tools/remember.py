"""What happens when the model wants something remembered? What the person's rules allow, and the truth about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from chat.ingest.source import utterance
from chat.tools.calls import ToolResult, get_text
from chat.turn import AcceptedTurn
from memory.librarian.echo import mark_echoes
from memory.librarian.remember import propose
from memory.ports.source import get_source

if TYPE_CHECKING:  # the SDK takes 1.5 s to load; pages and commands start without it
    from anthropic.types import ToolParam

REMEMBER: Final[ToolParam] = {
    "name": "remember",
    "description": (
        "Have one self-contained statement about the person remembered, when they ask for it. It waits for their "
        "decision, or is kept at once where they allow that; the result says truthfully what happened."
    ),
    "input_schema": {
        "type": "object",
        "properties": {"statement": {"type": "string", "description": "In the third person: “The user …”"}},
        "required": ["statement"],
        "additionalProperties": False,
    },
}


def remember(opened: AcceptedTurn, given: ToolResult) -> ToolResult:
    """It rests on what the person just wrote, but for what only repeats others in it."""
    statement, seq = get_text(given, "statement"), opened.question.seq
    marked = mark_echoes(*get_source().load_range(opened.conversation.pk, seq, seq))
    said = next(iter(marked), utterance(opened.question))
    return {"outcome": propose(opened.conversation.user, statement, said, opened.answer.created_at)}
