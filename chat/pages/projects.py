"""The pages of projects: the list, and one project with its documents, uploads and conversations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.core.paginator import Paginator
from django.db.models import Count
from django.utils import timezone

from accounts.models import User
from chat.messages.rendering import format_time
from chat.models import Conversation, Project
from chat.projects.projects import folders_without_project, projects_of
from chat.projects.roles import MAX_INSTRUCTIONS, MAX_NAME
from memory.documents import tree, uploads
from memory.documents.readers.formats import ENDINGS, KNOWN
from memory.models import Document, Upload
from memory.pages.knowledge import document_url, load_listed

CONVERSATIONS_A_PAGE: Final = 50
DOCUMENTS_SHOWN: Final = 100
"""Documents shown; the folder's page lists all of them."""
UPLOADS_SHOWN: Final = 10
"""The latest files that are being read or failed."""


@dataclass(frozen=True, slots=True)
class ProjectRow:
    project: Project
    documents: int
    conversations: int


def build_list_context(user: User) -> dict[str, Any]:
    """The list of projects, with the size of each; five queries."""
    documents = {entry.path: entry.documents for entry in tree.list_folder(user, "/projects")}
    held = Conversation.objects.not_deleted().for_user(user).exclude(scope="").values_list("scope")
    conversations = dict(held.annotate(rows=Count("pk")).order_by())

    def rows(projects: Sequence[Project]) -> list[ProjectRow]:
        return [ProjectRow(each, _count(user, each, documents), conversations.get(each.path, 0)) for each in projects]

    return {
        "projects": rows(list(projects_of(user))),
        "archived": rows(list(projects_of(user, archived=True))),
        "folders": folders_without_project(user),
        **_limits(),
    }


def _count(user: User, project: Project, counted: dict[str, int]) -> int:
    """Documents of a project; a folder outside /projects needs its own query."""
    if project.path in counted or tree.parent_of(project.path) == "/projects":
        return counted.get(project.path, 0)
    return Document.objects.for_user(user).under(project.path).count()


def build_project_context(project: Project, page: str | None) -> dict[str, Any]:
    """One project with a page of its conversations."""
    user, now = project.user, timezone.now()
    documents = Document.objects.for_user(user).under(project.path).order_by("path")
    number = documents.count()
    held = Conversation.objects.not_deleted().for_user(user).filter(scope=project.path).latest_first()
    conversations = Paginator(held.only("id", "title", "last_activity_at"), CONVERSATIONS_A_PAGE).get_page(page)
    return {
        "project": project,
        "documents": load_listed(documents[:DOCUMENTS_SHOWN], project.path),
        "document_count": number,
        "folder": document_url(project.path) if number else "",
        "uploads": _unfinished_uploads(project),
        "conversations": conversations,
        "held": [(row, format_time(row.last_activity_at, user.zone, now)) for row in conversations],
        "endings": ",".join(ENDINGS),
        "known": KNOWN,
        "largest_mb": settings.ENVIRONMENT.max_upload_mb,
        **_limits(),
    }


def _unfinished_uploads(project: Project) -> list[Upload]:
    unread = [*uploads.UNFINISHED, Upload.State.FAILED]
    found = Upload.objects.for_user(project.user).filter(folder=project.path, state__in=unread)
    return list(found.defer("content").order_by("-created_at")[:UPLOADS_SHOWN])


def _limits() -> dict[str, int]:
    return {"max_name": MAX_NAME, "max_instructions": MAX_INSTRUCTIONS}
