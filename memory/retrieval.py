"""Which memories come back for a question? The user's facts, episodes and passages, by meaning and by words, ranked.

Two statements, each of which starts at the user's own rows: who speaks there, and what the two legs bring up; a third
for a past moment, which asks what was known then. Meaning is an exact scan of the user's vectors: at some thousands of
rows it takes a few milliseconds and misses nothing, where a shared approximate index would lose most rows to its
filter. Words are any of the question's: asking for all of them finds nothing for 84 % of natural questions. A large
collection (`PersonalIndex`) is searched by indexes of its own, and its common words bring nothing up. What is
guaranteed in the profile section is not recalled again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, LiteralString

from django.db import connection
from django.db.models import F

from memory.consolidation import revive
from memory.embedding import DIMENSION, embedder
from memory.indexing import serving
from memory.models import GUARANTEED_IMPORTANCE, Chunk, Episode, Fact, PersonalIndex
from memory.paths import decode, encode
from memory.question import CONTEXT_WEIGHT, Question, read
from memory.ranking import (
    CALIBRATIONS,
    MEASURED,
    TOP_K,
    UNKNOWN_MODEL,
    Calibration,
    Candidate,
    Part,
    Profile,
    Ranked,
    Rule,
    Source,
    rank,
)
from memory.refs import ids_by_kind
from recall.stopwatch import Stopwatch

if TYPE_CHECKING:
    from accounts.models import User

PASSAGE_LIMIT: Final = 100
"""Passages a leg brings up: with 60, the first ten hold 0.3 points less of the evidence; with all of them, as much."""
STATEMENT_LIMIT: Final = 30
"""Facts, and episodes, each leg brings up."""
FIRST_LOOK: Final = 200
"""Rows of each kind whose words are weighed by where they stand; chosen by the rarity of those they hold, which the
index tells without reading the rows."""
MOST_AUTHORS: Final = 300
"""Names of speakers that are looked for in a question."""
POSITION_WEIGHTS: Final[LiteralString] = "0.25,0.45,0.7,1"
"""Of the words of a passage's neighbours three, two and one place away, and of its own. From half of it to a little
more all finds the same within a point. The same word again adds a quarter, then a ninth (`ts_rank` of one word): that
serves as well as BM25 (76 % each among ten, by words alone) and needs no lengths."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a search is limited to; the default is everything."""

    sources: frozenset[Source] = frozenset(("fact", "episode", "document", "message", "segment"))
    kinds: frozenset[str] = frozenset()
    """Of facts and episodes; nothing else has one."""
    tags: frozenset[str] = frozenset()
    """Of facts and documents: any of them."""
    path: str = ""
    """A folder or document: only what stands there."""
    since: datetime | None = None
    until: datetime | None = None
    """When it was said or happened, or became known: from, and before."""
    minimum_importance: float = 0.0
    """Of facts, episodes and documents; a message's is ½."""
    scope: str = ""
    """Only this project: its documents and what was said in its conversations."""


EVERYTHING: Final = Filters()


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """One memory as prompts and receipts show it."""

    ref: str
    """Such as `fact:12`, `episode:3`, `message:55`, `segment:7`; `chunk:9` is a passage of a document."""
    source: Source
    text: str
    when: datetime
    """When it was said or happened; of a fact, when Recall came to know it."""
    message_id: int | None
    """The message it is or rests on, if that is still there."""
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


@dataclass(frozen=True, slots=True)
class CutItem:
    """A memory that was considered and left out, and by which rule."""

    item: MemoryItem
    rule: Rule


