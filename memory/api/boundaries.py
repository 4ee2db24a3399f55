"""Boundaries: rules that stand in every prompt and are never cut."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from django.http import Http404, HttpRequest
from ninja import Router, Schema, Status
from pydantic import Field

from accounts.api.auth import Replay, person, require_scope
from memory import models
from memory.forms import MAX_BOUNDARY
from recall.db.notify import publish_event

router = Router(tags=["settings"])


class Boundary(Schema):
    """A rule."""

    id: int
    text: str
    mine: bool = Field(description="False: it holds for everybody, and only an administrator changes it")
    created_at: datetime

    @staticmethod
    def resolve_mine(boundary: models.Boundary) -> bool:
        """Whether it is the person's own."""
        return boundary.user_id is not None


class NewBoundary(Schema):
    """A rule of one's own."""

    text: Annotated[str, Field(min_length=1, max_length=MAX_BOUNDARY, pattern=r"\S")]


@router.get(
    "/boundaries", response=list[Boundary], auth=require_scope("settings"), summary="List boundaries",
    operation_id="list_boundaries",
)  # fmt: skip
def list_boundaries(request: HttpRequest) -> Any:
    """Everybody's and your own, as they stand in each prompt."""
    return models.Boundary.for_prompt(person(request))


@router.post(
    "/boundaries", response={201: Boundary}, auth=require_scope("settings"), summary="Add a boundary",
    operation_id="add_boundary",
)  # fmt: skip
def add_boundary(request: HttpRequest, given: NewBoundary) -> Any:
    """It stands from the next answer on."""
    added = models.Boundary.objects.create(user=person(request), text=given.text.strip())
    _tell(request)
    return Status(201, added)


@router.put(
    "/boundaries/{int:boundary}", response=Boundary, auth=require_scope("settings"), summary="Change a boundary",
    operation_id="change_boundary",
)  # fmt: skip
def change_boundary(request: HttpRequest, boundary: int, given: NewBoundary) -> Any:
    """In other words."""
    found = _own(request, boundary)
    found.text = given.text.strip()
    found.save(update_fields=["text"])
    _tell(request)
    return found


@router.delete(
    "/boundaries/{int:boundary}", response={204: None}, auth=require_scope("settings", Replay.NO_TEXT),
    summary="Remove a boundary", operation_id="remove_boundary",
)  # fmt: skip
def remove_boundary(request: HttpRequest, boundary: int) -> Any:
    """It holds no longer."""
    _own(request, boundary).delete()
    _tell(request)
    return Status(204, None)


def _own(request: HttpRequest, pk: int) -> models.Boundary:
    found = models.Boundary.objects.for_user(person(request)).filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


def _tell(request: HttpRequest) -> None:
    publish_event(f"user-{person(request).pk}", "memory")
