"""Roles: instructions for a kind of conversation."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Any

from django.http import Http404, HttpRequest
from ninja import Router, Schema, Status
from pydantic import Field

from accounts.api.auth import person, require_scope
from chat import models
from chat.api.undo import BringingBack, Deleted, deleted
from chat.projects import roles
from chat.projects.undo_tokens import UndoExpiredError
from recall.openapi.problems import ProblemError

router = Router(tags=["projects and roles"])


class Role(Schema):
    """What the model is told in conversations that have it."""

    id: int
    name: str
    instructions: str
    version: int
    uses: int = Field(0, description="Conversations that have it")
    created_at: datetime


class NewRole(Schema):
    """A role's name and words."""

    name: str = Field(min_length=1, max_length=roles.MAX_NAME, pattern=r"\S")
    instructions: str = Field(min_length=1, max_length=roles.MAX_INSTRUCTIONS, pattern=r"\S")


@router.get("", response=list[Role], auth=require_scope("chat:read"), summary="List roles", operation_id="list_roles")
def list_roles(request: HttpRequest) -> Any:
    """By name."""
    return list(roles.roles_of(person(request)))


@router.post(
    "", response={201: Role}, auth=require_scope("chat:write"), summary="Make a role", operation_id="make_role"
)
def make_role(request: HttpRequest, given: NewRole) -> Any:
    """409 where there is one of this name."""
    try:
        made = roles.create(person(request), " ".join(given.name.split()), given.instructions.strip())
    except roles.NameTakenError as taken:
        raise ProblemError(HTTPStatus.CONFLICT, str(taken)) from taken
    return Status(HTTPStatus.CREATED, _own(request, made.pk))


@router.get(
    "/{int:role}", response=Role, auth=require_scope("chat:read"), summary="Get a role", operation_id="get_role"
)
def get_role(request: HttpRequest, role: int) -> Any:
    """Its words."""
    return _own(request, role)


@router.put(
    "/{int:role}", response=Role, auth=require_scope("chat:write"), summary="Change a role", operation_id="change_role"
)
def change_role(request: HttpRequest, role: int, given: NewRole) -> Any:
    """The next answer of its conversations goes by it."""
    try:
        roles.edit(_own(request, role), " ".join(given.name.split()), given.instructions.strip())
    except roles.NameTakenError as taken:
        raise ProblemError(HTTPStatus.CONFLICT, str(taken)) from taken
    return _own(request, role)


@router.delete(
    "/{int:role}",
    response=Deleted,
    auth=require_scope("chat:write"),
    summary="Delete a role",
    operation_id="delete_role",
)
def delete_role(request: HttpRequest, role: int) -> Any:
    """Its conversations go on without. `token` brings it back, within an hour."""
    return deleted(roles.remove(_own(request, role)))


@router.post(
    "/restore", response=Role, auth=require_scope("chat:write"), summary="Bring a deleted role back",
    operation_id="restore_role",
)  # fmt: skip
def restore_role(request: HttpRequest, given: BringingBack) -> Any:
    """As it was, in the conversations that had it and have no other since.

    409 where that cannot be: too late, not your token, or there is one of this name again.
    """
    try:
        found = roles.restore(person(request), given.token)
    except UndoExpiredError as gone:
        raise ProblemError(HTTPStatus.CONFLICT, str(gone)) from gone
    return _own(request, found.pk)


def _own(request: HttpRequest, pk: int) -> models.Role:
    found = roles.roles_of(person(request)).filter(pk=pk).first()
    if found is None:
        raise Http404
    return found
