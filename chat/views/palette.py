"""The palette's options, and the page of shortcuts."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import User
from chat.pages.palette import options
from chat.pages.shortcuts import COOKIE, OFF, SHORTCUTS

YEAR_SECONDS = 365 * 24 * 3600


@require_safe
@login_required
@never_cache
def palette(request: HttpRequest) -> HttpResponse:
    """What fits what was typed (`q`), on the page of the conversation `at`."""
    assert isinstance(request.user, User)
    try:
        current = UUID(request.GET.get("at", ""))
    except ValueError:
        current = None
    groups = options(request.user, request.GET.get("q", ""), current)
    return render(request, "chat/palette.html", {"groups": groups, "many": sum(len(one.options) for one in groups)})


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def shortcuts(request: HttpRequest) -> HttpResponse:
    """Every key, and a switch for those that act alone."""
    if request.method != "POST":
        is_off = request.COOKIES.get(COOKIE) == OFF
        return render(request, "chat/shortcuts.html", {"shortcuts": SHORTCUTS, "is_off": is_off})
    turn_off = not request.POST.get("single")
    messages.success(request, f"Single keys are {'off' if turn_off else 'on'} in this browser.")
    response = redirect("shortcuts")
    response.set_cookie(
        COOKIE, OFF if turn_off else "on", max_age=YEAR_SECONDS, samesite="Lax", secure=request.is_secure()
    )
    return response
