"""Hybrid candidate search: the user's rows that fit a question best, by words and by meaning together.

Two statements (`candidates.sql`), both limited to the user's rows: who speaks in them, and which rows fit best. Meaning
is an exact scan of the user's vectors: a few milliseconds for some thousands of rows, and it misses nothing, whereas a
shared approximate index would lose most rows to the filter on the user. Words match if any of the question's words
does: an AND query finds nothing for 84 % of natural questions. Beyond `PersonalIndex.COUNTED` rows, some hundred rows
are selected first, by signs of their vectors and the rarest words, and only those are compared.

The question is embedded before the search, not in parallel: on two processors sharing a core, each slowed the other
down by more than was saved.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from psycopg.sql import Literal

from memory.embeddings.limits import DIMENSION, MINILM, MINILM_INT8, Vectors
from memory.embeddings.port import Embedder, embedder
from memory.index.indexer import serving
from memory.models import PersonalIndex
from memory.models.paths import decode, encode
from memory.query_encoder.encoder import encode_question
from memory.refs import ids_by_kind
from memory.retrieval.cues import ENGLISH
from memory.retrieval.query import CONTEXT_WEIGHT, Question
from memory.retrieval.ranking import (
    CALIBRATIONS,
    IN_LANGUAGE,
    Calibration,
    Candidate,
    RankingProfile,
    Source,
    calibrate,
    on_scale_of,
)
from memory.retrieval.truth import CandidateRow, FactState, TruthRule
from recall.db import prepared
from recall.db.acting import searching_for
from recall.db.sql_files import load_sql_parts
from recall.environment import setting

if TYPE_CHECKING:
    from accounts.models import User

PASSAGE_LIMIT: Final = setting("rag_re_rank_top_n", 60)
"""Passages that are ranked (seed 003: top 20), chosen by both legs together. A hundred of each leg, 160 in all, found
1.7 points less of the evidence in long chats, which have many similar answers, and 0.1 more in dialogues. With a
hundred in
all, the first ten hold 0.1 more in dialogues and 0.2 less in long chats, and a query takes 10 % longer."""
STATEMENT_LIMIT: Final = 40
"""Facts, and also episodes, that are ranked."""
PAST_LIMIT: Final = 20
"""Facts that no longer hold: enough for every earlier value of what is asked."""
ROWS_PER_LEG: Final = 300
"""Rows per kind that each leg selects in a counted collection, to be compared with all words and exactly."""
COMMON_ROWS: Final = 1_000
"""Rows that the common words of a question may select, rarest word first. With these two figures 99.4 % of the first
ten are those of comparing every row with every word (8,229 passages; 1,500 rows: 99.7 %, 15 % slower), at two fifths of
the time."""
PAIR_ROWS: Final = 300
"""Two common words of a question select the rows with both if, by chance, at most this many rows would have both."""
BACKGROUND_ROWS: Final = 50
"""Rows without any of the words, counted beside the user's own where words are weighed by rarity. Chosen without
a search; the figures of both development sets stay the same to the tenth."""
MAX_AUTHORS: Final = 300
"""Speaker names that are looked for in a question."""
POSITION_WEIGHTS: Final = "0.25,0.45,0.7,1"
"""Weights of the words of a passage's neighbors three, two and one place away, and of its own. Results stay within a
point from half of these to a little more. A repeated word adds a quarter, then a ninth (`ts_rank` of one word): as good
as BM25 (76 % each among ten, by words alone), without needing lengths."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a search is limited to; default: everything."""

    sources: frozenset[Source] = frozenset(("fact", "episode", "document", "message", "segment"))
    kinds: frozenset[str] = frozenset()
    """Kinds of facts and episodes; nothing else has one."""
    tags: frozenset[str] = frozenset()
    """Any of these tags of facts and documents."""
    path: str = ""
    """Only this folder or document."""
    since: datetime | None = None
    until: datetime | None = None
    """When it was said, happened or became known; `until` is exclusive."""
    minimum_importance: float = 0.0
    """Of facts, episodes and documents; a message counts as 0.5."""
    scope: str = ""
    """Only this project: its documents and what was said in its conversations."""


