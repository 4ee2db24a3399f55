"""Retrieval entry point: parse the question, fetch candidates, rerank them, and record why each one was cut."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from memory.embeddings.cross_encoder import cross_encoder
from memory.embeddings.limits import Vectors
from memory.embeddings.port import Embedder, embedder
from memory.models import Fact
from memory.refs import ids_by_kind
from memory.retrieval.asked_attribute import asked_attributes, named_attributes
from memory.retrieval.attribute_words import WORDS
from memory.retrieval.candidates import (
    EVERYTHING,
    CandidateSearch,
    Filters,
    calibration,
    load_collection,
    question_vectors,
)
from memory.retrieval.changed import qualify_changed
from memory.retrieval.followed import add_followed, lead_with_later, mark_as_likely
from memory.retrieval.keyed_answers import list_orders, mark_answers
from memory.retrieval.query import Question, parse_question
from memory.retrieval.ranking import (
    DEFAULT_PROFILE,
    MEASURED,
    STRONG,
    TOP_K,
    WEAK,
    Calibration,
    Part,
    RankedCandidate,
    RankingProfile,
    Rule,
    Source,
    relevance,
    rerank,
    semantic,
)
from memory.retrieval.reading import asks_before, asks_code, asks_secret, is_read, read_beside
from memory.retrieval.truth import CURRENT, ON_LIST, SUPERSEDED, CandidateRow, TruthRule, apply_truth
from memory.secrets.secrets_filter import mask_secrets
from memory.updates.pairs import doubt
from recall.db.prepared import array, run_prepared
from recall.db.sql_files import load_sql
from recall.observability.stopwatch import Stopwatch

if TYPE_CHECKING:
    from accounts.models import User


class MemoryItem(NamedTuple):
    """One memory as prompts and receipts show it. A tuple: for 150 per query, frozen dataclasses take 0.2 ms more."""

    ref: str
    """Such as `fact:12`, `episode:3`, `message:55`, `segment:7`; `chunk:9` is a passage of a document."""
    source: Source
    text: str
    when: datetime
    """When it was said or happened; of a fact, when it was recorded."""
    message_id: int | None
    """The message it is or was learned from, if that still exists."""
    parts: Mapping[Part, float]
    """Score parts by name, each 0–1."""
    score: float
    """0–1."""
    title: str = ""
    """An episode's title; a document's path and headings."""
    author: str = ""
    """The speaker, if neither the user nor the model."""
    said_by: str = ""
    """Of a message: `user` or `assistant`, or the author."""
    conversation_id: str = ""
    tokens: int = 0
    """Base count of the text."""
    qualifier: str = CURRENT
    """`current`, `until 2026-03-01`, `superseded by fact:12 (…)`, `perhaps changed by message:7`,
    `before fact:12 (…)`, `contested by fact:12 (…)`, `asked, not stated`, `made up, not stated` or `waiting (…)`."""
    answers: str = ""
    """The attribute that the question asks for, such as `home`, if this is a value of it; QUESTION if it most likely
    answers it otherwise; FOLLOWED if the user wrote it after that; LAST_SESSION if it is what the conversation
    before was about."""


class CutItem(NamedTuple):
    """A memory that was cut, and the rule that cut it."""

    item: MemoryItem
    rule: Rule | TruthRule


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """What one question retrieved, best first, and what was cut."""

    kept: tuple[MemoryItem, ...] = ()
    cut: tuple[CutItem, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds of each step: read, embed, fetch, rank."""

    def drop_repeated(self, in_prompt: Collection[str]) -> RetrievalResult:
        """The same result, with the memories that the prompt already contains cut."""
        cut = [CutItem(item, "already in the window") for item in self.kept if item.ref in in_prompt]
        return replace(self, kept=tuple(item for item in self.kept if item.ref not in in_prompt), cut=(*cut, *self.cut))


@dataclass(frozen=True, slots=True)
class AlreadyInPrompt:
    """What a prompt already contains: it is found, but takes no place among the recalled memories (DESIGN §4)."""

    facts: frozenset[str] = frozenset()
    """Refs of facts that a profile line states; other refs are ignored."""
    said: frozenset[str] = frozenset()
    """Refs of messages and summaries; a message also covers the facts learned from it."""
    conversation: str = ""
    """Id of a conversation included verbatim: its episodes and the document about it add nothing."""
    folder: str = ""
    """Folder whose documents are included line by line."""

    def covers(self, row: CandidateRow) -> bool:
        """Whether the prompt already contains the row."""
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


