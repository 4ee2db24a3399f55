"""The tool `remember`: propose a memory, as far as the user's memory rules allow, and say what happened."""

from typing import Final

from chat.ingest.source import utterance
from chat.tools.tool import Tool, ToolInput, ToolResult, define, get_text
from chat.turn import AcceptedTurn
from memory.librarian.echo import mark_echoes
from memory.librarian.remember import propose
from memory.ports.source import get_source


def remember(turn: AcceptedTurn, arguments: ToolInput) -> ToolResult:
    """Propose the statement. Its evidence is the user's current message, without parts that only repeat others."""
    statement, seq = get_text(arguments, "statement"), turn.question.seq
    marked = mark_echoes(*get_source().load_range(turn.conversation.pk, seq, seq))
    evidence = next(iter(marked), utterance(turn.question))
    return {"outcome": propose(turn.conversation.user, statement, evidence, turn.answer.created_at)}


REMEMBER: Final = Tool(
    define(
        "remember",
        (
            "Have one self-contained statement about the person remembered, when they ask for it. It waits for their "
            "decision, or is kept at once where they allow that; the result says truthfully what happened."
        ),
        {"statement": {"type": "string", "description": "In the third person: “The user …”"}},
        required=["statement"],
    ),
    run=remember,
    limit=3,  # each proposal costs the user's time
    scope="memory:write",
    writes=True,
)
