"""Attachments: uploaded as drafts, sent by a turn, and read again."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Final
from uuid import UUID

from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
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
HEAVY: Final = ("content", "text")
"""Columns that are large, and read where they are asked for."""
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
    """An image, a file or a long paste that goes with a message."""

    id: int
    kind: str = Field(description="image, file or paste")
    name: str
    media_type: str
    size: int = Field(description="Bytes as they were uploaded")
    tokens: int
    width: int
    height: int
    message_id: int | None = Field(description="null: a draft, not sent yet")
    created_at: datetime


class Attachments(Paging):
    """Which attachments."""

    drafts: bool = Field(False, description="Only those that were not sent")
    conversation: UUID | None = None


@router.get(
    "",
    response=Page[Attachment],
    auth=require_scope("chat:read"),
    summary="List attachments",
    operation_id="list_attachments",
)
def list_attachments(request: HttpRequest, given: Query[Attachments]) -> Any:
    """The latest first. A draft that nobody sends goes after a day."""
    mine = _mine(request)
    if given.drafts:
        mine = mine.filter(message=None)
    if given.conversation is not None:
        mine = mine.filter(message__conversation=given.conversation)
    return paginate(request, mine, LATEST, given)


@router.post(
    "", response={201: Attachment}, auth=require_scope("chat:write"), summary="Upload an attachment",
    operation_id="upload_attachment",
)  # fmt: skip
def upload_attachment(
    request: HttpRequest,
    file: File[UploadedFile],
    is_paste: Annotated[bool, Form(description="A long text that was pasted")] = False,
) -> Any:
    """A draft: name its id in a turn. Images are encoded anew; of files the text is read."""
    try:
        row = accept(person(request), file.name or "", file.read(), is_paste=is_paste)
    except ReadersBusyError as busy:
        wait = {"Retry-After": str(RETRY_SECONDS)}
        raise ProblemError(HTTPStatus.TOO_MANY_REQUESTS, str(busy), "rate-limit", wait) from busy
    except AttachmentRefusedError as refused:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(refused)) from refused
    return Status(HTTPStatus.CREATED, row)


@router.get(
    "/{int:attachment}", response=Attachment, auth=require_scope("chat:read"), summary="Get an attachment",
    operation_id="get_attachment",
)  # fmt: skip
def get_attachment(request: HttpRequest, attachment: int) -> Any:
    """What is known of it."""
    return _own(request, attachment)


@router.get(
    "/{int:attachment}/content", auth=require_scope("chat:read"), summary="Download an attachment",
    operation_id="download_attachment", openapi_extra=HAS_BYTES,
)  # fmt: skip
def download_attachment(request: HttpRequest, attachment: int) -> HttpResponse:
    """Its bytes. Never as a page: a browser saves it."""
    row = _own(request, attachment)
    response = HttpResponse(bytes(row.content), content_type=BYTES)
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=row.name) or "attachment"
    response["X-Content-Type-Options"] = "nosniff"
    return response


class AttachmentText(Schema):
    """What the model reads of a file or a paste."""

    id: int
    name: str
    text: str


@router.get(
    "/{int:attachment}/text", response=AttachmentText, auth=require_scope("chat:read"),
    summary="Read the text of an attachment", operation_id="get_attachment_text",
)  # fmt: skip
def get_attachment_text(request: HttpRequest, attachment: int) -> Any:
    """What the model reads of it; 404 for an image."""
    found = _mine(request, "content").exclude(kind=models.Attachment.Kind.IMAGE).filter(pk=attachment).first()
    if found is None:
        raise Http404
    return found


@router.delete(
    "/{int:attachment}", response={204: None}, auth=require_scope("chat:write", Replay.NO_TEXT),
    summary="Remove a draft", operation_id="remove_attachment",
)  # fmt: skip
def remove_attachment(request: HttpRequest, attachment: int) -> Any:
    """What was sent goes with its message: see forgetting."""
    row = _own(request, attachment)
    if row.message_id is not None:
        raise ProblemError(HTTPStatus.CONFLICT, "This was sent: it goes with its message, by forgetting that.")
    row.delete()
    return Status(HTTPStatus.NO_CONTENT, None)


def _mine(request: HttpRequest, *unread: str) -> Any:
    standing = Q(message=None) | Q(message__conversation__deleted_at=None)
    return models.Attachment.objects.for_user(person(request)).filter(standing).defer(*(unread or HEAVY))


def _own(request: HttpRequest, pk: int) -> models.Attachment:
    found: models.Attachment | None = _mine(request).filter(pk=pk).first()
    if found is None:
        raise Http404
    return found
