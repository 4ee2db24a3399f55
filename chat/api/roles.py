"""Role operations: instructions for a kind of conversation."""

from datetime import datetime
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Router, Schema, Status
from pydantic import Field

from accounts.api.auth import person, require_scope
from chat import models
from chat.api.projects import BringingBack, Deleted, deleted
from chat.projects import roles
from chat.projects.undo_tokens import UndoExpiredError
from recall.openapi.problems import refused_with

router = Router(tags=["projects and roles"])


class Role(Schema):
    """Instructions for the model in conversations with this role."""

    id: int
    name: str
    instructions: str
    version: int
    uses: int = Field(0, description="Conversations with this role")
    created_at: datetime


class NewRole(Schema):
    """A new role, or its new name and instructions."""

    name: str = Field(min_length=1, max_length=roles.MAX_NAME, pattern=r"\S")
    instructions: str = Field(min_length=1, max_length=roles.MAX_INSTRUCTIONS, pattern=r"\S")


@router.get("", response=list[Role], auth=require_scope("chat:read"), summary="List roles")
def list_roles(request: HttpRequest) -> Any:
    """Sorted by name."""
    return list(roles.roles_of(person(request)))


@router.post("", response={201: Role}, auth=require_scope("chat:write"), summary="Create a role")
def make_role(request: HttpRequest, payload: NewRole) -> Any:
    """409 if a role has this name."""
    with refused_with(HTTPStatus.CONFLICT, roles.NameTakenError):
        created = roles.create(person(request), " ".join(payload.name.split()), payload.instructions.strip())
    return Status(HTTPStatus.CREATED, _get_own_role(request, created.pk))


@router.get("/{int:role}", response=Role, auth=require_scope("chat:read"), summary="Get a role")
def get_role(request: HttpRequest, role: int) -> Any:
    """Its instructions and version."""
    return _get_own_role(request, role)


@router.put("/{int:role}", response=Role, auth=require_scope("chat:write"), summary="Change a role")
def change_role(request: HttpRequest, role: int, payload: NewRole) -> Any:
    """Takes effect with the next answer of its conversations."""
    with refused_with(HTTPStatus.CONFLICT, roles.NameTakenError):
        roles.edit(_get_own_role(request, role), " ".join(payload.name.split()), payload.instructions.strip())
    return _get_own_role(request, role)


@router.delete("/{int:role}", response=Deleted, auth=require_scope("chat:write"), summary="Delete a role")
def delete_role(request: HttpRequest, role: int) -> Any:
    """Its conversations continue without a role. `token` restores it within an hour."""
    return deleted(roles.remove(_get_own_role(request, role)))


@router.post("/restore", response=Role, auth=require_scope("chat:write"), summary="Restore a deleted role")
def restore_role(request: HttpRequest, payload: BringingBack) -> Any:
    """In its conversations that have no other role now.

    409 if the token expired or isn't yours, or if another role has its name.
    """
    with refused_with(HTTPStatus.CONFLICT, UndoExpiredError):
        found = roles.restore(person(request), payload.token)
    return _get_own_role(request, found.pk)


def _get_own_role(request: HttpRequest, pk: int) -> models.Role:
    return get_object_or_404(roles.roles_of(person(request)), pk=pk)
