"""Attachment operations: upload drafts, list, download and delete them. A turn sends them."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Final
from uuid import UUID

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.http import content_disposition_header
from ninja import File, Form, Query, Router, Schema, Status, UploadedFile
from pydantic import Field

from accounts.api.auth import Replay, person, require_scope
from chat import models
from chat.attachments.upload import RETRY_SECONDS, AttachmentRefusedError, ReadersBusyError, accept
from recall.openapi.pagination import Page, Paging, paginate
from recall.openapi.problems import ProblemError

router = Router(tags=["attachments"])

LATEST: Final = ("-pk",)
LARGE: Final = ("content", "text")
"""Large columns, read only on request."""
BYTES: Final = "application/octet-stream"
HAS_BYTES: Final = {
    "responses": {
        200: {
            "description": "The file, or the image as the model gets it",
            "content": {BYTES: {"schema": {"type": "string", "format": "binary"}, "example": "%PDF-1.7"}},
        }
    }
}


class Attachment(Schema):
    """An image, a file or a long paste attached to a message."""

    id: int
    kind: str = Field(description="image, file or paste")
    name: str
    media_type: str
    size: int = Field(description="Bytes uploaded")
    tokens: int
    width: int
    height: int
    message_id: int | None = Field(description="null for an unsent draft")
    created_at: datetime


class Attachments(Paging):
    """Filters of a list of attachments."""

    drafts: bool = Field(False, description="Only unsent ones")
    conversation: UUID | None = None


@router.get("", response=Page[Attachment], auth=require_scope("chat:read"), summary="List attachments")
def list_attachments(request: HttpRequest, query: Query[Attachments]) -> Any:
    """Latest first. Unsent drafts are deleted after a day."""
    rows = _own_rows(request)
    if query.drafts:
        rows = rows.filter(message=None)
    if query.conversation is not None:
        rows = rows.filter(message__conversation=query.conversation)
    return paginate(request, rows, LATEST, query)


@router.post("", response={201: Attachment}, auth=require_scope("chat:write"), summary="Upload an attachment")
def upload_attachment(
    request: HttpRequest,
    file: File[UploadedFile],
    is_paste: Annotated[bool, Form(description="A long pasted text")] = False,
) -> Any:
    """Upload a draft, then send its id with a turn. Images are re-encoded; text is extracted from files."""
    try:
        row = accept(person(request), file.name or "", file.read(), is_paste=is_paste)
    except ReadersBusyError as busy:
        wait = {"Retry-After": str(RETRY_SECONDS)}
        raise ProblemError(HTTPStatus.TOO_MANY_REQUESTS, str(busy), "rate-limit", wait) from busy
    except AttachmentRefusedError as refused:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(refused)) from refused
    return Status(HTTPStatus.CREATED, row)


@router.get("/{int:attachment}", response=Attachment, auth=require_scope("chat:read"), summary="Get an attachment")
def get_attachment(request: HttpRequest, attachment: int) -> Any:
    """Metadata only; see its content and text."""
    return _get_own_attachment(request, attachment)


@router.get(
    "/{int:attachment}/content", auth=require_scope("chat:read"), summary="Download an attachment",
    openapi_extra=HAS_BYTES,
)  # fmt: skip
def download_attachment(request: HttpRequest, attachment: int) -> HttpResponse:
    """The bytes, always as a download."""
    row = _get_own_attachment(request, attachment)
    response = HttpResponse(bytes(row.content), content_type=BYTES)
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=row.name) or "attachment"
    response["X-Content-Type-Options"] = "nosniff"
    return response


class AttachmentText(Schema):
    """The text that the model reads from a file or a paste."""

    id: int
    name: str
    text: str


@router.get(
    "/{int:attachment}/text", response=AttachmentText, auth=require_scope("chat:read"),
    summary="Get the text of an attachment",
)  # fmt: skip
def get_attachment_text(request: HttpRequest, attachment: int) -> Any:
    """The text that the model reads from it; 404 for an image."""
    texts = _own_rows(request, "content").exclude(kind=models.Attachment.Kind.IMAGE)
    return get_object_or_404(texts, pk=attachment)


@router.delete(
    "/{int:attachment}", response={204: None}, auth=require_scope("chat:write", Replay.NO_TEXT),
    summary="Delete a draft",
)  # fmt: skip
def remove_attachment(request: HttpRequest, attachment: int) -> Any:
    """409 if it was sent: forget its message instead."""
    row = _get_own_attachment(request, attachment)
    if row.message_id is not None:
        raise ProblemError(HTTPStatus.CONFLICT, "This attachment was sent. Forget its message to delete it.")
    row.delete()
    return Status(HTTPStatus.NO_CONTENT, None)


def _own_rows(request: HttpRequest, *deferred: str) -> Any:
    not_deleted = Q(message=None) | Q(message__conversation__deleted_at=None)
    return models.Attachment.objects.for_user(person(request)).filter(not_deleted).defer(*(deferred or LARGE))


def _get_own_attachment(request: HttpRequest, pk: int) -> models.Attachment:
    found: models.Attachment = get_object_or_404(_own_rows(request), pk=pk)
    return found
