"""Merges the summaries of many segments into one: breadth is kept, detail is dropped.

    topics      the first of each segment, then the second of each, … up to half the limit
    narrative   “Earlier: … Then: … Then: …”, each part with an equal share, as long as that is readable
    sentences   as many of each kind as fit, in chronological order

Among equals, what to drop is chosen by digest, not by age: old segments lose no more than new ones, and the choice is
the same whether ten summaries are merged at once or one by one. Merged summaries can be merged again: a summary of many
turns counts as that many segments.
"""

import bisect
import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

from chat.compaction.summaries.schema import (
    KINDS,
    MIN_LIMIT,
    NARRATIVE_SHARE,
    TOPICS_SHARE,
    WROTE,
    Summary,
    fit_topics,
    render,
)
from chat.compaction.summaries.truncate import fit_evenly
from recall.llm.tokens import count_tokens

EARLIER: Final = "Earlier: "
THEN: Final = " Then: "
NARRATIVE_OF_MANY: Final = NARRATIVE_SHARE * 0.6
"""Share of the limit for the narrative: for a long time span, topics and decisions say more."""
PART_TOKENS: Final = 20
"""Tokens a part needs to be readable. If there are more parts than room, some are left out."""
DIGEST_CHARS: Final = 12
"""Characters of a part that its digest covers: its end may have been cut before."""
SEGMENT_TURNS: Final = 10
"""Turns of a typical segment: a summary of 90 turns contributes the first topics of nine segments."""
MARGIN: Final = 8
"""Tokens kept free: token counts of joined texts don't quite add up."""

type Part = tuple[int, int, Summary]
"""First turn, last turn, summary."""


def merge(segments: Sequence[Part], limit_tokens: int) -> Summary:
    """Merge consecutive segments; the result, rendered for all their turns, stays within `limit_tokens`."""
    parts = sorted(segments, key=lambda part: part[:2])
    if len(parts) <= 1:
        return parts[0][2] if parts else Summary()
    first, last = parts[0][0], max(until for _, until, _ in parts)
    limit = max(limit_tokens, MIN_LIMIT)
    outline = Summary(topics=_topics(parts, limit), narrative=_narrative(parts, limit))
    return _with_sentences(outline, parts, limit - count_tokens(render(outline, first, last, limit)) - MARGIN)


# Topics ----------------------------------------------------------------------------------------------------------


def _topics(parts: Iterable[Part], limit: int) -> tuple[str, ...]:
    """Topics that fit, the leading ones of each segment first; among equals in segment order."""
    ranks: dict[str, tuple[int, int, str]] = {}
    for age, (first, last, summary) in enumerate(parts):
        for place, topic in enumerate(summary.topics):
            rank = place * SEGMENT_TURNS // max(SEGMENT_TURNS, last - first + 1)
            known = ranks.get(topic.casefold(), (rank, age, topic))
            ranks[topic.casefold()] = (min(rank, known[0]), *known[1:])
    drawn = sorted(ranks.values(), key=lambda found: (found[0], _digest(found[2].casefold())))
    kept = frozenset(fit_topics((topic for *_, topic in drawn), int(limit * TOPICS_SHARE) - MARGIN * 3))
    return tuple(topic for *_, topic in sorted(ranks.values(), key=lambda found: found[:2]) if topic in kept)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()


# Narrative -------------------------------------------------------------------------------------------------------


def _narrative(parts: Iterable[Part], limit: int) -> str:
    narratives = [text for *_, summary in parts for text in _split_narrative(summary.narrative)]
    opening = WROTE if any(text.startswith(WROTE) for text in narratives) else ""
    bare = [text.removeprefix(WROTE) for text in narratives]
    room = int(limit * NARRATIVE_OF_MANY)
    drawn = frozenset(sorted(bare, key=lambda text: _digest(text[:DIGEST_CHARS]))[: max(1, room // PART_TOKENS)])
    short = fit_evenly(
        [text for text in bare if text in drawn], room - count_tokens(EARLIER + opening), count_tokens(THEN) + 1
    )
    return f"{EARLIER if len(narratives) > 1 else ''}{opening}{THEN.join(short)}" if short else ""


def _split_narrative(narrative: str) -> list[str]:
    """The parts of a narrative, which may itself be merged."""
    parts = narrative.removeprefix(EARLIER).split(THEN) if narrative.startswith(EARLIER) else [narrative]
    return [part for part in parts if part]


# Sentences -------------------------------------------------------------------------------------------------------


def _with_sentences(outline: Summary, parts: Sequence[Part], room: int) -> Summary:
    """The outline with as many sentences as fit, the same number of each kind."""
    said = {kind: [text for *_, summary in parts for text in getattr(summary, kind)] for kind in KINDS}
    most = max(map(len, said.values()))
    fit = bisect.bisect_left(range(1, most + 1), True, key=lambda n: _size(_pick_sentences(said, n)) > room)
    kept = _pick_sentences(said, fit)
    return Summary(**kept, topics=outline.topics, narrative=outline.narrative)


def _pick_sentences(said: dict[str, list[str]], most: int) -> dict[str, tuple[str, ...]]:
    """At most `most` of each kind, in chronological order."""
    drawn = {kind: frozenset(sorted(dict.fromkeys(texts), key=_digest)[:most]) for kind, texts in said.items()}
    return {kind: tuple(dict.fromkeys(text for text in said[kind] if text in drawn[kind])) for kind in KINDS}


def _size(said: dict[str, tuple[str, ...]]) -> int:
    return sum(count_tokens(f"\nAction item: {text}") for texts in said.values() for text in texts)
