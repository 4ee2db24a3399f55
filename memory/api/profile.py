"""The profile, as included in every prompt."""

from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from accounts.api.auth import person, require_scope
from memory.documents.profile import profile_lines

router = Router(tags=["memory"])


class Line(Schema):
    """One line of the profile."""

    ref: str = Field(description="fact:12, or document:/profile/goals:3 for the third line of a document")
    text: str
    importance: float
    kind: str = Field(description="“prose” for your own notes, otherwise the kind of fact")
    heading: str
    message_id: int | None


@router.get("/profile", response=list[Line], auth=require_scope("memory:read"), summary="Read the profile")
def get_profile(request: HttpRequest) -> Any:
    """The profile in every prompt, line by line. Edit its documents as documents and its facts in review."""
    return profile_lines(person(request))
