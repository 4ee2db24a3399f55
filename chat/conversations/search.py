"""Where did we speak of that? The person's messages, answers and titles by their words, grouped by conversation.

Words are looked up in `Message.search` (`simple`: any language, no endings taken off). Of what was said, the newest
`NEWEST` that hold them are weighed: how well the words fit, and how lately it was said. A text that stands in a
conversation more than once (tried again, sent again on another branch) is shown once, where it is still followed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from itertools import groupby
from typing import Any, Final, LiteralString
from uuid import UUID

from django.db import connection
from django.db.models import Q
from django.utils.safestring import SafeString

from accounts.models import User
from chat.conversations.search_query import SearchQuery, highlight, parse_query, snippet
from chat.messages.rendering import told_time
from chat.models import Conversation, Message

NEWEST: Final = 200
"""Messages that are weighed, of the conversations that were active last: of a common word one wants the latest, and
weighing all of 50,000 takes a second."""
A_PAGE: Final = 10
"""Conversations shown at once."""
HITS: Final = 3
"""Hits shown of each; the rest is a number, and a search in that conversation alone."""
TITLES: Final = 100
"""Conversations found by their titles."""
HALF_LIFE: Final = timedelta(days=90)
"""After so long a hit counts half as much, of two that fit alike: people look for what they spoke of lately."""
TITLE_WEIGHT: Final = 2.0
"""A title that holds the words counts as the best hit, twice."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which of it is wanted."""

    role: str = ""
    """user or assistant; empty: both."""
    since: date | None = None
    until: date | None = None
    archived: str = ""
    """no or only; empty: archived conversations too."""
    newest_first: bool = False
    conversation: UUID | None = None
    """Only in this one."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One message that was found."""

    id: int
    author: str
    snippet: SafeString
    when: str
    said_at: datetime
    is_followed: bool
    """It stands on the branch that is followed; else on one that was left."""


@dataclass(frozen=True, slots=True)
class FoundConversation:
    """One conversation, and what was found in it."""

    conversation: Conversation
    title: SafeString
    hits: list[Hit]
    more: int
    """Hits that are not shown."""


@dataclass(frozen=True, slots=True)
class Results:
    """One page of what was found."""

    found: list[FoundConversation] = field(default_factory=list)
    next_page: int = 0
    """0: this is the last."""
    conversations: int = 0
    is_cut: bool = False
    """More messages hold the words than were weighed: those are the newest."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A message that holds the words."""

    conversation: UUID
    id: int
    role: str
    digest: str
    rank: float
    said_at: datetime


def search(user: User, typed: str, only: Filter, now: datetime, page: int = 1) -> Results:
    """One page of what was said in those words. At most five statements."""
    words = parse_query(typed)
    if not words.terms:
        return Results()
    rows = _rows(user, words, only)
    titled = _titled(user, words, only)
    ordered = _ordered(rows, titled, only, now)
    shown = ordered[(page - 1) * A_PAGE : page * A_PAGE]
    return Results(
        found=_told(user, words, shown, rows, only, now),
        next_page=page + 1 if len(ordered) > page * A_PAGE else 0,
        conversations=len(ordered),
        is_cut=len(rows) == NEWEST,
    )


# Finding -----------------------------------------------------------------------------------------------------------

# A common word is found in the conversations that were active last, one after the other, until there is enough; a rare
# one by the index of words: PostgreSQL knows which is which. Ordered by their numbers alone, messages of everybody else
# would be read, too. The id is cast, as the index has it as bigint: by a bare number, an integer, it cannot be used.
_FIND: Final[LiteralString] = """
SELECT conversation_id, id, role, md5(text), ts_rank_cd(search, query, 1), created_at
FROM (
    SELECT message.id, message.conversation_id, message.role, message.text, message.search, message.created_at,
        {query} AS query
    FROM chat_message AS message JOIN chat_conversation AS held ON held.id = message.conversation_id
    WHERE message.user_id = %(user)s::bigint AND held.user_id = %(user)s::bigint AND message.search @@ {query}
        AND held.deleted_at IS NULL
        AND message.role = ANY(%(roles)s) AND NOT message.event_data ? 'continues' {only}
    ORDER BY held.last_activity_at DESC, message.id DESC LIMIT %(newest)s
) AS newest
"""
_WORDS: Final[LiteralString] = "websearch_to_tsquery('simple', %(words)s)"
_BEGINNING: Final[LiteralString] = "to_tsquery('simple', %(beginning)s)"
_BOTH: Final[LiteralString] = f"({_WORDS} && {_BEGINNING})"
_EITHER: Final[LiteralString] = f"({_WORDS} || {_BEGINNING})"
_ONLY: Final[dict[str, LiteralString]] = {
    "since": "AND message.created_at >= %(since)s",
    "until": "AND message.created_at < %(until)s",
    "conversation": "AND message.conversation_id = %(conversation)s",
    "not_archived": "AND held.archived_at IS NULL",
    "archived": "AND held.archived_at IS NOT NULL",
}


def _rows(user: User, words: SearchQuery, only: Filter) -> list[_Row]:
    """The newest messages that hold the words, each text of a conversation as often as it stands there."""
    query = _EITHER if words.joined_by_or else _BOTH if words.words and words.beginning else _WORDS
    query = query if words.words else _BEGINNING
    values: dict[str, Any] = {
        "user": user.pk,
        "words": words.words,
        "beginning": words.prefix_query,
        "roles": [only.role] if only.role else [Message.Role.USER, Message.Role.ASSISTANT],
        "since": _midnight(user, only.since) if only.since else None,
        "until": _midnight(user, only.until, days=1) if only.until else None,
        "conversation": only.conversation,
        "newest": NEWEST,
    }
    named = [name for name in ("since", "until", "conversation") if values[name] is not None]
    named += {"no": ["not_archived"], "only": ["archived"]}.get(only.archived, [])
    sql = _FIND.format(query=query, only=" ".join(_ONLY[name] for name in named))
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return [_Row(*row) for row in cursor.fetchall()]


