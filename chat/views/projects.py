"""The pages of projects: each loads what is the user's own, calls, and renders. They work without JavaScript, too."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import User
from chat.forms import ProjectForm, first_error
from chat.models import Project
from chat.pages.projects import all_projects, one_project
from chat.projects import projects
from chat.projects.undo_tokens import UndoExpiredError
from memory.documents import uploads
from memory.documents.tree import NotMovedError
from recall.views import post_only

LIST = "chat/projects.html"
PAGE = "chat/project.html"


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def all_of_them(request: HttpRequest) -> HttpResponse:
    """The person's projects; a POST makes one."""
    user = _user(request)
    if request.method != "POST":
        return render(request, LIST, all_projects(user))
    form = ProjectForm(request.POST)
    if not form.is_valid():
        typed = {"sentence": first_error(form), "new": request.POST}
        return render(request, LIST, {**all_projects(user), **typed}, status=422)
    made = projects.create(user, **form.cleaned_data)
    messages.success(request, f"The project “{made.name}” is there; its documents stand at {made.path}.")
    return redirect("project", made.pk)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def project(request: HttpRequest, pk: int) -> HttpResponse:
    """One project; a POST gives it another name, other instructions, or another way to recall."""
    found = _own(request, pk)
    if request.method != "POST":
        return render(request, PAGE, one_project(found, request.GET.get("page")))
    form = ProjectForm(request.POST)
    if not form.is_valid():
        return _not_saved(request, found, first_error(form), 422)
    before = found.path
    try:
        projects.update(found, **form.cleaned_data)
    except NotMovedError as refusal:
        return _not_saved(request, _own(request, pk), str(refusal), 409)
    went = f" Its folder is {found.path} now." if found.path != before else ""
    messages.success(request, f"The project was saved.{went}")
    return redirect("project", pk)


@require_POST
@login_required
def archive_project(request: HttpRequest, pk: int) -> HttpResponse:
    """Put it away, or with `back` take it out again."""
    found = _own(request, pk)
    is_archived = "back" not in request.POST
    projects.archive(found, is_archived=is_archived)
    done = "put away. It is offered for no new conversation" if is_archived else "at hand again"
    messages.success(request, f"“{found.name}” is {done}.")
    return redirect("project", pk)


@post_only("projects")
@login_required
def delete_project(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete it; documents and conversations stay. The page that says so can bring it back."""
    found = _own(request, pk)
    gone = {"name": found.name, "path": found.path, "token": projects.remove(found)}
    return render(request, LIST, {**all_projects(_user(request)), "gone": gone})


@post_only("projects")
@login_required
def restore_project(request: HttpRequest) -> HttpResponse:
    """Bring back what was just deleted."""
    try:
        found = projects.restore(_user(request), request.POST.get("token", ""))
    except UndoExpiredError as error:
        messages.warning(request, str(error))
        return redirect("projects")
    messages.success(request, f"“{found.name}” is back.")
    return redirect("project", found.pk)


@post_only("project", "pk")
@login_required
def upload_to_project(request: HttpRequest, pk: int) -> HttpResponse:
    """Take files into the project's folder, to be read in the background."""
    found = _own(request, pk)
    files = request.FILES.getlist("files")
    taken = 0
    for file in files:
        name = file.name or "file"
        try:
            uploads.accept(found.user, name, file.read(), found.path)
            taken += 1
        except uploads.UploadRefusedError as refusal:
            messages.warning(request, f"{name}: {refusal}")
    if taken:
        messages.success(request, f"{taken} file{'' if taken == 1 else 's'} being read into {found.path}.")
    elif not files:
        messages.warning(request, "Choose a file first.")
    return redirect(f"{reverse('project', args=[pk])}#documents")


def _not_saved(request: HttpRequest, found: Project, sentence: str, status: int) -> HttpResponse:
    """The page again, with what was typed and one sentence on why nothing was saved."""
    context: dict[str, Any] = {**one_project(found, None), "sentence": sentence, "typed": request.POST}
    return render(request, PAGE, context, status=status)


def _own(request: HttpRequest, pk: int) -> Project:
    return get_object_or_404(Project.objects.for_user(_user(request)).select_related("user"), pk=pk)


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user
