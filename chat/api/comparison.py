"""Comparison of an answer with another one that was generated without a memory."""

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

PROMPT_SCOPE: Final = require_scope("budget:read")
"""Required besides the operation's scope: the response quotes memories, and shows tokens and cost."""


class Tried(Schema):
    """An answer without a memory, tried beside another one."""

    message: int
    left_out: str = Field(description="The excluded memories, in words")


@router.get(
    "/{int:message}/tried", response=list[Tried], auth=require_scope("chat:read"),
    summary="List answers tried without a memory",
)  # fmt: skip
def list_tried(request: HttpRequest, message: int) -> Any:
    """`message`: the original answer. Oldest first. A key also needs `budget:read`."""
    PROMPT_SCOPE(request)
    user = person(request)
    if not models.Message.objects.not_deleted().for_user(user).filter(pk=message).exists():
        raise Http404
    return [{"message": pk, "left_out": label} for pk, label in comparison.tried_without(user, message)]


class Side(Schema):
    """One of the two answers."""

    message: Message
    is_followed: bool = Field(description="The conversation continues from it")
    can_be_kept: bool = Field(description="`keep` can make the conversation continue from it")


class Figure(Schema):
    """A figure of both answers, formatted; their receipts have the numbers."""

    name: str
    with_it: str = Field(json_schema_extra={"example": "1,842"})
    without_it: str = Field(json_schema_extra={"example": "1,790"})
    difference: str = Field(json_schema_extra={"example": "−52"})


class Comparison(Schema):
    """The same question, answered with a memory and without it."""

    conversation: UUID
    question: Message
    left_out: list[str] = Field(description="The memories, as the original prompt had them")
    with_it: Side
    without_it: Side
    figures: list[Figure] = Field(description="Tokens and cost; empty until both answers are complete")
    is_writing: bool = Field(description="The second answer is still being written")
    has_gone_on: bool = Field(description="The conversation has continued, so the answer can't be changed")


@router.get(
    "/{int:tried}/comparison", response=Comparison, auth=require_scope("chat:read"),
    summary="Compare an answer with and without a memory",
)  # fmt: skip
def compare_answers(request: HttpRequest, tried: int) -> Any:
    """`tried`: the answer created by `without`. Choose one with `keep`. A key also needs `budget:read`."""
    PROMPT_SCOPE(request)
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
        "with_it": _build_side(pair.first, said),
        "without_it": _build_side(pair.other, said),
        "figures": [
            {"name": row.name, "with_it": row.first, "without_it": row.other, "difference": row.difference}
            for row in pair.rows
        ],
    }


def _build_side(side: comparison.Side, said: dict[int, models.Message]) -> dict[str, Any]:
    return {
        "message": said[side.message.id],
        "is_followed": side.is_followed,
        "can_be_kept": side.can_be_kept,
    }
