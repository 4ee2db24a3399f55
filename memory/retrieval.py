"""Which memories come back for a question? One statement over the user's own facts, then the ranking decides.

Two legs bring up candidates: meaning (an exact scan of the user's vectors: at some thousands of rows it takes a few
milliseconds and misses nothing, where a shared approximate index would lose most rows to its filter) and words (any
of the question's words: asking for all of them finds nothing for 84 % of natural questions). What is guaranteed in the
profile section is not recalled again. This is the only module of memory with SQL of its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, Literal

from django.db import connection
from django.db.models import F

from memory.embedding import embedder
from memory.models import GUARANTEED_IMPORTANCE, Fact
from memory.ranking import CALIBRATIONS, MEASURED, TOP_K, UNKNOWN_MODEL, Candidate, Part, Profile, Ranked, Rule, rank

if TYPE_CHECKING:
    from accounts.models import User

LEG_LIMIT: Final = 30
"""Candidates each leg brings up: 100 would find half a point more, and triple what a receipt must keep."""
QUESTION_ENDS: Final = 600
"""Of a longer message the first and the last so many characters are the question: what a pasted text is for is said
before or after it. Together they fill what the embedding model reads."""


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """One memory as prompts and receipts show it."""

    ref: str
    """Such as `fact:12`."""
    source: Literal["fact"]
    text: str
    when: datetime
    """When Recall came to know it."""
    message_id: int | None
    """The message it rests on, if that is still there."""
    parts: Mapping[Part, float]
    """Score parts by name, each 0–1."""
    score: float
    """0–1."""


@dataclass(frozen=True, slots=True)
class CutItem:
    """A memory that was considered and left out, and by which rule."""

    item: MemoryItem
    rule: Rule


@dataclass(frozen=True, slots=True)
class Recollection:
    """What one question brought back, best first, and what it did not."""

    kept: tuple[MemoryItem, ...]
    cut: tuple[CutItem, ...]
    timings: Mapping[str, float]
    """Milliseconds of each step: embed, search, rank."""


def recall(
    user: User,
    query: str,
    *,
    now: datetime,
    top_k: int = TOP_K,
    exclude_refs: Collection[str] = (),
    profile: Profile = MEASURED,
) -> Recollection:
    """The user's memories that bear on `query`, without those named in `exclude_refs` (already in the window)."""
    started = perf_counter()
    model = embedder()
    vector = model.embed([in_third_person(ends(query))])[0]
    embedded = perf_counter()
    found = _search(user, ends(query), vector.tolist(), model.name, now, fact_ids(exclude_refs))
    searched = perf_counter()
    ranked = rank(
        query,
        [row.candidate for row in found],
        profile,
        now,
        calibration=CALIBRATIONS.get(model.name, UNKNOWN_MODEL),
        top_k=top_k,
    )
    messages = {row.candidate.ref: row.message_id for row in found}
    timings = _milliseconds(embed=embedded - started, search=searched - embedded, rank=perf_counter() - searched)
    return _recollection(ranked, messages, timings)


def mark_used(user: User, refs: Iterable[str], at: datetime) -> None:
    """Count one use of each of these memories: they stood in a prompt. Being a mere candidate does not count."""
    used = Fact.objects.for_user(user).filter(pk__in=fact_ids(refs))
    used.update(times_used=F("times_used") + 1, last_used_at=at)


def fact_ids(refs: Iterable[str]) -> list[int]:
    """The ids of those references that name facts."""
    return [int(ref.removeprefix("fact:")) for ref in refs if re.fullmatch(r"fact:\d{1,18}", ref)]


# The question ----------------------------------------------------------------------------------------------------

_THIRD_PERSON: Final = tuple(
    (re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), said)
    for pattern, said in (
        (r"my|mine|our|ours", "the user's"),
        (r"am i|are we", "is the user"),
        (r"i am|i[’']m|we are|we[’']re", "the user is"),
        (r"i[’']ve|we[’']ve", "the user has"),
        (r"i|me|we|us|myself", "the user"),
    )
)
"""Facts are statements about “the user”. A question put the same way is closer to its answer and no closer to the
rest: with it a floor that keeps 95 of 100 right statements lets through 1.5 wrong ones of 20 instead of 1.9, and of
small talk 0.1 instead of 0.9 (the 55 questions of `memory/ranking.py`)."""


def ends(text: str) -> str:
    """The text, or of a long one its beginning and its end."""
    clean = text.replace("\x00", " ")
    if len(clean) <= 2 * QUESTION_ENDS:
        return clean
    return f"{clean[:QUESTION_ENDS]} {clean[-QUESTION_ENDS:]}"


