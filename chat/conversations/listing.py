"""What stands in the list beside the chat? Pinned conversations first, then by day; archived ones on a page of its own.

How the list is shown stands in the address, so that every way of it is a plain link: `list=archived`, `select=some` or
`select=all` (with boxes to tick), `listed=200` (how many).
"""

from __future__ import annotations

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

LISTED: Final = 100
"""Conversations in the list at first: a screen holds thirty, and each costs a row and 300 bytes."""
MOST_LISTED: Final = 10_000
PINNED: Final = "Pinned"

type Selecting = Literal["", "some", "all"]


@dataclass(frozen=True, slots=True)
class ListQuery:
    """Which conversations are listed, and how."""

    archived: bool = False
    selecting: Selecting = ""
    """With boxes: none of them ticked, or all."""
    listed: int = LISTED

    @property
    def query(self) -> str:
        """The part of an address that asks for this; empty for the usual list."""
        fields = {
            "list": "archived" if self.archived else "",
            "select": self.selecting,
            "listed": str(self.listed) if self.listed != LISTED else "",
        }
        return urlencode({name: value for name, value in fields.items() if value})

    @property
    def selecting_some(self) -> str:
        """The address's part for the same list with empty boxes …"""
        return replace(self, selecting="some").query

    @property
    def selecting_all(self) -> str:
        """… with all of them ticked …"""
        return replace(self, selecting="all").query

    @property
    def without_boxes(self) -> str:
        """… and without them."""
        return replace(self, selecting="").query

    @property
    def more(self) -> str:
        """The address's part for more of it."""
        return replace(self, listed=self.listed + LISTED).query


def parse_list_query(query: QueryDict) -> ListQuery:
    """What an address asks for; what makes no sense is the usual list."""
    listed, selecting = query.get("listed", ""), query.get("select", "")
    many = min(int(listed), MOST_LISTED) if listed.isdecimal() and len(listed) < 7 else LISTED
    boxes: Selecting = "all" if selecting == "all" else "some" if selecting else ""
    return ListQuery(query.get("list") == "archived", boxes, max(many, LISTED))


@dataclass(frozen=True, slots=True)
class ConversationList:
    """The conversations under their headings, and what else there is."""

    groups: list[tuple[str, list[Conversation]]]
    has_more: bool
    has_archived: bool
    wanted: ListQuery


def conversation_list(user: User, now: datetime, asked: ListQuery | None = None) -> ConversationList:
    """The user's conversations, grouped as the user tells days. Two queries."""
    asked = asked or ListQuery()
    mine = Conversation.objects.not_deleted().for_user(user)
    rows = mine.filter(archived_at__isnull=not asked.archived)
    ordered = rows.order_by(F("pinned_at").desc(nulls_last=True), "-last_activity_at")
    shown = list(ordered.only("id", "title", "last_activity_at", "pinned_at")[: asked.listed + 1])
    groups = _grouped(shown[: asked.listed], user.zone, now.astimezone(user.zone).date())
    has_archived = asked.archived or mine.filter(archived_at__isnull=False).exists()
    return ConversationList(groups, len(shown) > asked.listed, has_archived, asked)


def _grouped(shown: Iterable[Conversation], zone: ZoneInfo, today: date) -> list[tuple[str, list[Conversation]]]:
    def heading(conversation: Conversation) -> str:
        if conversation.pinned_at is not None:
            return PINNED
        return told_day(conversation.last_activity_at.astimezone(zone).date(), today)

    return [(told, list(group)) for told, group in groupby(shown, heading)]


def told_day(day: date, today: date) -> str:
    """A day as the list's headings tell it."""
    if day >= today:
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    if day > today - timedelta(days=7):
        return f"{day:%A}"
    return f"{day:%B}" if day.year == today.year else f"{day:%B %Y}"
