"""Conversation search: the user's messages, answers and titles by their words, grouped by conversation.

Words are looked up in `Message.search` (`simple`: any language, no stemming). Of the matching messages, the newest
`MAX_RANKED` are ranked by text match and age. A text that occurs more than once in a conversation is shown once, on the
active branch if possible.
"""

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
from chat.messages.branch_path import follow_parents
from chat.models import Conversation, Message
from memory.text.plain_words import plain_words
from recall.db.acting import searching_for

MAX_RANKED: Final = 200
"""Messages ranked, from the conversations active last: for a common word the latest matter, and ranking 50,000 takes a
second."""
PAGE_SIZE: Final = 10
"""Conversations per page."""
HITS_SHOWN: Final = 3
"""Hits shown per conversation; the rest is a count and a link to a search in that conversation."""
MAX_TITLES: Final = 100
"""Maximum conversations found by title."""
HALF_LIFE: Final = timedelta(days=90)
"""After this long a hit counts half as much as an equal new one."""
TITLE_WEIGHT: Final = 2.0
"""A matching title counts as much as the two best hits."""


@dataclass(frozen=True, slots=True)
class Filter:
    role: str = ""
    """user or assistant; empty: both."""
    since: date | None = None
    until: date | None = None
    archived: str = ""
    """no or only; empty: archived conversations too."""
    newest_first: bool = False
    conversation: UUID | None = None
    """Only in this conversation."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One matching message."""

    id: int
    author: str
    snippet: SafeString
    said_at: datetime
    is_followed: bool
    """It is on the active branch."""


@dataclass(frozen=True, slots=True)
class FoundConversation:
    """One conversation with its hits."""

    conversation: Conversation
    title: SafeString
    hits: list[Hit]
    more: int
    """Hits not shown."""


@dataclass(frozen=True, slots=True)
class Results:
    """One page of results."""

    found: list[FoundConversation] = field(default_factory=list)
    next_page: int = 0
    """The next page's number; 0: this is the last."""
    conversations: int = 0
    is_cut: bool = False
    """Whether more messages match than were ranked; only the newest were."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A matching message before its text is loaded."""

    conversation: UUID
    id: int
    role: str
    digest: str
    rank: float
    said_at: datetime


