"""Import and export: bring a file in, see how far it is, stop it, take everything with you."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Any, Final

from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.utils import timezone
from ninja import File, Query, Router, Schema, Status, UploadedFile
from pydantic import Field

from accounts.api.auth import Replay, person, require_reauthentication, require_scope
from chat.archive.export import archive, file_name
from chat.archive.safe_zip import NotImportedError
from chat.archive.stream import streamed
from chat.importing import jobs
from chat.importing.view import shown
from chat.models import ImportJob
from recall.openapi.pagination import Page, Paging, paginate
from recall.openapi.problems import ProblemError

imports = Router(tags=["import and export"])
exports = Router(tags=["import and export"])

LATEST: Final = ("-created_at", "-pk")
ZIP: Final = "application/zip"


class Import(Schema):
    """A file on its way in."""

    id: int
    name: str
    origin: str = Field(description="chatgpt, claude or recall; empty: not known yet")
    state: str = Field(description="waiting, running, done, failed or cancelled")
    done: int
    total: int = Field(description="Entries of the file; 0: not counted yet")
    sentence: str = Field(description="How far it is, in words")
    results: list[str]
    broken: list[str]
    created_at: datetime
    finished_at: datetime | None


class Reading(Schema):
    """What the librarian was asked to read."""

    conversations: int


@imports.post(
    "", response={202: Import}, auth=require_scope("export"), operation_id="bring_in",
    summary="Bring in an export of ChatGPT or Claude, or Recall's own archive",
)  # fmt: skip
def bring_in(request: HttpRequest, file: File[UploadedFile]) -> Any:
    """The file is read in the background. Again, or a newer one: only what is new comes in."""
    try:
        job = jobs.accept(person(request), file.name or "export", file.size or 0, file.chunks())
    except NotImportedError as refusal:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(refusal)) from refusal
    return Status(HTTPStatus.ACCEPTED, _told(job))


@imports.get(
    "", response=Page[Import], auth=require_scope("export"), summary="List imports", operation_id="list_imports"
)
def list_imports(request: HttpRequest, given: Query[Paging]) -> Any:
    """The newest first."""
    found = paginate(request, ImportJob.objects.for_user(person(request)), LATEST, given)
    return {**found, "items": [_told(job) for job in found["items"]]}


@imports.get(
    "/{int:number}",
    response=Import,
    auth=require_scope("export"),
    summary="How far is an import?",
    operation_id="get_import",
)
def get_import(request: HttpRequest, number: int) -> Any:
    """Its row, in words and numbers."""
    return _told(_own(request, number))


@imports.post(
    "/{int:number}/cancel", response=Import, auth=require_scope("export"), summary="Stop an import",
    operation_id="cancel_import",
)  # fmt: skip
def cancel_import(request: HttpRequest, number: int) -> Any:
    """What came in stays. One that has come to an end stays as it is."""
    job = _own(request, number)
    jobs.cancel(job)
    job.refresh_from_db()
    return _told(job)


@imports.post(
    "/{int:number}/read", response=Reading, auth=require_scope("export", Replay.NO_TEXT),
    summary="Have the librarian read what came in", operation_id="read_import",
)  # fmt: skip
def read_import(request: HttpRequest, number: int) -> Any:
    """All conversations of the same origin that it has not been asked to read, the newest first."""
    return {"conversations": jobs.request_readings(person(request), _own(request, number).origin)}


@exports.get(
    "",
    auth=require_scope("export"),
    summary="Everything as one archive",
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
    """A zip, as it is written; docs/import-export.md says what is in it."""
    require_reauthentication(request)
    user = person(request)
    response = StreamingHttpResponse(streamed(archive, user), content_type=ZIP)
    response["Content-Disposition"] = f'attachment; filename="{file_name(user, timezone.now())}"'
    return response


def _own(request: HttpRequest, number: int) -> ImportJob:
    job: ImportJob | None = ImportJob.objects.for_user(person(request)).filter(pk=number).first()
    if job is None:
        raise Http404
    return job


def _told(job: ImportJob) -> dict[str, Any]:
    row = shown(job)
    named = ("id", "name", "origin", "state", "done", "total", "created_at", "finished_at")
    told = {name: getattr(job, name) for name in named}
    return {**told, "sentence": row.sentence, "results": list(row.results), "broken": list(row.broken)}
