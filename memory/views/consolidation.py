"""The consolidation section of the rules page: the button queues a run, and htmx polls for its report."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from memory.consolidation import jobs
from memory.pages.consolidation import load_reports
from recall.views import is_htmx, post_only, signed_in_user

PAGE = "memory:rules"
ANCHOR = "clean-up"


@post_only(PAGE, at=ANCHOR)
@login_required
@never_cache
def start_consolidation(request: HttpRequest) -> HttpResponse:
    """Queue it; consolidation twice, it is queued once."""
    consolidation = jobs.request_consolidation(signed_in_user(request))
    if is_htmx(request):
        return render(request, "memory/clean_ups.html", load_reports(signed_in_user(request)))
    messages.success(request, " ".join(jobs.sentences(consolidation)))
    return redirect(f"{reverse(PAGE)}#{ANCHOR}")


@require_safe
@login_required
@never_cache
def consolidation_reports(request: HttpRequest) -> HttpResponse:
    """The reports alone, for a page that polls."""
    if not is_htmx(request):
        return redirect(f"{reverse(PAGE)}#{ANCHOR}")
    return render(request, "memory/clean_ups.html", load_reports(signed_in_user(request)))
