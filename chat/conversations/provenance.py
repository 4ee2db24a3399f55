"""Which answer was given from what? The answers up to a day, each with the memories that stood in its prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from accounts.models import User
from budget.models import Receipt
from budget.planning.plan import Section

MOST: Final = 30
"""Answers shown at once: what was said around a day, not all that ever was."""
EXCERPT: Final = 300
"""Characters of a question and of an answer."""
GIVEN: Final = (Section.MEMORIES, Section.PROFILE)
"""Sections of a prompt that hold what is remembered."""


@dataclass(frozen=True, slots=True)
class AnswerProvenance:
    """One answer, and what it was given from."""

    message_id: int
    question: str
    answer: str
    at: datetime
    """When it was given, in the person's time zone."""
    memories: Sequence[dict[str, Any]]
    """Items of its receipt, as the panel shows them: recalled ones first, then the profile."""


def day_of(text: str) -> date | None:
    """A day as addresses name it; None: it is none."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def answers_until(user: User, day: date) -> list[AnswerProvenance]:
    """The latest answers up to the end of that day where the person is. One statement."""
    end = datetime.combine(day, time.min, user.zone) + timedelta(days=1)
    given = Receipt.objects.for_user(user).filter(created_at__lt=end, conversation__deleted_at=None)
    receipts = given.order_by("-created_at")
    shown = receipts.select_related("message__parent").only(
        "items", "created_at", "message__text", "message__parent__text", "user"
    )
    return [_given(receipt, user) for receipt in shown[:MOST]]


def _given(receipt: Receipt, user: User) -> AnswerProvenance:
    kept = [item for section in GIVEN for item in receipt.items if item["kept"] and item["section"] == section]
    question = receipt.message.parent
    return AnswerProvenance(
        receipt.message_id,
        _excerpt(question.text if question else ""),
        _excerpt(receipt.message.text),
        receipt.created_at.astimezone(user.zone),
        kept,
    )


def _excerpt(text: str) -> str:
    return text if len(text) <= EXCERPT else f"{text[:EXCERPT].rstrip()}…"
