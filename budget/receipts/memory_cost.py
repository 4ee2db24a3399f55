"""What does a memory cost, and is it worth it? Tokens and uses of each, and which of them could be retired.

Nobody can look into a model and see which memory decided an answer. What can be known is where a memory stood among
those that were recalled with it: one that was never among the best has only ever come along. Lines of the profile
stand in every prompt by their kind and not because a question asked for them; they are judged by their importance.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import connection

from accounts.models import User
from budget.planning.plan import Section

PERIOD: Final = timedelta(days=30)
"""What is older says little about what is worth its tokens today."""
TURNS: Final = 400
"""The latest turns of the period that are added up: beyond, the sum takes longer than a page may (docs/budget.md)."""
LISTED: Final = 30
"""Memories on the page, the dearest first."""
SUGGESTED: Final = 10
"""Of those to retire: a longer list is not read."""

AMONG_THE_BEST: Final = 3
"""So many recalled memories of a prompt may well have decided its answer (seed 003: the best three)."""
OFTEN: Final = 8
"""Prompts in which a memory stood before it is judged: fewer may be chance."""
COSTLY: Final = 300
"""Tokens below which retiring a memory is not worth a thought."""
COSTLY_SHARE: Final = 0.005
"""Share of all memories' tokens, likewise: the larger of the two counts."""
IMPORTANT: Final = 0.7
"""From this importance on nothing is suggested: goals, identity and decisions may be silent for long (DESIGN §3)."""


@dataclass(frozen=True, slots=True)
class MemoryUsage:
    """What one memory took of the prompts of the period."""

    ref: str
    section: Section
    times: int
    """Prompts it stood in."""
    tokens: int
    """Over all of them."""
    last_used: datetime
    best_place: int | None
    """Among the recalled memories of its prompts, 1 is the best; None: of the profile, where there are no places."""


@dataclass(frozen=True, slots=True)
class Worth:
    """A memory's economics."""

    spent: MemoryUsage
    share: float
    """Of all memories' tokens, 0–1."""
    importance: float | None
    """None: not known, or the memory has none."""
    reason: str
    """Why it could be retired; empty: keep it."""


@dataclass(frozen=True, slots=True)
class Economy:
    """All memories of the period."""

    turns: int
    """Prompts that were added up."""
    tokens: int
    """Of all memories in them."""
    memories: int
    worths: Sequence[Worth]
    """The dearest first; at most LISTED."""
    to_retire: Sequence[Worth]
    """Those that could go, the dearest first; at most SUGGESTED."""


def economy(
    spent: Sequence[MemoryUsage], turns: int, importance: Mapping[str, float], gone: Collection[str] = ()
) -> Economy:
    """`spent`: every memory; `importance`: by ref, 0–1, as it is today; `gone`: refs that need no retiring any more."""
    tokens = sum(one.tokens for one in spent)
    dearest = sorted(spent, key=lambda one: (-one.tokens, one.ref))
    worths = [_worth(one, tokens, importance.get(one.ref)) for one in dearest]
    to_retire = [worth for worth in worths if worth.reason and worth.spent.ref not in gone]
    return Economy(turns, tokens, len(spent), worths[:LISTED], to_retire[:SUGGESTED])


def why_retire(spent: MemoryUsage, importance: float | None, all_tokens: int) -> str:
    """Why this memory could be retired, as a sentence; empty: it earns its place, or it is too early to say."""
    if importance is not None and importance >= IMPORTANT:
        return ""
    if spent.times < OFTEN or spent.tokens < max(COSTLY, COSTLY_SHARE * all_tokens):
        return ""
    if spent.best_place is None:
        return _of_profile(spent, importance)
    if spent.best_place <= AMONG_THE_BEST:
        return ""
    return (
        f"Used in {spent.times:,} prompts, but never among the {AMONG_THE_BEST} best matches (best rank "
        f"{spent.best_place})."
    )


def _of_profile(spent: MemoryUsage, importance: float | None) -> str:
    if importance is None or not spent.ref.startswith("fact:"):
        return ""  # the person's own prose: theirs to shorten
    level = 1 + round(importance * 4)
    return f"Included in {spent.times:,} prompts automatically, with importance {level} of 5."


def _worth(spent: MemoryUsage, all_tokens: int, importance: float | None) -> Worth:
    share = spent.tokens / all_tokens if all_tokens else 0.0
    return Worth(spent, share, importance, why_retire(spent, importance, all_tokens))


# Adding up ------------------------------------------------------------------------------------------------------------


def spent_since(user: User, since: datetime, turns: int = TURNS) -> tuple[list[MemoryUsage], int]:
    """What each memory took in the latest `turns` prompts since that moment, and how many prompts there were.

    One statement. What was cut is not counted: it took no tokens.
    """
    with connection.cursor() as cursor:
        cursor.execute(_SPENT_SQL, {"user": user.pk, "since": since, "turns": turns, "sections": _SECTIONS})
        rows = cursor.fetchall()
    counted = next((row[-1] for row in rows), 0)
    return [MemoryUsage(row[0], Section(row[1]), *row[2:-1]) for row in rows], counted


def labels(user: User, worths: Iterable[Worth]) -> dict[str, tuple[str, str]]:
    """What the latest prompt with each of these called it, and its address: by ref. One statement."""
    moments = {worth.spent.last_used for worth in worths}
    with connection.cursor() as cursor:
        cursor.execute(_LABELS_SQL, {"user": user.pk, "moments": list(moments), "sections": _SECTIONS})
        return {ref: (label, url) for ref, label, url in cursor.fetchall()}


_SECTIONS: Final = [Section.MEMORIES.value, Section.PROFILE.value]
_SPENT_SQL: Final = """
    WITH latest AS (
        SELECT id, created_at, items FROM budget_receipt
        WHERE user_id = %(user)s AND created_at >= %(since)s
        ORDER BY created_at DESC LIMIT %(turns)s
    ), kept AS (
        SELECT latest.id, latest.created_at, item.*
        FROM latest, jsonb_to_recordset(latest.items)
            AS item(ref text, section text, tokens int, score float, kept bool)
        WHERE item.kept AND item.section = ANY(%(sections)s) AND item.ref NOT LIKE 'update:%%'
    ), placed AS (
        SELECT ref, section, created_at, tokens,
            CASE WHEN section = 'memories'
                THEN rank() OVER (PARTITION BY id, section ORDER BY score DESC NULLS LAST) END AS place
        FROM kept
    )
    SELECT ref, section, count(*), sum(tokens), max(created_at), min(place), (SELECT count(*) FROM latest)
    FROM placed GROUP BY ref, section
"""
_LABELS_SQL: Final = """
    SELECT item.ref, item.label, item.url
    FROM budget_receipt, jsonb_to_recordset(items) AS item(ref text, section text, label text, url text, kept bool)
    WHERE user_id = %(user)s AND created_at = ANY(%(moments)s) AND item.kept AND item.section = ANY(%(sections)s)
    ORDER BY created_at
"""
