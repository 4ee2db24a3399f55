"""Files that become documents: uploads and synchronized folders."""

import base64
import binascii
from collections.abc import Iterator
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import File, Query, Router, Schema, Status, UploadedFile
from pydantic import Field

from accounts.api.auth import check_scope, person, require_scope
from memory import models
from memory.api.documents import READ_SCOPE, REVIEW_SCOPE, Path, check_may_write
from memory.documents import folder_sync, uploads
from recall.openapi.pagination import Page, Paging, paginate
from recall.openapi.problems import ProblemError, refused_with

router = Router(tags=["documents"])

MAX_FILES: Final = 500
"""Files of one request; larger folders take several, of which the last follows deletions."""
LATEST: Final = ("-created_at", "-pk")


class Upload(Schema):
    """An uploaded file that becomes a document."""

    id: int
    name: str
    folder: str
    size: int
    state: Literal["waiting", "reading", "done", "failed"]
    error: str
    path: str | None = Field(None, description="Path of its document")
    created_at: datetime

    @staticmethod
    def resolve_path(upload: models.Upload) -> str | None:
        """The document's current path."""
        return upload.document.path if upload.document is not None else None


@router.get("/uploads", response=Page[Upload], auth=require_scope("memory:read"), summary="List uploads")
def list_uploads(request: HttpRequest, given: Query[Paging]) -> Any:
    """All uploads, the latest first."""
    return paginate(request, _own_uploads(request), LATEST, given)


@router.post(
    "/uploads", response={202: Upload}, auth=require_scope("memory:write", also=REVIEW_SCOPE), summary="Upload a file"
)
def upload_file(
    request: HttpRequest, file: File[UploadedFile], folder: Annotated[str, Query(max_length=500)] = uploads.FOLDER
) -> Any:
    """The file is read in the background; get the upload for its state. The profile also needs the `review` scope."""
    check_may_write(request, folder)
    with refused_with(HTTPStatus.UNPROCESSABLE_ENTITY, uploads.UploadRefusedError):
        return Status(HTTPStatus.ACCEPTED, uploads.accept(person(request), file.name or "", file.read(), folder))


@router.get("/uploads/{int:number}", response=Upload, auth=require_scope("memory:read"), summary="Get an upload")
def get_upload(request: HttpRequest, number: int) -> Any:
    """Its state: waiting, reading, done, or failed with the reason."""
    return _get_own_upload(request, number)


@router.post(
    "/uploads/{int:number}/retry", response={202: Upload}, auth=require_scope("memory:write"), summary="Retry an upload"
)
def retry_upload(request: HttpRequest, number: int) -> Any:
    """Reads a file again after the reader timed out or crashed. A key also needs `memory:read`."""
    check_scope(request, READ_SCOPE)
    found = _get_own_upload(request, number)
    uploads.retry_upload(found)
    return Status(HTTPStatus.ACCEPTED, _get_own_upload(request, number))


def _own_uploads(request: HttpRequest) -> Any:
    return models.Upload.objects.for_user(person(request)).select_related("document").defer("content")


def _get_own_upload(request: HttpRequest, number: int) -> models.Upload:
    upload: models.Upload = get_object_or_404(_own_uploads(request), pk=number)
    return upload


class SyncedFile(Schema):
    """A file of the folder: its stable ID at the source, its path below the folder, its content in Base64."""

    external_id: str = Field(min_length=1, max_length=200)
    name: str = Field(min_length=1, max_length=500)
    content: str = Field(description="Base64")


class Sync(Schema):
    """The current files of a folder."""

    origin: str = Field(description="A short, fixed name of the source", max_length=80)
    at: Path = Field(folder_sync.FOLDER, description="The folder for its documents")
    files: list[SyncedFile] = Field(max_length=MAX_FILES)
    follow_deletions: bool = Field(True, description="The list is complete: remove documents of missing files")
    dry_run: bool = False


class Followed(Schema):
    """The result for one file."""

    what: Literal["new", "changed", "unchanged", "removed", "kept", "skipped"]
    path: str
    reason: str


@router.post(
    "/sync", response=list[Followed], auth=require_scope("memory:write", also=REVIEW_SCOPE), summary="Sync a folder"
)
def sync_folder(request: HttpRequest, given: Sync) -> Any:
    """Adds, updates and removes documents to match the files; your own edits are kept. Repeating it changes nothing.
    The profile also needs the `review` scope."""
    check_may_write(request, given.at)
    with refused_with(HTTPStatus.UNPROCESSABLE_ENTITY, folder_sync.SyncRefusedError):
        report = folder_sync.sync_files(
            person(request),
            list(_incoming(given.files)),
            origin=given.origin,
            at=given.at.rstrip("/"),
            dry_run=given.dry_run,
            follow_deletions=given.follow_deletions,
        )
    return report.outcomes


def _incoming(files: list[SyncedFile]) -> Iterator[folder_sync.Incoming]:
    for file in files:
        try:
            content = base64.b64decode(file.content, validate=True)
        except (binascii.Error, ValueError) as error:
            raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, f"“{file.name}” isn't valid Base64.") from error
        yield folder_sync.Incoming(file.external_id, file.name, content)
