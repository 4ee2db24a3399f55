"""Memory costs: tokens and uses of each memory, and which could be retired.

A model doesn't show which memory decided an answer. What is known is a memory's rank among those retrieved with it: one
that was never among the best didn't decide anything. Profile lines are in every prompt by their kind, so they are
judged by importance.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from django.db import connection

from accounts.models import User
from budget.planning.plan import Section
from recall.db.sql_files import load_sql_parts

PERIOD: Final = timedelta(days=30)
"""The period that counts: older use says little about today's value."""
TURNS: Final = 400
"""Latest turns of the period that are summed: more would take too long for a page (docs/budget.md)."""
LISTED: Final = 30
"""Memories on the page, the most expensive first."""
SUGGESTED: Final = 10
"""Suggestions to retire: a longer list isn't read."""

BEST_RANKS: Final = 3
"""The best memories of a prompt, which may have decided its answer."""
MIN_USES: Final = 8
"""Prompts before a memory is judged: fewer may be chance."""
MIN_TOKENS: Final = 300
"""Tokens below which retiring a memory isn't worthwhile."""
MIN_SHARE: Final = 0.005
"""The same as a share of all memories' tokens; the larger of the two counts."""
IMPORTANT: Final = 0.7
"""Nothing this important is suggested: goals, identity and decisions may go unused for long."""


@dataclass(frozen=True, slots=True)
class MemoryUsage:
    """One memory's use in the period."""

    ref: str
    section: Section
    times: int
    """Prompts that included it."""
    tokens: int
    """Tokens in all of them."""
    last_used: datetime
    best_place: int | None
    """Best rank among the memories of its prompts, from 1; None: a profile line, which has no rank."""


@dataclass(frozen=True, slots=True)
class Worth:
    """A memory's cost and value."""

    spent: MemoryUsage
    share: float
    """Share of all memories' tokens, 0–1."""
    importance: float | None
    """None: unknown, or the memory has no importance."""
    reason: str
    """Why it could be retired; empty: keep it."""


@dataclass(frozen=True, slots=True)
class Economy:
    """Costs of all memories in the period."""

    turns: int
    """Prompts that were summed."""
    tokens: int
    """Tokens of all memories in them."""
    memories: int
    worths: Sequence[Worth]
    """The most expensive first; at most LISTED."""
    to_retire: Sequence[Worth]
    """Suggestions, the most expensive first; at most SUGGESTED."""


def economy(
    spent: Sequence[MemoryUsage], turns: int, importance: Mapping[str, float], gone: Collection[str] = ()
) -> Economy:
    """`spent`: every memory; `importance`: by ref, 0–1, as of today; `gone`: refs already retired."""
    tokens = sum(usage.tokens for usage in spent)
    by_cost = sorted(spent, key=lambda usage: (-usage.tokens, usage.ref))
    worths = [_worth(usage, tokens, importance.get(usage.ref)) for usage in by_cost]
    to_retire = [worth for worth in worths if worth.reason and worth.spent.ref not in gone]
    return Economy(turns, tokens, len(spent), worths[:LISTED], to_retire[:SUGGESTED])


def why_retire(spent: MemoryUsage, importance: float | None, all_tokens: int) -> str:
    """Why this memory could be retired, as a sentence; empty: keep it, or too early to say."""
    if importance is not None and importance >= IMPORTANT:
        return ""
    if spent.times < MIN_USES or spent.tokens < max(MIN_TOKENS, MIN_SHARE * all_tokens):
        return ""
    if spent.best_place is None:
        return _of_profile(spent, importance)
    if spent.best_place <= BEST_RANKS:
        return ""
    return (
        f"Sent in {spent.times:,} prompts, but never among the {BEST_RANKS} best matches (best rank "
        f"{spent.best_place})."
    )


def _of_profile(spent: MemoryUsage, importance: float | None) -> str:
    if importance is None or not spent.ref.startswith("fact:"):
        return ""  # the user's own text: theirs to shorten
    level = 1 + round(importance * 4)
    return f"Included in {spent.times:,} prompts automatically, with importance {level} of 5."


def _worth(spent: MemoryUsage, all_tokens: int, importance: float | None) -> Worth:
    share = spent.tokens / all_tokens if all_tokens else 0.0
    return Worth(spent, share, importance, why_retire(spent, importance, all_tokens))


# Sums -----------------------------------------------------------------------------------------------------------------


def spent_since(user: User, since: datetime, turns: int = TURNS) -> tuple[list[MemoryUsage], int]:
    """Each memory's use in the latest `turns` prompts since that moment, and the number of prompts.

    One statement. Cut memories took no tokens and aren't counted.
    """
    with connection.cursor() as cursor:
        cursor.execute(_SQL["spent"], {"user": user.pk, "since": since, "turns": turns, "sections": _SECTIONS})
        rows = cursor.fetchall()
    counted = next((row[-1] for row in rows), 0)
    return [MemoryUsage(row[0], Section(row[1]), *row[2:-1]) for row in rows], counted


def labels(user: User, worths: Iterable[Worth]) -> dict[str, tuple[str, str]]:
    """Label and address of each in its latest prompt, by ref. One statement."""
    moments = {worth.spent.last_used for worth in worths}
    with connection.cursor() as cursor:
        cursor.execute(_SQL["labels"], {"user": user.pk, "moments": list(moments), "sections": _SECTIONS})
        return {ref: (label, url) for ref, label, url in cursor.fetchall()}


_SECTIONS: Final = [Section.MEMORIES.value, Section.PROFILE.value]
_SQL: Final = load_sql_parts(Path(__file__).with_suffix(".sql"))
