"""Retrieval entry point: parse the question, fetch candidates, rerank them, and record why each one was cut."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from memory.embeddings.port import embedder
from memory.models import Episode, Fact
from memory.refs import ids_by_kind
from memory.retrieval.candidates import EVERYTHING, CandidateRow, CandidateSearch, Filters, calibration, collected
from memory.retrieval.query import parse_question
from memory.retrieval.ranking import (
    DEFAULT_PROFILE,
    STRONG,
    TOP_K,
    Part,
    RankedCandidate,
    RankingProfile,
    Rule,
    Source,
    rerank,
)
from memory.retrieval.revive import revive
from recall.db.prepared import array, fetch_prepared
from recall.observability.stopwatch import Stopwatch

if TYPE_CHECKING:
    from accounts.models import User

__all__ = [
    "EVERYTHING",
    "AlreadyInPrompt",
    "CutItem",
    "Filters",
    "MemoryItem",
    "RetrievalResult",
    "mark_used",
    "retrieve",
]


class MemoryItem(NamedTuple):
    """One memory as prompts and receipts show it. A tuple: of 150 a query, frozen dataclasses take 0.2 ms more."""

    ref: str
    """Such as `fact:12`, `episode:3`, `message:55`, `segment:7`; `chunk:9` is a passage of a document."""
    source: Source
    text: str
    when: datetime
    """When it was said or happened; of a fact, when Recall came to know it."""
    message_id: int | None
    """The message it is, or is evidenced by, if that still exists."""
    parts: Mapping[Part, float]
    """Score parts by name, each 0–1."""
    score: float
    """0–1."""
    title: str = ""
    """Of an episode; of a document its path and headings."""
    author: str = ""
    """Who speaks, where it is neither the user nor the model."""
    said_by: str = ""
    """Of a message: `user` or `assistant`, or the author."""
    conversation_id: str = ""
    tokens: int = 0
    """Base count of the text."""


class CutItem(NamedTuple):
    """A memory that was considered and left out, and by which rule."""

    item: MemoryItem
    rule: Rule


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """The result for one question: kept memories, best first, and cut ones."""

    kept: tuple[MemoryItem, ...] = ()
    cut: tuple[CutItem, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds of each step: read, embed, fetch, rank."""

    def drop_repeated(self, told: Collection[str]) -> RetrievalResult:
        """The same, where it turned out that the prompt says these anyway."""
        cut = [CutItem(item, "already in the window") for item in self.kept if item.ref in told]
        return replace(self, kept=tuple(one for one in self.kept if one.ref not in told), cut=(*cut, *self.cut))


@dataclass(frozen=True, slots=True)
class AlreadyInPrompt:
    """What a prompt says anyway: it is found, and takes no place among what is recalled (DESIGN §4)."""

    facts: frozenset[str] = frozenset()
    """Refs of those that a line tells; other refs do no harm."""
    said: frozenset[str] = frozenset()
    """Refs of messages and summaries; a message also tells the facts that rest on it."""
    conversation: str = ""
    """Id of a conversation that is verbatim in the prompt: its episodes and document add nothing."""
    folder: str = ""
    """Owner of documents that are in the prompt line by line."""

    def covers(self, row: CandidateRow) -> bool:
        """Whether the row is one of these."""
        match row.candidate.source:
            case "fact":
                return row.candidate.ref in self.facts or f"message:{row.message_id}" in self.said
            case "document":
                return bool(self.folder and row.title.startswith(f"{self.folder}/")) or self._is_about(row)
            case "episode":
                return self._is_about(row)
            case "message" | "segment":
                return row.candidate.ref in self.said

    def _is_about(self, row: CandidateRow) -> bool:
        return bool(self.conversation) and row.conversation_id == self.conversation


NOTHING_IN_PROMPT: Final = AlreadyInPrompt()


