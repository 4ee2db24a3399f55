"""Full-text search over all conversations."""

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
from recall.openapi.pagination import INVALID_CURSOR, set_next_link

router = Router(tags=["conversations"])

MAX_PAGES: Final = 1_000
PREFIX: Final = "page "


def _validate_day(day: date) -> date:
    if not EARLIEST.date() <= day <= LATEST.date():
        raise ValueError(f"Use a day between {EARLIEST.year} and {LATEST.year}.")
    return day


Day = Annotated[date, AfterValidator(_validate_day)]


class Searching(Schema):
    """Query and filters of a search."""

    q: str = Field(min_length=1, max_length=MAX_QUERY_CHARS, description="Words, or a “phrase in quotes”")
    said_by: Literal["", "user", "assistant"] = ""
    since: Day | None = None
    until: Day | None = None
    archived: Literal["", "no", "only"] = Field("", description="Empty to include archived conversations")
    order: Literal["best", "newest"] = "best"
    conversation: UUID | None = Field(None, description="Only in this conversation")
    cursor: str = Field("", max_length=100, description="`next_cursor` of the previous page; empty for the first")

    @property
    def filter(self) -> Filter:
        """As a filter of the search."""
        return Filter(
            role=self.said_by,
            since=self.since,
            until=self.until,
            archived=self.archived,
            newest_first=self.order == "newest",
            conversation=self.conversation,
        )


class Hit(Schema):
    """A message that matches."""

    id: int
    author: str
    excerpt: str = Field(description="The matching words in context")
    said_at: datetime
    is_followed: bool = Field(description="It is on the active branch")


class FoundThere(Schema):
    """A conversation with its matches."""

    conversation: Conversation
    hits: list[Hit]
    more: int = Field(description="Matches not listed; filter by this conversation to see them")


class FoundPage(Schema):
    """A page of ten conversations."""

    items: list[FoundThere]
    next_cursor: str | None
    conversations: int = Field(description="Number of conversations with matches")
    is_cut: bool = Field(description="Only the newest matches were ranked")


@router.get(
    "", response=FoundPage, auth=require_scope("chat:read"), summary="Search conversations",
    operation_id="search",
)  # fmt: skip
def search_conversations(request: HttpRequest, query: Query[Searching]) -> Any:
    """Messages that match, grouped by conversation; ten conversations per page."""
    found = search(person(request), query.q, query.filter, timezone.now(), _parse_cursor(query.cursor))
    cursor = _build_cursor(found.next_page) if found.next_page else None
    if cursor is not None:
        set_next_link(request, cursor)
    return {
        "items": [_build_hits(each) for each in found.found],
        "next_cursor": cursor,
        "conversations": found.conversations,
        "is_cut": found.is_cut,
    }


def _build_hits(found: FoundConversation) -> dict[str, Any]:
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


def _build_cursor(number: int) -> str:
    return base64.urlsafe_b64encode(f"{PREFIX}{number}".encode()).decode().rstrip("=")


def _parse_cursor(cursor: str) -> int:
    """The page number.

    Raises:
        ValidationError: the cursor is invalid.
    """
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode() if cursor else f"{PREFIX}1"
    except (binascii.Error, ValueError):
        raise ValidationError(INVALID_CURSOR) from None
    number = text.removeprefix(PREFIX)
    if not text.startswith(PREFIX) or not number.isascii() or not number.isdigit() or len(number) > 4:
        raise ValidationError(INVALID_CURSOR)
    if not 1 <= int(number) <= MAX_PAGES:
        raise ValidationError(INVALID_CURSOR)
    return int(number)
