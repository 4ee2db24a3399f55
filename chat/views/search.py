"""Views of the search page, of the command palette and of its shortcuts. Without JavaScript the search is a form."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from chat.pages.palette import COOKIE, OFF, SHORTCUTS, find_options
from chat.pages.search import build_search
from chat.projects.projects import projects_of
from recall.views import is_htmx, signed_in_page, signed_in_user

YEAR_SECONDS = 365 * 24 * 3600


@signed_in_page
def search_everything(request: HttpRequest) -> HttpResponse:
    """Conversations, facts and documents that match the query, or one of these with `in`."""
    user = signed_in_user(request)
    context = {**build_search(user, request.GET), "projects": projects_of(user)}
    partial = ("#more" if "page" in request.GET else "#found") if is_htmx(request) else ""
    return render(request, f"chat/search.html{partial}", context, status=200 if context["is_valid"] else 422)


@signed_in_page
def palette(request: HttpRequest) -> HttpResponse:
    """The options that match `q`, on the page of the conversation `at`."""
    try:
        current = UUID(request.GET.get("at", ""))
    except ValueError:
        current = None
    groups = find_options(signed_in_user(request), request.GET.get("q", ""), current)
    return render(request, "chat/palette.html", {"groups": groups, "many": sum(len(group.options) for group in groups)})


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def shortcuts(request: HttpRequest) -> HttpResponse:
    """Every shortcut, and a switch for single keys."""
    if request.method != "POST":
        is_off = request.COOKIES.get(COOKIE) == OFF
        return render(request, "chat/shortcuts.html", {"shortcuts": SHORTCUTS, "is_off": is_off})
    turn_off = not request.POST.get("single")
    messages.success(request, f"Single-key shortcuts are {'off' if turn_off else 'on'} in this browser.")
    response = redirect("shortcuts")
    response.set_cookie(
        COOKIE, OFF if turn_off else "on", max_age=YEAR_SECONDS, samesite="Lax", secure=request.is_secure()
    )
    return response
