"""Memory consolidation: run it now, and list recent reports."""

from datetime import datetime
from http import HTTPStatus
from typing import Any, Final

from django.http import HttpRequest
from ninja import Query, Router, Schema, Status
from pydantic import Field

from accounts.api.auth import Replay, person, require_scope
from memory import models
from memory.consolidation import jobs
from recall.openapi.pagination import Page, Paging, paginate

router = Router(tags=["memory"])

LATEST: Final = ("-pk",)


class TidiedUp(Schema):
    """What one consolidation did, in numbers."""

    weighed: int = Field(description="Facts whose decay was calculated: those that can fade")
    expired: int = Field(description="Facts that are no longer valid")
    archived: int = Field(description="Faded facts; search still finds them")
    merged: int = Field(description="Overlapping episodes merged into another")
    merged_into: int = Field(description="Episodes they were merged into")
    episodes_archived: int = Field(description="The least significant episodes over the limit")
    tokens_reclaimed: int = Field(description="Tokens no longer recalled by default")
    searchable: int = Field(description="Rows that search now covers")


class Consolidation(Schema):
    """One consolidation: pending, or its report."""

    id: int
    how: str = Field(description="nightly, asked or command")
    state: str = Field(description="waiting, done or failed")
    created_at: datetime
    finished_at: datetime | None
    sentences: list[str] = Field(description="The report in sentences")
    figures: TidiedUp | None = Field(description="null until it is done")

    @staticmethod
    def resolve_sentences(row: models.Consolidation) -> list[str]:
        """The same sentences as on the page."""
        return jobs.sentences(row)

    @staticmethod
    def resolve_figures(row: models.Consolidation) -> Any:
        """The report's numbers, once it is done."""
        return jobs.report_of(row) if row.state == jobs.State.DONE else None


@router.post(
    "/consolidations", response={202: Consolidation}, auth=require_scope("memory:write", Replay.NO_TEXT),
    summary="Consolidate memory now",
)  # fmt: skip
def tidy_memory(request: HttpRequest) -> Any:
    """Queues the nightly consolidation; list consolidations for the report. A pending one is returned, not doubled."""
    return Status(HTTPStatus.ACCEPTED, jobs.request_consolidation(person(request)))


@router.get(
    "/consolidations", response=Page[Consolidation], auth=require_scope("memory:read"), summary="List consolidations"
)
def list_consolidations(request: HttpRequest, given: Query[Paging]) -> Any:
    """Recent consolidations, the latest first."""
    return paginate(request, models.Consolidation.objects.for_user(person(request)), LATEST, given)
