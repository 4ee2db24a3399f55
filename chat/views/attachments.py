"""The addresses of attachments: the owner's own only, and nothing of them runs in a browser.

An image is shown; every other file is handed out to be kept. Types come from a fixed table, never from the uploader,
and whatever is opened as a page of its own stands in a sandbox without scripts, forms or origin.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final, cast
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.utils.html import format_html
from django.utils.http import content_disposition_header
from django.views.decorators.http import condition, require_http_methods, require_POST, require_safe

from accounts.models import User
from chat.attachments import images
from chat.attachments.limits import MEGABYTE, MOST_A_MESSAGE, SHOWN_CHARACTERS, largest_bytes
from chat.attachments.upload import RETRY_SECONDS, AttachmentRefusedError, ReadersBusyError, accept
from chat.attachments.view import as_json
from chat.conversations.model_choice import ModelNotOfferedError, defaults_of, validate_model
from chat.models import Attachment, Conversation
from memory.documents.readers import NotReadable
from recall.llm.client import get_capabilities

SHOWN: Final = ("image/png", "image/jpeg", "image/webp")
"""Media types that are served as they are and shown: images that Recall encoded itself. The rest is only kept."""
KEPT: Final = "application/octet-stream"
SANDBOX: Final = "default-src 'none'; sandbox"
FORM_BYTES: Final = 100_000
"""What a request has beside its file."""
NO_FILE: Final = "There is no file in this request."
MORE: Final = "… The file has {more:,} further characters."


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def attachments(request: HttpRequest) -> HttpResponse:
    """POST: one file, which becomes a draft. GET: the drafts with these ids that are still there, after a reload."""
    if request.method == "POST":
        return _accept(request)
    ids = [int(one) for one in request.GET.getlist("id")[:MOST_A_MESSAGE] if one.isascii() and one.isdigit()]
    drafts = _mine(request).filter(pk__in=[one for one in ids if one < 2**63], message=None).defer("content", "text")
    sees = _sees(_user(request), request.GET)
    return _private(JsonResponse({"attachments": [as_json(row, sees=sees) for row in drafts.order_by("pk")]}))


def _accept(request: HttpRequest) -> HttpResponse:
    if int(request.META.get("CONTENT_LENGTH") or 0) > largest_bytes() + FORM_BYTES:  # before it is taken into memory
        sentence = f"This file is larger than {largest_bytes() / MEGABYTE:.0f} MB, which is the limit."
        return JsonResponse({"error": sentence}, status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    file = request.FILES.get("file")
    if file is None or isinstance(file, list):
        return JsonResponse({"error": NO_FILE}, status=HTTPStatus.BAD_REQUEST)
    is_paste = request.POST.get("kind") == Attachment.Kind.PASTE
    try:
        row = accept(_user(request), file.name or "", file.read(), is_paste=is_paste)
    except ReadersBusyError as busy:
        wait = {"Retry-After": str(RETRY_SECONDS)}
        return JsonResponse({"error": str(busy)}, status=HTTPStatus.TOO_MANY_REQUESTS, headers=wait)
    except AttachmentRefusedError as refusal:
        return JsonResponse({"error": str(refusal)}, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    sees = _sees(_user(request), request.POST)
    return _private(JsonResponse(as_json(row, sees=sees), status=HTTPStatus.CREATED))


@require_POST
@login_required
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove a draft. What was sent goes with its message (`/memory/forget`)."""
    get_object_or_404(_mine(request).filter(message=None).only("pk"), pk=pk).delete()
    return HttpResponse(status=HTTPStatus.NO_CONTENT)


def _mark(request: HttpRequest, pk: int) -> str | None:
    """Told again only when it changed; whoever is signed out, or not the owner, gets no mark and so an answer."""
    if not isinstance(request.user, User):
        return None
    row = _mine(request).filter(pk=pk).values_list("content_hash", "text", "name").first()
    return None if row is None else f'"{hashlib.sha256(repr(row).encode()).hexdigest()[:32]}"'


@require_safe
@login_required
@condition(etag_func=_mark)
def attachment(request: HttpRequest, pk: int) -> HttpResponse:
    """The image as the model gets it, or the file as it came."""
    row = get_object_or_404(_mine(request), pk=pk)
    is_shown = row.media_type in SHOWN and row.kind == Attachment.Kind.IMAGE
    response = HttpResponse(bytes(row.content), content_type=row.media_type if is_shown else KEPT)
    disposition = content_disposition_header(not is_shown, row.name)
    if disposition:
        response["Content-Disposition"] = disposition
    return _private(response)


@require_safe
@login_required
@condition(etag_func=_mark)
def thumbnail(request: HttpRequest, pk: int) -> HttpResponse:
    """An image, small."""
    row = get_object_or_404(_mine(request).filter(kind=Attachment.Kind.IMAGE), pk=pk)
    try:
        made = images.thumbnail(bytes(row.content))
    except NotReadable:
        raise Http404 from None
    response = HttpResponse(made, content_type="image/webp")
    response["Content-Disposition"] = "inline"
    return _private(response)


@require_safe
@login_required
def text(request: HttpRequest, pk: int) -> HttpResponse:
    """What the model reads of a file: into the page, or as plain text for whoever opens the address."""
    row = get_object_or_404(_mine(request).exclude(kind=Attachment.Kind.IMAGE).defer("content"), pk=pk)
    if not request.htmx:  # type: ignore[attr-defined]
        return _private(HttpResponse(row.text, content_type="text/plain; charset=utf-8"))
    more = len(row.text) - SHOWN_CHARACTERS
    shown = format_html('<pre class="attachment-text" tabindex="0">{}</pre>', row.text[:SHOWN_CHARACTERS])
    left = format_html('<p class="muted">{}</p>', MORE.format(more=more)) if more > 0 else ""
    return _private(HttpResponse(f"{shown}{left}"))


def _private(response: HttpResponse) -> HttpResponse:
    """For this browser alone, asked again each time: what was forgotten is not shown from a cache."""
    response["Cache-Control"] = "private, no-cache"
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = SANDBOX
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


def _sees(user: User, about: Mapping[str, str]) -> bool:
    """Whether the model that would get it can see images: the conversation's, or the one chosen for a new one."""
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


def _mine(request: HttpRequest) -> Any:
    return Attachment.objects.for_user(_user(request))


def _user(request: HttpRequest) -> User:
    return cast(User, request.user)
