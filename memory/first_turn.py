"""What is recalled when a conversation begins, whatever is asked? What was going on when the last one ended.

The latest significant episode, or where there is none the most important open goal (DESIGN §5): one memory, within the
same budget as the others, so that a person who comes back is met where they left.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from memory.decay import decay
from memory.episodes import KEY_MOMENT
from memory.kinds import Kind
from memory.models import GUARANTEED_IMPORTANCE, Episode, Fact
from memory.retrieval import MemoryItem

if TYPE_CHECKING:
    from accounts.models import User

STILL_GOING_ON: Final = timedelta(days=30)
"""An older episode is over: it comes back when it is asked for."""


def where_we_left(
    user: User, now: datetime, known: Collection[str] = (), *, project: str = "", only_project: bool = False
) -> MemoryItem | None:
    """The memory to begin with, if there is one that is not among the refs `known` (recalled anyway).

    `project`: path of the conversation's project, in which is looked first, and with `only_project` nowhere else.
    """
    places = [project, ""] if project and not only_project else [project]
    for place in places:
        begun = _latest_episode(user, now, known, place) or _open_goal(user, now, known, place)
        if begun is not None:
            return begun
    return None


def _latest_episode(user: User, now: datetime, known: Collection[str], project: str) -> MemoryItem | None:
    standing = Episode.objects.for_user(user).standing().live()
    recent = standing.filter(happened_at__gte=now - STILL_GOING_ON, happened_at__lte=now)
    recent = recent.filter(conversation__scope=project) if project else recent
    significant = recent.filter(significance__gte=KEY_MOMENT).defer("vector", "search")
    episode: Episode | None = significant.latest_first().first()
    if episode is None or episode.ref in known:
        return None
    return MemoryItem(
        ref=episode.ref,
        source="episode",
        text=episode.summary,
        when=episode.happened_at,
        message_id=None,
        parts={"importance": episode.significance, "decay": decay(now - episode.happened_at, episode.times_used)},
        score=episode.significance,
        title=episode.title,
        conversation_id=str(episode.conversation_id or ""),
        tokens=episode.tokens,
    )


def _open_goal(user: User, now: datetime, known: Collection[str], project: str) -> MemoryItem | None:
    """A goal that stands in every prompt anyway (it has a key and weight) is not told twice."""
    goals = Fact.objects.for_user(user).active().filter(kind=Kind.GOAL).defer("vector", "search")
    goals = goals.filter(message__conversation__scope=project) if project else goals
    recalled_only = goals.filter(key="") | goals.filter(importance__lt=GUARANTEED_IMPORTANCE)
    goal: Fact | None = recalled_only.order_by("-importance", "-recorded_at", "-id").first()
    if goal is None or goal.ref in known:
        return None
    last_use = goal.last_used_at or goal.recorded_at
    return MemoryItem(
        ref=goal.ref,
        source="fact",
        text=goal.statement,
        when=goal.recorded_at,
        message_id=goal.message_id,
        parts={"importance": goal.importance, "decay": decay(now - last_use, goal.times_used)},
        score=goal.importance,
        tokens=goal.tokens,
    )
