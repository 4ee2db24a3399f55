"""Project operations, and the undo of deleted projects and roles."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import Query, Router, Schema, Status
from pydantic import Field

from accounts.api.auth import person, require_scope
from chat import models
from chat.projects import projects
from chat.projects.roles import MAX_INSTRUCTIONS, MAX_NAME
from chat.projects.undo_tokens import OFFERED_FOR, UndoExpiredError
from memory.documents.tree import NotMovedError
from recall.openapi.problems import refused_with

router = Router(tags=["projects and roles"])

# Undo ------------------------------------------------------------------------------------------------------------

Token = Annotated[str, Field(min_length=1, json_schema_extra={"example": "eyJuYW1lIjoiQ29vayJ9:1vMs1f:q0Zl…"})]


class Deleted(Schema):
    """What was deleted, as a signed token that restores it. Only you can use it."""

    token: Token
    until: datetime = Field(description="Restorable until then; the server keeps no copy")


class BringingBack(Schema):
    """The `token` from the response to the deletion."""

    token: Token


def deleted(token: str) -> dict[str, Any]:
    """The response to a deletion."""
    return {"token": token, "until": timezone.now() + OFFERED_FOR}


# Projects --------------------------------------------------------------------------------------------------------


class Project(Schema):
    """A folder of documents, with instructions for its conversations."""

    id: int
    name: str
    path: str = Field(description="Its folder")
    instructions: str
    only_project: bool = Field(description="New conversations only use its memories")
    created_at: datetime
    archived_at: datetime | None


class NewProject(Schema):
    """A new project."""

    name: str = Field(min_length=1, max_length=MAX_NAME, pattern=r"\S")
    instructions: str = Field("", max_length=MAX_INSTRUCTIONS)
    only_project: bool = False


class ChangedProject(Schema):
    """The fields to change; omitted fields stay."""

    name: str | None = Field(None, min_length=1, max_length=MAX_NAME, pattern=r"\S")
    instructions: str | None = Field(None, max_length=MAX_INSTRUCTIONS)
    only_project: bool | None = None
    archived: bool | None = None


@router.get("", response=list[Project], auth=require_scope("chat:read"), summary="List projects")
def list_projects(request: HttpRequest, archived: Annotated[bool, Query()] = False) -> Any:
    """By name: active projects, or archived ones."""
    return list(projects.projects_of(person(request), archived=archived).order_by("name", "pk"))


@router.post("", response={201: Project}, auth=require_scope("chat:write"), summary="Create a project")
def make_project(request: HttpRequest, payload: NewProject) -> Any:
    """Creates a folder in /projects, too."""
    name = " ".join(payload.name.split())
    created = projects.create(person(request), name, payload.instructions.strip(), only_project=payload.only_project)
    return Status(HTTPStatus.CREATED, created)


@router.get("/{int:project}", response=Project, auth=require_scope("chat:read"), summary="Get a project")
def get_project(request: HttpRequest, project: int) -> Any:
    """List its documents by its path, and its conversations by the filter `project`."""
    return _get_own_project(request, project)


@router.patch("/{int:project}", response=Project, auth=require_scope("chat:write"), summary="Change a project")
def change_project(request: HttpRequest, project: int, payload: ChangedProject) -> Any:
    """Renaming moves its folder; 409 if that fails."""
    found = _get_own_project(request, project)
    instructions = found.instructions if payload.instructions is None else payload.instructions.strip()
    only = found.only_project if payload.only_project is None else payload.only_project
    with refused_with(HTTPStatus.CONFLICT, NotMovedError):
        projects.update(found, " ".join((payload.name or found.name).split()), instructions, only_project=only)
    if payload.archived is not None:
        projects.archive(found, is_archived=payload.archived)
    return _get_own_project(request, project)


@router.delete("/{int:project}", response=Deleted, auth=require_scope("chat:write"), summary="Delete a project")
def delete_project(request: HttpRequest, project: int) -> Any:
    """Its documents and conversations stay. `token` restores it within an hour."""
    return deleted(projects.remove(_get_own_project(request, project)))


@router.post("/restore", response=Project, auth=require_scope("chat:write"), summary="Restore a deleted project")
def restore_project(request: HttpRequest, payload: BringingBack) -> Any:
    """With its conversations that have no other project now.

    409 if the token expired or isn't yours, or if its folder has a project again.
    """
    with refused_with(HTTPStatus.CONFLICT, UndoExpiredError):
        return projects.restore(person(request), payload.token)


def _get_own_project(request: HttpRequest, pk: int) -> models.Project:
    return get_object_or_404(models.Project.objects.for_user(person(request)).select_related("user"), pk=pk)
