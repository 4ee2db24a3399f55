"""Searches of the user's memory for the model and for MCP: one query, filters, and results as JSON."""

import re
from collections.abc import Collection
from typing import Any, Final

from django.utils import timezone

from accounts.models import User
from chat.tools.tool import NOTE, ToolInput, ToolInputError, ToolResult, get_int, get_text
from chat.turn import AcceptedTurn
from memory.models.paths import encode
from memory.refs import ids_by_kind
from memory.retrieval.candidates import Filters
from memory.retrieval.ranking import TOP_K, WEAK, Source
from memory.retrieval.recall import MemoryItem, retrieve
from recall.environment import setting
from recall.text import storable

MAX_RESULTS: Final = setting("rag_top_k_max", 20)
"""Results of one search: more would fill the prompt with what the model didn't ask for."""
MAX_EXCERPT: Final = 600
"""Characters shown of one passage; the model can search more narrowly, or read the document."""
MESSAGES: Final = Filters(sources=frozenset(("message", "segment")))
"""Past messages, and the summaries of compacted ones."""
KNOWLEDGE: Final[frozenset[Source]] = frozenset(("fact", "episode", "document"))

QUERY_SCHEMA: Final[dict[str, Any]] = {"type": "string", "description": "What to look for, in a few words"}
TOP_K_SCHEMA: Final[dict[str, Any]] = {
    "type": "integer",
    "description": f"At most so many results, 1 to {MAX_RESULTS}; default {TOP_K}",
}
_IDS: Final = re.compile(r'\\*"id\\*": ?\\*"(\w+:\d+)\\*"')
"""Matches the ids that `_as_json` gives memories in a result, in JSON or in JSON within JSON."""


def search_for_turn(turn: AcceptedTurn, arguments: ToolInput, filters: Filters) -> ToolResult:
    """The best results, without this turn itself and what the answer must do without."""
    this_turn = (f"message:{turn.question.pk}", f"message:{turn.answer.pk}")
    excluded = (*this_turn, *turn.exclusion.refs)
    conversation = turn.conversation
    return search_memories(conversation.user, arguments, filters, exclude_refs=excluded, project=conversation.scope)


def search_memories(
    user: User,
    arguments: ToolInput,
    filters: Filters,
    *,
    exclude_refs: Collection[str] = (),
    token_budget: int | None = None,
    project: str = "",
) -> ToolResult:
    """The user's best matching memories, each in the form of a recalled one."""
    result = retrieve(
        user,
        get_text(arguments, "query"),
        now=timezone.now(),
        top_k=get_int(arguments, "top_k", default=TOP_K, maximum=MAX_RESULTS),
        token_budget=token_budget,
        exclude_refs=exclude_refs,
        filters=filters,
        project=project,
        strong=WEAK,
        reads=True,
    )
    return {"note": NOTE, "results": [_as_json(item) for item in result.kept]}


def parse_filters(arguments: ToolInput) -> Filters:
    """The filters of a knowledge search; raises `ToolInputError`, or `ValidationError` for an invalid path."""
    path = str(arguments.get("path") or "").rstrip("/")
    tags = arguments.get("tags") or []
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise ToolInputError("“tags” must be a list of texts.")
    if path:
        encode(path)  # rejects an invalid path with a sentence
    return Filters(sources=KNOWLEDGE, path=path, tags=frozenset(map(storable, tags)))


def refs_in_result(result: str) -> set[str]:
    """References of the memories in a search's result, whole or truncated."""
    return {ref for ref in _IDS.findall(result) if any(ids_by_kind([ref]).values())}


def _as_json(item: MemoryItem) -> dict[str, str]:
    fields = {"date": item.when.date().isoformat(), "id": item.ref, "said_by": item.said_by, "title": item.title}
    fields |= {"qualifier": item.qualifier, "answers": item.answers}
    return {name: value for name, value in fields.items() if value} | {"text": item.text[:MAX_EXCERPT]}
