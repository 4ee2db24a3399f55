"""Answer provenance: the latest answers up to a day, each with the memories in its prompt."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from accounts.models import User
from budget.models import Receipt
from budget.planning.plan import Section
from memory.text.plain_words import plain_words

MAX_ANSWERS: Final = 30
"""Answers shown at once: those around a day, not all of them."""
EXCERPT_CHARS: Final = 300
"""Characters shown of a question and of an answer."""
MEMORY_SECTIONS: Final = (Section.MEMORIES, Section.PROFILE)
"""Prompt sections that hold memories."""
_LIST_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")


@dataclass(frozen=True, slots=True)
class AnswerProvenance:
    """One answer and the memories sent for it."""

    message_id: int
    question: str
    answer: str
    at: datetime
    """In the user's time zone."""
    memories: Sequence[dict[str, Any]]
    """Items of its receipt: recalled ones first, then the profile."""


def answers_until(user: User, day: date) -> list[AnswerProvenance]:
    """The latest answers up to the end of that day in the user's time zone. One query."""
    end = datetime.combine(day, time.min, user.zone) + timedelta(days=1)
    earlier_receipts = Receipt.objects.for_user(user).filter(created_at__lt=end, conversation__deleted_at=None)
    receipts = earlier_receipts.order_by("-created_at")
    rows = receipts.select_related("message__parent").only(
        "items", "created_at", "message__text", "message__parent__text", "user"
    )
    return [_build_provenance(receipt, user) for receipt in rows[:MAX_ANSWERS]]


def _build_provenance(receipt: Receipt, user: User) -> AnswerProvenance:
    memories = [
        item for section in MEMORY_SECTIONS for item in receipt.items if item["kept"] and item["section"] == section
    ]
    question = receipt.message.parent
    return AnswerProvenance(
        receipt.message_id,
        _excerpt(_in_one_line(question.text[: 2 * EXCERPT_CHARS]) if question else ""),
        _excerpt(_in_one_line(receipt.message.text[: 2 * EXCERPT_CHARS])),
        receipt.created_at.astimezone(user.zone),
        memories,
    )


def _in_one_line(text: str) -> str:
    """A Markdown text without its marks; paragraphs and list items without an end of their own end with “;”."""
    line = ""
    for written, words in zip(text.split("\n"), plain_words(text).split("\n"), strict=True):
        if line and line[-1] not in ".!?:;,…" and (not written.strip() or _LIST_ITEM.match(written)):
            line += ";"
        line = f"{line} {words.strip()}".strip()
    return line.removesuffix(";")


def _excerpt(text: str) -> str:
    return text if len(text) <= EXCERPT_CHARS else f"{text[:EXCERPT_CHARS].rstrip()}…"