@dataclass(frozen=True, slots=True)
class Recollection:
    """What one question brought back, best first, and what it did not."""

    kept: tuple[MemoryItem, ...] = ()
    cut: tuple[CutItem, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds of each step: read, embed, search, rank."""


def recall(
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
    profile: Profile = MEASURED,
) -> Recollection:
    """The user's memories that bear on `query`, without those named in `exclude_refs` (already in the window).

    `as_of`: what was known at that moment, ranked as then. `context`: the texts of the last turns, oldest first, which
    count where the question refers to them (“And where does she work?”). `token_budget`: base tokens.
    """
    moment = as_of or now
    watch = Stopwatch()
    collection = _collection(user)
    question = read(query, collection.authors, moment, context)
    watch.lap("read")
    if question.is_small_talk:
        return Recollection(timings=watch.laps)
    meanings = [(model.name, model.embed([question.by_meaning])[0].tolist()) for model in serving()]
    watch.lap("embed")
    then = None if as_of is None else list(Fact.objects.for_user(user).known_at(as_of).values_list("pk", flat=True))
    search = _Search(user.pk, question, meanings, moment, then, filters, exclude_refs, collection)
    found = search.run()
    watch.lap("search")
    ranked = rank(
        question,
        [row.candidate for row in found],
        profile,
        moment,
        calibration=_calibration(meanings[0][0]),
        top_k=top_k,
        token_budget=token_budget,
    )
    recollection = _recollection(ranked, {id(row.candidate): row for row in found}, watch.laps)
    watch.lap("rank")
    return recollection


def mark_used(user: User, refs: Iterable[str], at: datetime) -> None:
    """Count one use of each of these memories: they stood in a prompt. Being a mere candidate does not count.

    A use revives an archived one.
    """
    refs = list(refs)
    named = ids_by_kind(refs)
    used: dict[str, Any] = {"times_used": F("times_used") + 1, "last_used_at": at}
    facts = Fact.objects.for_user(user).filter(pk__in=named["fact"])
    episodes = Episode.objects.for_user(user).filter(pk__in=named["episode"])
    for rows, archived in ((facts, Fact.Status.ARCHIVED), (episodes, Episode.Status.ARCHIVED)):
        if rows.update(**used) and rows.filter(status=archived).exists():
            revive(user, refs)
    for column in ("message", "segment", "chunk"):
        if named[column]:
            where = {"pk__in" if column == "chunk" else f"{column}_id__in": named[column]}
            Chunk.objects.for_user(user).filter(**where).update(**used)


# The collection --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Collection:
    """What a search must know of the user's rows before it starts."""

    authors: tuple[str, ...]
    """Who speaks in the user's conversations, besides the user and the model."""
    rows: int | None
    """Of a large collection, when it was last looked at; None: it is small and counted."""
    has_own_index: bool


# The recursion steps along the index from one name to the next: distinct names of 100,000 rows in a millisecond.
_COLLECTION_SQL: Final = """
WITH RECURSIVE authors AS (
    (SELECT author FROM memory_chunk WHERE user_id = %(user)s AND author > '' ORDER BY author LIMIT 1)
    UNION ALL
    SELECT (SELECT author FROM memory_chunk WHERE user_id = %(user)s AND author > authors.author
            ORDER BY author LIMIT 1)
    FROM authors WHERE authors.author IS NOT NULL
)
SELECT ARRAY(SELECT author FROM authors WHERE author IS NOT NULL LIMIT %(most)s), rows, models_indexed
FROM (SELECT) AS nothing LEFT JOIN memory_personalindex ON user_id = %(user)s
"""


def _collection(user: User) -> _Collection:
    with connection.cursor() as cursor:
        cursor.execute(_COLLECTION_SQL, {"user": user.pk, "most": MOST_AUTHORS})
        authors, rows, models_indexed = cursor.fetchone()
    is_large = rows is not None and rows > PersonalIndex.LARGE
    return _Collection(
        authors=tuple(authors),
        rows=rows if is_large else None,
        has_own_index=is_large and embedder().name in (models_indexed or ()),
    )


# The search ------------------------------------------------------------------------------------------------------

# A word weighs more the fewer of the user's rows hold it; one that no row holds still counts in the whole, so that a
# long question about something else does not fit by a single word. Backslash and quote are doubled: a word is data in
# the query, never syntax. The names in braces are put in from the constants below, never from what a person wrote.
_ASKED: Final[LiteralString] = r"""
WITH meant AS MATERIALIZED (
    SELECT model, meaning::halfvec AS meaning, set_config('hnsw.ef_search', %(nearby)s, true)
    FROM unnest(%(models)s::text[], %(vectors)s::text[]) AS put (model, meaning)
), asked AS MATERIALIZED (
    SELECT row_number() OVER () AS word, max(share) AS share,
        ('''' || replace(replace(said, '\', '\\'), '''', '''''') || '''')::tsquery AS query,
        (SELECT (common_words ->> said)::float FROM memory_personalindex
            WHERE user_id = %(user)s AND rows > %(large)s) AS known_rows
    FROM (
        SELECT unnest(tsvector_to_array(to_tsvector('english', %(words)s))) AS said, 1.0 AS share
        UNION ALL SELECT unnest(tsvector_to_array(to_tsvector('english', %(context)s))), %(context_weight)s
    ) AS words GROUP BY said
)"""
_RARITY: Final[LiteralString] = "share * ln(1 + (greatest(rows - found, 0) + 0.5) / (found + 0.5)) AS weight"
_WHOLE: Final[LiteralString] = "whole AS MATERIALIZED (SELECT nullif(sum(weight), 0) AS weight FROM weights)"

# One pass over the user's rows weighs both their meaning and their words: the usual case, up to some thousands.
_ONE_PASS: Final[LiteralString] = f"""{_ASKED}, any_word AS MATERIALIZED (
    SELECT string_agg(query::text, ' | ')::tsquery AS query FROM asked
), own AS MATERIALIZED (
    {{passes}}
), hits AS MATERIALIZED (
    SELECT origin, id, word, rank FROM own, unnest(ranks) WITH ORDINALITY AS each (rank, word) WHERE rank > 0
), weights AS MATERIALIZED (
    SELECT word, {_RARITY}
    FROM (SELECT word, share, (SELECT count(*) FROM hits WHERE hits.word = asked.word) AS found FROM asked) AS held,
        (SELECT count(*) AS rows FROM own) AS counted
), {_WHOLE}, shares AS MATERIALIZED (
    SELECT origin, id, sum(rank * weight) / (SELECT weight FROM whole) AS share
    FROM hits JOIN weights USING (word) GROUP BY origin, id
), {{legs}}
SELECT * FROM ({{rows_found}}) AS found
"""  # noqa: S608 - put together from constants
_SCAN: Final[LiteralString] = """
    SELECT '{kind}' AS origin, own.id, vector <=> meaning AS distance,
        CASE WHEN search @@ any_word.query
            THEN ARRAY(SELECT ts_rank(ARRAY[{weights}]::float4[], search, asked.query) FROM asked ORDER BY word)
        END AS ranks
    FROM any_word, {table} AS own LEFT JOIN meant ON meant.model = own.embedded_by WHERE {own}
"""
_LEG_OF_SCAN: Final[LiteralString] = """
{kind}_words AS MATERIALIZED (
    SELECT id, share FROM shares WHERE origin = '{kind}' ORDER BY share DESC, id LIMIT %({limit})s
), {kind}_meaning AS MATERIALIZED (
    SELECT id FROM own WHERE origin = '{kind}' AND distance IS NOT NULL ORDER BY distance, id LIMIT %({limit})s
)"""

# A large collection is never passed through: its indexes bring up what holds a rare word, and what is near in meaning.
_BY_INDEX: Final[LiteralString] = f"""{_ASKED}, seeking AS MATERIALIZED (
    SELECT * FROM asked WHERE known_rows IS NULL
    UNION ALL (SELECT * FROM asked WHERE NOT EXISTS (SELECT FROM asked WHERE known_rows IS NULL)
               ORDER BY known_rows LIMIT 2)
), hits AS MATERIALIZED (
    {{hits}}
), held AS MATERIALIZED (
    SELECT word, count(*) AS held FROM hits GROUP BY word
), weights AS MATERIALIZED (
    SELECT word, query, {_RARITY}
    FROM (SELECT word, query, share, coalesce(known_rows, held, 0) AS found FROM asked LEFT JOIN held USING (word))
        AS searched, (SELECT %(rows)s::float AS rows) AS counted
), {_WHOLE}, looked_at AS MATERIALIZED (
    SELECT origin, id FROM (
        SELECT origin, id, row_number() OVER (PARTITION BY origin ORDER BY sum(weight) DESC, id DESC) AS place
        FROM hits JOIN weights USING (word) GROUP BY origin, id
    ) AS ordered WHERE place <= %(look)s
), {{legs}}
SELECT * FROM ({{rows_found}}) AS found
"""  # noqa: S608 - put together from constants
_LEG_OF_INDEX: Final[LiteralString] = r"""
{kind}_words AS MATERIALIZED (
    SELECT id, share FROM (
        SELECT id, (SELECT sum(weight * ts_rank(ARRAY[{weights}]::float4[], fetched.search, query)) FROM weights)
            / (SELECT weight FROM whole) AS share
        FROM looked_at JOIN {table} USING (id), LATERAL (SELECT {table}.search || '' AS search OFFSET 0) AS fetched
        WHERE origin = '{kind}'
    ) AS weighed ORDER BY share DESC, id LIMIT %({limit})s
), {kind}_meaning AS MATERIALIZED (
    SELECT id FROM {table} AS own
    WHERE {own} AND embedded_by = %(model)s AND vector IS NOT NULL
    ORDER BY {distance} LIMIT %({limit})s
)"""


@dataclass(frozen=True, slots=True)
class _Table:
    """How one table of memories takes part in the search."""

    kind: LiteralString
    table: LiteralString
    limit: LiteralString
    weights: LiteralString
    """Of words with the marks D, C, B and A; a word without a mark counts as D."""
    columns: LiteralString
    """What is read of it, as `_Row` has it from `source` on."""
    joins: LiteralString = ""


_FACTS: Final = _Table(
    kind="fact",
    table="memory_fact",
    limit="statements",
    weights="1,1,1,1",
    columns="""'fact', own.id, statement, '', recorded_at, message_id, importance, times_used, last_used_at, '',
        true, NULL::uuid, 0, 0, tokens, status = 'archived'""",
)
_EPISODES: Final = _Table(
    kind="episode",
    table="memory_episode",
    limit="statements",
    weights="1,1,1,1",
    columns="""'episode', own.id, summary, title, happened_at, NULL::bigint, significance, times_used, last_used_at,
        '', true, conversation_id, 0, 0, tokens, status = 'archived'""",
)
_CHUNKS: Final = _Table(
    kind="chunk",
    table="memory_chunk",
    limit="passages",
    weights=POSITION_WEIGHTS,
    columns="""own.kind, CASE own.kind WHEN 'message' THEN own.message_id WHEN 'segment' THEN own.segment_id
        ELSE own.id END, own.text, concat_ws(' ', document.path::text, nullif(own.heading, '')), said_at,
        own.message_id, coalesce(document.importance, 0.5), own.times_used, own.last_used_at, author, own_words,
        own.conversation_id, place, number, own.tokens, false""",
    joins="LEFT JOIN memory_document AS document ON document.id = own.document_id",
)

_ACTIVE_FACTS: Final = """status IN ('active', 'archived')
    AND (valid_from IS NULL OR valid_from <= %(moment)s) AND (valid_until IS NULL OR valid_until > %(moment)s)
    AND (key = '' OR importance < %(guaranteed)s)"""
_FACTS_KNOWN_THEN: Final = "own.id = ANY(%(known_then)s::bigint[])"
"""What was known at a past moment is a longer story, told in one place: `FactQuerySet.known_at`."""


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of the search."""

    candidate: Candidate
    message_id: int | None
    title: str
    said_by: str
    conversation_id: str


@dataclass(frozen=True, slots=True)
class _Search:
    """One search: its parts are put together from constants, all values are parameters."""

    user_id: int
    question: Question
    meanings: Sequence[tuple[str, list[float]]]
    """The question's vector by each model that serves, the current one first."""
    moment: datetime
    known_then: list[int] | None
    """Ids of the facts that were known at a past moment; None: the moment is now."""
    filters: Filters
    exclude_refs: Collection[str]
    collection: _Collection

    def run(self) -> list[_Row]:
        tables = list(self._tables())
        if not tables:
            return []
        statement = self._by_index(tables) if self.collection.rows else self._one_pass(tables)
        with connection.cursor() as cursor:
            # psycopg keeps what it found in a statement of up to 4,096 characters: without the blanks this is one.
            cursor.execute(" ".join(statement.split()), self._parameters())
            return [_row(self.meanings[0][0], *row) for row in cursor.fetchall()]

    def _one_pass(self, tables: Sequence[tuple[_Table, str]]) -> str:
        return _ONE_PASS.format(
            passes=" UNION ALL ".join(
                _SCAN.format(kind=table.kind, table=table.table, weights=table.weights, own=own)
                for table, own in tables
            ),
            legs=", ".join(_LEG_OF_SCAN.format(kind=table.kind, limit=table.limit) for table, _ in tables),
            rows_found=" UNION ALL ".join(self._rows(table) for table, _ in tables),
        )

    def _by_index(self, tables: Sequence[tuple[_Table, str]]) -> str:
        return _BY_INDEX.format(
            hits=" UNION ALL ".join(self._hits(table, own) for table, own in tables),
            legs=", ".join(self._leg(table, own) for table, own in tables),
            rows_found=" UNION ALL ".join(self._rows(table) for table, _ in tables),
        )

    def _hits(self, table: _Table, own: str) -> str:
        return (
            f"SELECT '{table.kind}' AS origin, own.id, word FROM seeking JOIN {table.table} AS own"  # noqa: S608
            f" ON {own} AND own.search @@ seeking.query"
        )

    def _leg(self, table: _Table, own: str) -> str:
        distance = _INDEXED_DISTANCE if self.collection.has_own_index else _EXACT_DISTANCE
        return _LEG_OF_INDEX.format(
            kind=table.kind,
            table=table.table,
            limit=table.limit,
            weights=table.weights,
            own=own,
            distance=distance,
        )

    def _rows(self, table: _Table) -> str:
        return (
            f"SELECT (SELECT own.vector <=> meaning FROM meant WHERE model = own.embedded_by), own.embedded_by,"  # noqa: S608
            f" coalesce(share, 0), {table.columns}"
            f" FROM {table.kind}_meaning FULL OUTER JOIN {table.kind}_words USING (id)"
            f" JOIN {table.table} AS own USING (id) {table.joins}"
        )

    def _tables(self) -> Iterator[tuple[_Table, str]]:
        """The tables that can hold what is wanted, each with what makes a row of it the user's own and wanted."""
        wanted, only = self.filters.sources, self.filters
        if "fact" in wanted and not only.path:
            yield _FACTS, " AND ".join(self._facts())
        if "episode" in wanted and not only.path and not only.tags:
            yield _EPISODES, " AND ".join(self._episodes())
        if wanted & {"document", "message", "segment"} and not only.kinds:
            yield _CHUNKS, " AND ".join(self._chunks())

    # The user's id is cast, as the index of words has it as bigint: by a bare number, an integer, it cannot be looked
    # up there, and everybody's rows of a word would be read (190 ms instead of 24 in a million rows).

    def _facts(self) -> Iterator[str]:
        yield f"own.user_id = %(user)s::bigint AND {_ACTIVE_FACTS if self.known_then is None else _FACTS_KNOWN_THEN}"
        yield "own.id <> ALL(%(fact_ids)s::bigint[])"
        only = self.filters
        if only.kinds:
            yield "own.kind = ANY(%(kinds)s)"
        if only.tags:
            yield "own.tags && %(tags)s::varchar[]"
        if only.minimum_importance > 0:
            yield "importance >= %(importance)s"
        if only.scope:
            yield (
                "own.message_id IN (SELECT message.id FROM chat_message AS message JOIN chat_conversation AS said_in"
                " ON said_in.id = message.conversation_id WHERE said_in.user_id = %(user)s"
                " AND said_in.scope = %(scope)s)"
            )
        yield from self._dates("recorded_at")

    def _episodes(self) -> Iterator[str]:
        yield "own.user_id = %(user)s::bigint AND own.id <> ALL(%(episode_ids)s::bigint[])"
        yield "status <> 'merged'" if self.known_then is None else "status <> 'merged' AND recorded_at <= %(moment)s"
        only = self.filters
        if only.kinds:
            yield "own.kind = ANY(%(kinds)s)"
        if only.minimum_importance > 0:
            yield "significance >= %(importance)s"
        if only.scope:
            yield f"own.conversation_id IN ({_OF_SCOPE})"
        yield from self._dates("happened_at")

    def _chunks(self) -> Iterator[str]:
        only = self.filters
        yield "own.user_id = %(user)s::bigint"
        if not {"document", "message", "segment"} <= only.sources:
            yield "own.kind = ANY(%(sources)s)"
        named = ids_by_kind(self.exclude_refs)
        if named["message"] or named["segment"] or named["chunk"]:
            yield "(own.message_id IS NULL OR own.message_id <> ALL(%(message_ids)s::bigint[]))"
            yield "(own.segment_id IS NULL OR own.segment_id <> ALL(%(segment_ids)s::bigint[]))"
            yield "own.id <> ALL(%(chunk_ids)s::bigint[])"
        if self.known_then is not None:
            yield "said_at <= %(moment)s"
        documents = list(self._documents())
        if documents:
            of_documents = f"SELECT id FROM memory_document WHERE {' AND '.join(documents)}"  # noqa: S608
            inside = f"own.document_id IN ({of_documents})"
            if only.path or only.tags:
                yield inside
            else:
                yield f"({inside} OR own.document_id IS NULL AND {self._elsewhere()})"
        yield from self._dates("said_at")

    def _documents(self) -> Iterator[str]:
        only = self.filters
        if not (only.path or only.tags or only.scope or only.minimum_importance > 0):
            return
        yield "user_id = %(user)s"
        if only.path:
            yield "path <@ %(path)s::ltree"
        if only.scope:
            yield "path <@ %(scope_path)s::ltree"
        if only.tags:
            yield "tags && %(tags)s::varchar[]"
        if only.minimum_importance > 0:
            yield "importance >= %(importance)s"

    def _elsewhere(self) -> str:
        """Which passages of conversations are wanted, where documents are narrowed by scope or importance."""
        said = f"own.conversation_id IN ({_OF_SCOPE})" if self.filters.scope else "true"
        return f"{said} AND %(importance)s <= 0.5"

    def _dates(self, column: str) -> Iterator[str]:
        if self.filters.since:
            yield f"{column} >= %(since)s"
        if self.filters.until:
            yield f"{column} < %(until)s"

    def _parameters(self) -> dict[str, Any]:
        only, named = self.filters, ids_by_kind(self.exclude_refs)
        return {
            "user": self.user_id,
            "words": self.question.by_words,
            "context": self.question.context,
            "context_weight": CONTEXT_WEIGHT,
            "rows": self.collection.rows,
            "large": PersonalIndex.LARGE,
            "nearby": str(2 * PASSAGE_LIMIT),
            "look": FIRST_LOOK,
            "models": [model for model, _ in self.meanings],
            "vectors": ["[" + ",".join(f"{one:.4f}" for one in vector) + "]" for _, vector in self.meanings],
            "model": self.meanings[0][0],
            "moment": self.moment,
            "known_then": self.known_then,
            "guaranteed": GUARANTEED_IMPORTANCE,
            "passages": PASSAGE_LIMIT,
            "statements": STATEMENT_LIMIT,
            **{f"{kind}_ids": ids for kind, ids in named.items()},
            "sources": sorted(only.sources),
            "kinds": sorted(only.kinds),
            "tags": sorted(only.tags),
            "importance": only.minimum_importance,
            "since": only.since,
            "until": only.until,
            "path": encode(only.path) if only.path else None,
            "scope": only.scope,
            "scope_path": encode(only.scope) if only.scope else None,
        }


# The exact one is ordered by the identifier as well; an approximate index serves an order by the distance alone, by the
# very expression it is made of. It looks at no more than `hnsw.ef_search` rows, 40 if nobody says otherwise.
_EXACT_DISTANCE: Final = "vector <=> (SELECT meaning FROM meant WHERE model = %(model)s), id"
_INDEXED: Final = f"halfvec({DIMENSION})"
_INDEXED_DISTANCE: Final = f"(vector::{_INDEXED}) <=> (SELECT meaning::{_INDEXED} FROM meant WHERE model = %(model)s)"  # noqa: S608
_OF_SCOPE: Final = "SELECT id FROM chat_conversation WHERE user_id = %(user)s AND scope = %(scope)s"


def _calibration(model: str) -> Calibration:
    return CALIBRATIONS.get(model, UNKNOWN_MODEL)


def _row(
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
    conversation_id: Any,
    place: int,
    number: int,
    tokens: int,
    is_archived: bool,
) -> _Row:
    kind = "chunk" if source == "document" else source
    conversation = str(conversation_id or "")
    candidate = Candidate(
        ref=f"{kind}:{pk}",
        source=source,
        text=text,
        when=when,
        distance=distance,
        words=words,
        importance=importance,
        times_used=times_used,
        last_used_at=last_used_at,
        author=author,
        own_words=own_words,
        thread=conversation if source == "message" else None,
        place=place,
        number=number,
        tokens=tokens,
        is_archived=is_archived,
    )
    said_by = (author or ("user" if own_words else "assistant")) if source == "message" else ""
    return _Row(candidate, message_id, _title(source, title), said_by, conversation)


def _title(source: Source, title: str) -> str:
    """A document's path as it was typed, and the headings the passage stands below."""
    if source != "document":
        return title
    path, _, heading = title.partition(" ")
    return f"{decode(path)} {heading}".strip() if path else heading


def _recollection(ranked: Iterable[Ranked], rows: Mapping[int, _Row], timings: Mapping[str, float]) -> Recollection:
    kept, cut = [], []
    for one in ranked:
        item = _item(one, rows[id(one.candidate)])
        if one.rule is None:
            kept.append(item)
        else:
            cut.append(CutItem(item, one.rule))
    return Recollection(tuple(kept), tuple(cut), timings)


def _item(one: Ranked, row: _Row) -> MemoryItem:
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
