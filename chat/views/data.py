"""Views of import and export, with or without JavaScript."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone

from accounts import reauthentication
from accounts.models import User
from chat.archive.export import file_name, stream_archive
from chat.archive.safe_zip import MEGABYTE, NotImportedError
from chat.archive.stream import stream_from_thread
from chat.conversations import retention
from chat.importing import jobs
from chat.importing.view import list_imports, unread_imports
from chat.models import ImportJob
from recall.text import storable
from recall.views import is_htmx, signed_in_form, signed_in_page, signed_in_post, signed_in_user

PAGE = "chat/import.html"
NO_FILE = "Choose a file first."
STARTING = "export"
"""URL field of the page to which a user comes back from reauthentication: it starts their download."""
EXPORT_CARD = "export-title"
"""Fragment of the page's export section."""


@signed_in_form
def imports(request: HttpRequest) -> HttpResponse:
    """Imports and their progress; a POST uploads a file."""
    if request.method != "POST":
        is_starting = STARTING in request.GET and reauthentication.is_confirmed(request)
        return render(request, PAGE, {**_page_context(signed_in_user(request)), "is_starting": is_starting})
    refusal = _accept_upload(signed_in_user(request), request.FILES.get("file"))
    if is_htmx(request):
        return render(
            request,
            f"{PAGE}#jobs",
            {**_jobs_context(signed_in_user(request)), "refusal": refusal},
            status=422 if refusal else 200,
        )
    if refusal:
        return render(request, PAGE, {**_page_context(signed_in_user(request)), "refusal": refusal}, status=422)
    return redirect("import")


@signed_in_page
def import_jobs(request: HttpRequest) -> HttpResponse:
    """The list of imports, for a page that polls it."""
    return render(request, f"{PAGE}#jobs" if is_htmx(request) else PAGE, _page_context(signed_in_user(request)))


@signed_in_post
def cancel_import(request: HttpRequest, pk: int) -> HttpResponse:
    job = get_object_or_404(ImportJob.objects.for_user(signed_in_user(request)), pk=pk)
    if not jobs.cancel(job):
        messages.warning(request, f"“{job.name}” has already finished.")
    if is_htmx(request):
        return render(request, f"{PAGE}#jobs", _jobs_context(signed_in_user(request)))
    return redirect("import")


@signed_in_post
def read_imported(request: HttpRequest) -> HttpResponse:
    """Have the librarian read imported conversations."""
    count = jobs.request_readings(signed_in_user(request), storable(request.POST.get("origin", ""))[:20])
    messages.success(request, f"Recall is reading {count:,} conversation{'' if count == 1 else 's'}, newest first.")
    return redirect("import")


@signed_in_page
def export(request: HttpRequest) -> HttpResponseBase:
    """Download everything as one archive, after reauthentication: an open browser alone must not be enough."""
    if not reauthentication.is_confirmed(request):
        return reauthentication.redirect_to_reauthentication(back_to=f"{reverse('import')}?{STARTING}#{EXPORT_CARD}")
    user = signed_in_user(request)
    response = StreamingHttpResponse(stream_from_thread(stream_archive, user), content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{file_name(user, timezone.now())}"'
    response["X-Accel-Buffering"] = "no"  # else nginx buffers the whole archive
    return response


def _accept_upload(user: User, file: UploadedFile[Any] | None) -> str:
    """Store the file as an import job; the reason, if it is refused."""
    if file is None:
        return NO_FILE
    try:
        jobs.accept(user, file.name or "export", file.size or 0, file.chunks())
    except NotImportedError as refusal:
        return str(refusal)
    return ""


def _page_context(user: User) -> Mapping[str, Any]:
    largest = settings.ENVIRONMENT.max_import_mb
    days = retention.PERIODS[retention.What.CONVERSATIONS]()
    size = f"{largest / 1_000:g} GB" if largest >= 1_000 else f"{largest} MB"
    return {**_jobs_context(user), "largest": largest * MEGABYTE, "largest_size": size, "kept_days": days}


def _jobs_context(user: User) -> dict[str, Any]:
    shown = list_imports(user)
    return {"jobs": shown, "is_busy": any(job.is_busy for job in shown), "unread": unread_imports(user)}
