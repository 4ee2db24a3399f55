"""What may another assistant do with a person's memory? Four of the model's own tools, each opened by a scope.

A tool only reads, but for `remember`: it makes a proposal at most, told by the key's name
(`memory/librarian/remember.py`). Names, arguments and answers are those the model has; only the descriptions differ
where there is no conversation here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.core.exceptions import ValidationError

from accounts.models import ApiKey
from chat.tools import knowledge
from chat.tools import remember as remembering
from chat.tools.calls import ToolInputError, ToolResult, get_text
from memory.librarian.engine import MAX_STATEMENT
from memory.librarian.remember import propose_told_by

if TYPE_CHECKING:  # the SDK takes 1.5 s to load; pages and commands start without it
    from anthropic.types import ToolParam

RESULT_TOKENS: Final = 5_000
"""Base tokens of one search's results: what the standard plan gives to recalled memories and tools (DESIGN §4)."""


@dataclass(frozen=True, slots=True)
class ExposedTool:
    """A tool that others may use."""

    definition: ToolParam
    """The model's own: its name, and the schema of its arguments."""
    scope: str
    """What a key needs for it: `accounts/api/scopes.py`."""
    run: Callable[[ApiKey, ToolResult], ToolResult]
    description: str
    writes: bool = False


def search_knowledge(key: ApiKey, given: ToolResult) -> ToolResult:
    """Facts, episodes and documents of the key's owner."""
    return knowledge.search_memories(key.user, given, knowledge.parse_filters(given), token_budget=result_tokens())


def search_conversation(key: ApiKey, given: ToolResult) -> ToolResult:
    """Passages of what the key's owner talked of with Recall."""
    return knowledge.search_memories(key.user, given, knowledge.SAID, token_budget=result_tokens())


def read_document(key: ApiKey, given: ToolResult) -> ToolResult:
    """One of the owner's documents."""
    return knowledge.document(key.user, given)


def remember(key: ApiKey, given: ToolResult) -> ToolResult:
    """Propose the statement, as told by this key."""
    return {"outcome": propose_told_by(key.name, key.user, get_text(given, "statement", MAX_STATEMENT + 1))}


def result_tokens() -> int:
    """Base tokens of one answer; the operator's cap on memories holds here as in every plan."""
    cap: int | None = settings.ENVIRONMENT.rag_per_turn_memory_budget_tokens
    return min(RESULT_TOKENS, cap) if cap else RESULT_TOKENS


EXPOSED_TOOLS: Final[Mapping[str, ExposedTool]] = {
    "read_document": ExposedTool(
        knowledge.READ_DOCUMENT,
        "memory:read",
        read_document,
        "Read a document of the person's knowledge base in Recall, such as /profile/goals; a long one in pieces.",
    ),
    "remember": ExposedTool(
        remembering.REMEMBER,
        "memory:write",
        remember,
        "Propose one self-contained statement about the person to be remembered by Recall, when they ask for it. It "
        "waits for their review there and is not remembered until they accept it; the result says truthfully what "
        "happened.",
        writes=True,
    ),
    "search_conversation": ExposedTool(
        knowledge.SEARCH_CONVERSATION,
        "chat:read",
        search_conversation,
        "Search what the person and Recall said to each other in past conversations. Returns passages with dates.",
    ),
    "search_knowledge": ExposedTool(
        knowledge.SEARCH_KNOWLEDGE,
        "memory:read",
        search_knowledge,
        "Search what Recall knows of the person and their world: facts, episodes and documents. Returns statements "
        "and passages with their source; read_document opens a document by its path.",
    ),
}
"""By name, sorted."""
SCOPES_OF_TOOLS: Final = tuple(sorted({tool.scope for tool in EXPOSED_TOOLS.values()}))
READS_DOCUMENTS: Final = EXPOSED_TOOLS["read_document"].scope


def lent_to(key: ApiKey) -> list[ExposedTool]:
    """The tools that this key opens."""
    return [tool for tool in EXPOSED_TOOLS.values() if tool.scope in key.scopes]


def call(key: ApiKey, name: str, given: Mapping[str, Any]) -> ToolResult:
    """What the tool answers; raises `ToolRefused` with a sentence for the assistant."""
    tool = EXPOSED_TOOLS.get(name)
    if tool is None:
        raise ToolInputError(f"There is no tool called {name[:80]}.")
    if tool.scope not in key.scopes:
        raise ToolInputError(f"This key does not open {name}: it lacks the scope {tool.scope}.")
    try:
        return tool.run(key, dict(given))
    except ValidationError as error:
        raise ToolInputError("; ".join(error.messages)) from error
