"""Projects: a folder of documents with instructions, recalled first in its conversations."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any

from django.http import Http404, HttpRequest
from ninja import Query, Router, Schema, Status
from pydantic import Field

from accounts.api.auth import person, require_scope
from chat import models
from chat.api.undo import BringingBack, Deleted, deleted
from chat.projects import projects
from chat.projects.roles import MAX_INSTRUCTIONS, MAX_NAME
from chat.projects.undo_tokens import UndoExpiredError
from memory.documents.tree import NotMovedError
from recall.openapi.problems import ProblemError

router = Router(tags=["projects and roles"])


class Project(Schema):
    """A folder of the knowledge base with instructions."""

    id: int
    name: str
    path: str = Field(description="Its folder")
    instructions: str
    only_project: bool = Field(description="New conversations recall nothing from outside it")
    created_at: datetime
    archived_at: datetime | None


class NewProject(Schema):
    """A project's name and words."""

    name: str = Field(min_length=1, max_length=MAX_NAME, pattern=r"\S")
    instructions: str = Field("", max_length=MAX_INSTRUCTIONS)
    only_project: bool = False


class ChangedProject(Schema):
    """What to change; what is not named stays."""

    name: str | None = Field(None, min_length=1, max_length=MAX_NAME, pattern=r"\S")
    instructions: str | None = Field(None, max_length=MAX_INSTRUCTIONS)
    only_project: bool | None = None
    archived: bool | None = None


@router.get(
    "", response=list[Project], auth=require_scope("chat:read"), summary="List projects", operation_id="list_projects"
)
def list_projects(request: HttpRequest, archived: Annotated[bool, Query()] = False) -> Any:
    """By name: those at hand, or those that were put away."""
    return list(projects.projects_of(person(request), archived=archived).order_by("name", "pk"))


@router.post(
    "", response={201: Project}, auth=require_scope("chat:write"), summary="Make a project", operation_id="make_project"
)
def make_project(request: HttpRequest, given: NewProject) -> Any:
    """With a folder of its own below /projects."""
    name = " ".join(given.name.split())
    made = projects.create(person(request), name, given.instructions.strip(), only_project=given.only_project)
    return Status(HTTPStatus.CREATED, made)


@router.get(
    "/{int:project}",
    response=Project,
    auth=require_scope("chat:read"),
    summary="Get a project",
    operation_id="get_project",
)
def get_project(request: HttpRequest, project: int) -> Any:
    """Its documents are listed as documents below its path, its conversations as conversations of the project."""
    return _own(request, project)


@router.patch(
    "/{int:project}", response=Project, auth=require_scope("chat:write"), summary="Change a project",
    operation_id="change_project",
)  # fmt: skip
def change_project(request: HttpRequest, project: int, given: ChangedProject) -> Any:
    """Another name moves its folder; 409 where that cannot be."""
    found = _own(request, project)
    words = found.instructions if given.instructions is None else given.instructions.strip()
    only = found.only_project if given.only_project is None else given.only_project
    try:
        projects.update(found, " ".join((given.name or found.name).split()), words, only_project=only)
    except NotMovedError as refused:
        raise ProblemError(HTTPStatus.CONFLICT, str(refused)) from refused
    if given.archived is not None:
        projects.archive(found, is_archived=given.archived)
    return _own(request, project)


@router.delete(
    "/{int:project}", response=Deleted, auth=require_scope("chat:write"), summary="Delete a project",
    operation_id="delete_project",
)  # fmt: skip
def delete_project(request: HttpRequest, project: int) -> Any:
    """Its documents stay where they are, its conversations go on without it. `token` brings it back, within an hour."""
    return deleted(projects.remove(_own(request, project)))


@router.post(
    "/restore", response=Project, auth=require_scope("chat:write"), summary="Bring a deleted project back",
    operation_id="restore_project",
)  # fmt: skip
def restore_project(request: HttpRequest, given: BringingBack) -> Any:
    """As it was, with the conversations that were its own and belong to no other since.

    409 where that cannot be: too late, not your token, or its folder has a project again.
    """
    try:
        return projects.restore(person(request), given.token)
    except UndoExpiredError as gone:
        raise ProblemError(HTTPStatus.CONFLICT, str(gone)) from gone


def _own(request: HttpRequest, pk: int) -> models.Project:
    mine = models.Project.objects.for_user(person(request)).select_related("user")
    found = mine.filter(pk=pk).first()
    if found is None:
        raise Http404
    return found
