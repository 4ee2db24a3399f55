"""What a deleted role or project is brought back by: nothing of it is kept here, so whoever deletes it is given it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from django.utils import timezone
from ninja import Schema
from pydantic import Field

from chat.projects.undo_tokens import OFFERED_FOR

Token = Annotated[str, Field(min_length=1, json_schema_extra={"example": "eyJuYW1lIjoiQ29vayJ9:1vMs1f:q0Zl…"})]


class Deleted(Schema):
    """What was deleted, signed: keep it for as long as you may want it back. It opens nothing, and is yours alone."""

    token: Token
    until: datetime = Field(description="Until then it brings it back; nothing of it is kept on the server")


class BringingBack(Schema):
    """The `token` that the deletion was answered with."""

    token: Token


def deleted(token: str) -> dict[str, Any]:
    """The answer to a deletion."""
    return {"token": token, "until": timezone.now() + OFFERED_FOR}