QUESTION: Final = "question"
FOLLOWED: Final = "followed"
LAST_SESSION: Final = "last session"
NO_ATTRIBUTES: Final = frozenset({"", QUESTION, FOLLOWED, LAST_SESSION})
"""Values of `MemoryItem.answers` that name no attribute."""
MAX_UNTRUE: Final = 12
"""Memories left out by the truth filter that a result lists."""
NOTHING_IN_PROMPT: Final = AlreadyInPrompt()
BACK: Final = "used again after it had faded"
"""Reason, as the user reads it."""
_MARK_USED: Final = load_sql(Path(__file__).with_name("mark_used.sql"))


def retrieve(
    user: User,
    query: str,
    *,
    now: datetime,
    top_k: int | None = None,
    token_budget: int | None = None,
    exclude_refs: Collection[str] = (),
    filters: Filters = EVERYTHING,
    as_of: datetime | None = None,
    context: Sequence[str] = (),
    profile: RankingProfile = DEFAULT_PROFILE,
    project: str = "",
    strong: float = STRONG,
    told: AlreadyInPrompt = NOTHING_IN_PROMPT,
    reads: bool = False,
) -> RetrievalResult:
    """The user's memories relevant to `query`; those in `exclude_refs` are not even considered.

    `as_of`: what was known at that moment, ranked as of then. `context`: the texts of the last turns, oldest first;
    used if the question refers to them (“And where does she work?”). `token_budget`: base tokens. `project`: path of a
    project whose memories come first (`memory/retrieval/ranking.py: PROJECT_BOOST`); for only that project, use
    `Filters.scope`. `strong`: minimum `relevance` of the best passage; WEAK for a search that was asked for. `told`:
    what is cut as already in the window. `reads`: whether the best are read beside the question
    (`memory/retrieval/reading.py`): for answers, not for a search that shows what is near.
    """
    moment = as_of or now
    watch = Stopwatch()
    collection = load_collection(user)
    languages = user.words_in or [user.language]
    question = parse_question(query, collection.authors, moment, context, profile.kinds, languages)
    watch.lap("read")
    if question.is_small_talk or asks_secret(question):
        return RetrievalResult(timings=watch.laps)
    profile = profile.for_question(question.kind, is_chat=not collection.authors)
    then = None if as_of is None else list(Fact.objects.for_user(user).known_at(as_of).values_list("pk", flat=True))
    hidden = set(exclude_refs) - told.said
    search = CandidateSearch(
        user.pk, question, moment, then, filters, exclude_refs, collection, profile, project, hidden
    )
    vectors = question_vectors(question)
    watch.lap("embed")
    rows = search.run(vectors)
    watch.lap("fetch")
    scale = calibration(embedder().name, question.cues.language)
    found, untrue = _qualify(rows, question, vectors, moment, as_of=as_of is not None)
    encoder = cross_encoder()
    is_to_read = reads and encoder is None and is_read(question, collection.authors)
    ranked: Sequence[RankedCandidate] = rerank(
        question,
        [row.candidate for row in found],
        profile,
        moment,
        calibration=scale,
        top_k=round(question.kind.more * TOP_K) if top_k is None else top_k,
        token_budget=token_budget,
        strong=strong,
        told={row.candidate.ref for row in found if told.covers(row)} if told != NOTHING_IN_PROMPT else (),
        cross_encode=partial(encoder.scores, query) if encoder else None,
        read=partial(read_beside, question) if is_to_read else None,
    )
    if reads:
        ranked = lead_with_later(ranked, found, question, doubt)
        mark_as_likely(ranked, found, question)
        ranked, found, untrue = add_followed(ranked, found, untrue, token_budget)
    result = _build_result(ranked, found, _build_left_out(untrue, scale), watch.laps)
    watch.lap("rank")
    return result


