"""Episodes: the timeline, one of them, and the story of a conversation."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.http import Http404, HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from accounts.api.auth import person, require_scope
from memory import models
from memory.librarian.episodes import narrative_arc
from memory.models.kinds import EpisodeKind
from recall.openapi.fields import Moment
from recall.openapi.pagination import Page, Paging, paginate

router = Router(tags=["episodes"])

LATEST: Final = ("-happened_at", "-pk")
HEAVY: Final = ("vector", "search")


class Episode(Schema):
    """A significant stretch of conversation, told."""

    id: int
    conversation_id: UUID | None
    first_turn: int
    last_turn: int
    kind: str
    title: str
    summary: str
    participants: list[str]
    outcome: str
    tone: str = Field(description="Emotional tone, in a word")
    valence: float = Field(description="−1 (bad) to 1 (good)")
    significance: float = Field(description="0–1")
    topics: list[str]
    happened_at: datetime


class Episodes(Paging):
    """Which episodes."""

    conversation: UUID | None = None
    kind: list[EpisodeKind] = Field([], max_length=10)
    least_significance: float = Field(0.0, ge=0, le=1)
    since: Moment | None = None
    until: Moment | None = None


@router.get(
    "/episodes", response=Page[Episode], auth=require_scope("memory:read"), summary="List episodes",
    operation_id="list_episodes",
)  # fmt: skip
def list_episodes(request: HttpRequest, given: Query[Episodes]) -> Any:
    """The timeline, latest first."""
    told = models.Episode.objects.for_user(person(request)).not_deleted().live().defer(*HEAVY)
    chosen = {
        "conversation": given.conversation,
        "kind__in": given.kind,
        "significance__gte": given.least_significance,
        "happened_at__gte": given.since,
        "happened_at__lt": given.until,
    }
    return paginate(request, told.filter(**{name: value for name, value in chosen.items() if value}), LATEST, given)


@router.get(
    "/episodes/{int:episode}", response=Episode, auth=require_scope("memory:read"), summary="Get an episode",
    operation_id="get_episode",
)  # fmt: skip
def get_episode(request: HttpRequest, episode: int) -> Any:
    """Also one that was archived."""
    told = models.Episode.objects.for_user(person(request)).not_deleted().unmerged().defer(*HEAVY)
    found = told.filter(pk=episode).first()
    if found is None:
        raise Http404
    return found


class Story(Schema):
    """How a conversation went, by the thirds of its turns."""

    beginning: list[Episode]
    middle: list[Episode]
    end: list[Episode]
    key_moments: list[int] = Field(description="Numbers of the episodes that mattered most")


@router.get(
    "/stories/{uuid:conversation}", response=Story, auth=require_scope("memory:read"),
    summary="Get a conversation's story", operation_id="get_story",
)  # fmt: skip
def get_story(request: HttpRequest, conversation: UUID) -> Any:
    """Its episodes in order; 404 while nothing is told of it."""
    arc = narrative_arc(conversation, person(request))
    if not (arc.beginning or arc.middle or arc.end):
        raise Http404
    parts = {name: list(getattr(arc, name)) for name in ("beginning", "middle", "end")}
    return {**parts, "key_moments": [one.pk for one in arc.key_moments]}
