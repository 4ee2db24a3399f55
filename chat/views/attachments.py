"""Attachment views: upload drafts, serve files to their owner, and never let a file run in the browser.

Images are displayed; every other file is a download. Media types come from a fixed table, never from the uploader, and
every response is sandboxed without scripts, forms or origin.
"""

import hashlib
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.utils.html import format_html
from django.utils.http import content_disposition_header
from django.views.decorators.http import condition, require_http_methods, require_safe

from accounts.models import User
from chat.attachments import images
from chat.attachments.limits import MAX_PER_MESSAGE, MEGABYTE, SHOWN_CHARACTERS, max_file_bytes
from chat.attachments.upload import RETRY_SECONDS, AttachmentRefusedError, ReadersBusyError, accept
from chat.attachments.view import as_json
from chat.conversations.model_choice import ModelNotOfferedError, defaults_of, validate_model
from chat.models import Attachment, Conversation
from memory.documents.readers.formats import NotReadableError
from recall.llm.client import get_capabilities
from recall.text import whole_number
from recall.views import is_htmx, signed_in_post, signed_in_user

SHOWN: Final = ("image/png", "image/jpeg", "image/webp")
"""Media types served inline: images that Recall encoded itself. The rest are downloads."""
DOWNLOAD: Final = "application/octet-stream"
SANDBOX: Final = "default-src 'none'; sandbox"
FORM_BYTES: Final = 100_000
"""Allowed size of a request besides its file."""
NO_FILE: Final = "Choose a file first."
MORE: Final = "… {more:,} more characters"


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def attachments(request: HttpRequest) -> HttpResponse:
    """POST: upload one file as a draft. GET: those of the given drafts that still exist, for a reloaded page."""
    if request.method == "POST":
        return _accept(request)
    ids = [pk for pk in map(whole_number, request.GET.getlist("id")[:MAX_PER_MESSAGE]) if pk is not None]
    drafts = _own_rows(request).filter(pk__in=ids, message=None).defer("content", "text")
    sees = _sees_images(signed_in_user(request), request.GET)
    return _private(JsonResponse({"attachments": [as_json(row, sees=sees) for row in drafts.order_by("pk")]}))


def _accept(request: HttpRequest) -> HttpResponse:
    if int(request.META.get("CONTENT_LENGTH") or 0) > max_file_bytes() + FORM_BYTES:  # before it is read into memory
        error = f"This file is too large. The limit is {max_file_bytes() / MEGABYTE:.0f} MB."
        return JsonResponse({"error": error}, status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    file = request.FILES.get("file")
    if file is None or isinstance(file, list):
        return JsonResponse({"error": NO_FILE}, status=HTTPStatus.BAD_REQUEST)
    is_paste = request.POST.get("kind") == Attachment.Kind.PASTE
    try:
        row = accept(signed_in_user(request), file.name or "", file.read(), is_paste=is_paste)
    except ReadersBusyError as busy:
        wait = {"Retry-After": str(RETRY_SECONDS)}
        return JsonResponse({"error": str(busy)}, status=HTTPStatus.TOO_MANY_REQUESTS, headers=wait)
    except AttachmentRefusedError as refusal:
        return JsonResponse({"error": str(refusal)}, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    sees = _sees_images(signed_in_user(request), request.POST)
    return _private(JsonResponse(as_json(row, sees=sees), status=HTTPStatus.CREATED))


@signed_in_post
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a draft. A sent attachment is deleted with its message (`/memory/forget`)."""
    get_object_or_404(_own_rows(request).filter(message=None).only("pk"), pk=pk).delete()
    return HttpResponse(status=HTTPStatus.NO_CONTENT)


def _etag(request: HttpRequest, pk: int) -> str | None:
    """ETag of the owner's attachment; None for anyone else, who gets the sign-in page or a 404."""
    if not isinstance(request.user, User):
        return None
    row = _own_rows(request).filter(pk=pk).values_list("content_hash", "text", "name").first()
    return None if row is None else f'"{hashlib.sha256(repr(row).encode()).hexdigest()[:32]}"'


@require_safe
@login_required
@condition(etag_func=_etag)
def attachment(request: HttpRequest, pk: int) -> HttpResponse:
    """The image as the model gets it, or the file as it was uploaded."""
    row = get_object_or_404(_own_rows(request), pk=pk)
    is_shown = row.media_type in SHOWN and row.kind == Attachment.Kind.IMAGE
    response = HttpResponse(bytes(row.content), content_type=row.media_type if is_shown else DOWNLOAD)
    disposition = content_disposition_header(not is_shown, row.name)
    if disposition:
        response["Content-Disposition"] = disposition
    return _private(response)


@require_safe
@login_required
@condition(etag_func=_etag)
def thumbnail(request: HttpRequest, pk: int) -> HttpResponse:
    """A small version of an image."""
    row = get_object_or_404(_own_rows(request).filter(kind=Attachment.Kind.IMAGE), pk=pk)
    try:
        content = images.thumbnail(bytes(row.content))
    except NotReadableError:
        raise Http404 from None
    response = HttpResponse(content, content_type="image/webp")
    response["Content-Disposition"] = "inline"
    return _private(response)


@require_safe
@login_required
def text(request: HttpRequest, pk: int) -> HttpResponse:
    """The text that the model reads from a file: a fragment for htmx, or plain text."""
    row = get_object_or_404(_own_rows(request).exclude(kind=Attachment.Kind.IMAGE).defer("content"), pk=pk)
    if not is_htmx(request):
        return _private(HttpResponse(row.text, content_type="text/plain; charset=utf-8"))
    more = len(row.text) - SHOWN_CHARACTERS
    shown = format_html('<pre class="attachment-text" tabindex="0">{}</pre>', row.text[:SHOWN_CHARACTERS])
    left = format_html('<p class="muted">{}</p>', MORE.format(more=more)) if more > 0 else ""
    return _private(HttpResponse(f"{shown}{left}"))


def _private(response: HttpResponse) -> HttpResponse:
    """Only for this browser and revalidated each time: a cache must not show what was forgotten."""
    response["Cache-Control"] = "private, no-cache"
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = SANDBOX
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


def _sees_images(user: User, about: Mapping[str, str]) -> bool:
    """Whether the model of the conversation, or the one chosen for a new conversation, accepts images."""
    try:
        found = Conversation.objects.not_deleted().for_user(user).filter(pk=UUID(about.get("conversation", "")))
        model = found.values_list("model", flat=True).first() or ""
    except ValueError:
        model = _chosen(about.get("model", "")) or defaults_of(user)[0]
    return get_capabilities(model or settings.ENVIRONMENT.chat_model).images


def _chosen(model: str) -> str:
    try:
        return validate_model(model)
    except ModelNotOfferedError:
        return ""


def _own_rows(request: HttpRequest) -> Any:
    return Attachment.objects.for_user(signed_in_user(request))
