"""Views of the roles page, with or without JavaScript."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from chat.forms import RoleForm
from chat.models import Role
from chat.projects import roles
from chat.projects.roles import MAX_INSTRUCTIONS, MAX_NAME
from chat.projects.undo_tokens import UndoExpiredError
from recall.db.quotas import QuotaError
from recall.views import first_error, post_only, signed_in_form, signed_in_user

PAGE = "chat/roles.html"


@signed_in_form
def role_list(request: HttpRequest) -> HttpResponse:
    """The user's roles; a POST creates one."""
    if request.method != "POST":
        return render(request, PAGE, _page_context(request))
    form = RoleForm(request.POST)
    try:
        if not form.is_valid():
            return _render_error(request, first_error(form), 422, new=request.POST)
        role = roles.create(signed_in_user(request), form.cleaned_data["name"], form.cleaned_data["instructions"])
    except (roles.NameTakenError, QuotaError) as refusal:
        return _render_error(request, str(refusal), 409, new=request.POST)
    messages.success(request, f"Role “{role.name}” created. Choose it in the model menu of a conversation.")
    return _redirect_to(role)


@post_only("roles")
def role(request: HttpRequest, pk: int) -> HttpResponse:
    found = _get_own_role(request, pk)
    form = RoleForm(request.POST)
    try:
        if not form.is_valid():
            return _render_error(request, first_error(form), 422, edited=pk, typed=request.POST)
        before = found.version
        roles.edit(found, form.cleaned_data["name"], form.cleaned_data["instructions"])
    except roles.NameTakenError as taken:
        return _render_error(request, str(taken), 409, edited=pk, typed=request.POST)
    if found.version != before:
        sentence = f"“{found.name}” saved as version {found.version}. Its conversations use it from the next answer on."
        messages.success(request, sentence)
    return _redirect_to(found)


@post_only("roles")
def delete_role(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a role; the page it renders offers to undo that."""
    found = _get_own_role(request, pk)
    name, token = found.name, roles.remove(found)
    return render(request, PAGE, {**_page_context(request), "gone": {"name": name, "token": token}})


@post_only("roles")
def restore_role(request: HttpRequest) -> HttpResponse:
    """Undo the deletion of a role."""
    try:
        found = roles.restore(signed_in_user(request), request.POST.get("token", ""))
    except UndoExpiredError as error:
        messages.warning(request, str(error))
        return redirect("roles")
    messages.success(request, f"“{found.name}” restored.")
    return _redirect_to(found)


def _page_context(request: HttpRequest) -> dict[str, Any]:
    user_roles = list(roles.roles_of(signed_in_user(request)))
    limits = {"max_name": MAX_NAME, "max_instructions": MAX_INSTRUCTIONS}
    return {"roles": user_roles, "examples": roles.unused_examples(user_roles), **limits}


def _render_error(request: HttpRequest, sentence: str, status: int, **typed: Any) -> HttpResponse:
    """The page with what was typed, and the reason it wasn't saved."""
    return render(request, PAGE, {**_page_context(request), "sentence": sentence, **typed}, status=status)


def _redirect_to(role: Role) -> HttpResponse:
    return redirect(f"{reverse('roles')}#role-{role.pk}")


def _get_own_role(request: HttpRequest, pk: int) -> Role:
    return get_object_or_404(Role.objects.for_user(signed_in_user(request)), pk=pk)