def in_third_person(question: str) -> str:
    """“Where does my sister live?” → “Where does the user's sister live?”"""
    for pattern, said in _THIRD_PERSON:
        question = pattern.sub(said, question)
    return question


# The search ------------------------------------------------------------------------------------------------------

# Every part of it starts at the user's own rows. A word weighs more the fewer of the user's facts hold it; one that no
# fact holds still counts in the whole, so that a long question about something else does not fit by a single word.
# Backslash and quote are doubled: a word is data in the query, never syntax.
_SQL: Final = r"""
WITH own AS NOT MATERIALIZED (
    SELECT id, vector, embedded_by, search
    FROM memory_fact
    WHERE user_id = %(user)s AND status = 'active'
        AND (valid_from IS NULL OR valid_from <= %(now)s) AND (valid_until IS NULL OR valid_until > %(now)s)
        AND (key = '' OR importance < %(guaranteed)s)
        AND id <> ALL(%(excluded)s::bigint[])
), asked AS MATERIALIZED (
    SELECT word, ('''' || replace(replace(word, '\', '\\'), '''', '''''') || '''')::tsquery AS query
    FROM unnest(tsvector_to_array(to_tsvector('english', %(words)s))) AS word
), hits AS MATERIALIZED (
    SELECT own.id, asked.word FROM own JOIN asked ON own.search @@ asked.query
), weights AS MATERIALIZED (
    SELECT asked.word, ln(1 + (SELECT count(*) FROM own)::float / (0.5 + count(hits.id))) AS weight
    FROM asked LEFT JOIN hits USING (word) GROUP BY asked.word
), by_words AS (
    SELECT id, sum(weight) / (SELECT sum(weight) FROM weights) AS share
    FROM hits JOIN weights USING (word) GROUP BY id
    ORDER BY share DESC, id LIMIT %(limit)s
), by_meaning AS (
    SELECT id FROM own
    WHERE embedded_by = %(model)s AND vector IS NOT NULL
    ORDER BY vector <=> %(vector)s::vector, id LIMIT %(limit)s
)
SELECT id, statement, recorded_at, message_id, importance, times_used,
    CASE WHEN embedded_by = %(model)s THEN vector <=> %(vector)s::vector END AS distance,
    coalesce(share, 0) AS words
FROM by_meaning FULL OUTER JOIN by_words USING (id) JOIN memory_fact USING (id)
"""


@dataclass(frozen=True, slots=True)
class _Found:
    """One row of the search."""

    candidate: Candidate
    message_id: int | None


def _search(
    user: User, words: str, vector: Sequence[float], model: str, now: datetime, excluded: Sequence[int]
) -> list[_Found]:
    parameters: dict[str, Any] = {
        "user": user.pk,
        "words": words,
        "vector": str(vector),
        "model": model,
        "now": now,
        "excluded": excluded,
        "guaranteed": GUARANTEED_IMPORTANCE,
        "limit": LEG_LIMIT,
    }
    with connection.cursor() as cursor:
        cursor.execute(_SQL, parameters)
        return [_found(*row) for row in cursor.fetchall()]


def _found(
    pk: int,
    statement: str,
    recorded_at: datetime,
    message_id: int | None,
    importance: float,
    times_used: int,
    distance: float | None,
    words: float,
) -> _Found:
    candidate = Candidate(
        ref=f"fact:{pk}",
        text=statement,
        when=recorded_at,
        distance=distance,
        words=words,
        importance=importance,
        times_used=times_used,
    )
    return _Found(candidate, message_id)


def _recollection(
    ranked: Iterable[Ranked], messages: Mapping[str, int | None], timings: Mapping[str, float]
) -> Recollection:
    kept, cut = [], []
    for row in ranked:
        item = _item(row, messages[row.candidate.ref])
        if row.rule is None:
            kept.append(item)
        else:
            cut.append(CutItem(item, row.rule))
    return Recollection(tuple(kept), tuple(cut), timings)


def _item(row: Ranked, message_id: int | None) -> MemoryItem:
    candidate = row.candidate
    return MemoryItem(
        ref=candidate.ref,
        source="fact",
        text=candidate.text,
        when=candidate.when,
        message_id=message_id,
        parts=row.parts,
        score=row.total,
    )


def _milliseconds(**seconds: float) -> dict[str, float]:
    return {step: round(1000 * length, 2) for step, length in seconds.items()}
