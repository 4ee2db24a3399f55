"""Evaluates labeled questions in one language through the product's own retrieval.

Each person's memories are stored for a temporary user who writes in that language: facts as facts, what was said or
answered as messages of conversations of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING

from memory.evaluation.retrieval.metrics import per_cent, recall
from memory.evaluation.retrieval.product import index
from memory.evaluation.retrieval.run import temporary_user
from memory.models import Fact
from memory.ports.source import Utterance, get_source
from memory.query_encoder.labeled import Question
from memory.retrieval.ranking import TOP_K
from memory.retrieval.recall import retrieve

if TYPE_CHECKING:
    from accounts.models import User


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the places of the memories that a prompt would contain, best first."""

    question: Question
    kept: tuple[int, ...]

    @property
    def has_answer(self) -> bool:
        """Whether a memory answers it."""
        return bool(self.question.answers)

    @property
    def is_hit(self) -> bool:
        """Whether the first memory answers it."""
        return bool(self.kept) and self.kept[0] in self.question.answers

    @property
    def has_nothing(self) -> bool:
        """Whether no memory answers it or helps."""
        return not self.question.answers and not self.question.helps


@dataclass(frozen=True, slots=True)
class Figures:
    """Percentages over labeled questions."""

    answerable: int
    hit: float
    """Of the answerable: an answer is the first memory."""
    recalled: float
    """Of the answers: among the first TOP_K."""
    unanswerable: int
    silent: float
    """Of those that nothing answers or helps: nothing is recalled."""


def people(questions: Sequence[Question]) -> list[list[Question]]:
    """The questions of each person, in the file's order."""
    return [list(own) for _, own in groupby(questions, lambda question: id(question.memories))]


def ask_all(questions: Sequence[Question], language: str, now: datetime) -> Iterator[Asked]:
    """Ask the questions of one person, who writes in `language`."""
    with temporary_user(language) as user:
        places = {ref: place for place, ref in enumerate(_store(user, questions[0], now))}
        index(user)
        for question in questions:
            kept = retrieve(user, question.text, now=now, reads=True).kept
            yield Asked(question, tuple(places[item.ref] for item in kept))


def figures(asked: Sequence[Asked]) -> Figures:
    """What the answers to these questions come to."""
    answerable = [one for one in asked if one.has_answer]
    nothing = [one.kept for one in asked if one.has_nothing]
    return Figures(
        answerable=len(answerable),
        hit=per_cent([float(one.is_hit) for one in answerable]),
        recalled=per_cent([recall(one.question.answers, one.kept, TOP_K) for one in answerable]),
        unanswerable=len(nothing),
        silent=per_cent([float(not kept) for kept in nothing]),
    )


def _store(user: User, question: Question, now: datetime) -> list[str]:
    """Store someone's memories, one a day before `now`; return their refs."""
    days = [now - timedelta(days=days) for days in range(len(question.memories), 0, -1)]
    return [_store_one(user, *given) for given in zip(question.kinds, question.memories, days, strict=True)]


def _store_one(user: User, kind: str, text: str, when: datetime) -> str:
    if kind == "fact":
        fact = Fact.objects.create(user=user, statement=text, status=Fact.Status.ACTIVE, recorded_at=when)
        return f"fact:{fact.pk}"
    said = Utterance(0, 1, "user" if kind == "said" else "assistant", text, when)
    (message,) = get_source().import_conversation(user, f"{when:%d %B %Y}", [said])
    return f"message:{message}"
