"""Files that become documents: uploads, and folders of another program that are kept in step."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal

from django.http import Http404, HttpRequest
from ninja import File, Query, Router, Schema, Status, UploadedFile
from pydantic import Field

from accounts.api.auth import person, require_scope
from memory import models
from memory.api.documents import Path
from memory.api.permissions import DECIDES, may_write
from memory.documents import folder_sync, uploads
from recall.openapi.pagination import Page, Paging, paginate
from recall.openapi.problems import ProblemError

router = Router(tags=["documents"])

MOST_FILES: Final = 500
"""Files of one synchronisation; a larger folder comes in several, the last of which follows deletions."""
LATEST: Final = ("-created_at", "-pk")


class Upload(Schema):
    """A file on its way to becoming a document."""

    id: int
    name: str
    folder: str
    size: int
    state: Literal["waiting", "reading", "done", "failed"]
    error: str
    path: str | None = Field(None, description="Of the document it became")
    created_at: datetime

    @staticmethod
    def resolve_path(upload: models.Upload) -> str | None:
        """Where the document stands now."""
        return upload.document.path if upload.document is not None else None


@router.get(
    "/uploads",
    response=Page[Upload],
    auth=require_scope("memory:read"),
    summary="List uploads",
    operation_id="list_uploads",
)
def list_uploads(request: HttpRequest, given: Query[Paging]) -> Any:
    """The latest first."""
    mine = models.Upload.objects.for_user(person(request)).select_related("document").defer("content")
    return paginate(request, mine, LATEST, given)


@router.post(
    "/uploads", response={202: Upload}, auth=require_scope("memory:write", also=DECIDES), summary="Upload a file",
    operation_id="upload_file",
)  # fmt: skip
def upload_file(
    request: HttpRequest, file: File[UploadedFile], folder: Annotated[str, Query(max_length=500)] = uploads.FOLDER
) -> Any:
    """It is read in the background: ask again for how far that is. Into the profile it takes `review` as well."""
    may_write(request, folder)
    try:
        return Status(HTTPStatus.ACCEPTED, uploads.accept(person(request), file.name or "", file.read(), folder))
    except uploads.UploadRefusedError as refused:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(refused)) from refused


@router.get(
    "/uploads/{int:number}", response=Upload, auth=require_scope("memory:read"), summary="How far is a file?",
    operation_id="get_upload",
)  # fmt: skip
def get_upload(request: HttpRequest, number: int) -> Any:
    """Waiting, reading, done or failed, and why."""
    return _own(request, number)


@router.post(
    "/uploads/{int:number}/retry", response={202: Upload}, auth=require_scope("memory:write"),
    summary="Have a file read again", operation_id="retry_upload",
)  # fmt: skip
def retry_upload(request: HttpRequest, number: int) -> Any:
    """One whose readers never came to an end."""
    found = _own(request, number)
    uploads.retry_upload(found)
    return Status(HTTPStatus.ACCEPTED, _own(request, number))


def _own(request: HttpRequest, number: int) -> models.Upload:
    mine = models.Upload.objects.for_user(person(request)).select_related("document").defer("content")
    found: models.Upload | None = mine.filter(pk=number).first()
    if found is None:
        raise Http404
    return found


class SyncedFile(Schema):
    """A file of the folder: its lasting name at the source, its path below the folder, its bytes in Base64."""

    external_id: str = Field(min_length=1, max_length=200)
    name: str = Field(min_length=1, max_length=500)
    content: str = Field(description="Base64")


class Sync(Schema):
    """The files of a folder, as the source has them now."""

    origin: str = Field(description="A short name of the source, always the same", max_length=80)
    at: Path = Field(folder_sync.FOLDER, description="The folder its documents stand in")
    files: list[SyncedFile] = Field(max_length=MOST_FILES)
    follow_deletions: bool = Field(True, description="These are all its files: remove the documents of others")
    dry_run: bool = False


class Followed(Schema):
    """What became of one file."""

    what: Literal["new", "changed", "unchanged", "removed", "kept", "skipped"]
    path: str
    reason: str


@router.post(
    "/sync", response=list[Followed], auth=require_scope("memory:write", also=DECIDES), summary="Keep a folder in step",
    operation_id="sync_folder",
)  # fmt: skip
def sync_folder(request: HttpRequest, given: Sync) -> Any:
    """New, changed and vanished files follow; the same again changes nothing; what you edited here is kept. Into the
    profile it takes `review` as well."""
    may_write(request, given.at)
    try:
        report = folder_sync.sync_files(
            person(request),
            list(_incoming(given.files)),
            origin=given.origin,
            at=given.at.rstrip("/"),
            dry_run=given.dry_run,
            follow_deletions=given.follow_deletions,
        )
    except folder_sync.SyncRefusedError as refused:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(refused)) from refused
    return report.outcomes


def _incoming(files: list[SyncedFile]) -> Iterator[folder_sync.Incoming]:
    for file in files:
        try:
            content = base64.b64decode(file.content, validate=True)
        except (binascii.Error, ValueError) as error:
            raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, f"“{file.name}” is not in Base64.") from error
        yield folder_sync.Incoming(file.external_id, file.name, content)
