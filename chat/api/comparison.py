"""One question and two answers: which were tried without a memory, and what stands on each side."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from django.http import Http404, HttpRequest
from ninja import Router, Schema
from pydantic import Field

from accounts.api.auth import person, require_scope
from chat import models
from chat.api.conversations import Message, with_attachments
from chat.turns import comparison

router = Router()

WHAT_IT_WAS_GIVEN: Final = require_scope("budget:read")
"""Asked of the caller beside the scope of the operation: what the memories say, and what each answer took."""


class Tried(Schema):
    """An answer that was tried beside another one."""

    message: int
    left_out: str = Field(description="What it had to do without, in words")


@router.get(
    "/{int:message}/tried", response=list[Tried], auth=require_scope("chat:read"),
    summary="List answers that were tried without a memory", operation_id="list_tried",
)  # fmt: skip
def list_tried(request: HttpRequest, message: int) -> Any:
    """`message`: the answer that had them. The oldest first. A key needs `budget:read`, too."""
    WHAT_IT_WAS_GIVEN(request)
    user = person(request)
    if not models.Message.objects.not_deleted().for_user(user).filter(pk=message).exists():
        raise Http404
    return [{"message": pk, "left_out": told} for pk, told in comparison.tried_without(user, message)]


class Side(Schema):
    """One of the two answers."""

    message: Message
    is_followed: bool = Field(description="The conversation goes on from it")
    can_be_kept: bool = Field(description="`keep` would have the conversation go on from it instead of the other")


class Figure(Schema):
    """What each of them took of something, as people read it; the receipts of both have the numbers."""

    name: str
    with_it: str = Field(json_schema_extra={"example": "1,842"})
    without_it: str = Field(json_schema_extra={"example": "1,790"})
    difference: str = Field(json_schema_extra={"example": "−52"})


class Comparison(Schema):
    """The same question, answered with a memory and without it."""

    conversation: UUID
    question: Message
    left_out: list[str] = Field(description="What the memories say, as the first answer was given them")
    with_it: Side
    without_it: Side
    figures: list[Figure] = Field(description="Tokens and cost; empty until both answers are there")
    is_writing: bool = Field(description="The answer without it is still being written")
    has_gone_on: bool = Field(description="The conversation has: neither answer can be exchanged for the other")


@router.get(
    "/{int:tried}/comparison", response=Comparison, auth=require_scope("chat:read"),
    summary="Compare an answer without a memory with the one that had it", operation_id="compare_answers",
)  # fmt: skip
def compare_answers(request: HttpRequest, tried: int) -> Any:
    """`tried`: the answer that `without` began. Either is kept by `keep`. A key needs `budget:read`, too."""
    WHAT_IT_WAS_GIVEN(request)
    try:
        pair = comparison.comparison(person(request), tried)
    except models.Message.DoesNotExist:
        raise Http404 from None
    shown = (pair.question.id, pair.first.message.id, pair.other.message.id)
    said = with_attachments(models.Message.objects.for_user(person(request))).in_bulk(shown)
    return {
        **{name: getattr(pair, name) for name in ("left_out", "is_writing", "has_gone_on")},
        "conversation": pair.conversation.pk,
        "question": said[pair.question.id],
        "with_it": _side(pair.first, said),
        "without_it": _side(pair.other, said),
        "figures": [
            {"name": row.name, "with_it": row.first, "without_it": row.other, "difference": row.difference}
            for row in pair.rows
        ],
    }


def _side(side: comparison.Side, said: dict[int, models.Message]) -> dict[str, Any]:
    return {
        "message": said[side.message.id],
        "is_followed": side.is_followed,
        "can_be_kept": side.can_be_kept,
    }
