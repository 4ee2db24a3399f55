"""The tool `search_conversation`: messages of this and of past conversations."""

from dataclasses import replace
from typing import Final

from chat.projects.project_scope import recall_scope
from chat.tools.memory_search import MESSAGES, QUERY_SCHEMA, TOP_K_SCHEMA, search_for_turn
from chat.tools.tool import Tool, ToolInput, ToolResult, define
from chat.turn import AcceptedTurn


def search_conversation(turn: AcceptedTurn, arguments: ToolInput) -> ToolResult:
    """Search passages of this and of past conversations."""
    return search_for_turn(turn, arguments, replace(MESSAGES, scope=recall_scope(turn.conversation)))


SEARCH_CONVERSATION: Final = Tool(
    define(
        "search_conversation",
        "Search what was said, in this and in past conversations. Returns passages with dates.",
        {"query": QUERY_SCHEMA, "top_k": TOP_K_SCHEMA},
        required=["query"],
    ),
    run=search_conversation,
    scope="chat:read",
)
