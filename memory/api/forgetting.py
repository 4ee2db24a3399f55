"""Forgetting: match a topic, preview, forget, list receipts, and check that nothing is left."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal

from django.http import Http404, HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from accounts.api.auth import Replay, person, require_reauthentication, require_scope
from memory import models
from memory.forgetting import execute
from memory.forgetting.targets import MAX_SELECTED, NothingThereError, Target
from memory.forgetting.verify import search_rows
from memory.pages.forgetting import find_matches
from memory.ports.forgettable import BusyError
from recall.openapi.pagination import Page, Paging, paginate
from recall.openapi.problems import ProblemError

router = Router(tags=["forgetting"])

LATEST: Final = ("-pk",)
Words = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]


class AboutWords(Schema):
    """Words, by POST: URLs end up in logs."""

    words: Words


class Match(Schema):
    """Something the words may mean; pass `ref` to the preview. `fact:12:1` names a part of a fact."""

    ref: str
    what: str
    text: str
    is_sure: bool = Field(description="True: it is clearly meant; pass these refs to forget the topic and no more")
    reason: str = Field(description="Why it is meant, or not")


@router.post(
    "/forget/topic", response=list[Match], auth=require_scope("forget", Replay.NONE),
    summary="Find what matches a topic",
)  # fmt: skip
def match_topic(request: HttpRequest, given: AboutWords) -> Any:
    """What the words mean, then its neighbors and what is similar in meaning. Nothing changes."""
    return find_matches(person(request), " ".join(given.words.split()))


class ToForget(Schema):
    """What to forget."""

    what: Literal["fact", "message", "conversation", "document", "episode", "topic", "everything"]
    id: str = Field("", max_length=500, description="Its ID or UUID; the path of a folder")
    ref: list[Annotated[str, Field(max_length=100)]] = Field(
        [], max_length=MAX_SELECTED, description="For a topic: refs such as fact:12 or message:55"
    )
    learned_too: bool = Field(True, description="Also forget what was learned from a conversation")

    def target(self) -> Target:
        """As a forgetting target."""
        return Target(models.Forgetting.What(self.what), self.id, tuple(self.ref), learned_too=self.learned_too)


class Confirmed(ToForget):
    """What to forget, with the preview's fingerprint."""

    expected: str = Field(min_length=1, max_length=200, pattern="^[!-~]+$", description="The preview's fingerprint")
    restore: list[Annotated[str, Field(max_length=100)]] = Field(
        [], max_length=MAX_SELECTED, description="Refs of the preview's coming_back that become active again"
    )


class WouldGo(Schema):
    """One item that would be deleted, or may be restored."""

    what: str
    ref: str
    text: str


class DryRun(Schema):
    """What would be deleted, and what may be restored; nothing has changed."""

    counts: dict[str, int]
    going: list[WouldGo]
    coming_back: list[WouldGo] = Field(description="Facts it had superseded; pass the refs to restore")
    fingerprint: str


class ForgettingReceipt(Schema):
    """The proof of forgetting, without the content."""

    id: int
    what: str
    gone: dict[str, int]
    restored: int = Field(description="Facts that became active again")
    found_again: int | None = Field(description="Hits in the check afterwards; 0 proves it is gone")
    checked_at: datetime | None
    created_at: datetime


@router.post(
    "/forget/preview", response=DryRun, auth=require_scope("forget", Replay.NONE), summary="Preview forgetting"
)
def preview_forgetting(request: HttpRequest, given: ToForget) -> Any:
    """Lists what would be deleted and may be restored. By POST, because URLs end up in logs."""
    try:
        return execute.preview(person(request), given.target())
    except NothingThereError:
        raise Http404 from None


@router.post(
    "/forget", response=ForgettingReceipt, auth=require_scope("forget", Replay.NO_TEXT), summary="Forget permanently"
)
def forget(request: HttpRequest, given: Confirmed) -> Any:
    """Forgets what the preview listed; 409 if that has changed. You can't undo this."""
    if given.what == "everything":
        require_reauthentication(request)
    try:
        user = person(request)
        return execute.forget(user, given.target(), by=user, expected=given.expected, restore=given.restore)
    except NothingThereError:
        raise Http404 from None
    except (execute.ChangedError, BusyError) as refused:
        raise ProblemError(HTTPStatus.CONFLICT, str(refused)) from refused


@router.get(
    "/forgotten", response=Page[ForgettingReceipt], auth=require_scope("forget"), summary="List forgetting receipts"
)
def list_forgotten(request: HttpRequest, given: Query[Paging]) -> Any:
    """Receipts in numbers only, the latest first."""
    return paginate(request, models.Forgetting.objects.for_user(person(request)), LATEST, given)


class Standing(Schema):
    """Where words were found in your data: rows by table."""

    standing: dict[str, int]


@router.post(
    "/forgotten/check", response=Standing, auth=require_scope("forget", Replay.NONE),
    summary="Check that words are gone",
)  # fmt: skip
def check_forgotten(request: HttpRequest, given: AboutWords) -> Any:
    """Searches every table for the words, which are not stored."""
    return {"standing": search_rows(person(request), given.words)}
