"""The conversation list: pinned conversations first, then by day. Archived ones have a list of their own.

The list's state is in the URL, so every variant is a plain link: `list=archived`, `select=some` or `select=all` (with
checkboxes), `listed=200` (how many).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Final, Literal
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.db.models import F
from django.http import QueryDict

from accounts.models import User
from chat.models import Conversation
from recall.text import whole_number

LISTED: Final = 100
"""Conversations listed at first: a screen fits thirty, and each costs a row and 300 bytes."""
MAX_LISTED: Final = 10_000
PINNED: Final = "Pinned"

type Selecting = Literal["", "some", "all"]


@dataclass(frozen=True, slots=True)
class ListQuery:
    """Which conversations are listed, and how."""

    archived: bool = False
    selecting: Selecting = ""
    """With checkboxes: none of them checked, or all."""
    listed: int = LISTED

    @property
    def query(self) -> str:
        """Query string for this list; empty for the default list."""
        fields = {
            "list": "archived" if self.archived else "",
            "select": self.selecting,
            "listed": str(self.listed) if self.listed != LISTED else "",
        }
        return urlencode({name: value for name, value in fields.items() if value})

    @property
    def selecting_some(self) -> str:
        return replace(self, selecting="some").query

    @property
    def selecting_all(self) -> str:
        return replace(self, selecting="all").query

    @property
    def without_boxes(self) -> str:
        return replace(self, selecting="").query

    @property
    def more(self) -> str:
        """Query string for a longer list."""
        return replace(self, listed=self.listed + LISTED).query


def parse_list_query(query: QueryDict) -> ListQuery:
    """Parse a query string; invalid values give the default list."""
    listed, selecting = query.get("listed", ""), query.get("select", "")
    limit = min(whole_number(listed) or LISTED, MAX_LISTED)
    boxes: Selecting = "all" if selecting == "all" else "some" if selecting else ""
    return ListQuery(query.get("list") == "archived", boxes, max(limit, LISTED))


@dataclass(frozen=True, slots=True)
class ConversationList:
    """Conversations grouped under headings."""

    groups: list[tuple[str, list[Conversation]]]
    has_more: bool
    has_archived: bool
    wanted: ListQuery


def conversation_list(user: User, now: datetime, query: ListQuery | None = None) -> ConversationList:
    """The user's conversations, grouped by day in the user's time zone. Two queries."""
    query = query or ListQuery()
    conversations = Conversation.objects.not_deleted().for_user(user)
    rows = conversations.filter(archived_at__isnull=not query.archived)
    ordered = rows.order_by(F("pinned_at").desc(nulls_last=True), "-last_activity_at")
    shown = list(ordered.only("id", "title", "last_activity_at", "pinned_at")[: query.listed + 1])
    groups = _group_by_heading(shown[: query.listed], user.zone, now.astimezone(user.zone).date())
    has_archived = query.archived or conversations.filter(archived_at__isnull=False).exists()
    return ConversationList(groups, len(shown) > query.listed, has_archived, query)


def _group_by_heading(
    shown: Iterable[Conversation], zone: ZoneInfo, today: date
) -> list[tuple[str, list[Conversation]]]:
    def heading(conversation: Conversation) -> str:
        if conversation.pinned_at is not None:
            return PINNED
        return day_heading(conversation.last_activity_at.astimezone(zone).date(), today)

    return [(name, list(group)) for name, group in groupby(shown, heading)]


def day_heading(day: date, today: date) -> str:
    if day >= today:
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    if day > today - timedelta(days=7):
        return f"{day:%A}"
    return f"{day:%B}" if day.year == today.year else f"{day:%B %Y}"