def _titled(user: User, words: SearchQuery, only: Filter) -> dict[UUID, datetime]:
    """Conversations whose title holds the words, and when they were last active."""
    if only.role or only.conversation:
        return {}
    holding = Q()
    for term in words.terms:
        holding = holding | Q(title__icontains=term) if words.any_will_do else holding & Q(title__icontains=term)
    for term in words.unwanted:
        holding &= ~Q(title__icontains=term)
    mine = Conversation.objects.not_deleted().for_user(user).filter(holding)
    if only.archived:
        mine = mine.filter(archived_at__isnull=only.archived == "no")
    if only.since:
        mine = mine.filter(last_activity_at__gte=_midnight(user, only.since))
    if only.until:
        mine = mine.filter(started_at__lt=_midnight(user, only.until, days=1))
    return dict(mine.latest_first().values_list("pk", "last_activity_at")[:TITLES])


def _midnight(user: User, day: date, *, days: int = 0) -> datetime:
    """The beginning of a day where the person is, or of one so many days later."""
    return datetime.combine(day, time.min, user.zone) + timedelta(days=days)


# Ordering ----------------------------------------------------------------------------------------------------------


def _ordered(rows: Iterable[_Row], titled: dict[UUID, datetime], only: Filter, now: datetime) -> list[UUID]:
    """The conversations, the best, or the newest, first."""
    best: dict[UUID, float] = {}
    newest: dict[UUID, datetime] = dict(titled)
    top = max((row.rank for row in rows), default=1.0) or 1.0
    for row in rows:
        here = row.rank / top * freshness(now - row.said_at)
        best[row.conversation] = max(best.get(row.conversation, 0.0), here)
        newest[row.conversation] = max(newest.get(row.conversation, row.said_at), row.said_at)
    for conversation, at in titled.items():
        best[conversation] = best.get(conversation, 0.0) + TITLE_WEIGHT * freshness(now - at)
    by_date = sorted(newest, key=lambda one: newest[one], reverse=True)
    return by_date if only.newest_first else sorted(by_date, key=lambda one: best[one], reverse=True)


def freshness(age: timedelta) -> float:
    """1 for now, ½ after HALF_LIFE, never below ¼: an old hit that fits far better still comes first."""
    half_lives: float = max(age, timedelta(0)) / HALF_LIFE
    return max(0.25, math.pow(0.5, half_lives))


# Telling -----------------------------------------------------------------------------------------------------------


def _told(
    user: User, words: SearchQuery, shown: Sequence[UUID], rows: Sequence[_Row], only: Filter, now: datetime
) -> list[FoundConversation]:
    conversations = Conversation.objects.not_deleted().for_user(user).in_bulk(shown)
    followed = _followed(conversations)
    by_conversation = {pk: _once_each(of_one, followed, only) for pk, of_one in _grouped(rows, set(shown))}
    told = [row.id for of_one in by_conversation.values() for row in of_one[: _hits(only)]]
    texts = Message.objects.for_user(user).only("text", "role", "author", "created_at").in_bulk(told)
    found: list[FoundConversation] = []
    for pk in shown:
        mine = by_conversation.get(pk, [])
        hits = [_hit(texts[row.id], words, row.id in followed, user, now) for row in mine[: _hits(only)]]
        title = highlight(conversations[pk].title or "Untitled", words)
        found.append(FoundConversation(conversations[pk], title, hits, len(mine) - len(hits)))
    return found


def _hits(only: Filter) -> int:
    return NEWEST if only.conversation else HITS


def _grouped(rows: Iterable[_Row], wanted: Collection[UUID]) -> Iterable[tuple[UUID, list[_Row]]]:
    mine = sorted((row for row in rows if row.conversation in wanted), key=lambda row: row.conversation)
    return ((pk, list(of_one)) for pk, of_one in groupby(mine, key=lambda row: row.conversation))


def _once_each(rows: Iterable[_Row], followed: Collection[int], only: Filter) -> list[_Row]:
    """The hits of one conversation, best or newest first; of the same text the one that is followed, or the newest."""
    kept: dict[tuple[str, str], _Row] = {}
    for row in sorted(rows, key=lambda row: (row.id in followed, row.id), reverse=True):
        kept.setdefault((row.role, row.digest), row)
    newest = sorted(kept.values(), key=lambda row: row.id, reverse=True)
    return newest if only.newest_first else sorted(newest, key=lambda row: row.rank, reverse=True)


def _followed(conversations: dict[UUID, Conversation]) -> set[int]:
    """Every message on the branch that each of these follows. One statement, without texts."""
    said = Message.objects.filter(conversation__in=conversations).exclude(role=Message.Role.TOOL)
    parents = dict(said.order_by().values_list("pk", "parent_id"))
    followed: set[int] = set()
    for conversation in conversations.values():
        step = conversation.active_leaf_id
        while step is not None and step in parents:
            followed.add(step)
            step = parents[step]
    return followed


def _hit(message: Message, words: SearchQuery, is_followed: bool, user: User, now: datetime) -> Hit:
    return Hit(
        id=message.pk,
        author=message.author or ("You" if message.role == Message.Role.USER else "Recall"),
        snippet=snippet(message.text, words),
        when=told_time(message.created_at, user.zone, now),
        said_at=message.created_at,
        is_followed=is_followed,
    )
