"""The profile, as every prompt shows it."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from accounts.api.auth import person, require_scope
from memory.documents.profile import profile_lines

router = Router(tags=["memory"])


class Line(Schema):
    """One line of it."""

    ref: str = Field(description="fact:12, or document:/profile/goals:3 for the third line of a document")
    text: str
    importance: float
    kind: str = Field(description="“prose” for your own words, else the kind of fact")
    heading: str
    message_id: int | None


@router.get(
    "/profile",
    response=list[Line],
    auth=require_scope("memory:read"),
    summary="Read the profile",
    operation_id="get_profile",
)
def get_profile(request: HttpRequest) -> Any:
    """What every prompt is given, line by line. Its documents are changed as documents, its facts in review."""
    return profile_lines(person(request))
