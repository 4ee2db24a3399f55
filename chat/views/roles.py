"""The page of roles: it loads what is the user's own, calls, and renders. It works without JavaScript, too."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.models import User
from chat.forms import RoleForm, first_error
from chat.models import Role
from chat.projects import roles
from chat.projects.roles import MAX_INSTRUCTIONS, MAX_NAME
from chat.projects.undo_tokens import UndoExpiredError
from recall.views import post_only

PAGE = "chat/roles.html"


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def all_roles(request: HttpRequest) -> HttpResponse:
    """The person's roles; a POST makes one."""
    if request.method != "POST":
        return render(request, PAGE, _page(request))
    form = RoleForm(request.POST)
    try:
        if not form.is_valid():
            return _not_done(request, first_error(form), 422, new=request.POST)
        role = roles.create(_user(request), form.cleaned_data["name"], form.cleaned_data["instructions"])
    except roles.NameTakenError as taken:
        return _not_done(request, str(taken), 409, new=request.POST)
    messages.success(request, f"“{role.name}” is a role now. Choose it when you begin a conversation, or in its menu.")
    return _shown(role)


@post_only("roles")
@login_required
def role(request: HttpRequest, pk: int) -> HttpResponse:
    """The role in other words."""
    found = _own(request, pk)
    form = RoleForm(request.POST)
    try:
        if not form.is_valid():
            return _not_done(request, first_error(form), 422, edited=pk, typed=request.POST)
        before = found.version
        roles.edit(found, form.cleaned_data["name"], form.cleaned_data["instructions"])
    except roles.NameTakenError as taken:
        return _not_done(request, str(taken), 409, edited=pk, typed=request.POST)
    if found.version != before:
        messages.success(
            request,
            f"“{found.name}” is version {found.version} now. Conversations in this role go by it from their next "
            "answer on, and write their cache anew once.",
        )
    return _shown(found)


@post_only("roles")
@login_required
def delete_role(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete it; the page that says so can bring it back."""
    found = _own(request, pk)
    name, token = found.name, roles.remove(found)
    return render(request, PAGE, {**_page(request), "gone": {"name": name, "token": token}})


@post_only("roles")
@login_required
def restore_role(request: HttpRequest) -> HttpResponse:
    """Bring back what was just deleted."""
    try:
        found = roles.restore(_user(request), request.POST.get("token", ""))
    except UndoExpiredError as error:
        messages.warning(request, str(error))
        return redirect("roles")
    messages.success(request, f"“{found.name}” is back.")
    return _shown(found)


def _page(request: HttpRequest) -> dict[str, Any]:
    own = list(roles.roles_of(_user(request)))
    limits = {"max_name": MAX_NAME, "max_instructions": MAX_INSTRUCTIONS}
    return {"roles": own, "examples": roles.unused_examples(own), **limits}


def _not_done(request: HttpRequest, sentence: str, status: int, **more: Any) -> HttpResponse:
    """The page again, with what was typed and one sentence on why nothing was saved."""
    return render(request, PAGE, {**_page(request), "sentence": sentence, **more}, status=status)


def _shown(role: Role) -> HttpResponse:
    return redirect(f"{reverse('roles')}#role-{role.pk}")


def _own(request: HttpRequest, pk: int) -> Role:
    return get_object_or_404(Role.objects.for_user(_user(request)), pk=pk)


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user
