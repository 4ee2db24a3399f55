"""What is a project's folder, and what goes along when it is renamed, moved or deleted?

    make      the folder `/projects/<slug>`: a free one, or one of that name that has no project yet, with what is in it
    rename    the folder moves, and with it the scope of the conversations and the files that are being read
    delete    documents stay where they are, conversations stay without a project

Whoever moves the folder among the documents moves the project, too (`follow`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.dispatch import receiver
from django.utils import timezone
from django.utils.text import slugify

from accounts.models import User
from chat.models import Conversation, Project
from chat.projects.project_scope import is_below
from chat.projects.undo_tokens import UndoExpiredError, load_undo, sign_undo
from memory.documents import tree
from memory.models import Document, Upload
from recall.db.notify import publish_event

ROOT: Final = "/projects"
NAMELESS: Final = "project"
"""Slug of a name without letters and digits."""


def projects_of(user: User, *, archived: bool = False) -> QuerySet[Project]:
    """The person's projects by name: those at hand, or those that were put away."""
    return Project.objects.for_user(user).filter(archived_at__isnull=not archived)


def folders_without_project(user: User) -> list[tree.Entry]:
    """Folders below /projects that have documents and no project: an import or the librarian made them."""
    taken = _taken(user)
    return [entry for entry in tree.list_folder(user, ROOT) if entry.is_folder and entry.path not in taken]


# Making and changing -----------------------------------------------------------------------------------------------


def create(user: User, name: str, instructions: str = "", *, only_project: bool = False) -> Project:
    """A new project with a folder of its own."""
    while True:
        path = _folder_to_begin_with(user, name)
        project = Project(user=user, name=name, path=path, instructions=instructions, only_project=only_project)
        try:
            with transaction.atomic():
                project.save()
        except IntegrityError:  # `one_project_a_folder`: another tab took it a moment ago
            continue
        _tell(user)
        return project


def update(project: Project, name: str, instructions: str, *, only_project: bool) -> Project:
    """Other words for it; another name moves its folder.

    Raises:
        tree.NotMovedError: one sentence on why the folder cannot be moved; nothing was changed.
    """
    with transaction.atomic():
        if name != project.name:
            _rename(project, name)
        project.name, project.instructions, project.only_project = name, instructions, only_project
        project.save(update_fields=["name", "instructions", "only_project"])
    _tell(project.user)
    return project


def archive(project: Project, *, is_archived: bool) -> None:
    """Put it away, or take it out again; its conversations and documents stay as they are."""
    project.archived_at = timezone.now() if is_archived else None
    project.save(update_fields=["archived_at"])
    _tell(project.user)


def _rename(project: Project, name: str) -> None:
    old = project.path
    if _slug(name) == tree.name_of(old).casefold():
        return
    new = next(path for path in _numbered(name) if path.casefold() not in _standing(project.user))
    if Document.objects.for_user(project.user).under(old).exists():
        tree.move(project.user, old, new)  # tells `follow`
    else:
        on_documents_moved(project.user, old, new)
    project.refresh_from_db(fields=["path"])


def _folder_to_begin_with(user: User, name: str) -> str:
    """A folder of this name without a project is taken as it is; else one that is free."""
    waiting = {entry.name.casefold(): entry.path for entry in folders_without_project(user)}
    adopted = waiting.get(name.casefold()) or waiting.get(_slug(name))
    standing = _standing(user)
    return adopted or next(path for path in _numbered(name) if path.casefold() not in standing)


def _numbered(name: str) -> Iterator[str]:
    path = tree.join_path(ROOT, _slug(name))
    return chain([path], (f"{path}-{number}" for number in count(2)))


def _slug(name: str) -> str:
    return slugify(name, allow_unicode=True) or NAMELESS


def _standing(user: User) -> set[str]:
    """Paths at which something stands, or a project is; case does not matter, two that differ by it are confused."""
    return {path.casefold() for path in (*_taken(user), *(entry.path for entry in tree.list_folder(user, ROOT)))}


def _taken(user: User) -> set[str]:
    return set(Project.objects.for_user(user).values_list("path", flat=True))


@receiver(tree.moved)
def on_documents_moved(user: User, old: str, new: str, **_: Any) -> None:
    """A folder was moved: projects in it, their conversations, and files that wait to be read for it go along.

    A project stays where another one has the new folder already.
    """
    for project in Project.objects.for_user(user).filter(path__startswith=old).select_for_update():
        target = new + project.path[len(old) :]
        if is_below(project.path, old) and not Project.objects.for_user(user).filter(path=target).exists():
            Conversation.objects.for_user(user).filter(scope=project.path).update(scope=target)
            Upload.objects.for_user(user).filter(folder=project.path).update(folder=target)
            Project.objects.filter(pk=project.pk).update(path=target)


# Deleting ----------------------------------------------------------------------------------------------------------


@transaction.atomic
def remove(project: Project) -> str:
    """Delete it: its documents stay where they are, its conversations go on without it. What `bring_back` takes."""
    conversations = Conversation.objects.for_user(project.user).filter(scope=project.path)
    only = {str(pk): only for pk, only in conversations.values_list("pk", "only_project")}
    token = sign_undo("project", project.user, {**_fields(project), "conversations": only})
    conversations.update(scope="", only_project=False)
    project.delete()
    _tell(project.user)
    return token


@transaction.atomic
def restore(user: User, token: str) -> Project:
    """The project as it was, with the conversations that were its own and belong to no other since.

    Raises:
        GoneForGood: it was deleted too long ago, or its folder has another project now.
    """
    fields = load_undo("project", user, token)
    conversations = fields.pop("conversations")
    taken = UndoExpiredError(f"It was not brought back: the folder {fields['path']} has a project.")
    if Project.objects.filter(pk=fields["id"]).exists() or fields["path"] in _taken(user):
        raise taken
    archived_at = timezone.now() if fields.pop("is_archived") else None
    try:
        with transaction.atomic():
            project = Project.objects.create(user=user, archived_at=archived_at, **fields)
    except IntegrityError:  # `one_project_a_folder`: another request brought it back a moment ago
        raise taken from None
    for only in (True, False):
        mine = [pk for pk, was_only in conversations.items() if was_only == only]
        without = Conversation.objects.for_user(user).filter(pk__in=mine, scope="")
        without.update(scope=project.path, only_project=only)
    _tell(user)
    return project


def _fields(project: Project) -> dict[str, Any]:
    names = ("name", "path", "instructions", "only_project")
    told = {name: getattr(project, name) for name in names}
    return {"id": project.pk, "is_archived": project.archived_at is not None, **told}


def _tell(user: User) -> None:
    publish_event(f"user-{user.pk}", "conversations")
