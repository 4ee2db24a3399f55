"""Boundaries: rules that are in every prompt and never cut."""

from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Router, Schema, Status
from pydantic import Field

from accounts.api.auth import Replay, person, require_scope
from memory import models
from memory.forms import MAX_BOUNDARY
from recall.db.notify import publish_event

router = Router(tags=["settings"])


class Boundary(Schema):
    """A boundary."""

    id: int
    text: str
    mine: bool = Field(description="False: it applies to everyone, and only an administrator can change it")
    created_at: datetime

    @staticmethod
    def resolve_mine(boundary: models.Boundary) -> bool:
        """Whether the caller owns it."""
        return boundary.user_id is not None


class NewBoundary(Schema):
    """The text of a boundary."""

    text: Annotated[str, Field(min_length=1, max_length=MAX_BOUNDARY, pattern=r"\S")]


@router.get("/boundaries", response=list[Boundary], auth=require_scope("settings"), summary="List boundaries")
def list_boundaries(request: HttpRequest) -> Any:
    """The boundaries for everyone, then your own, in the order of the prompt."""
    return models.Boundary.for_prompt(person(request))


@router.post("/boundaries", response={201: Boundary}, auth=require_scope("settings"), summary="Add a boundary")
def add_boundary(request: HttpRequest, given: NewBoundary) -> Any:
    """It applies from the next answer."""
    added = models.Boundary.add(person(request), given.text.strip())
    _notify(request)
    return Status(201, added)


@router.put(
    "/boundaries/{int:boundary}", response=Boundary, auth=require_scope("settings"), summary="Change a boundary"
)
def change_boundary(request: HttpRequest, boundary: int, given: NewBoundary) -> Any:
    """Replaces the text. It applies from the next answer."""
    found = _get_own_boundary(request, boundary)
    found.text = given.text.strip()
    found.save(update_fields=["text"])
    _notify(request)
    return found


@router.delete(
    "/boundaries/{int:boundary}", response={204: None}, auth=require_scope("settings", Replay.NO_TEXT),
    summary="Remove a boundary",
)  # fmt: skip
def remove_boundary(request: HttpRequest, boundary: int) -> Any:
    """Deletes one of your own boundaries."""
    _get_own_boundary(request, boundary).delete()
    _notify(request)
    return Status(204, None)


def _get_own_boundary(request: HttpRequest, pk: int) -> models.Boundary:
    return get_object_or_404(models.Boundary.objects.for_user(person(request)), pk=pk)


def _notify(request: HttpRequest) -> None:
    publish_event(f"user-{person(request).pk}", "memory")
