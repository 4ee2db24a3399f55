"""Memory use by answer: answers by day, each with the memories in its prompt."""

from datetime import date, datetime, time, timedelta
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from accounts.api.auth import person, require_scope
from budget.models import Receipt
from chat.api.comparison import PROMPT_SCOPE
from chat.api.search import Day
from chat.conversations.provenance import MEMORY_SECTIONS
from recall.openapi.pagination import Page, Paging, paginate

router = Router()

LATEST: Final = ("-created_at", "-pk")


class GivenMemory(Schema):
    """A memory in a prompt."""

    ref: str = Field(description="For example fact:12")
    section: str = Field(description="memories: recalled for this question; profile: in every prompt")
    label: str = Field(description="Its text")
    tokens: int


class Answer(Schema):
    """An answer with the memories sent for it."""

    message_id: int
    conversation_id: UUID
    question: str = Field(json_schema_extra={"example": "Where does my sister live?"})
    answer: str = Field(
        description="Empty if there was none", json_schema_extra={"example": "Your sister lives in Lisbon."}
    )
    created_at: datetime
    memories: list[GivenMemory] = Field(description="Recalled ones first, then the profile")

    @staticmethod
    def resolve_question(receipt: Receipt) -> str:
        """The text of the question."""
        question = receipt.message.parent
        return question.text if question else ""

    @staticmethod
    def resolve_answer(receipt: Receipt) -> str:
        """The text of the answer."""
        return receipt.message.text

    @staticmethod
    def resolve_memories(receipt: Receipt) -> list[dict[str, Any]]:
        """The items of its receipt."""
        return [item for part in MEMORY_SECTIONS for item in receipt.items if item["kept"] and item["section"] == part]


class Answers(Paging):
    """Filters of a list of answers; days are in your time zone."""

    conversation: UUID | None = None
    ref: str = Field("", max_length=100, description="Only answers that used this: fact:12, message:55")
    since: Day | None = None
    until: Day | None = Field(None, description="Inclusive")


@router.get(
    "", response=Page[Answer], auth=require_scope("chat:read"), summary="List answers with the memories they used"
)
def list_answers(request: HttpRequest, query: Query[Answers]) -> Any:
    """Latest first, including trial answers. A key also needs `budget:read`."""
    PROMPT_SCOPE(request)
    user = person(request)
    receipts = Receipt.objects.for_user(user).filter(conversation__deleted_at=None)
    chosen = {
        "conversation": query.conversation,
        "items__contains": [{"ref": query.ref, "kept": True}] if query.ref else None,
        "created_at__gte": _start_of(query.since, user.zone) if query.since else None,
        "created_at__lt": _start_of(query.until + timedelta(days=1), user.zone) if query.until else None,
    }
    receipts = receipts.filter(**{name: value for name, value in chosen.items() if value is not None})
    rows = receipts.select_related("message__parent").only(
        "user", "conversation", "items", "created_at", "message__text", "message__parent__text"
    )
    return paginate(request, rows, LATEST, query)


def _start_of(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time.min, zone)