def search(user: User, typed: str, filters: Filter, now: datetime, page: int = 1) -> Results:
    """One page of results. At most five queries."""
    query = parse_query(typed)
    if not query.terms:
        return Results()
    rows = _match_messages(user, query, filters)
    titled = _match_titles(user, query, filters)
    ordered = _rank_conversations(rows, titled, filters, now)
    page_ids = ordered[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
    return Results(
        found=_build_results(user, query, page_ids, rows, filters),
        next_page=page + 1 if len(ordered) > page * PAGE_SIZE else 0,
        conversations=len(ordered),
        is_cut=len(rows) == MAX_RANKED,
    )


def find_messages(user: User, typed: str, now: datetime, without: Collection[UUID], most: int) -> list[Message]:
    """The best match of each conversation not among `without`, best conversation first. At most two queries."""
    rows = [row for row in _match_messages(user, parse_query(typed), Filter()) if row.conversation not in without]
    best = {row.conversation: row.id for row in sorted(rows, key=lambda row: (row.rank, row.id))}
    ids = [best[conversation] for conversation in _rank_conversations(rows, {}, Filter(), now)[:most]]
    messages = Message.objects.for_user(user).select_related("conversation").only("text", "conversation__title")
    found = messages.in_bulk(ids)
    return [found[pk] for pk in ids if pk in found]


# Matching --------------------------------------------------------------------------------------------------------

# PostgreSQL chooses the plan: a common word is found by reading the latest conversations until there are enough hits, a
# rare one through the GIN index. Ordered by id alone, other users' messages would be read too. The user id is cast to
# bigint, as in the index: a plain integer parameter would not use it.
_FIND: Final[LiteralString] = """
SELECT conversation_id, id, role, md5(text), ts_rank_cd(search, query, 1), created_at
FROM (
    SELECT message.id, message.conversation_id, message.role, message.text, message.search, message.created_at,
        {query} AS query
    FROM own_chat_message AS message JOIN chat_conversation AS held ON held.id = message.conversation_id
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
_CONDITIONS: Final[dict[str, LiteralString]] = {
    "since": "AND message.created_at >= %(since)s",
    "until": "AND message.created_at < %(until)s",
    "conversation": "AND message.conversation_id = %(conversation)s",
    "not_archived": "AND held.archived_at IS NULL",
    "archived": "AND held.archived_at IS NOT NULL",
}


def _match_messages(user: User, words: SearchQuery, filters: Filter) -> list[_Row]:
    """The newest matching messages; the same text may occur several times."""
    query = _EITHER if words.joined_by_or else _BOTH if words.words and words.beginning else _WORDS
    query = query if words.words else _BEGINNING
    values: dict[str, Any] = {
        "user": user.pk,
        "words": words.words,
        "beginning": words.prefix_query,
        "roles": [filters.role] if filters.role else [Message.Role.USER, Message.Role.ASSISTANT],
        "since": _midnight(user, filters.since) if filters.since else None,
        "until": _midnight(user, filters.until, days=1) if filters.until else None,
        "conversation": filters.conversation,
        "newest": MAX_RANKED,
    }
    named = [name for name in ("since", "until", "conversation") if values[name] is not None]
    named += {"no": ["not_archived"], "only": ["archived"]}.get(filters.archived, [])
    sql = _FIND.format(query=query, only=" ".join(_CONDITIONS[name] for name in named))
    with searching_for(user.pk), connection.cursor() as cursor:
        cursor.execute(sql, values)
        return [_Row(*row) for row in cursor.fetchall()]


def _match_titles(user: User, words: SearchQuery, filters: Filter) -> dict[UUID, datetime]:
    """Conversations with a matching title, and when they were last active."""
    if filters.role or filters.conversation:
        return {}
    holding = Q()
    for term in words.terms:
        holding = holding | Q(title__icontains=term) if words.any_will_do else holding & Q(title__icontains=term)
    for term in words.unwanted:
        holding &= ~Q(title__icontains=term)
    owned = Conversation.objects.not_deleted().for_user(user).filter(holding)
    if filters.archived:
        owned = owned.filter(archived_at__isnull=filters.archived == "no")
    if filters.since:
        owned = owned.filter(last_activity_at__gte=_midnight(user, filters.since))
    if filters.until:
        owned = owned.filter(started_at__lt=_midnight(user, filters.until, days=1))
    return dict(owned.latest_first().values_list("pk", "last_activity_at")[:MAX_TITLES])


def _midnight(user: User, day: date, *, days: int = 0) -> datetime:
    """Start of a day in the user's time zone, or of `days` later."""
    return datetime.combine(day, time.min, user.zone) + timedelta(days=days)


# Ordering --------------------------------------------------------------------------------------------------------


def _rank_conversations(
    rows: Iterable[_Row], titled: dict[UUID, datetime], filters: Filter, now: datetime
) -> list[UUID]:
    """Conversation ids, best or newest first."""
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
    return by_date if filters.newest_first else sorted(by_date, key=lambda one: best[one], reverse=True)


def freshness(age: timedelta) -> float:
    """1 for now, ½ after HALF_LIFE, never below ¼: an old hit that matches far better still comes first."""
    half_lives: float = max(age, timedelta(0)) / HALF_LIFE
    return max(0.25, math.pow(0.5, half_lives))


# Results ---------------------------------------------------------------------------------------------------------


def _build_results(
    user: User, words: SearchQuery, shown: Sequence[UUID], rows: Sequence[_Row], filters: Filter
) -> list[FoundConversation]:
    conversations = Conversation.objects.not_deleted().for_user(user).in_bulk(shown)
    followed = _active_messages(conversations)
    by_conversation = {pk: _deduplicate(of_one, followed, filters) for pk, of_one in _group_rows(rows, set(shown))}
    hit_ids = [row.id for of_one in by_conversation.values() for row in of_one[: _hits_shown(filters)]]
    texts = Message.objects.for_user(user).only("text", "role", "author", "created_at").in_bulk(hit_ids)
    found: list[FoundConversation] = []
    for pk in shown:
        rows_of = by_conversation.get(pk, [])
        hits = [_build_hit(texts[row.id], words, row.id in followed) for row in rows_of[: _hits_shown(filters)]]
        title = highlight(plain_words(conversations[pk].title) or "Untitled", words)
        found.append(FoundConversation(conversations[pk], title, hits, len(rows_of) - len(hits)))
    return found


def _hits_shown(filters: Filter) -> int:
    return MAX_RANKED if filters.conversation else HITS_SHOWN


def _group_rows(rows: Iterable[_Row], wanted: Collection[UUID]) -> Iterable[tuple[UUID, list[_Row]]]:
    ordered = sorted((row for row in rows if row.conversation in wanted), key=lambda row: row.conversation)
    return ((pk, list(of_one)) for pk, of_one in groupby(ordered, key=lambda row: row.conversation))


def _deduplicate(rows: Iterable[_Row], followed: Collection[int], filters: Filter) -> list[_Row]:
    """Hits of one conversation, best or newest first; of the same text only the active one, or the newest."""
    kept: dict[tuple[str, str], _Row] = {}
    for row in sorted(rows, key=lambda row: (row.id in followed, row.id), reverse=True):
        kept.setdefault((row.role, row.digest), row)
    newest = sorted(kept.values(), key=lambda row: row.id, reverse=True)
    return newest if filters.newest_first else sorted(newest, key=lambda row: row.rank, reverse=True)


def _active_messages(conversations: dict[UUID, Conversation]) -> set[int]:
    """All messages on the active branches of these conversations. One query, without texts."""
    said = Message.objects.filter(conversation__in=conversations).exclude(role=Message.Role.TOOL)
    parents = dict(said.order_by().values_list("pk", "parent_id"))
    return {pk for each in conversations.values() for pk in follow_parents(parents, each.active_leaf_id)}


def _build_hit(message: Message, words: SearchQuery, is_followed: bool) -> Hit:
    return Hit(
        id=message.pk,
        author=message.author or ("You" if message.role == Message.Role.USER else "Recall"),
        snippet=snippet(message.text, words),
        said_at=message.created_at,
        is_followed=is_followed,
    )
