"""Which answer was given from what? Answers by day, each with the memories that stood in its prompt."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from accounts.api.auth import person, require_scope
from budget.models import Receipt
from chat.api.comparison import WHAT_IT_WAS_GIVEN
from chat.api.search import Day
from chat.conversations.provenance import MEMORY_SECTIONS
from recall.openapi.pagination import Page, Paging, paginate

router = Router()

LATEST: Final = ("-created_at", "-pk")


class GivenMemory(Schema):
    """A memory that stood in a prompt."""

    ref: str = Field(description="Such as fact:12")
    section: str = Field(description="memories: it was recalled; profile: it stands in every prompt")
    label: str = Field(description="What it says")
    tokens: int


class Answer(Schema):
    """One answer, and what of your memory it was given."""

    message_id: int
    conversation_id: UUID
    question: str = Field(json_schema_extra={"example": "Where does my sister live?"})
    answer: str = Field(
        description="Empty: there was none", json_schema_extra={"example": "Your sister lives in Lisbon."}
    )
    created_at: datetime
    memories: list[GivenMemory] = Field(description="The recalled ones first, then the profile's")

    @staticmethod
    def resolve_question(receipt: Receipt) -> str:
        """What it answers."""
        question = receipt.message.parent
        return question.text if question else ""

    @staticmethod
    def resolve_answer(receipt: Receipt) -> str:
        """Its words."""
        return receipt.message.text

    @staticmethod
    def resolve_memories(receipt: Receipt) -> list[dict[str, Any]]:
        """Of the items of its receipt."""
        return [item for part in MEMORY_SECTIONS for item in receipt.items if item["kept"] and item["section"] == part]


class Answers(Paging):
    """Which answers; days are those of your own time zone."""

    conversation: UUID | None = None
    ref: str = Field("", max_length=100, description="Only those that were given this: fact:12, message:55")
    since: Day | None = None
    until: Day | None = Field(None, description="This day included")


@router.get(
    "", response=Page[Answer], auth=require_scope("chat:read"), summary="List answers with what they were given",
    operation_id="list_answers",
)  # fmt: skip
def list_answers(request: HttpRequest, given: Query[Answers]) -> Any:
    """The latest first, also those that were only tried. A key needs `budget:read`, too."""
    WHAT_IT_WAS_GIVEN(request)
    user = person(request)
    receipts = Receipt.objects.for_user(user).filter(conversation__deleted_at=None)
    chosen = {
        "conversation": given.conversation,
        "items__contains": [{"ref": given.ref, "kept": True}] if given.ref else None,
        "created_at__gte": _begin(given.since, user.zone) if given.since else None,
        "created_at__lt": _begin(given.until + timedelta(days=1), user.zone) if given.until else None,
    }
    receipts = receipts.filter(**{name: value for name, value in chosen.items() if value is not None})
    told = receipts.select_related("message__parent").only(
        "user", "conversation", "items", "created_at", "message__text", "message__parent__text"
    )
    return paginate(request, told, LATEST, given)


def _begin(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time.min, zone)