EVERYTHING: Final = Filters()


# The collection --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CollectionState:
    """What a search needs to know about the user's rows before it starts."""

    authors: tuple[str, ...]
    """Speakers in the user's conversations other than the user and the model."""
    rows: int | None
    """Row count of a collection whose words are counted; None: it is small and counted in the search."""
    has_own_index: bool


def collection_read(user: User) -> prepared.Read:
    """What `load_collection` reads."""
    return prepared.Read(_SQL["collection"], {"user": user.pk, "most": MAX_AUTHORS})


def load_collection(user: User) -> CollectionState:
    """The state of the user's collection. One statement."""
    with searching_for(user.pk):
        [(authors, rows, models_indexed)] = collection_read(user).fetch()
    is_counted = rows is not None and rows > PersonalIndex.COUNTED
    return CollectionState(
        authors=tuple(authors),
        rows=rows if is_counted else None,
        has_own_index=is_counted and embedder().name in (models_indexed or ()),
    )


# The tables ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Table:
    """How one table of memories takes part in the search."""

    kind: str
    table: str
    limit: str
    when: str
    """Column: when it was said or happened."""
    columns: str
    """Its columns, as `_to_row` takes them from `source` on."""
    in_project: str
    """Whether a row belongs to the project of the conversation that asks."""
    spoken: str = ""
    """What a row's speaker adds to its score."""
    weights: str = "1,1,1,1"
    """Weights of words with the marks D, C, B and A; a word without a mark counts as D."""
    has_signs: bool = False
    """Whether its rows can be compared roughly, by the index `chunk_signs`."""
    by_truth: bool = False
    """Whether its rows are limited by what is true of them: `current`, `past` or `waiting`. Only current ones are
    counted, where words are weighed by rarity."""


_SQL: Final = load_sql_parts(Path(__file__).with_suffix(".sql"))
_FACTS: Final = _Table(
    kind="fact",
    table="own_memory_fact",
    limit="statements",
    when="recorded_at",
    columns=_SQL["fact_columns"].format(state=_SQL["fact_state"].format(fact="own")),
    in_project=_SQL["fact_in_project"],
    by_truth=True,
)
"""Past ones are left out by the truth filter, which knows by them what is not true in other texts. Waiting ones are not
recalled themselves: they find the messages that say them."""
_EPISODES: Final = _Table(
    kind="episode",
    table="own_memory_episode",
    limit="statements",
    when="happened_at",
    columns=_SQL["episode_columns"].format(state=_SQL["fact_state"].format(fact="fact")),
    in_project=_SQL["episode_in_project"],
)
_CHUNKS: Final = _Table(
    kind="chunk",
    table="own_memory_chunk",
    limit="passages",
    when="said_at",
    columns=_SQL["chunk_columns"].format(state=_SQL["fact_state"].format(fact="fact"), newer=_SQL["newer"]),
    in_project=_SQL["chunk_in_project"],
    spoken=_SQL["chunk_spoken"],
    weights=POSITION_WEIGHTS,
    has_signs=True,
)


