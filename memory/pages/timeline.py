"""Page data of the timeline: episodes by month, the latest first, and the story of one conversation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby
from typing import Any, Final
from uuid import UUID

from django.core.paginator import Page, Paginator
from django.db.models import F, Min, Prefetch, Q, QuerySet

from accounts.models import User
from memory.forms import TimelineForm
from memory.librarian.episodes import narrative_arc
from memory.models import Episode, Fact
from memory.models.episodes import KEY_MOMENT
from memory.models.kinds import EpisodeKind
from memory.pages.narrative_arc import Point, draw_arc
from memory.ports import source

PAGE_SIZE: Final = 50
SIGNIFICANCE_DOTS: Final = 5
"""Significance is shown in five steps, like importance."""

ICONS: Final = {
    EpisodeKind.PLAIN: "message-square",
    EpisodeKind.DECISION_MADE: "signpost",
    EpisodeKind.PROBLEM_SOLVED: "circle-check",
    EpisodeKind.BREAKTHROUGH: "lightbulb",
    EpisodeKind.ISSUE_IDENTIFIED: "circle-alert",
    EpisodeKind.TASK_COMPLETED: "flag",
    EpisodeKind.PIVOT: "corner-up-right",
}


@dataclass(frozen=True, slots=True)
class Moment:
    """One episode on the timeline."""

    episode: Episode
    icon: str
    level: int
    """Significance in steps, 1 to SIGNIFICANCE_DOTS."""
    dots: str
    link: str
    """URL of its first turn; empty: deleted."""
    is_key: bool


def build_timeline(
    user: User, form: TimelineForm, number: str | None, stages: Sequence[tuple[str, datetime]] = ()
) -> dict[str, Any]:
    """Page `number` of the filtered episodes by month, in the user's time zone, with their chart.

    `stages`: relationship stages with the time each was reached.
    """
    episodes = Episode.objects.for_user(user).not_deleted().unmerged()
    filtered = _with_details(user, episodes.filter(_parse_filter(form)).latest_first())
    page: Page[Episode] = Paginator(filtered, PAGE_SIZE).get_page(number)
    shown = build_moments(user, list(page))
    months = groupby(shown, lambda moment: _month(moment, user))
    return {
        "form": form,
        "arc": draw_arc(_build_points(reversed(shown), user), stages),
        "episodes": page,
        "months": [(month, list(of_month)) for month, of_month in months],
        "is_filtered": bool(form.data),
        "has_any": bool(page) or episodes.exists(),
    }


def build_story(user: User, conversation: UUID) -> dict[str, Any]:
    """One conversation's episodes as a story: beginning, middle, end, key moments.

    Raises:
        Episode.DoesNotExist: the user has no episodes of this conversation.
    """
    story = narrative_arc(conversation, user)
    episodes = [*story.beginning, *story.middle, *story.end]
    if not episodes:
        raise Episode.DoesNotExist
    whole = _with_details(user, Episode.objects.for_user(user).filter(pk__in=[episode.pk for episode in episodes]))
    shown = {moment.episode.pk: moment for moment in build_moments(user, list(whole))}
    thirds = (story.beginning, story.middle, story.end)
    parts = zip(("Beginning", "Middle", "End"), thirds, strict=True)
    return {
        "conversation": shown[episodes[0].pk].episode.conversation,
        "parts": [(name, [shown[episode.pk] for episode in part]) for name, part in parts],
        "key_moments": [shown[episode.pk] for episode in story.key_moments],
        "arc": draw_arc(_build_points((shown[episode.pk] for episode in episodes), user, by_month=False)),
    }


def _build_points(moments: Iterable[Moment], user: User, *, by_month: bool = True) -> list[Point]:
    """The points of the chart, in the given order."""
    return [_build_point(moment, f"{_month(moment, user):%B %Y}" if by_month else "") for moment in moments]


def _build_point(moment: Moment, month: str) -> Point:
    episode = moment.episode
    mood, weight = episode.valence, episode.significance
    return Point(f"#episode-{episode.pk}", episode.title, mood, weight, episode.happened_at, month, moment.is_key)


def build_moments(user: User, episodes: Sequence[Episode]) -> list[Moment]:
    """The user's episodes with their display data. One query."""
    links = _load_links(user, [episode.pk for episode in episodes])
    return [_build_moment(episode, links.get(episode.pk, "")) for episode in episodes]


def significance_level(significance: float) -> int:
    """Significance 0–1 in steps, 1 to SIGNIFICANCE_DOTS."""
    return 1 + int(significance * (SIGNIFICANCE_DOTS - 1) + 0.5)


def min_significance(level: int) -> float:
    """The lowest significance shown with this many dots."""
    return max(0.0, (level - 1.5) / (SIGNIFICANCE_DOTS - 1))


def _build_moment(episode: Episode, link: str) -> Moment:
    filled = significance_level(episode.significance)
    dots = "●" * filled + "○" * (SIGNIFICANCE_DOTS - filled)
    icon = ICONS[EpisodeKind(episode.kind)]
    return Moment(episode, icon, filled, dots, link, episode.significance >= KEY_MOMENT)


def _month(moment: Moment, user: User) -> date:
    """The first day of its month, in the user's time zone."""
    return moment.episode.happened_at.astimezone(user.zone).date().replace(day=1)


def _load_links(user: User, episodes: Sequence[int]) -> dict[int, str]:
    """The URL of each episode's first message."""
    of_first_turn = Q(conversation__messages__turn=F("first_turn"))
    of_user = Episode.objects.for_user(user).filter(pk__in=episodes)
    first = of_user.values_list("pk").annotate(message=Min("conversation__messages__pk", filter=of_first_turn))
    return {pk: source.get_source().message_url(message) for pk, message in first if message is not None}


def _parse_filter(form: TimelineForm) -> Q:
    if not form.is_valid():
        return Q()
    kinds, least = form.cleaned_data["kind"], form.cleaned_data["least"]
    chosen = Q(kind__in=kinds) if kinds else Q()
    return chosen & Q(significance__gte=min_significance(int(least))) if least else chosen


def _with_details(user: User, episodes: QuerySet[Episode]) -> QuerySet[Episode]:
    facts = Fact.objects.for_user(user).defer("vector", "search").order_by("pk")
    heavy = ("vector", "search")
    return episodes.select_related("conversation").defer(*heavy).prefetch_related(Prefetch("facts", queryset=facts))
