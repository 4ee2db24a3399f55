"""Import and export operations: import a file, watch or cancel that, export everything."""

from datetime import datetime
from http import HTTPStatus
from typing import Any, Final

from django.http import HttpRequest, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import File, Query, Router, Schema, Status, UploadedFile
from pydantic import Field

from accounts.api.auth import Replay, person, require_reauthentication, require_scope
from chat.archive.export import file_name, stream_archive
from chat.archive.safe_zip import NotImportedError
from chat.archive.stream import stream_from_thread
from chat.importing import jobs
from chat.importing.view import describe_import
from chat.models import ImportJob
from recall.openapi.pagination import Page, Paging, paginate
from recall.openapi.problems import refused_with

imports = Router(tags=["import and export"])
exports = Router(tags=["import and export"])

LATEST: Final = ("-created_at", "-pk")
ZIP: Final = "application/zip"


class Import(Schema):
    """An import and its progress."""

    id: int
    name: str
    origin: str = Field(description="chatgpt, claude or recall; empty until known")
    state: str = Field(description="waiting, running, done, failed or cancelled")
    done: int
    total: int = Field(description="Entries of the file; 0 until counted")
    sentence: str = Field(description="Progress in words")
    results: list[str]
    broken: list[str]
    created_at: datetime
    finished_at: datetime | None


class Reading(Schema):
    """The number of conversations to be read."""

    conversations: int


@imports.post(
    "", response={202: Import}, auth=require_scope("export"), operation_id="bring_in",
    summary="Import from ChatGPT, Claude or another Recall",
)  # fmt: skip
def bring_in(request: HttpRequest, file: File[UploadedFile]) -> Any:
    """The import runs in the background. Importing a file again, or a newer one, adds only what's new."""
    with refused_with(HTTPStatus.UNPROCESSABLE_ENTITY, NotImportedError):
        job = jobs.accept(person(request), file.name or "export", file.size or 0, file.chunks())
    return Status(HTTPStatus.ACCEPTED, _build_import(job))


@imports.get(
    "", response=Page[Import], auth=require_scope("export"), summary="List imports", operation_id="list_imports"
)
def list_imports(request: HttpRequest, query: Query[Paging]) -> Any:
    """Newest first."""
    found = paginate(request, ImportJob.objects.for_user(person(request)), LATEST, query)
    return {**found, "items": [_build_import(job) for job in found["items"]]}


@imports.get(
    "/{int:number}", response=Import, auth=require_scope("export"), summary="Get an import", operation_id="get_import",
)  # fmt: skip
def get_import(request: HttpRequest, number: int) -> Any:
    """Progress and results."""
    return _build_import(_get_own_import(request, number))


@imports.post(
    "/{int:number}/cancel", response=Import, auth=require_scope("export"), summary="Cancel an import",
    operation_id="cancel_import",
)  # fmt: skip
def cancel_import(request: HttpRequest, number: int) -> Any:
    """What was imported so far stays. A finished import doesn't change."""
    job = _get_own_import(request, number)
    jobs.cancel(job)
    job.refresh_from_db()
    return _build_import(job)


@imports.post(
    "/{int:number}/read", response=Reading, auth=require_scope("export", Replay.NO_TEXT),
    summary="Have the librarian read imported conversations", operation_id="read_import",
)  # fmt: skip
def read_import(request: HttpRequest, number: int) -> Any:
    """All unread conversations of the same origin, newest first."""
    return {"conversations": jobs.request_readings(person(request), _get_own_import(request, number).origin)}


@exports.get(
    "",
    auth=require_scope("export"),
    summary="Export everything",
    operation_id="export_everything",
    openapi_extra={
        "responses": {
            200: {
                "description": "A zip",
                "content": {ZIP: {"schema": {"type": "string", "format": "binary"}, "example": "PK…"}},
            }
        }
    },
)
def export_everything(request: HttpRequest) -> Any:
    """Streams a zip; docs/import-export.md lists its contents."""
    require_reauthentication(request)
    user = person(request)
    response = StreamingHttpResponse(stream_from_thread(stream_archive, user), content_type=ZIP)
    response["Content-Disposition"] = f'attachment; filename="{file_name(user, timezone.now())}"'
    return response


def _get_own_import(request: HttpRequest, number: int) -> ImportJob:
    job: ImportJob = get_object_or_404(ImportJob.objects.for_user(person(request)), pk=number)
    return job


def _build_import(job: ImportJob) -> dict[str, Any]:
    row = describe_import(job)
    named = ("id", "name", "origin", "state", "done", "total", "created_at", "finished_at")
    fields = {name: getattr(job, name) for name in named}
    return {**fields, "sentence": row.sentence, "results": list(row.results), "broken": list(row.broken)}
