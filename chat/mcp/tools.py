"""Tools for other assistants over MCP: four of the model's own tools, each allowed by a scope of the key.

They only read, except `remember`, which makes a proposal in the key's name (`memory/librarian/remember.py`). Names,
arguments and results are the model's; descriptions differ because there is no conversation here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.core.exceptions import ValidationError

from accounts.models import ApiKey
from chat.tools.memory_search import MESSAGES, parse_filters, search_memories
from chat.tools.read_document import READ_DOCUMENT, read_own_document
from chat.tools.remember import REMEMBER
from chat.tools.search_conversation import SEARCH_CONVERSATION
from chat.tools.search_knowledge import SEARCH_KNOWLEDGE
from chat.tools.tool import Tool, ToolInputError, ToolResult, get_text
from memory.librarian.engine import MAX_STATEMENT
from memory.librarian.remember import propose_from_assistant

RESULT_TOKENS: Final = 5_000
"""Base tokens of one search's results: what the standard plan gives to recalled memories and tools (DESIGN §4)."""


@dataclass(frozen=True, slots=True)
class ExposedTool:
    """A tool that other assistants may use."""

    tool: Tool
    """The model's own tool: its name, the schema of its arguments, and the scope a key needs."""
    run: Callable[[ApiKey, ToolResult], ToolResult]
    description: str


def search_knowledge(key: ApiKey, arguments: ToolResult) -> ToolResult:
    """Search facts, episodes and documents of the key's owner."""
    return search_memories(key.user, arguments, parse_filters(arguments), token_budget=result_tokens())


def search_conversation(key: ApiKey, arguments: ToolResult) -> ToolResult:
    """Search passages of the owner's conversations."""
    return search_memories(key.user, arguments, MESSAGES, token_budget=result_tokens())


def read_document(key: ApiKey, arguments: ToolResult) -> ToolResult:
    """Read one of the owner's documents."""
    return read_own_document(key.user, arguments)


def remember(key: ApiKey, arguments: ToolResult) -> ToolResult:
    """Propose the statement in the key's name."""
    return {"outcome": propose_from_assistant(key.name, key.user, get_text(arguments, "statement", MAX_STATEMENT + 1))}


def result_tokens() -> int:
    """Base tokens of one result; the operator's cap on memories applies."""
    cap: int | None = settings.ENVIRONMENT.rag_per_turn_memory_budget_tokens
    return min(RESULT_TOKENS, cap) if cap else RESULT_TOKENS


EXPOSED_TOOLS: Final[Mapping[str, ExposedTool]] = {
    "read_document": ExposedTool(
        READ_DOCUMENT,
        read_document,
        "Read a document of the person's knowledge base in Recall, such as /profile/goals; a long one in pieces.",
    ),
    "remember": ExposedTool(
        REMEMBER,
        remember,
        "Propose one self-contained statement about the person to be remembered by Recall, when they ask for it. It "
        "waits for their review there and is not remembered until they accept it; the result says truthfully what "
        "happened.",
    ),
    "search_conversation": ExposedTool(
        SEARCH_CONVERSATION,
        search_conversation,
        "Search what the person and Recall said to each other in past conversations. Returns passages with dates.",
    ),
    "search_knowledge": ExposedTool(
        SEARCH_KNOWLEDGE,
        search_knowledge,
        "Search what Recall knows of the person and their world: facts, episodes and documents. Returns statements "
        "and passages with their source; read_document opens a document by its path.",
    ),
}
"""Tools by name, sorted."""
SCOPES_OF_TOOLS: Final = tuple(sorted({exposed.tool.scope for exposed in EXPOSED_TOOLS.values()}))
READS_DOCUMENTS: Final = READ_DOCUMENT.scope


def allowed_tools(key: ApiKey) -> list[ExposedTool]:
    return [exposed for exposed in EXPOSED_TOOLS.values() if exposed.tool.scope in key.scopes]


def run_tool(key: ApiKey, name: str, arguments: Mapping[str, Any]) -> ToolResult:
    """The tool's result; raises `ToolInputError` with a sentence for the assistant."""
    exposed = EXPOSED_TOOLS.get(name)
    if exposed is None:
        raise ToolInputError(f"There is no tool called {name[:80]}.")
    if exposed.tool.scope not in key.scopes:
        raise ToolInputError(f"This key can't use {name}: it lacks the scope {exposed.tool.scope}.")
    try:
        return exposed.run(key, dict(arguments))
    except ValidationError as error:
        raise ToolInputError("; ".join(error.messages)) from error