# The statement ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Statement:
    """What the statement of a search depends on, beside its parameters."""

    tables: tuple[tuple[_Table, str], ...]
    """Each with the condition that selects its rows."""
    truths: tuple[tuple[str, str], ...]
    """Which facts take part, each with its condition."""
    has_periods: bool
    has_project: bool
    is_of_one_model: bool
    has_own_index: bool
    inlined: tuple[int, str] | None
    """Of a large collection, the user's id and the model's name: the statement is planned once for all values, and the
    planner only finds the user's own indexes by the constants in their conditions."""

    def sql(self) -> str:
        """The statement, put together."""
        by_index = self.inlined is not None
        way = "index" if by_index else "scan"
        held = " UNION ALL ".join(f"SELECT word FROM {self._counted(table, 'hits')}" for table, _ in self.tables)  # noqa: S608
        counts = " + ".join(f"(SELECT count(*) FROM {self._counted(table, 'near')})" for table, _ in self.tables)  # noqa: S608
        sql = _SQL[f"by_{way}"].format(
            question=_SQL["question"].format(
                counted=_SQL["counted"] if by_index else "",
                known_rows=_SQL["known_rows"] if by_index else "NULL::float8",
                dimension=DIMENSION,
                deleted=_SQL["deleted"],
            ),
            near=", ".join(self._part(self._way_of_meaning(table), table, own) for table, own in self.tables),
            hits=", ".join(self._part(f"{way}_hits", table, own) for table, own in self.tables),
            weights=_SQL["weights"].format(held=held, rows="%(rows)s" if by_index else counts),
            found=", ".join(self._found(f"{way}_compared", table, own) for table, own in self.tables),
            candidates=" UNION ALL ".join(self._candidates()),
        )
        if self.inlined is None:
            return sql
        user_id, model = self.inlined
        named = Literal(model).as_string().replace("%", "%%")
        return sql.replace("%(user)s", str(int(user_id))).replace("%(model)s", named)

    def _way_of_meaning(self, table: _Table) -> str:
        if self.inlined is None:
            return "scan_near"
        if self.has_own_index:
            return "indexed_near"
        if table.by_truth:
            return "index_near_by_truth"
        return "rough_near" if table.has_signs and self.is_of_one_model else "index_near"

    @staticmethod
    def _counted(table: _Table, part: str) -> str:
        """Rows of a part that count, where words are weighed by rarity."""
        return f"{table.kind}_{part}" + (" WHERE truth = 'current'" if table.by_truth else "")

    def _found(self, compared: str, table: _Table, own: str) -> str:
        return _SQL["found_by_truth" if table.by_truth else "found"].format(
            kind=table.kind, limit=table.limit, compared=self._part(compared, table, own)
        )

    def _part(self, name: str, table: _Table, own: str) -> str:
        """A part of the statement for one table."""
        beside = table.spoken + (_SQL["date_match"].format(when=table.when) if self.has_periods else "")
        rows, rows_by_word = table.table, f"{table.table}_by_word"
        if table.by_truth:
            rows, rows_by_word = (
                _SQL["rows_by_truth"].format(truth=self._truth(), table=one) for one in (rows, rows_by_word)
            )
        return _SQL[name].format(
            kind=table.kind,
            rows=rows,
            weights=f"'{{{table.weights}}}'::float4[]",
            by_truth="truth, " if table.by_truth else "",
            look=ROWS_PER_LEG,
            holding=_SQL["holding"].format(rows_by_word=rows_by_word),
            hit=_SQL["hit_by_truth" if table.by_truth else "hit"].format(kind=table.kind, look=ROWS_PER_LEG),
            own=own,
            fits=_SQL["fits"].format(beside=beside),
            beside=beside,
            dimension=DIMENSION,
        )

    def _truth(self) -> str:
        """What is true of a fact; null: it doesn't take part."""
        return f"CASE {' '.join(f"WHEN {condition} THEN '{truth}'" for truth, condition in self.truths)} END"

    def _candidates(self) -> Iterator[str]:
        truths = {truth for truth, _ in self.truths}
        for table, own in self.tables:
            if table.by_truth and truths == {"waiting"}:
                continue
            yield _SQL["passages" if table is _CHUNKS else "candidates"].format(
                columns=table.columns,
                in_project=table.in_project if self.has_project else "false",
                kind=table.kind,
                table=table.table,
                own=own,
                which="WHERE truth <> 'waiting'" if table.by_truth else "",
                waiting=_SQL["waiting"] if "waiting" in truths else "",
            )


