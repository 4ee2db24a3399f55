"""The pages of import and export: each loads what is the user's own, calls, and renders. Without JavaScript, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import reauthentication
from accounts.models import User
from chat.archive.export import archive, file_name
from chat.archive.safe_zip import MEGABYTE, NotImportedError
from chat.archive.stream import streamed
from chat.conversations import retention
from chat.importing import jobs
from chat.importing.view import shown_jobs, unread_imports
from chat.models import ImportJob

PAGE = "chat/import.html"
NO_FILE = "Choose a file first."
EXPORT_CARD = "export-title"
"""Where on the page the export stands."""


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def imports(request: HttpRequest) -> HttpResponse:
    """The imports and how far they are; a POST brings a file in."""
    if request.method != "POST":
        return render(request, PAGE, _page(_user(request)))
    refusal = _accept(_user(request), request.FILES.get("file"))
    if _is_htmx(request):
        return render(
            request, f"{PAGE}#jobs", {**_jobs(_user(request)), "refusal": refusal}, status=422 if refusal else 200
        )
    if refusal:
        return render(request, PAGE, {**_page(_user(request)), "refusal": refusal}, status=422)
    return redirect("import")


@require_safe
@login_required
@never_cache
def import_jobs(request: HttpRequest) -> HttpResponse:
    """The imports alone, for a page that watches them."""
    return render(request, f"{PAGE}#jobs" if _is_htmx(request) else PAGE, _page(_user(request)))


@require_POST
@login_required
def cancel_import(request: HttpRequest, pk: int) -> HttpResponse:
    """Stop reading a file."""
    job = get_object_or_404(ImportJob.objects.for_user(_user(request)), pk=pk)
    if not jobs.cancel(job):
        messages.warning(request, f"“{job.name}” had come to an end already.")
    return _jobs_again(request)


@require_POST
@login_required
def read_imported(request: HttpRequest) -> HttpResponse:
    """Have the librarian read what came in."""
    found = jobs.request_readings(_user(request), request.POST.get("origin", "")[:20])
    messages.success(
        request, f"The librarian reads {found:,} conversation{'' if found == 1 else 's'}, the newest first."
    )
    return redirect("import")


@require_safe
@login_required
@never_cache
def export(request: HttpRequest) -> HttpResponseBase:
    """Everything as one archive; not for whoever finds a browser signed in."""
    if not reauthentication.is_confirmed(request):
        return reauthentication.redirect_to_reauthentication(back_to=f"{reverse('import')}#{EXPORT_CARD}")
    user = _user(request)
    response = StreamingHttpResponse(streamed(archive, user), content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{file_name(user, timezone.now())}"'
    response["X-Accel-Buffering"] = "no"  # else nginx gathers all of it first
    return response


def _accept(user: User, file: UploadedFile[Any] | None) -> str:
    """Keep the file; a sentence, where it is not taken."""
    if file is None:
        return NO_FILE
    try:
        jobs.accept(user, file.name or "export", file.size or 0, file.chunks())
    except NotImportedError as refusal:
        return str(refusal)
    return ""


def _page(user: User) -> Mapping[str, Any]:
    largest = settings.ENVIRONMENT.max_import_mb
    days = retention.PERIODS[retention.What.CONVERSATIONS]()
    return {**_jobs(user), "largest": largest * MEGABYTE, "largest_mb": largest, "kept_days": days}


def _jobs(user: User) -> dict[str, Any]:
    shown = shown_jobs(user)
    return {"jobs": shown, "is_busy": any(one.is_busy for one in shown), "unread": unread_imports(user)}


def _jobs_again(request: HttpRequest) -> HttpResponse:
    if _is_htmx(request):
        return render(request, f"{PAGE}#jobs", _jobs(_user(request)))
    return redirect("import")


def _is_htmx(request: HttpRequest) -> bool:
    return bool(request.htmx)  # type: ignore[attr-defined]


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user
