"""Candidate search: the user's rows that fit the question best, by words and vector together.

Two statements, each starting at the user's own rows: the speakers, and the best rows with everything shown of them. The
vector leg is an exact scan of the user's rows: for some thousands it takes a few milliseconds and misses nothing, while
a shared approximate index would lose most rows to its filter. The word leg matches any word of the question: requiring
all of them finds nothing for 84% of natural questions. A large collection (`PersonalIndex`) is searched by its own
indexes, and its common words find nothing.

The question is embedded before the statement, not in parallel: on two processors that share a core, each slowed the
other by more than it saved.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final, LiteralString

from psycopg.sql import Literal

from memory.embeddings.limits import DIMENSION
from memory.embeddings.port import Embedder, embedder
from memory.index.indexer import serving
from memory.models import PersonalIndex
from memory.models.paths import decode, encode
from memory.refs import ids_by_kind
from memory.retrieval.query import CONTEXT_WEIGHT, Question
from memory.retrieval.ranking import (
    CALIBRATIONS,
    UNKNOWN_MODEL,
    Calibration,
    Candidate,
    RankingProfile,
    Source,
    on_scale_of,
)
from recall.db import prepared
from recall.environment import setting
from recall.observability.stopwatch import Stopwatch

if TYPE_CHECKING:
    from accounts.models import User

PASSAGE_LIMIT: Final = setting("rag_re_rank_top_n", 60)
"""Passages that are ranked (seed 003's top 20). Chosen by both legs together: a hundred of each leg, 160 in all, found
1.7 points less of the evidence in long chats, where answers crowd, and 0.1 more in dialogues. With a hundred in all the
first ten hold 0.1 more in dialogues and 0.2 less in long chats, and a query takes a tenth longer."""
STATEMENT_LIMIT: Final = 40
"""Facts, and episodes, that are ranked."""
FIRST_LOOK: Final = 600
"""Rows of each kind whose words are weighted by position, in a large collection; chosen by the rarity of their words,
which
the index knows without reading the rows."""
BROUGHT_UP: Final = 300
"""Rows of each kind that each leg brings up in a large collection, for both together to choose among. With 100, and a
look at 200, it found 5 points less of the evidence than comparing every row does, in dialogues, and 7 in long chats; so
it finds 2 and 4.5 points less (`bench/retrieval/large_collection.py`), and takes 6 ms longer among 100,000. A thousand
of each
win nothing more: what is still missed holds only common words."""
PAIR_ROWS: Final = 300
"""Two common words of a question find rows with both, if by chance at most this many rows would have both."""
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
    """A folder or document: only what is there."""
    since: datetime | None = None
    until: datetime | None = None
    """When it was said or happened, or became known: from, and before."""
    minimum_importance: float = 0.0
    """Of facts, episodes and documents; a message's is ½."""
    scope: str = ""
    """Only this project: its documents and what was said in its conversations."""


EVERYTHING: Final = Filters()


# The collection --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Collected:
    """What a search must know of the user's rows before it starts."""

    authors: tuple[str, ...]
    """Who speaks in the user's conversations, besides the user and the model."""
    rows: int | None
    """Of a large collection, when it was last looked at; None: it is small and counted."""
    has_own_index: bool


# The recursion steps along the index from one name to the next: distinct names of 100,000 rows in a millisecond.
_COLLECTION_SQL: Final = """
WITH RECURSIVE authors AS (
    (SELECT author FROM memory_chunk WHERE user_id = %(user)s::bigint AND author > '' ORDER BY author LIMIT 1)
    UNION ALL
    SELECT (SELECT author FROM memory_chunk WHERE user_id = %(user)s::bigint AND author > authors.author
            ORDER BY author LIMIT 1)
    FROM authors WHERE authors.author IS NOT NULL
)
SELECT ARRAY(SELECT author FROM authors WHERE author IS NOT NULL LIMIT %(most)s::int), rows, models_indexed
FROM (SELECT) AS nothing LEFT JOIN memory_personalindex ON user_id = %(user)s::bigint
"""


def collected(user: User) -> Collected:
    """One statement."""
    [(authors, rows, models_indexed)] = prepared.fetch_prepared(
        _COLLECTION_SQL, {"user": user.pk, "most": MOST_AUTHORS}
    )
    is_large = rows is not None and rows > PersonalIndex.LARGE
    return Collected(
        authors=tuple(authors),
        rows=rows if is_large else None,
        has_own_index=is_large and embedder().name in (models_indexed or ()),
    )


# The statements --------------------------------------------------------------------------------------------------

# What is asked, in words and in meaning. Backslash and quote are doubled: a word is data in the query, never syntax.
# The names in braces come from the constants below, never from user input.
_ASKED: Final[LiteralString] = r"""
WITH languages AS MATERIALIZED (
    SELECT unnest(words_in)::regconfig AS language FROM accounts_user WHERE id = %(user)s::bigint
), asked AS MATERIALIZED (
    SELECT row_number() OVER () AS word, max(share) AS share, {known_rows} AS known_rows,
        hashtextextended(said, %(user)s::bigint) AS key,
        ('''' || replace(replace(said, '\', '\\'), '''', '''''') || '''')::tsquery AS query
    FROM (
        SELECT unnest(tsvector_to_array(to_tsvector(language, %(words)s::text))) AS said, 1.0::float8 AS share
        FROM languages
        UNION ALL SELECT unnest(tsvector_to_array(to_tsvector(language, %(context)s::text))),
            %(context_weight)s::float8
        FROM languages
    ) AS words GROUP BY said
), weighing AS MATERIALIZED (SELECT {weighing}
), meant AS MATERIALIZED (
    SELECT model, meaning::halfvec AS meaning, unrelated, scale, set_config('hnsw.ef_search', %(nearby)s::text, true)
    FROM unnest(%(models)s::text[], %(vectors)s::text[], %(unrelated)s::float8[], %(scales)s::float8[])
        AS put (model, meaning, unrelated, scale)
)"""

# What a row's meaning brings it in the ranking, who speaks, and when (`Profile.weights`).
_NEAR: Final[LiteralString] = """
{kind}_near AS MATERIALIZED (
    SELECT own.id, %(by_meaning)s::float8 * coalesce(least(greatest(
            (1 - (own.vector <=> meaning) - unrelated) * scale, 0), 1), 0) {beside} AS fits
    FROM {table} AS own LEFT JOIN meant ON model = own.embedded_by WHERE {which}
)"""

# Which rows hold words of the question, and how much of it? A word weighs more the fewer of the user's rows hold it;
# one that no row holds still counts in the whole, so that a long question about something else does not fit by a single
# word. Only rows that can be found count: with rejected facts and deleted conversations every word would seem rare.
_RARITY: Final[LiteralString] = "share * ln(1 + (greatest(rows - found, 0) + 0.5) / (found + 0.5)) AS weight"

_WEIGHTS: Final[LiteralString] = f"""
weights AS MATERIALIZED (
    SELECT word, query, weight / sum(weight) OVER () AS weight FROM (
        SELECT word, query, {_RARITY}
        FROM (SELECT word, query, share, coalesce(known_rows, held, 0) AS found FROM asked LEFT JOIN
            (SELECT word, count(*) AS held FROM ({{held}}) AS hits GROUP BY word) AS counted USING (word)) AS searched,
            (SELECT ({{rows}})::float8 AS rows) AS counted
    ) AS rare
)"""  # noqa: S608 - put together from constants

# The usual case, up to some thousands of rows: each is compared, and asked for each word. Asking for any of the words
# at once takes three times as long.
_BY_SCAN: Final[LiteralString] = f"{_ASKED}, {{near}}, {{hits}}, {_WEIGHTS}, {{found}} {{told}}"
_HITS_BY_SCAN: Final[LiteralString] = """
{kind}_hits AS MATERIALIZED (
    SELECT own.id, word, ts_rank(of_{kind}, own.search, query) AS rank
    FROM weighing, (SELECT word, query, ARRAY[key] AS keys FROM asked) AS sought {holding} WHERE {own}
)"""
_SHARES_BY_SCAN: Final[LiteralString] = (
    "SELECT id, rank * weight AS share, 0 AS fits FROM {kind}_hits JOIN weights USING (word)"
)

# A large collection is never passed through: its indexes bring up what is nearest, what holds a rare word, and what
# holds two common ones that are not often together; where each two are, what holds the rarest three.
_BY_INDEX: Final[LiteralString] = f"""{_ASKED}, common AS MATERIALIZED (
    SELECT word, key, query, known_rows FROM asked WHERE known_rows IS NOT NULL ORDER BY known_rows LIMIT 4
), pairs AS MATERIALIZED (
    SELECT ARRAY[one.word, other.word] AS words, ARRAY[one.key, other.key] AS keys, one.query && other.query AS query
    FROM common AS one JOIN common AS other ON one.word < other.word
    WHERE one.known_rows * other.known_rows <= %(pair)s::float8 * %(rows)s::float8
    ORDER BY one.known_rows * other.known_rows LIMIT 3
), sought AS MATERIALIZED (
    SELECT ARRAY[word] AS words, ARRAY[key] AS keys, query FROM asked WHERE known_rows IS NULL
    UNION ALL SELECT words, keys, query FROM pairs
    UNION ALL (SELECT array_agg(word), array_agg(key), string_agg(query::text, ' & ')::tsquery
               FROM (SELECT word, key, query FROM common ORDER BY known_rows LIMIT 3) AS rarest
               WHERE NOT EXISTS (SELECT FROM pairs) AND NOT EXISTS (SELECT FROM asked WHERE known_rows IS NULL)
               HAVING count(*) > 0)
), {{hits}}, {_WEIGHTS}, looked_at AS MATERIALIZED (
    SELECT origin, id FROM (
        SELECT origin, id, row_number() OVER (PARTITION BY origin ORDER BY sum(weight) DESC, id DESC) AS place
        FROM ({{all_hits}}) AS hits JOIN weights USING (word) GROUP BY origin, id
    ) AS ordered WHERE place <= %(look)s::int
), shares AS MATERIALIZED ({{weighed}}), {{near}}, {{found}} {{told}}"""  # noqa: S608 - put together from constants
_HITS_BY_INDEX: Final[LiteralString] = """
{kind}_hits AS MATERIALIZED (SELECT DISTINCT own.id, unnest(words) AS word FROM sought {holding} WHERE {own})"""
_SHARES_BY_INDEX: Final[LiteralString] = "SELECT id, share, 0 AS fits FROM shares WHERE origin = '{kind}'"
# `|| ''` and OFFSET 0: a row's words are read once, not for each of the question's.
_WEIGHED_BY_INDEX: Final[LiteralString] = r"""
    SELECT '{kind}' AS origin, id,
        (SELECT sum(weight * ts_rank(of_{kind}, fetched.search, query)) FROM weights) AS share
    FROM weighing, looked_at JOIN {table} USING (id),
        LATERAL (SELECT {table}.search || '' AS search OFFSET 0) AS fetched
    WHERE origin = '{kind}'
"""
_KNOWN_ROWS: Final[LiteralString] = (
    "(SELECT (common_words ->> said)::float8 FROM memory_personalindex WHERE user_id = %(user)s::bigint)"
)

_TOLD_THEN: Final[LiteralString] = "+ ({when}::date <@ %(told_on)s::datemultirange)::int * %(date_match)s::float8"
_NEAREST_BY_INDEX: Final[LiteralString] = """own.id = ANY(ARRAY(
    SELECT id FROM (SELECT own.id FROM {table} AS own
        WHERE {own} AND embedded_by = %(model)s::text AND vector IS NOT NULL
        ORDER BY {distance} LIMIT %(brought_up)s::int) AS nearest
    UNION ALL (SELECT id FROM shares WHERE origin = '{kind}' ORDER BY share DESC, id LIMIT %(brought_up)s::int)))"""
# The exact one is ordered by the identifier as well; an approximate index serves an order by the distance alone, by the
# very expression it is made of. It looks at no more than `hnsw.ef_search` rows, 40 by default.
_MEANING: Final[LiteralString] = "(SELECT meaning FROM meant WHERE model = %(model)s::text)"
_EXACT_DISTANCE: Final[LiteralString] = f"vector <=> {_MEANING}, id"
_INDEXED_DISTANCE: Final = f"(vector::halfvec({DIMENSION})) <=> {_MEANING}::halfvec({DIMENSION})"

# The best rows by both together, with everything shown of them. Both are added up, not joined: the server takes
# few rows to hold the words, and would look through those for each of the others.
_FOUND: Final[LiteralString] = """
{kind}_found AS MATERIALIZED (
    SELECT id, sum(share) AS share FROM (
        {shares} UNION ALL SELECT id, 0, fits FROM {kind}_near
    ) AS legs GROUP BY id ORDER BY sum(share) * %(by_words)s::float8 + sum(fits) DESC, id LIMIT %({limit})s::int
)"""
_TOLD: Final[LiteralString] = """
    SELECT own.vector <=> meaning, own.embedded_by, share, {columns}, {in_project}
    FROM {kind}_found JOIN {table} AS own USING (id) LEFT JOIN meant ON model = own.embedded_by {joins}"""


@dataclass(frozen=True, slots=True)
class _Table:
    """How one table of memories takes part in the search."""

    kind: LiteralString
    table: LiteralString
    limit: LiteralString
    holding: LiteralString
    """Which rows hold what is `sought`; joined to it."""
    when: LiteralString
    """When it was said or happened."""
    spoken: LiteralString
    """What the ranking gives a row for who speaks."""
    weights: LiteralString
    """Of words with the marks D, C, B and A; a word without a mark counts as D."""
    columns: LiteralString
    """What is read of it, as `_found` takes it from `source` on; the last, `in_project`, is separate."""
    in_project: LiteralString
    """Whether a row belongs to the project of the conversation that asks."""
    joins: LiteralString = ""


_SAID_IN_PROJECT: Final[LiteralString] = """EXISTS (SELECT FROM chat_conversation AS said_in
        WHERE said_in.id = own.conversation_id AND said_in.scope = %(project)s::text)"""

# Of passages, of which there are most, the index has each word under its owner (`Chunk.Meta.indexes`): among a million
# rows of a thousand people the words of a long question are found in half the time. Behind the OFFSET the server asks
# nothing else of the index: it would read the user's whole index for each word.
_HOLDING: Final[LiteralString] = """, LATERAL (
        SELECT * FROM memory_chunk WHERE memory_words_of(user_id, search) @> sought.keys OFFSET 0
    ) AS own"""

_FACTS: Final = _Table(
    kind="fact",
    table="memory_fact",
    limit="statements",
    holding="JOIN memory_fact AS own ON own.search @@ query",
    when="recorded_at",
    spoken="",
    weights="1,1,1,1",
    columns="""'fact', own.id, statement, '', recorded_at, message_id, importance, times_used, last_used_at, '',
        true, ''::text, 0, 0, tokens, status = 'archived'""",
    in_project="""EXISTS (SELECT FROM chat_message AS message JOIN chat_conversation AS said_in
        ON said_in.id = message.conversation_id
        WHERE message.id = own.message_id AND said_in.scope = %(project)s::text)""",
)
_EPISODES: Final = _Table(
    kind="episode",
    table="memory_episode",
    limit="statements",
    holding="JOIN memory_episode AS own ON own.search @@ query",
    when="happened_at",
    spoken="",
    weights="1,1,1,1",
    columns="""'episode', own.id, summary, title, happened_at, NULL::bigint, significance, times_used, last_used_at,
        '', true, coalesce(conversation_id::text, ''), 0, 0, tokens, status = 'archived'""",
    in_project=_SAID_IN_PROJECT,
)
_CHUNKS: Final = _Table(
    kind="chunk",
    table="memory_chunk",
    limit="passages",
    holding=_HOLDING,
    when="said_at",
    spoken="""+ own_words::int * %(own_words)s::float8
            + (author = ANY(%(speakers)s::text[]))::int * %(name_match)s::float8""",
    weights=POSITION_WEIGHTS,
    columns="""own.kind, CASE own.kind WHEN 'message' THEN own.message_id WHEN 'segment' THEN own.segment_id
        ELSE own.id END, own.text, concat_ws(' ', document.path::text, nullif(own.heading, '')), said_at,
        own.message_id, coalesce(document.importance, 0.5), own.times_used, own.last_used_at, author, own_words,
        coalesce(own.conversation_id::text, CASE document.source WHEN 'librarian'
            THEN substring(document.external_id FROM '^conversation:(.*)$') END, ''),
        place, number, own.tokens, false""",
    in_project=f"coalesce(document.path <@ %(project_path)s::ltree, {_SAID_IN_PROJECT})",
    joins="LEFT JOIN memory_document AS document ON document.id = own.document_id",
)

_ACTIVE_FACTS: Final = """status IN ('active', 'archived')
    AND (valid_from IS NULL OR valid_from <= %(moment)s::timestamptz)
    AND (valid_until IS NULL OR valid_until > %(moment)s::timestamptz)"""
_FACTS_KNOWN_THEN: Final = "own.id = ANY(%(known_then)s::bigint[])"
"""What was known at a past moment is defined in one place: `FactQuerySet.known_at`."""
_OF_SCOPE: Final = "SELECT id FROM chat_conversation WHERE user_id = %(user)s::bigint AND scope = %(scope)s::text"
# Nothing of a deleted conversation is recalled, though its rows stay while it can be restored: messages, summaries,
# episodes, and the document about it. Each list is made once a statement.
_DELETED: Final = "SELECT id FROM chat_conversation WHERE user_id = %(user)s::bigint AND deleted_at IS NOT NULL"
_OF_STANDING: Final = f"(own.conversation_id IS NULL OR own.conversation_id <> ALL(ARRAY({_DELETED})))"
_TELLS_OF_STANDING: Final = f"""(own.document_id IS NULL OR own.document_id <> ALL(ARRAY(
    SELECT id FROM memory_document WHERE user_id = %(user)s::bigint AND source = 'librarian'
        AND external_id = ANY(ARRAY(SELECT 'conversation:' || deleted.id FROM ({_DELETED}) AS deleted)))))"""  # noqa: S608 - constants
_WEIGHING: Final = ", ".join(
    f"ARRAY[{table.weights}]::float4[] AS of_{table.kind}" for table in (_FACTS, _EPISODES, _CHUNKS)
)


# The search ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class CandidateRow:
    """One row of the search: what is ranked, and what is shown of it."""

    candidate: Candidate
    message_id: int | None
    title: str
    said_by: str
    conversation_id: str
    """The conversation it is from or about; empty: none."""


@dataclass(frozen=True, slots=True)
class CandidateSearch:
    """One search: its statements are put together from constants, all values are parameters."""

    user_id: int
    question: Question
    moment: datetime
    known_then: list[int] | None
    """Ids of the facts that were known at a past moment; None: the moment is now."""
    filters: Filters
    exclude_refs: Collection[str]
    collection: Collected
    profile: RankingProfile
    project: str = ""
    """Path of the project that the conversation belongs to, and whose rows are marked; empty: none."""

    def run(self, watch: Stopwatch) -> list[CandidateRow]:
        """The candidates of both legs, in no order. Laps: embed, fetch."""
        tables = list(self._tables())
        if not tables:
            return []
        models = serving()
        meanings = [_embedded(model, self.question.semantic_query) for model in models]
        watch.lap("embed")
        sql = self._put_together(tables)
        rows = prepared.fetch_prepared(
            self._own(sql, models[0].name), self._parameters() | self._meant(models) | {"vectors": meanings}
        )
        watch.lap("fetch")
        return [_found(models[0].name, *row) for row in rows]

    def _put_together(self, tables: Sequence[tuple[_Table, str]]) -> str:
        by_index = self.collection.rows is not None
        hits, shares = (_HITS_BY_INDEX, _SHARES_BY_INDEX) if by_index else (_HITS_BY_SCAN, _SHARES_BY_SCAN)
        kinds = [table.kind for table, _ in tables]
        return (_BY_INDEX if by_index else _BY_SCAN).format(
            known_rows=_KNOWN_ROWS if by_index else "NULL::float8",
            weighing=_WEIGHING,
            near=", ".join(self._near(table, own) for table, own in tables),
            hits=", ".join(hits.format(kind=table.kind, holding=table.holding, own=own) for table, own in tables),
            held=" UNION ALL ".join(f"SELECT word FROM {kind}_hits" for kind in kinds),  # noqa: S608
            all_hits=" UNION ALL ".join(f"SELECT '{kind}' AS origin, id, word FROM {kind}_hits" for kind in kinds),  # noqa: S608
            rows="%(rows)s" if by_index else " + ".join(f"(SELECT count(*) FROM {kind}_near)" for kind in kinds),  # noqa: S608
            weighed=" UNION ALL ".join(_WEIGHED_BY_INDEX.format(kind=one.kind, table=one.table) for one, _ in tables),
            found=", ".join(
                _FOUND.format(kind=table.kind, limit=table.limit, shares=shares.format(kind=table.kind))
                for table, _ in tables
            ),
            told=" UNION ALL ".join(self._told(table) for table, _ in tables),
        )

    def _near(self, table: _Table, own: str) -> str:
        which = own
        if self.collection.rows is not None:
            distance = _INDEXED_DISTANCE if self.collection.has_own_index else _EXACT_DISTANCE
            which = _NEAREST_BY_INDEX.format(own=own, distance=distance, kind=table.kind, table=table.table)
        beside = table.spoken + (_TOLD_THEN.format(when=table.when) if self.question.periods else "")
        return _NEAR.format(kind=table.kind, table=table.table, beside=beside, which=which)

    def _told(self, table: _Table) -> str:
        in_project = table.in_project if self.project else "false"
        return _TOLD.format(
            columns=table.columns, in_project=in_project, kind=table.kind, table=table.table, joins=table.joins
        )

    def _meant(self, models: Sequence[Embedder]) -> dict[str, Any]:
        scales = [calibration(model.name) for model in models]
        return {
            "models": [model.name for model in models],
            "model": models[0].name,
            "unrelated": prepared.array(one.unrelated for one in scales),
            "scales": prepared.array(1 / (one.close - one.unrelated) for one in scales),
        }

    def _own(self, sql: str, model: str) -> str:
        """The statement; for a large collection with the owner's number and the model's name in it: it is planned once
        for all values, and the owner's own indexes are only found by what they are limited to."""
        if self.collection.rows is None:
            return sql
        named = Literal(model).as_string().replace("%", "%%")
        return sql.replace("%(user)s", str(int(self.user_id))).replace("%(model)s", named)

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
            yield "own.kind = ANY(%(kinds)s::text[])"
        if only.tags:
            yield "own.tags && %(tags)s::varchar[]"
        if only.minimum_importance > 0:
            yield "importance >= %(importance)s::float8"
        if only.scope:
            yield (
                "own.message_id IN (SELECT message.id FROM chat_message AS message JOIN chat_conversation AS said_in"
                " ON said_in.id = message.conversation_id WHERE said_in.user_id = %(user)s::bigint"
                " AND said_in.scope = %(scope)s::text)"
            )
        yield from self._dates("recorded_at")

    def _episodes(self) -> Iterator[str]:
        yield f"own.user_id = %(user)s::bigint AND own.id <> ALL(%(episode_ids)s::bigint[]) AND {_OF_STANDING}"
        yield (
            "status <> 'merged'"
            if self.known_then is None
            else "status <> 'merged' AND recorded_at <= %(moment)s::timestamptz"
        )
        only = self.filters
        if only.kinds:
            yield "own.kind = ANY(%(kinds)s::text[])"
        if only.minimum_importance > 0:
            yield "significance >= %(importance)s::float8"
        if only.scope:
            yield f"own.conversation_id IN ({_OF_SCOPE})"
        yield from self._dates("happened_at")

    def _chunks(self) -> Iterator[str]:
        only = self.filters
        yield f"own.user_id = %(user)s::bigint AND {_OF_STANDING} AND {_TELLS_OF_STANDING}"
        if not {"document", "message", "segment"} <= only.sources:
            yield "own.kind = ANY(%(sources)s::text[])"
        named = ids_by_kind(self.exclude_refs)
        if named["message"] or named["segment"] or named["chunk"]:
            yield "(own.message_id IS NULL OR own.message_id <> ALL(%(message_ids)s::bigint[]))"
            yield "(own.segment_id IS NULL OR own.segment_id <> ALL(%(segment_ids)s::bigint[]))"
            yield "own.id <> ALL(%(chunk_ids)s::bigint[])"
        if self.known_then is not None:
            yield "said_at <= %(moment)s::timestamptz"
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
        yield "user_id = %(user)s::bigint"
        if only.path:
            yield "path <@ %(path)s::ltree"
        if only.scope:
            yield "path <@ %(scope_path)s::ltree"
        if only.tags:
            yield "tags && %(tags)s::varchar[]"
        if only.minimum_importance > 0:
            yield "importance >= %(importance)s::float8"

    def _elsewhere(self) -> str:
        """Which passages of conversations are wanted, where documents are narrowed by scope or importance."""
        said = f"own.conversation_id IN ({_OF_SCOPE})" if self.filters.scope else "true"
        return f"{said} AND %(importance)s::float8 <= 0.5"

    def _dates(self, column: str) -> Iterator[str]:
        if self.filters.since:
            yield f"{column} >= %(since)s::timestamptz"
        if self.filters.until:
            yield f"{column} < %(until)s::timestamptz"

    def _told_on(self) -> Iterator[tuple[date, date]]:
        for period in self.question.periods:
            yield from period.reporting_days(self.moment.year)

    def _parameters(self) -> dict[str, Any]:
        only, named, weights = self.filters, ids_by_kind(self.exclude_refs), self.profile.weights
        return {
            "user": self.user_id,
            "words": self.question.keyword_query,
            "context": self.question.context,
            "context_weight": CONTEXT_WEIGHT,
            "rows": self.collection.rows,
            "nearby": str(BROUGHT_UP + PASSAGE_LIMIT),
            "look": FIRST_LOOK,
            "brought_up": BROUGHT_UP,
            "pair": PAIR_ROWS,
            "moment": self.moment,
            "known_then": prepared.array(self.known_then or ()),
            "by_words": weights.get("keyword", 0.0),
            "by_meaning": weights.get("semantic", 0.0),
            "own_words": weights.get("own_words", 0.0),
            "name_match": weights.get("name_match", 0.0),
            "date_match": weights.get("date_match", 0.0),
            "speakers": sorted(self.question.speakers),
            "told_on": "{" + ",".join(f"[{first},{last}]" for first, last in self._told_on()) + "}",
            "passages": PASSAGE_LIMIT,
            "statements": STATEMENT_LIMIT,
            **{f"{kind}_ids": prepared.array(ids) for kind, ids in named.items()},
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


def _embedded(model: Embedder, text: str) -> str:
    """The vector as PostgreSQL reads it: ten thousand times as long, as a cosine knows no length and whole numbers are
    written and read in a quarter of the time."""
    return str((model.embed([text])[0] * 10_000).round().astype(int).tolist())


def calibration(model: str) -> Calibration:
    """What a cosine means under `model`."""
    return CALIBRATIONS.get(model, UNKNOWN_MODEL)


def _found(
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
    )
    said_by = (author or ("user" if own_words else "assistant")) if source == "message" else ""
    return CandidateRow(candidate, message_id, _title(source, title), said_by, conversation)


def _title(source: Source, title: str) -> str:
    """A document's path as typed, and the headings above the passage."""
    if source != "document":
        return title
    path, _, heading = title.partition(" ")
    return f"{decode(path)} {heading}".strip() if path else heading
