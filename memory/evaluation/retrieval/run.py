"""Evaluates a file: each conversation is imported, indexed and queried for a temporary user, who is then removed.

The product and the baselines' items are passed in: this module knows neither how Recall stores nor how it retrieves.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import perf_counter
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from django.utils import timezone

from accounts.languages import Language
from accounts.models import User
from memory.evaluation.datasets import Conversation, ItemId, Question
from memory.evaluation.retrieval import metrics
from memory.evaluation.retrieval.baselines import rank_all

if TYPE_CHECKING:
    from memory.embeddings.port import Embedder

DOMAIN: Final = "evaluation.invalid"
"""Email domain of evaluation users; no real address ends with it (RFC 2606)."""
STALE_AFTER: Final = timedelta(days=1)
"""No evaluation takes this long: an older user was left by a killed process."""
LOST_AT: Final = "R@10"
RANKED: Final = 200
"""Items recorded per answer: what the two legs of a search return together."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The product's retrieval result for one question."""

    ranked: tuple[int, ...]
    """Ids of messages, each once and at its best rank: those recalled, then those cut."""
    recalled: frozenset[int]
    """Ids that a prompt would contain: top-K and floor applied."""
    memories: int
    """How many memories a prompt would contain, of any kind."""


@dataclass(frozen=True, slots=True)
class Product:
    """The evaluated retrieval: how a conversation is imported and queried."""

    name: str
    store: Callable[[User, Conversation], Mapping[ItemId, int]]
    """Imports a conversation; returns the message id of each item."""
    index: Callable[[User], None]
    """Returns when everything stored can be found."""
    ask: Callable[[User, str, datetime], Answer]


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """A question with one system's ranking of the items of its conversation."""

    question: Question
    ranked: tuple[ItemId, ...]
    figures: metrics.Figures | None
    """None if the question has no evidence."""


