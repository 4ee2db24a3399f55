"""Episodes: the timeline, single episodes, and the story of a conversation."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
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
    """A summary of a significant part of a conversation."""

    id: int
    conversation_id: UUID | None
    first_turn: int
    last_turn: int
    kind: str
    title: str
    summary: str
    participants: list[str]
    outcome: str
    tone: str = Field(description="Emotional tone, in one word")
    valence: float = Field(description="−1 (bad) to 1 (good)")
    significance: float = Field(description="0–1")
    topics: list[str]
    happened_at: datetime


class Episodes(Paging):
    """Filters of the timeline."""

    conversation: UUID | None = None
    kind: list[EpisodeKind] = Field([], max_length=10)
    least_significance: float = Field(0.0, ge=0, le=1)
    since: Moment | None = None
    until: Moment | None = None


@router.get("/episodes", response=Page[Episode], auth=require_scope("memory:read"), summary="List episodes")
def list_episodes(request: HttpRequest, given: Query[Episodes]) -> Any:
    """The timeline, the latest first."""
    episodes = models.Episode.objects.for_user(person(request)).not_deleted().live().defer(*HEAVY)
    chosen = {
        "conversation": given.conversation,
        "kind__in": given.kind,
        "significance__gte": given.least_significance,
        "happened_at__gte": given.since,
        "happened_at__lt": given.until,
    }
    return paginate(request, episodes.filter(**{name: value for name, value in chosen.items() if value}), LATEST, given)


@router.get("/episodes/{int:episode}", response=Episode, auth=require_scope("memory:read"), summary="Get an episode")
def get_episode(request: HttpRequest, episode: int) -> Any:
    """One episode, archived ones included."""
    episodes = models.Episode.objects.for_user(person(request)).not_deleted().unmerged().defer(*HEAVY)
    return get_object_or_404(episodes, pk=episode)


class Story(Schema):
    """How a conversation went, in three parts."""

    beginning: list[Episode]
    middle: list[Episode]
    end: list[Episode]
    key_moments: list[int] = Field(description="IDs of the most significant episodes")


@router.get(
    "/stories/{uuid:conversation}", response=Story, auth=require_scope("memory:read"),
    summary="Get a conversation's story",
)  # fmt: skip
def get_story(request: HttpRequest, conversation: UUID) -> Any:
    """The conversation's episodes in order; 404 if it has none."""
    arc = narrative_arc(conversation, person(request))
    if not (arc.beginning or arc.middle or arc.end):
        raise Http404
    parts = {name: list(getattr(arc, name)) for name in ("beginning", "middle", "end")}
    return {**parts, "key_moments": [moment.pk for moment in arc.key_moments]}