def retrieve(
    user: User,
    query: str,
    *,
    now: datetime,
    top_k: int = TOP_K,
    token_budget: int | None = None,
    exclude_refs: Collection[str] = (),
    filters: Filters = EVERYTHING,
    as_of: datetime | None = None,
    context: Sequence[str] = (),
    profile: RankingProfile = DEFAULT_PROFILE,
    project: str = "",
    strong: float = STRONG,
    told: AlreadyInPrompt = NOTHING_IN_PROMPT,
) -> RetrievalResult:
    """The user's memories relevant to `query`, without those in `exclude_refs`, which are skipped entirely.

    `as_of`: what was known at that moment, ranked as of then. `context`: the texts of the last turns, oldest first,
    which count if the question refers to them (“And where does she work?”). `token_budget`: base tokens. `project`:
    path of a project whose memories come first (`memory/retrieval/ranking.py: PROJECT_BOOST`); to allow nothing else,
    use `Filters.scope`. `strong`: minimum `relevance` of the best passage; WEAK for an explicit search.
    `told`: what is cut as already in the prompt.
    """
    moment = as_of or now
    watch = Stopwatch()
    collection = collected(user)
    question = parse_question(query, collection.authors, moment, context)
    watch.lap("read")
    if question.is_small_talk:
        return RetrievalResult(timings=watch.laps)
    then = None if as_of is None else list(Fact.objects.for_user(user).known_at(as_of).values_list("pk", flat=True))
    found = CandidateSearch(user.pk, question, moment, then, filters, exclude_refs, collection, profile, project).run(
        watch
    )
    ranked = rerank(
        question,
        [row.candidate for row in found],
        profile,
        moment,
        calibration=calibration(embedder().name),
        top_k=top_k,
        token_budget=token_budget,
        strong=strong,
        told={row.candidate.ref for row in found if told.covers(row)} if told != NOTHING_IN_PROMPT else (),
    )
    recollection = _recollection(ranked, found, watch.laps)
    watch.lap("rank")
    return recollection


def mark_used(user: User, refs: Iterable[str], at: datetime) -> None:
    """Count one use of each of these memories, which were in a prompt. Candidates do not count.

    A use revives an archived memory.
    """
    refs = list(refs)
    named = ids_by_kind(refs)
    if any(named.values()):
        ids = {kind: array(pks) for kind, pks in named.items()}
        ((is_any_archived,),) = fetch_prepared(_MARK_USED, {"user": user.pk, "at": at, **ids})
        if is_any_archived:
            revive(user, refs)


_COUNTED: Final = """
    SET times_used = times_used + 1, last_used_at = %(at)s::timestamptz WHERE user_id = %(user)s::bigint"""
_MARK_USED: Final = f"""
WITH fact AS (UPDATE memory_fact {_COUNTED} AND id = ANY(%(fact)s::bigint[]) RETURNING status),
episode AS (UPDATE memory_episode {_COUNTED} AND id = ANY(%(episode)s::bigint[]) RETURNING status),
message AS (UPDATE memory_chunk {_COUNTED} AND message_id = ANY(%(message)s::bigint[])),
segment AS (UPDATE memory_chunk {_COUNTED} AND segment_id = ANY(%(segment)s::bigint[])),
passage AS (UPDATE memory_chunk {_COUNTED} AND id = ANY(%(chunk)s::bigint[]))
SELECT EXISTS (SELECT FROM fact WHERE status = '{Fact.Status.ARCHIVED}')
    OR EXISTS (SELECT FROM episode WHERE status = '{Episode.Status.ARCHIVED}')
"""  # noqa: S608 - put together from the constants above
"""A chunk is of one kind: of a message, a segment or a document."""


def _recollection(
    ranked: Iterable[RankedCandidate], found: Iterable[CandidateRow], timings: Mapping[str, float]
) -> RetrievalResult:
    rows = {id(row.candidate): row for row in found}
    kept, cut = [], []
    for one in ranked:
        item = _item(one, rows[id(one.candidate)])
        if one.rule is None:
            kept.append(item)
        else:
            cut.append(CutItem(item, one.rule))
    return RetrievalResult(tuple(kept), tuple(cut), timings)


def _item(one: RankedCandidate, row: CandidateRow) -> MemoryItem:
    candidate = one.candidate
    return MemoryItem(
        ref=candidate.ref,
        source=candidate.source,
        text=candidate.text,
        when=candidate.when,
        message_id=row.message_id,
        parts=one.parts,
        score=one.total,
        title=row.title,
        author=candidate.author,
        said_by=row.said_by,
        conversation_id=row.conversation_id,
        tokens=candidate.tokens,
    )
