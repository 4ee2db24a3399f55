"""Projects: create, rename, archive, delete and undo. Each has a folder, and both move together.

    create   the folder `/projects/<slug>`: a free one, or one of that name without a project, with its contents
    rename   moves the folder, the scope of its conversations, and uploads in progress
    remove   documents stay where they are; conversations stay without a project

Moving the folder among the documents also moves the project (`on_documents_moved`).
"""

from collections.abc import Iterator
from itertools import chain, count
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.text import slugify

from accounts.models import User
from chat.models import Conversation, Project
from chat.projects.project_scope import is_below
from chat.projects.undo_tokens import UndoExpiredError, load_undo, sign_undo
from memory.documents import tree
from memory.models import Document, Upload
from recall.db.notify import publish_event
from recall.db.quotas import QuotaError, make_room

ROOT: Final = "/projects"
NAMELESS: Final = "project"
"""Slug of a name without letters and digits."""


def projects_of(user: User, *, archived: bool = False) -> QuerySet[Project]:
    """The user's projects by name: active or archived ones."""
    return Project.objects.for_user(user).filter(archived_at__isnull=not archived)


def folders_without_project(user: User) -> list[tree.Entry]:
    """Folders below /projects that have documents and no project: an import or the librarian created them."""
    taken = _project_paths(user)
    return [entry for entry in tree.list_folder(user, ROOT) if entry.is_folder and entry.path not in taken]


# Creating and changing -------------------------------------------------------------------------------------------


def create(user: User, name: str, instructions: str = "", *, only_project: bool = False) -> Project:
    """Create a project and its folder.

    Raises:
        QuotaError: the user has too many.
    """
    while True:
        path = _choose_folder(user, name)
        project = Project(user=user, name=name, path=path, instructions=instructions, only_project=only_project)
        try:
            with transaction.atomic():
                make_room(Project.objects.for_user(user), user.pk)
                project.save()
        except IntegrityError:  # `one_project_a_folder`: another tab took it
            continue
        _notify_lists(user)
        return project


def update(project: Project, name: str, instructions: str, *, only_project: bool) -> Project:
    """Change a project; a new name moves its folder.

    Raises:
        tree.NotMovedError: why the folder can't be moved, in one sentence; nothing was changed.
    """
    with transaction.atomic():
        if name != project.name:
            _rename(project, name)
        project.name, project.instructions, project.only_project = name, instructions, only_project
        project.save(update_fields=["name", "instructions", "only_project"])
    _notify_lists(project.user)
    return project


def archive(project: Project, *, is_archived: bool) -> None:
    """Archive or unarchive a project; its conversations and documents stay as they are."""
    project.archived_at = timezone.now() if is_archived else None
    project.save(update_fields=["archived_at"])
    _notify_lists(project.user)


def _rename(project: Project, name: str) -> None:
    old = project.path
    if _slug(name) == tree.name_of(old).casefold():
        return
    new = next(path for path in _candidate_paths(name) if path.casefold() not in _taken_paths(project.user))
    if Document.objects.for_user(project.user).under(old).exists():
        tree.move(project.user, old, new)  # sends `documents_moved`
    else:
        on_documents_moved(project.user, old, new)
    project.refresh_from_db(fields=["path"])


def _choose_folder(user: User, name: str) -> str:
    """The folder for a project of this name: one without a project is adopted, otherwise a free one."""
    waiting = {entry.name.casefold(): entry.path for entry in folders_without_project(user)}
    adopted = waiting.get(name.casefold()) or waiting.get(_slug(name))
    taken = _taken_paths(user)
    return adopted or next(path for path in _candidate_paths(name) if path.casefold() not in taken)


def _candidate_paths(name: str) -> Iterator[str]:
    path = tree.join_path(ROOT, _slug(name))
    return chain([path], (f"{path}-{number}" for number in count(2)))


def _slug(name: str) -> str:
    return slugify(name, allow_unicode=True) or NAMELESS


def _taken_paths(user: User) -> set[str]:
    """Paths taken by documents or projects, in lower case: two that differ only by case would be confused."""
    return {
        path.casefold() for path in (*_project_paths(user), *(entry.path for entry in tree.list_folder(user, ROOT)))
    }


def _project_paths(user: User) -> set[str]:
    return set(Project.objects.for_user(user).values_list("path", flat=True))


def on_documents_moved(user: User, old: str, new: str, **_: Any) -> None:
    """Move the projects in a moved folder, with their conversations and uploads in progress.

    A project stays where another one already has the new folder.
    """
    for project in Project.objects.for_user(user).filter(path__startswith=old).select_for_update():
        target = new + project.path[len(old) :]
        if is_below(project.path, old) and not Project.objects.for_user(user).filter(path=target).exists():
            Conversation.objects.for_user(user).filter(scope=project.path).update(scope=target)
            Upload.objects.for_user(user).filter(folder=project.path).update(folder=target)
            Project.objects.filter(pk=project.pk).update(path=target)


# Deleting --------------------------------------------------------------------------------------------------------


@transaction.atomic
def remove(project: Project) -> str:
    """Delete the project: its documents stay, its conversations lose their project. Returns the token for `restore`."""
    conversations = Conversation.objects.for_user(project.user).filter(scope=project.path)
    only = {str(pk): only for pk, only in conversations.values_list("pk", "only_project")}
    token = sign_undo("project", project.user, {**_fields(project), "conversations": only})
    conversations.update(scope="", only_project=False)
    project.delete()
    _notify_lists(project.user)
    return token


@transaction.atomic
def restore(user: User, token: str) -> Project:
    """Restore the project, with the conversations that were in it and haven't joined another since.

    Raises:
        UndoExpiredError: it was deleted too long ago, its folder has another project now, or there are too many.
    """
    fields = load_undo("project", user, token)
    conversations = fields.pop("conversations")
    taken = UndoExpiredError(f"The folder {fields['path']} has another project now, so this one was not restored.")
    if Project.objects.filter(pk=fields["id"]).exists() or fields["path"] in _project_paths(user):
        raise taken
    archived_at = timezone.now() if fields.pop("is_archived") else None
    try:
        with transaction.atomic():
            make_room(Project.objects.for_user(user), user.pk)
            project = Project.objects.create(user=user, archived_at=archived_at, **fields)
    except IntegrityError:  # `one_project_a_folder`: another request restored it
        raise taken from None
    except QuotaError as full:
        raise UndoExpiredError(f"The project was not restored. {full}") from full
    for only in (True, False):
        pks = [pk for pk, was_only in conversations.items() if was_only == only]
        unassigned = Conversation.objects.for_user(user).filter(pk__in=pks, scope="")
        unassigned.update(scope=project.path, only_project=only)
    _notify_lists(user)
    return project


def _fields(project: Project) -> dict[str, Any]:
    names = ("name", "path", "instructions", "only_project")
    values = {name: getattr(project, name) for name in names}
    return {"id": project.pk, "is_archived": project.archived_at is not None, **values}


def _notify_lists(user: User) -> None:
    publish_event(f"user-{user.pk}", "conversations")
