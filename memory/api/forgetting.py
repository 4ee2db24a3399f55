"""Forgetting: what is about something, what would go, the deed, its receipts, and a look whether it is gone."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal

from django.http import Http404, HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from accounts.api.auth import Replay, person, require_reauthentication, require_scope
from memory import models
from memory.forgetting import execute
from memory.forgetting.targets import MOST_TICKED, NothingThereError, Target
from memory.forgetting.verify import look_for
from memory.pages.forgetting import matches
from memory.ports.forgettable import BusyError
from recall.openapi.pagination import Page, Paging, paginate
from recall.openapi.problems import ProblemError

router = Router(tags=["forgetting"])

LATEST: Final = ("-pk",)
Words = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]


class AboutWords(Schema):
    """Words, by POST: addresses end up in logs."""

    words: Words


class Match(Schema):
    """Something that may be about these words; `ref` names it to the dry run."""

    ref: str
    what: str
    text: str
    is_sure: bool = Field(description="It says the words themselves; else it is near in meaning")


@router.post(
    "/forget/topic", response=list[Match], auth=require_scope("forget", Replay.NONE),
    summary="What is about these words?", operation_id="match_topic",
)  # fmt: skip
def match_topic(request: HttpRequest, given: AboutWords) -> Any:
    """Everything that says them, then what is near in meaning. Nothing changes."""
    return matches(person(request), " ".join(given.words.split()))


class ToForget(Schema):
    """What is to be forgotten."""

    what: Literal["fact", "message", "conversation", "document", "episode", "topic", "everything"]
    id: str = Field("", max_length=500, description="Its number or UUID; of a folder its path")
    ref: list[Annotated[str, Field(max_length=100)]] = Field(
        [], max_length=MOST_TICKED, description="Of a topic: such as fact:12 or message:55"
    )
    learned_too: bool = Field(True, description="With a conversation goes what was learned from it")

    def target(self) -> Target:
        """The same as forgetting takes it."""
        return Target(models.Forgetting.What(self.what), self.id, tuple(self.ref), learned_too=self.learned_too)


class Confirmed(ToForget):
    """The deed: what the dry run gave."""

    expected: str = Field(min_length=1, max_length=200, pattern="^[!-~]+$", description="The dry run's fingerprint")


class WouldGo(Schema):
    """One thing that would go."""

    what: str
    ref: str
    text: str


class DryRun(Schema):
    """What would go and come back; nothing has changed."""

    counts: dict[str, int]
    going: list[WouldGo]
    coming_back: list[WouldGo]
    fingerprint: str


class ForgettingReceipt(Schema):
    """The proof of a forgetting: never what it was."""

    id: int
    what: str
    gone: dict[str, int]
    restored: int = Field(description="Facts that came back")
    found_again: int | None = Field(description="Hits when it was asked for afterwards; 0 proves it")
    checked_at: datetime | None
    created_at: datetime


@router.post(
    "/forget/preview", response=DryRun, auth=require_scope("forget", Replay.NONE), summary="What would be forgotten?",
    operation_id="preview_forgetting",
)  # fmt: skip
def preview_forgetting(request: HttpRequest, given: ToForget) -> Any:
    """The dry run. By POST, as what is named may be a text: addresses end up in logs."""
    try:
        return execute.preview(person(request), given.target())
    except NothingThereError:
        raise Http404 from None


@router.post(
    "/forget", response=ForgettingReceipt, auth=require_scope("forget", Replay.NO_TEXT), summary="Forget it",
    operation_id="forget",
)  # fmt: skip
def forget(request: HttpRequest, given: Confirmed) -> Any:
    """The deed, if what the dry run listed is still all there is; else 409. It cannot be undone."""
    if given.what == "everything":
        require_reauthentication(request)
    try:
        return execute.forget(person(request), given.target(), by=person(request), expected=given.expected)
    except NothingThereError:
        raise Http404 from None
    except (execute.ChangedError, BusyError) as refused:
        raise ProblemError(HTTPStatus.CONFLICT, str(refused)) from refused


@router.get(
    "/forgotten", response=Page[ForgettingReceipt], auth=require_scope("forget"),
    summary="List what was forgotten, in numbers", operation_id="list_forgotten",
)  # fmt: skip
def list_forgotten(request: HttpRequest, given: Query[Paging]) -> Any:
    """The latest first."""
    return paginate(request, models.Forgetting.objects.for_user(person(request)), LATEST, given)


class Standing(Schema):
    """Where words stand in what is kept of the person: table → rows."""

    standing: dict[str, int]


@router.post(
    "/forgotten/check", response=Standing, auth=require_scope("forget", Replay.NONE),
    summary="Does this stand anywhere?", operation_id="check_forgotten",
)  # fmt: skip
def check_forgotten(request: HttpRequest, given: AboutWords) -> Any:
    """A look through every table. The words are not kept."""
    return {"standing": look_for(person(request), given.words)}
