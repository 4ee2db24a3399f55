"""Tidying up by a button: it is queued, and the page tells what it did. A plain form; htmx looks again by itself."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.models import User
from memory.consolidation import jobs
from memory.pages.consolidation import tidied
from recall.views import post_only

PAGE = "settings_memory"
PART = "tidying"


@post_only(PAGE, at=PART)
@login_required
@never_cache
def tidy(request: HttpRequest) -> HttpResponse:
    """Queue it; asked twice, it is queued once."""
    asked = jobs.request_consolidation(_user(request))
    if _is_htmx(request):
        return render(request, "memory/tidied.html", tidied(_user(request)))
    messages.success(request, " ".join(jobs.sentences(asked)))
    return redirect(f"{reverse(PAGE)}#{PART}")


@require_safe
@login_required
@never_cache
def tidied_lately(request: HttpRequest) -> HttpResponse:
    """The reports alone, for a page that waits for one."""
    if not _is_htmx(request):
        return redirect(f"{reverse(PAGE)}#{PART}")
    return render(request, "memory/tidied.html", tidied(_user(request)))


def _is_htmx(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true"


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user
