"""What stands in the profile section of every prompt? The person's own prose, then the guaranteed facts.

Plain SQL, no vectors: what is here is recalled for certain. Two statements, always the same order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memory.documents import BEGINNINGS
from memory.models import Document, Fact

if TYPE_CHECKING:
    from accounts.models import User

FOLDER: Final = "/profile"
PROSE: Final = "prose"
"""`ProfileLine.kind` of a line the person wrote; a fact's line has the fact's kind."""

_FIRST: Final = {beginning.path: place for place, beginning in enumerate(BEGINNINGS)}


@dataclass(frozen=True, slots=True)
class ProfileLine:
    """One line of the profile section."""

    ref: str
    """`document:/profile/goals:3` (its third line) or `fact:12`."""
    text: str
    importance: float
    """0–1: of prose the least important gives way first; a fact only when all prose is gone."""
    kind: str
    """PROSE, or a fact's kind."""
    heading: str
    """The document's title; the kind's name for a fact."""
    message_id: int | None = None
    """The message a fact rests on."""

    @property
    def is_fact(self) -> bool:
        """True for a guaranteed fact, which outlasts every line of prose."""
        return self.kind != PROSE


def profile_lines(user: User) -> list[ProfileLine]:
    """Identity, preferences, goals, further documents by path; then each fact once, most important first.

    A fact that a document says in the same words is told by the document alone: the person's own prose outranks it.
    """
    told: set[str] = set()
    lines = []
    for line in (*_prose(user), *_facts(user)):
        words = _bare(line.text)
        if line.is_fact and words in told:
            continue
        told.add(words)
        lines.append(line)
    return lines


def _prose(user: User) -> Iterator[ProfileLine]:
    written = Document.objects.for_user(user).under(FOLDER).exclude(text="")
    documents = written.only("path", "title", "text", "importance")
    for document in sorted(documents, key=lambda d: (_FIRST.get(d.path, len(_FIRST)), d.path)):
        for number, text in enumerate(document.text.splitlines(), start=1):
            if text.strip():
                ref = f"{document.ref}:{number}"
                yield ProfileLine(ref, text.strip(), document.importance, PROSE, document.title)


def _facts(user: User) -> Iterator[ProfileLine]:
    facts = Fact.objects.for_user(user).guaranteed().defer("vector", "search")
    for fact in facts:
        heading = fact.get_kind_display()
        yield ProfileLine(
            fact.ref, " ".join(fact.statement.split()), fact.importance, fact.kind, heading, fact.message_id
        )


def _bare(text: str) -> str:
    """The words alone, for telling whether two lines say the same."""
    return " ".join(re.findall(r"\w+", text.lower()))
