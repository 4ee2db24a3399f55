"""Search over all conversations, by the words that were said."""

from __future__ import annotations

import base64
import binascii
import html
from datetime import date, datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import strip_tags
from ninja import Query, Router, Schema
from pydantic import AfterValidator, Field

from accounts.api.auth import person, require_scope
from chat.api.conversations import Conversation
from chat.conversations.search import Filter, FoundConversation, search
from chat.conversations.search_query import MAX_QUERY_CHARS
from recall.openapi.fields import EARLIEST, LATEST
from recall.openapi.pagination import NOT_OURS, note_next

router = Router(tags=["conversations"])

MOST_PAGES: Final = 1_000
PREFIX: Final = "page "


def _of_a_calendar(day: date) -> date:
    if not EARLIEST.date() <= day <= LATEST.date():
        raise ValueError(f"a day between {EARLIEST.year} and {LATEST.year}")
    return day


Day = Annotated[date, AfterValidator(_of_a_calendar)]


class Searching(Schema):
    """What is looked for."""

    q: str = Field(min_length=1, max_length=MAX_QUERY_CHARS, description="Words, or a “phrase in quotes”")
    said_by: Literal["", "user", "assistant"] = ""
    since: Day | None = None
    until: Day | None = None
    archived: Literal["", "no", "only"] = Field("", description="Empty: archived conversations, too")
    order: Literal["best", "newest"] = "best"
    conversation: UUID | None = Field(None, description="Only in this one")
    cursor: str = Field("", max_length=100, description="`next_cursor` of the page before; empty: the first")

    @property
    def filter(self) -> Filter:
        """The same as the search takes it."""
        return Filter(
            role=self.said_by,
            since=self.since,
            until=self.until,
            archived=self.archived,
            newest_first=self.order == "newest",
            conversation=self.conversation,
        )


class Hit(Schema):
    """One message that was found."""

    id: int
    author: str
    excerpt: str = Field(description="The words with what stands around them")
    said_at: datetime
    is_followed: bool = Field(description="It stands on the branch that is followed")


class FoundThere(Schema):
    """One conversation, and what was found in it."""

    conversation: Conversation
    hits: list[Hit]
    more: int = Field(description="Hits that are not shown: search in this conversation alone")


class FoundPage(Schema):
    """A page of ten conversations."""

    items: list[FoundThere]
    next_cursor: str | None
    conversations: int = Field(description="With hits, in all")
    is_cut: bool = Field(description="More messages hold the words than were weighed: those are the newest")


@router.get(
    "", response=FoundPage, auth=require_scope("chat:read"), summary="Search conversations",
    operation_id="search_conversations",
)  # fmt: skip
def search_conversations(request: HttpRequest, given: Query[Searching]) -> Any:
    """What was said in those words, and where. Ten conversations at a time."""
    found = search(person(request), given.q, given.filter, timezone.now(), _page(given.cursor))
    cursor = _cursor(found.next_page) if found.next_page else None
    if cursor is not None:
        note_next(request, cursor)
    return {
        "items": [_told(one) for one in found.found],
        "next_cursor": cursor,
        "conversations": found.conversations,
        "is_cut": found.is_cut,
    }


def _told(found: FoundConversation) -> dict[str, Any]:
    hits = [
        {
            "id": hit.id,
            "author": hit.author,
            "excerpt": html.unescape(strip_tags(hit.snippet)),
            "said_at": hit.said_at,
            "is_followed": hit.is_followed,
        }
        for hit in found.hits
    ]
    return {"conversation": found.conversation, "hits": hits, "more": found.more}


def _cursor(number: int) -> str:
    return base64.urlsafe_b64encode(f"{PREFIX}{number}".encode()).decode().rstrip("=")


def _page(cursor: str) -> int:
    """The number of the page.

    Raises:
        ValidationError: the cursor is none that was given here.
    """
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode() if cursor else f"{PREFIX}1"
    except (binascii.Error, ValueError):
        raise ValidationError(NOT_OURS) from None
    number = text.removeprefix(PREFIX)
    if not text.startswith(PREFIX) or not number.isascii() or not number.isdigit() or len(number) > 4:
        raise ValidationError(NOT_OURS)
    if not 1 <= int(number) <= MOST_PAGES:
        raise ValidationError(NOT_OURS)
    return int(number)