@lru_cache(maxsize=64)
def _build_sql(statement: _Statement) -> str:
    """The same text for the same statement: putting it together takes 0.1 ms."""
    return statement.sql()


# The search ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CandidateSearch:
    """One search. Its statement is built from constants; all values are parameters."""

    user_id: int
    question: Question
    moment: datetime
    known_then: list[int] | None
    """Ids of the facts known at a past moment; None: the moment is now."""
    filters: Filters
    exclude_refs: Collection[str]
    collection: CollectionState
    profile: RankingProfile
    project: str = ""
    """Path of the conversation's project, whose rows are marked; empty: none."""
    hidden: Collection[str] = ()
    """Refs of messages of which no other memory may tell, either."""

    def run(self, vectors: Mapping[Embedder, Vectors]) -> list[CandidateRow]:
        """The candidates of both legs, in no order."""
        tables = tuple(self._tables())
        if not tables:
            return []
        models = list(vectors)
        sql = _build_sql(self._statement(tables, models))
        parameters = self._parameters() | self._model_parameters(models)
        with searching_for(self.user_id):
            rows = prepared.fetch_prepared(sql, parameters | {"vectors": list(map(_as_text, vectors.values()))})
        return _once(_to_row(models[0].name, *row) for row in rows)

    def _statement(self, tables: tuple[tuple[_Table, str], ...], models: Sequence[Embedder]) -> _Statement:
        by_index = self.collection.rows is not None
        return _Statement(
            tables=tables,
            truths=tuple(self._truths().items()),
            has_periods=bool(self.question.periods),
            has_project=bool(self.project),
            is_of_one_model=len(models) == 1,
            has_own_index=self.collection.has_own_index,
            inlined=(self.user_id, models[0].name) if by_index else None,
        )

    def _model_parameters(self, models: Sequence[Embedder]) -> dict[str, Any]:
        scales = [calibration(model.name, self.question.cues.language) for model in models]
        return {
            "models": [model.name for model in models],
            "model": models[0].name,
            "unrelated": prepared.array(scale.unrelated for scale in scales),
            "scales": prepared.array(1 / (scale.close - scale.unrelated) for scale in scales),
        }

    def _tables(self) -> Iterator[tuple[_Table, str]]:
        """The tables that can hold what is wanted, each with the condition on its rows."""
        wanted, only = self.filters.sources, self.filters
        if self._truths():
            yield _FACTS, " AND ".join(self._facts())
        if "episode" in wanted and not only.path and not only.tags:
            yield _EPISODES, " AND ".join(self._episodes())
        if self._wants_passages():
            yield _CHUNKS, " AND ".join(self._chunks())

    def _wants_passages(self) -> bool:
        return bool(self.filters.sources & {"document", "message", "segment"}) and not self.filters.kinds

    def _truths(self) -> Mapping[str, str]:
        """Which facts take part, each with its condition."""
        wanted, truths = self.filters.sources, {}
        if "fact" in wanted and not self.filters.path:
            # What was known at a past moment is decided in one place: `FactQuerySet.known_at`.
            known = _SQL["active_facts"] if self.known_then is None else "own.id = ANY(%(known_then)s::bigint[])"
            truths["current"] = known
            if self.known_then is None:
                truths["past"] = _SQL["past_facts"]
        if "message" in wanted and self._wants_passages() and self.known_then is None:
            truths["waiting"] = _SQL["waiting_facts"]
        return truths

    def _facts(self) -> Iterator[str]:
        yield "own.user_id = %(user)s::bigint AND truth IS NOT NULL"
        yield "own.id <> ALL(%(fact_ids)s::bigint[])"
        only = self.filters
        if only.kinds:
            yield "own.kind = ANY(%(kinds)s::text[])"
        if only.tags:
            yield "own.tags && %(tags)s::varchar[]"
        if only.minimum_importance > 0:
            yield "importance >= %(importance)s::float8"
        if only.scope:
            yield _SQL["facts_of_scope"]
        yield from self._dates("recorded_at")

    def _episodes(self) -> Iterator[str]:
        not_deleted = _SQL["not_deleted"]
        yield f"own.user_id = %(user)s::bigint AND own.id <> ALL(%(episode_ids)s::bigint[]) AND {not_deleted}"
        yield "status <> 'merged'"
        if self.known_then is not None:
            yield "recorded_at <= %(moment)s::timestamptz"
        only = self.filters
        if only.kinds:
            yield "own.kind = ANY(%(kinds)s::text[])"
        if only.minimum_importance > 0:
            yield "significance >= %(importance)s::float8"
        if only.scope:
            yield _SQL["of_scope"]
        yield from self._dates("happened_at")

    def _chunks(self) -> Iterator[str]:
        only = self.filters
        yield f"own.user_id = %(user)s::bigint AND {_SQL['not_deleted']} AND {_SQL['digest_not_deleted']}"
        if not {"document", "message", "segment"} <= only.sources:
            yield "own.kind = ANY(%(sources)s::text[])"
        excluded = ids_by_kind(self.exclude_refs)
        if excluded["message"] or excluded["segment"] or excluded["chunk"]:
            yield _SQL["chunks_not_excluded"]
        if self.known_then is not None:
            yield "said_at <= %(moment)s::timestamptz"
        documents = list(self._documents())
        if documents:
            of_documents = f"SELECT id FROM memory_document WHERE {' AND '.join(documents)}"  # noqa: S608
            inside = f"own.document_id IN ({of_documents})"
            if only.path or only.tags:
                yield inside
            else:
                yield f"({inside} OR own.document_id IS NULL AND {self._conversation_condition()})"
        yield from self._dates("said_at")

    def _documents(self) -> Iterator[str]:
        only = self.filters
        if not (only.path or only.tags or only.scope or only.minimum_importance > 0):
            return
        yield "user_id = %(user)s::bigint"
        if only.path:
            yield "path <@ %(path)s::ltree"
        if only.scope:
            yield "path <@ %(scope_path)s::ltree"
        if only.tags:
            yield "tags && %(tags)s::varchar[]"
        if only.minimum_importance > 0:
            yield "importance >= %(importance)s::float8"

    def _conversation_condition(self) -> str:
        """Which chunks of conversations are wanted, where documents are limited by scope or importance."""
        said = _SQL["of_scope"] if self.filters.scope else "true"
        return f"{said} AND %(importance)s::float8 <= 0.5"

    def _dates(self, column: str) -> Iterator[str]:
        if self.filters.since:
            yield f"{column} >= %(since)s::timestamptz"
        if self.filters.until:
            yield f"{column} < %(until)s::timestamptz"

    def _reporting_days(self) -> Iterator[tuple[date, date]]:
        for period in self.question.periods:
            yield from period.reporting_days(self.moment.year)

    def _parameters(self) -> dict[str, Any]:
        only, excluded, weights = self.filters, ids_by_kind(self.exclude_refs), self.profile.weights
        return {
            "user": self.user_id,
            "words": self.question.keyword_query,
            "context": self.question.context,
            "context_weight": CONTEXT_WEIGHT,
            "rows": self.collection.rows,
            "background": BACKGROUND_ROWS,
            "nearby": str(ROWS_PER_LEG),
            "look": ROWS_PER_LEG,
            "common": COMMON_ROWS,
            "pair": PAIR_ROWS,
            "moment": self.moment,
            "known_then": prepared.array(self.known_then or ()),
            "by_words": weights.get("keyword", 0.0),
            "by_meaning": weights.get("semantic", 0.0),
            "own_words": weights.get("own_words", 0.0),
            "name_match": weights.get("name_match", 0.0),
            "date_match": weights.get("date_match", 0.0),
            "speakers": sorted(self.question.speakers),
            "told_on": "{" + ",".join(f"[{first},{last}]" for first, last in self._reporting_days()) + "}",
            "passages": PASSAGE_LIMIT,
            "statements": STATEMENT_LIMIT,
            "past": PAST_LIMIT,
            **{f"{kind}_ids": prepared.array(ids) for kind, ids in excluded.items()},
            "hidden": prepared.array(ids_by_kind(self.hidden)["message"]),
            "sources": sorted(only.sources),
            "kinds": sorted(only.kinds),
            "tags": sorted(only.tags),
            "importance": only.minimum_importance,
            "since": only.since,
            "until": only.until,
            "path": encode(only.path) if only.path else None,
            "scope": only.scope,
            "scope_path": encode(only.scope) if only.scope else None,
            "project": self.project,
            "project_path": encode(self.project) if self.project else None,
        }