def _qualify(
    rows: Sequence[CandidateRow],
    question: Question,
    vectors: Mapping[Embedder, Vectors],
    moment: datetime,
    *,
    as_of: bool,
) -> tuple[Sequence[CandidateRow], Sequence[tuple[CandidateRow, TruthRule]]]:
    """The rows that may be recalled, with their qualifiers and what answers marked; and the others, with the rule."""
    if asks_code(question):
        asked: Mapping[str, float] = {}  # “the licence plate of my car” asks for no car
    elif spoken := WORDS.get(question.cues.language):
        asked = named_attributes(spoken.asked(question.text))
    else:
        asked = asked_attributes(question.semantic_query, vectors)
    found, untrue = apply_truth(rows, question, moment, as_of=as_of, asks_attribute=bool(asked))
    if asks_before(question):
        _match_alike(found, found, is_asked=True)
    elif not question.asks_past:
        _match_alike(found, [row for row, rule in untrue if rule == SUPERSEDED], is_asked=False)
    qualify_changed(found)
    mark_answers(found, question, asked)
    orders = list_orders(found)
    return [row for row in found if row not in orders], [*untrue, *((row, ON_LIST) for row in orders)]


def _match_alike(found: Iterable[CandidateRow], former: Iterable[CandidateRow], *, is_asked: bool) -> None:
    """Let what replaced a fact match as well as that: of “What do I drink in the morning?” the coffee has more words
    than the matcha that came in its place. `is_asked`: the other way round, for “Who did my books before Lindiwe?”."""
    heirs = {row.facts[0].pk: row.candidate for row in found if row.candidate.source == "fact"}
    for row in former:
        old = row.candidate
        heir = heirs.get(row.facts[0].by or 0) if old.source == "fact" else None
        if heir is None:
            continue
        gains = old if is_asked else heir
        gains.words = max(heir.words, old.words)
        gains.distance = min((one.distance for one in (heir, old) if one.distance is not None), default=None)
        heir.replaces = heir.replaces if is_asked else old.text


def mark_used(user: User, refs: Iterable[str], at: datetime) -> None:
    """Count one use of each of these memories, which were in a prompt; an archived one is active again."""
    named = ids_by_kind(refs)
    if any(named.values()):
        ids = {kind: array(pks) for kind, pks in named.items()}
        run_prepared(_MARK_USED, {"user": user.pk, "at": at, "back": BACK, **ids})


def _build_result(
    ranked: Sequence[RankedCandidate],
    found: Iterable[CandidateRow],
    untrue: Iterable[CutItem],
    timings: Mapping[str, float],
) -> RetrievalResult:
    rows = {id(row.candidate): row for row in found}
    kept, cut = [], [*untrue]
    is_answered = any(row.is_answer for row in ranked)
    for row in ranked:
        source = rows[id(row.candidate)]
        if is_answered:  # what has the key doesn't
            source.answers = QUESTION if row.is_answer else ""
        if row.follows:
            source.answers = FOLLOWED
        item = _build_item(row, source)
        if row.rule is None:
            # The index masks new rows. Of older ones the user's own are masked here; long answers would take 6 ms.
            kept.append(item._replace(text=mask_secrets(item.text, is_own=False)) if item.said_by == "user" else item)
        else:
            cut.append(CutItem(item, row.rule))
    return RetrievalResult(tuple(kept), tuple(cut), timings)


def _build_left_out(untrue: Iterable[tuple[CandidateRow, TruthRule]], scale: Calibration) -> list[CutItem]:
    """The best matches that the truth filter left out, scored by words and meaning alone, as they are not ranked."""
    left_out: dict[str, CutItem] = {}
    for row, rule in untrue:
        words, meaning = min(1.0, row.candidate.words), semantic(row.candidate.distance, scale)
        parts: dict[Part, float] = {"semantic": meaning, "keyword": words}
        item = _build_item(RankedCandidate(row.candidate, parts, relevance(parts) / MEASURED.whole, 0.0), row)
        if relevance(parts) < WEAK:
            continue
        if item.ref not in left_out or left_out[item.ref].item.score < item.score:
            left_out[item.ref] = CutItem(item, rule)
    return sorted(left_out.values(), key=lambda cut: -cut.item.score)[:MAX_UNTRUE]


def _build_item(ranked: RankedCandidate, row: CandidateRow) -> MemoryItem:
    candidate = ranked.candidate
    return MemoryItem(
        ref=candidate.ref,
        source=candidate.source,
        text=candidate.text,
        when=candidate.when,
        message_id=row.message_id,
        parts=ranked.parts,
        score=ranked.total,
        title=row.title,
        author=candidate.author,
        said_by=row.said_by,
        conversation_id=row.conversation_id,
        tokens=candidate.tokens,
        qualifier=row.qualifier,
        answers=row.answers,
    )
