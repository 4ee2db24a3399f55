"""Tidying up: have it done now, and what each of the latest ones did."""

from __future__ import annotations

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
    """What one tidying did, in numbers."""

    weighed: int = Field(description="Facts whose decay was worked out: those that may fade")
    expired: int = Field(description="Facts whose time had passed")
    archived: int = Field(description="Facts that had faded; a search still finds them")
    merged: int = Field(description="Overlapping episodes that became part of another one")
    merged_into: int = Field(description="How many those are")
    episodes_archived: int = Field(description="The least significant beyond the most a person has")
    tokens_reclaimed: int = Field(description="Tokens that left default recall")
    searchable: int = Field(description="Rows that a search looks at now")


class Consolidation(Schema):
    """One tidying: waiting, or its report."""

    id: int
    how: str = Field(description="nightly, asked or command")
    state: str = Field(description="waiting, done or failed")
    created_at: datetime
    finished_at: datetime | None
    sentences: list[str] = Field(description="The same for people")
    figures: TidiedUp | None = Field(description="null: it is not done")

    @staticmethod
    def resolve_sentences(one: models.Consolidation) -> list[str]:
        """As the page tells them."""
        return jobs.sentences(one)

    @staticmethod
    def resolve_figures(one: models.Consolidation) -> Any:
        """Those of the report."""
        return jobs.report_of(one) if one.state == jobs.State.DONE else None


@router.post(
    "/consolidations", response={202: Consolidation}, auth=require_scope("memory:write", Replay.NO_TEXT),
    summary="Tidy up the memory now", operation_id="tidy_memory",
)  # fmt: skip
def tidy_memory(request: HttpRequest) -> Any:
    """Queue what is done every night; the list of consolidations tells what it did. While one waits, it is that one."""
    return Status(HTTPStatus.ACCEPTED, jobs.request_consolidation(person(request)))


@router.get(
    "/consolidations", response=Page[Consolidation], auth=require_scope("memory:read"),
    summary="List what was tidied up", operation_id="list_consolidations",
)  # fmt: skip
def list_consolidations(request: HttpRequest, given: Query[Paging]) -> Any:
    """The latest first."""
    return paginate(request, models.Consolidation.objects.for_user(person(request)), LATEST, given)
