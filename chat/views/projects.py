"""Views of projects, with or without JavaScript."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from chat.forms import ProjectForm
from chat.models import Project
from chat.pages.projects import build_list_context, build_project_context
from chat.projects import projects
from chat.projects.undo_tokens import UndoExpiredError
from memory.documents import uploads
from memory.documents.tree import NotMovedError
from recall.db.quotas import QuotaError
from recall.views import first_error, post_only, signed_in_form, signed_in_post, signed_in_user

LIST = "chat/projects.html"
PAGE = "chat/project.html"


@signed_in_form
def project_list(request: HttpRequest) -> HttpResponse:
    """The user's projects; a POST creates one."""
    user = signed_in_user(request)
    if request.method != "POST":
        return render(request, LIST, build_list_context(user))
    form = ProjectForm(request.POST)
    if not form.is_valid():
        typed = {"sentence": first_error(form), "new": request.POST}
        return render(request, LIST, {**build_list_context(user), **typed}, status=422)
    try:
        created = projects.create(user, **form.cleaned_data)
    except QuotaError as full:
        typed = {"sentence": str(full), "new": request.POST}
        return render(request, LIST, {**build_list_context(user), **typed}, status=409)
    messages.success(request, f"Project “{created.name}” created.")
    return redirect("project", created.pk)


@signed_in_form
def project(request: HttpRequest, pk: int) -> HttpResponse:
    """One project; a POST changes its name, instructions or scope."""
    found = _get_own_project(request, pk)
    if request.method != "POST":
        return render(request, PAGE, build_project_context(found, request.GET.get("page")))
    form = ProjectForm(request.POST)
    if not form.is_valid():
        return _render_error(request, found, first_error(form), 422)
    before = found.path
    try:
        projects.update(found, **form.cleaned_data)
    except NotMovedError as refusal:
        return _render_error(request, _get_own_project(request, pk), str(refusal), 409)
    moved = f" Its folder is now {found.path}." if found.path != before else ""
    messages.success(request, f"Project saved.{moved}")
    return redirect("project", pk)


@signed_in_post
def archive_project(request: HttpRequest, pk: int) -> HttpResponse:
    """Archive it, or with `back` unarchive it."""
    found = _get_own_project(request, pk)
    is_archived = "back" not in request.POST
    projects.archive(found, is_archived=is_archived)
    messages.success(request, f"“{found.name}” {'archived' if is_archived else 'unarchived'}.")
    return redirect("project", pk)


@post_only("projects")
def delete_project(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete it, but not its documents and conversations; the page it renders offers to undo that."""
    found = _get_own_project(request, pk)
    gone = {"name": found.name, "token": projects.remove(found)}
    return render(request, LIST, {**build_list_context(signed_in_user(request)), "gone": gone})


@post_only("projects")
def restore_project(request: HttpRequest) -> HttpResponse:
    """Undo the deletion of a project."""
    try:
        found = projects.restore(signed_in_user(request), request.POST.get("token", ""))
    except UndoExpiredError as error:
        messages.warning(request, str(error))
        return redirect("projects")
    messages.success(request, f"“{found.name}” restored.")
    return redirect("project", found.pk)


@post_only("project", "pk")
def upload_to_project(request: HttpRequest, pk: int) -> HttpResponse:
    """Upload files into the project's folder; they are read in the background."""
    found = _get_own_project(request, pk)
    files = request.FILES.getlist("files")
    accepted = 0
    for file in files:
        name = file.name or "file"
        try:
            uploads.accept(found.user, name, file.read(), found.path)
            accepted += 1
        except uploads.UploadRefusedError as refusal:
            messages.warning(request, f"{name}: {refusal}")
    if accepted:
        messages.success(request, f"Processing {accepted} file{'' if accepted == 1 else 's'}.")
    elif not files:
        messages.warning(request, "Choose a file first.")
    return redirect(f"{reverse('project', args=[pk])}#documents")


def _render_error(request: HttpRequest, found: Project, sentence: str, status: int) -> HttpResponse:
    """The page with what was typed, and the reason it wasn't saved."""
    context: dict[str, Any] = {**build_project_context(found, None), "sentence": sentence, "typed": request.POST}
    return render(request, PAGE, context, status=status)


def _get_own_project(request: HttpRequest, pk: int) -> Project:
    return get_object_or_404(Project.objects.for_user(signed_in_user(request)).select_related("user"), pk=pk)