@dataclass(frozen=True, slots=True)
class AnswerStats:
    """Further figures of the product's answer to a question."""

    category: str
    useful: int
    """Recalled items that are labeled as evidence; 0 for a question about what was never said."""
    memories: int
    milliseconds: float
    lost: float
    """The question's R@10 if nothing is recalled, else 0."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What prompts would contain, over all questions."""

    with_evidence: float
    """Percentage of the answerable questions for which some evidence was recalled."""
    for_adversarial: float | None
    """Percentage of the adversarial questions for which anything was recalled; None without any."""
    mean_memories: float
    useful_share: float
    """Percentage of all recalled memories that are labeled as evidence of an answerable question."""
    lost_to_silence: float
    """Points of R@10 lost to answerable questions for which nothing is recalled."""
    silences: int
    """Questions for which nothing is recalled."""
    right_silences: int
    """Those of them that ask for what was never said."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds from a question's text to its ranked memories."""

    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The figures of one file."""

    file: str
    conversations: int
    items: int
    questions: int
    systems: Mapping[str, Mapping[str, metrics.Mean]]
    """System (the product first) → category → means."""
    recalled: Recalled
    latency: Latency
    indexing_seconds: float


@dataclass(slots=True)
class _Notes:
    """Figures collected during the evaluation."""

    asked: dict[str, list[RankedQuestion]] = field(default_factory=lambda: defaultdict(list))
    given: list[AnswerStats] = field(default_factory=list)
    indexing_seconds: float = 0.0


def evaluate(
    file: str,
    conversations: Sequence[Conversation],
    product: Product,
    *,
    baselines_by: Embedder | None,
    limit: int | None = None,
    tell: Callable[[str], None],
    write: Callable[[str], None],
) -> Evaluation:
    """Ask the product and the baselines every question of the file, at most `limit` per conversation.

    `baselines_by` embeds for the dense baseline; None skips the baselines. `tell` gets progress messages; `write` gets
    one JSON line per question, `{"id", "ranked"}`, as the scorer reads it.
    """
    notes = _Notes()
    for number, conversation in enumerate(conversations, start=1):
        tell(f"{file}: conversation {number} of {len(conversations)}, {len(conversation.items)} turns or messages")
        questions = spread(conversation.questions, limit)
        for asked in _ask_product(conversation, questions, product, notes):
            write(json.dumps({"id": asked.question.id, "ranked": asked.ranked}))
        if baselines_by is not None:
            _ask_baselines(conversation, questions, baselines_by, notes)
    return _evaluation(file, conversations, notes)


def spread[Row](rows: Sequence[Row], limit: int | None) -> Sequence[Row]:
    """At most `limit` of the rows, evenly spread: a file's questions are ordered by category."""
    if limit is None or limit >= len(rows):
        return rows
    return [rows[number * len(rows) // limit] for number in range(limit)]


def _ask_product(
    conversation: Conversation, questions: Sequence[Question], product: Product, notes: _Notes
) -> Iterator[RankedQuestion]:
    with temporary_user() as user:
        started = perf_counter()
        messages = product.store(user, conversation)
        product.index(user)
        notes.indexing_seconds += perf_counter() - started
        item_of = {message: item for item, message in messages.items()}
        for question in questions:
            started = perf_counter()
            answer = product.ask(user, question.text, conversation.ended_at)
            milliseconds = 1000 * (perf_counter() - started)
            recalled = {item_of[message] for message in answer.recalled if message in item_of}
            useful = 0 if question.category == metrics.ADVERSARIAL else len(recalled & question.evidence)
            ranked = tuple(item_of[message] for message in answer.ranked if message in item_of)[:RANKED]
            asked = _note(conversation, question, ranked, notes.asked[product.name])
            lost = asked.figures[LOST_AT] if asked.figures and not answer.memories else 0.0
            notes.given.append(AnswerStats(question.category, useful, answer.memories, milliseconds, lost))
            yield asked


def _ask_baselines(
    conversation: Conversation, questions: Sequence[Question], embedder: Embedder, notes: _Notes
) -> None:
    items = conversation.items
    orders = rank_all([item.rendered for item in items], [question.text for question in questions], embedder)
    for system, ranking in orders.items():
        for question, order in zip(questions, ranking, strict=True):
            _note(conversation, question, tuple(items[place].id for place in order), notes.asked[system])


def _note(
    conversation: Conversation, question: Question, ranked: tuple[ItemId, ...], into: list[RankedQuestion]
) -> RankedQuestion:
    tokens = {item.id: item.tokens for item in conversation.items}
    figures = metrics.measure(question.evidence, ranked, tokens) if question.evidence else None
    into.append(RankedQuestion(question, ranked, figures))
    return into[-1]


# The figures -----------------------------------------------------------------------------------------------------


def _evaluation(file: str, conversations: Sequence[Conversation], notes: _Notes) -> Evaluation:
    times = [given.milliseconds for given in notes.given]
    return Evaluation(
        file=file,
        conversations=len(conversations),
        items=sum(len(conversation.items) for conversation in conversations),
        questions=len(notes.given),
        systems={system: _means(asked) for system, asked in notes.asked.items()},
        recalled=_recalled(notes.given),
        latency=Latency(metrics.percentile(times, 0.5), metrics.percentile(times, 0.95)),
        indexing_seconds=notes.indexing_seconds,
    )


def _means(asked: Sequence[RankedQuestion]) -> dict[str, metrics.Mean]:
    return metrics.by_category((one.question.category, one.figures) for one in asked if one.figures is not None)


def _recalled(given: Sequence[AnswerStats]) -> Recalled:
    answerable = [one for one in given if one.category != metrics.ADVERSARIAL]
    adversarial = [one for one in given if one.category == metrics.ADVERSARIAL]
    return Recalled(
        with_evidence=metrics.per_cent([float(one.useful > 0) for one in answerable]),
        for_adversarial=metrics.per_cent([float(one.memories > 0) for one in adversarial]) if adversarial else None,
        mean_memories=sum(one.memories for one in given) / max(1, len(given)),
        useful_share=100 * sum(one.useful for one in given) / max(1, sum(one.memories for one in given)),
        lost_to_silence=metrics.per_cent([one.lost for one in answerable]),
        silences=sum(not one.memories for one in given),
        right_silences=sum(not one.memories for one in adversarial),
    )


@contextmanager
def temporary_user(language: str = Language.ENGLISH) -> Iterator[User]:
    """A user who can't sign in and writes in `language`, removed when the block ends."""
    stale = timezone.now() - STALE_AFTER
    User.objects.filter(email__endswith=f"@{DOMAIN}", date_joined__lt=stale).delete()
    user = User.objects.create_user(
        f"{uuid4().hex}@{DOMAIN}", preferred_name="Evaluation", language=language, is_active=False
    )
    try:
        yield user
    finally:
        user.delete()
