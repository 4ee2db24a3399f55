"""What may a key open? Each operation of the API, and each tool for other assistants, asks for exactly one of these.

A session, which is the person, has them all. No scope lets a key make keys, or change how one signs in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

SCOPES: Final[Mapping[str, str]] = {
    "chat:read": "Read and search conversations, their messages and attachments, roles and projects.",
    "chat:write": "Send messages and stop answers; change and delete conversations, roles, projects and attachments.",
    "memory:read": "Search and read what is remembered: facts, documents, episodes and boundaries.",
    "memory:write": "Write documents, upload files, and propose facts; decide nothing and forget nothing.",
    "review": "See what waits for review, and decide it; with memory:write, write the profile.",
    "forget": "Forget for good, after a dry run; delete documents, by their exact path.",
    "budget:read": "See tokens, costs, limits, and what each answer was given.",
    "settings": "Read and change preferences, the budget plan, limits, policies and boundaries.",
    "export": "Take everything out as one archive, and bring archives in.",
}
"""Few, so that each can be understood on the page where a key is made. The sentence is shown there."""


def known(names: Iterable[str]) -> list[str]:
    """Those of the names that are scopes, once each, in the order of the table."""
    named = set(names)
    return [name for name in SCOPES if name in named]
