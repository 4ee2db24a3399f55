"""View of the search: one form, submitted by htmx while the user types, or without JavaScript."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from chat.pages.search import build_search
from chat.projects.projects import projects_of
from recall.views import is_htmx, signed_in_user


@require_safe
@login_required
@never_cache
def search_everything(request: HttpRequest) -> HttpResponse:
    """Conversations, facts and documents that match the query, or one of these with `in`."""
    user = signed_in_user(request)
    context = {**build_search(user, request.GET), "projects": projects_of(user)}
    partial = ("#more" if "page" in request.GET else "#found") if is_htmx(request) else ""
    return render(request, f"chat/search.html{partial}", context, status=200 if context["is_valid"] else 422)
