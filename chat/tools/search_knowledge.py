"""The tool `search_knowledge`: facts, episodes and documents."""

from dataclasses import replace
from typing import Final

from chat.projects.project_scope import recall_scope
from chat.tools.memory_search import QUERY_SCHEMA, TOP_K_SCHEMA, parse_filters, search_for_turn
from chat.tools.tool import Tool, ToolInput, ToolResult, define
from chat.turn import AcceptedTurn


def search_knowledge(turn: AcceptedTurn, arguments: ToolInput) -> ToolResult:
    """Search facts, episodes and documents relevant to the query."""
    return search_for_turn(turn, arguments, replace(parse_filters(arguments), scope=recall_scope(turn.conversation)))


SEARCH_KNOWLEDGE: Final = Tool(
    define(
        "search_knowledge",
        (
            "Search what is known of the person and their world: facts, episodes and documents. Returns statements and "
            "passages with their source; read_document opens a document by its path."
        ),
        {
            "query": QUERY_SCHEMA,
            "path": {"type": "string", "description": "Only below this folder, such as /projects/garden"},
            "tags": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Only what has one of these tags",
            },
            "top_k": TOP_K_SCHEMA,
        },
        required=["query"],
    ),
    run=search_knowledge,
    scope="memory:read",
)
