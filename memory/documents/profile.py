"""The profile section of every prompt: the profile documents' lines, then the guaranteed facts.

Plain SQL, no vectors: what is here is always recalled. Three statements, a fourth if a document states facts; always
in the same order. Each fact appears once: a guaranteed one among the facts, any other at its line
(memory/documents/profile_updates.py). A line whose fact is no longer active is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.db.models import Case, TextField, Value, When
from django.utils import timezone

from memory.documents.fact_line_edits import is_profile
from memory.documents.revisions import BEGINNINGS
from memory.models import Document, Fact, FactLink
from memory.text.fact_lines import facts_in, lines_of
from recall.db.prepared import PreparedQuery, Read

if TYPE_CHECKING:
    from accounts.models import User

FOLDER: Final = "/profile"
PROSE: Final = "prose"
"""`ProfileLine.kind` of a line of a document; a guaranteed fact's line has the fact's kind."""

_DOCUMENTS: Final = PreparedQuery(
    lambda user: (
        Document.objects.filter(user=user)
        .under(FOLDER)
        .exclude(text="")
        .only("user", "path", "title", "text", "importance", "external_id")
    ),
    user=int,
)
_GUARANTEED: Final = PreparedQuery(
    lambda user, now: Fact.objects.filter(user=user).defer("vector", "search").guaranteed(now), user=int, now=datetime
)
_OWN_STATEMENT: Final = Case(
    When(from_fact__source=Fact.Source.STATED, then="from_fact__statement"), default=Value("", TextField())
)
"""What a proposal says; empty unless the user's own words say it. Foreign words only wait: no system block has them."""
_CONTESTS: Final = PreparedQuery(
    lambda user: (
        FactLink.objects.filter(
            user=user, relation=FactLink.Relation.CONTRADICTS, from_fact__status=Fact.Status.PROPOSED
        )
        .order_by("from_fact")
        .values_list("to_fact", _OWN_STATEMENT)
    ),
    user=int,
)
_FIRST: Final = {beginning.path: place for place, beginning in enumerate(BEGINNINGS)}


@dataclass(frozen=True, slots=True)
class ProfileLine:
    """One line of the profile section."""

    ref: str
    """`document:/profile/goals:3` (its third line), or `fact:12` for a fact, even if a line states it."""
    text: str
    importance: float
    """Importance, 0–1."""
    kind: str
    """PROSE, or a guaranteed fact's kind."""
    heading: str
    """The document's title; the kind's name for a fact."""
    message_id: int | None = None
    """The message a fact was learned from."""
    tells: str = ""
    """Ref of the guaranteed fact that the line states in the same words, which then has no line of its own."""

    @property
    def rank(self) -> float:
        """Rank of an unprotected line, 0–1: the user's prose outranks the librarian's lines, then by importance (DESIGN
        §3)."""
        return (self.importance + (0.0 if self.ref.startswith("fact:") else 1.0)) / 2

    @property
    def is_fact(self) -> bool:
        """Whether it is a guaranteed fact, which is cut after all prose."""
        return self.kind != PROSE


def profile_reads(user: User, now: datetime) -> list[Read]:
    """What `profile_lines` reads."""
    return [_DOCUMENTS.read(user=user.pk), _GUARANTEED.read(user=user.pk, now=now), _CONTESTS.read(user=user.pk)]


def profile_lines(user: User, now: datetime | None = None) -> list[ProfileLine]:
    """Identity, preferences, goals, other documents by path; then each fact once, most important first.

    A fact that a document states in the same words has no line of its own: the user's prose outranks it.
    """
    written = sorted(_DOCUMENTS(user=user.pk), key=lambda d: (_FIRST.get(d.path, len(_FIRST)), d.path))
    guaranteed, lined = _facts(
        user, now or timezone.now(), [fact for document in written for fact in facts_in(document.text)]
    )
    contests = dict(_CONTESTS(user=user.pk))
    places: dict[str, int] = {}
    lines: list[ProfileLine] = []
    for line in (*_prose(written, lined, contests), *(_guaranteed(fact, contests) for fact in guaranteed)):
        place = places.setdefault(_bare(line.text), len(lines))
        if line.is_fact and place < len(lines):
            lines[place] = replace(lines[place], tells=line.ref)
        else:
            lines.append(line)
    return lines


def _prose(documents: list[Document], lined: Mapping[int, Fact], contests: Mapping[int, str]) -> Iterator[ProfileLine]:
    for document in documents:
        for number, line in enumerate(lines_of(document.text), start=1):
            text = line.unmarked.strip()
            if line.fact in lined and line.fact is not None:
                fact = lined[line.fact]
                yield ProfileLine(
                    fact.ref, _statement(fact, contests), fact.importance, PROSE, document.title, fact.message_id
                )
            elif text and (line.fact is None or not is_profile(document)):
                yield ProfileLine(f"{document.ref}:{number}", text, document.importance, PROSE, document.title)


def _facts(user: User, now: datetime, in_lines: list[int]) -> tuple[list[Fact], dict[int, Fact]]:
    """The guaranteed facts, most important first, and the other active facts that have a line."""
    guaranteed = _GUARANTEED(user=user.pk, now=now)
    others = set(in_lines) - {fact.pk for fact in guaranteed}
    if not others:
        return guaranteed, {}
    return guaranteed, Fact.objects.for_user(user).defer("vector", "search").active().in_bulk(others)


def _guaranteed(fact: Fact, contests: Mapping[int, str]) -> ProfileLine:
    heading = fact.get_kind_display()
    return ProfileLine(fact.ref, _statement(fact, contests), fact.importance, fact.kind, heading, fact.message_id)


def _statement(fact: Fact, contests: Mapping[int, str]) -> str:
    """The full statement, which names its subject, where a document's line may not; and what waits against it."""
    statement, contest = " ".join(fact.statement.split()), contests.get(fact.pk)
    if contest is None:
        return statement
    return f"{statement} (contested by a proposal{contest and f': {contest}'})"


def _bare(text: str) -> str:
    """The bare words, for comparing two lines."""
    return " ".join(re.findall(r"\w+", text.lower()))
