"""API scopes: each API operation and each MCP tool needs exactly one.

A session has them all. No scope lets a key create keys or change how the user signs in.
"""

from collections.abc import Iterable, Mapping
from typing import Final

SCOPES: Final[Mapping[str, str]] = {
    "chat:read": "Read and search conversations, messages, attachments, roles and projects.",
    "chat:write": "Send messages and stop answers; change and delete conversations, roles, projects and attachments.",
    "memory:read": "Search and read facts, documents, episodes and boundaries.",
    "memory:write": "Write documents, upload files and propose facts; not decide or forget.",
    "review": "See and decide proposals; with memory:write, also edit the profile.",
    "forget": "Forget permanently, after a dry run; delete documents by exact path.",
    "budget:read": "See tokens, costs, limits and the context of each answer.",
    "settings": "Read and change preferences, the budget plan, limits, policies and boundaries.",
    "export": "Export all data as one archive, and import archives.",
}
"""Few, so that each is easy to understand on the page where a key is created, which shows these sentences."""


def known(names: Iterable[str]) -> list[str]:
    """The names that are scopes, without duplicates, in table order."""
    named = set(names)
    return [name for name in SCOPES if name in named]