def question_vectors(question: Question) -> Mapping[Embedder, Vectors]:
    """The question's vector by each model that rows are embedded with, the current one first."""
    query = question.semantic_query
    return {
        model: encode_question(query) if model.name in (MINILM_INT8, MINILM) else model.embed_question(query)
        for model in serving()
    }


def _as_text(vector: Vectors) -> str:
    """The vector as PostgreSQL reads it, times 10,000: a cosine ignores the length, and integers are written and
    parsed in a quarter of the time."""
    return str((vector * 10_000).round().astype(int).tolist())


def calibration(model: str, language: str = ENGLISH.language) -> Calibration:
    """What a cosine means for `model` and a question in `language`."""
    if model in CALIBRATIONS:
        return IN_LANGUAGE.get(language, CALIBRATIONS[model])
    return calibrate(embedder().scale)  # of EMBEDDING_FOLDER, the only one that isn't calibrated


def _to_row(
    current: str,
    distance: float | None,
    embedded_by: str,
    words: float,
    source: Source,
    pk: int,
    text: str,
    title: str,
    when: datetime,
    message_id: int | None,
    importance: float,
    times_used: int,
    last_used_at: datetime | None,
    author: str,
    own_words: bool,
    conversation: str,
    place: int,
    number: int,
    tokens: int,
    is_archived: bool,
    omit: TruthRule | None,
    facts: list[list[Any]] | None,
    changed_by: tuple[int, str] | None,
    in_project: bool,
) -> CandidateRow:
    if distance is not None and embedded_by != current:  # while rows are re-embedded
        distance = on_scale_of(distance, calibration(embedded_by), calibration(current))
    candidate = Candidate(
        ref=f"{'chunk' if source == 'document' else source}:{pk}",
        text=text,
        when=when,
        distance=distance,
        words=words,
        importance=importance,
        times_used=times_used,
        source=source,
        last_used_at=last_used_at,
        author=author,
        own_words=own_words,
        thread=conversation if source == "message" else None,
        place=place,
        number=number,
        tokens=tokens,
        is_archived=is_archived,
        in_project=in_project,
        message_id=message_id,
    )
    said_by = (author or ("user" if own_words else "assistant")) if source == "message" else ""
    states = tuple(FactState(*fact) for fact in facts or ())
    title = _title(source, title)
    return CandidateRow(candidate, message_id, title, said_by, conversation, omit, states, changed_by)


def _once(rows: Iterable[CandidateRow]) -> list[CandidateRow]:
    """Each passage once: one that a proposal found, too, fits as well as the better of the two."""
    kept: dict[tuple[str, str], CandidateRow] = {}
    for row in rows:
        found = row.candidate
        same = kept.setdefault((found.ref, found.text), row).candidate
        if same is not found:
            same.words = max(same.words, found.words)
            distances = [one.distance for one in (same, found) if one.distance is not None]
            same.distance = min(distances, default=None)
    return list(kept.values())


def _title(source: Source, title: str) -> str:
    """A document's path as typed, and the headings above the passage."""
    if source != "document":
        return title
    path, _, heading = title.partition(" ")
    return f"{decode(path)} {heading}".strip() if path else heading
