"""Opening memory: recalled at the start of a conversation, whatever the question is.

The latest episode, else the most important open goal (DESIGN §5): one memory, within the same budget. Where a message
only opens the conversation (`is_vague_opener`), chat adds the last session's own words (`chat/prompt/last_session.py`).
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.db.models import Q, QuerySet

from memory.models import GUARANTEED_IMPORTANCE, Episode, Fact
from memory.models.kinds import Kind
from memory.retrieval.decay import decay
from memory.retrieval.query import words_of
from memory.retrieval.recall import MemoryItem
from memory.retrieval.truth import waiting
from memory.text.language import as_set
from memory.text.message_kinds import is_small_talk
from recall.db.prepared import PreparedQuery

if TYPE_CHECKING:
    from accounts.models import User

MAX_EPISODE_AGE: Final = timedelta(days=30)
"""An older episode is recalled only if the question asks for it."""
MIN_SIGNIFICANCE: Final = 0.5
"""Of an episode that opens a conversation: a decision, a solution, something finished or found. The rules that work
without a model give .5 or .6 (`memory/librarian/rules/episodes.py: CUES`), so the .7 of a key moment left out all."""
_RETURNING: Final = "back continue earlier last leave left off pick proceed resume stop stopped were"
RETURNING: Final = frozenset(_RETURNING.split())
"""Words of a wish to continue, which names no topic beside these and small talk: “So where were we?”"""
_OF_USER: Final = "about already do everything far have know me of recall remember so tell what you"
"""Words of “So what do you know about me?”, which names no topic either."""
_LAST_TIME: Final = as_set(
    "about again before conversation day earlier just last night other previously recently session time today week"
    " yesterday"
) | as_set("and did have hey hi i in me on our so the to up us was we were what you")
_WORKED: Final = as_set(
    "ask asked asking building discuss discussed discussing doing making planning talk talked talking working writing"
)
"""Words of “hi, what was I working on last time?”, which names no topic either."""
_BESIDE: Final = "and can carry conversation did from i ill im its ive lets on session time up we where"


def _episodes(user: Any, since: Any, now: Any) -> QuerySet[Episode]:
    """Significant episodes of that time, latest first."""
    recent = Episode.objects.filter(user=user, happened_at__gte=since, happened_at__lte=now).not_deleted().live()
    return recent.filter(significance__gte=MIN_SIGNIFICANCE).defer("vector", "search").latest_first()


def _goals(user: Any, now: Any) -> QuerySet[Fact]:
    """Open goals, also those that wait in Review, without those that are in every prompt."""
    goals = Fact.objects.filter(user=user, kind=Kind.GOAL).defer("vector", "search")
    goals = goals.active(now) | goals.filter(status=Fact.Status.PROPOSED, message__isnull=False)
    return goals.filter(Q(key="") | Q(importance__lt=GUARANTEED_IMPORTANCE)).order_by(
        "-importance", "-recorded_at", "-id"
    )


_EPISODE: Final = PreparedQuery(lambda **at: _episodes(**at)[:1], user=int, since=datetime, now=datetime)
_EPISODE_OF_PROJECT: Final = PreparedQuery(
    lambda project, **at: _episodes(**at).filter(conversation__scope=project)[:1],
    project=str,
    user=int,
    since=datetime,
    now=datetime,
)
_GOAL: Final = PreparedQuery(lambda **at: _goals(**at)[:1], user=int, now=datetime)
_GOAL_OF_PROJECT: Final = PreparedQuery(
    lambda project, **at: _goals(**at).filter(message__conversation__scope=project)[:1],
    project=str,
    user=int,
    now=datetime,
)


def is_vague_opener(text: str) -> bool:
    """Whether a first message names nothing to look for: a greeting, a wish to continue, or what the last session was
    about or is known of the user."""
    words = set(words_of(text.replace("'", "").replace("’", "")))
    if "me" in words and words <= {*_OF_USER.split()} and words & {"know", "recall", "remember"}:
        return True
    asks_work = bool("what" in words and words & {"i", "we"} and words & _WORKED)
    rest = words - RETURNING - {*_BESIDE.split()} - (_LAST_TIME | _WORKED if asks_work else set())
    is_named = bool(rest) and not is_small_talk(" ".join(rest))
    return is_small_talk(text) or (not is_named and (asks_work or bool(words & RETURNING)))


def find_opening_memory(
    user: User, now: datetime, known: Collection[str] = (), *, project: str = "", only_project: bool = False
) -> MemoryItem | None:
    """The opening memory; None if there is none, or if it is among the refs `known` (already recalled).

    `project`: path of the conversation's project, which is searched first; with `only_project`, nothing else is.
    """
    scopes = [project, ""] if project and not only_project else [project]
    for scope in scopes:
        item = _latest_episode(user, now, known, scope) or _open_goal(user, now, known, scope)
        if item is not None:
            return item
    return None


def _latest_episode(user: User, now: datetime, known: Collection[str], project: str) -> MemoryItem | None:
    times = {"since": now - MAX_EPISODE_AGE, "now": now}
    if project:
        episode = _EPISODE_OF_PROJECT.first(user=user.pk, project=project, **times)
    else:
        episode = _EPISODE.first(user=user.pk, **times)
    if episode is None or episode.ref in known:
        return None
    return MemoryItem(
        ref=episode.ref,
        source="episode",
        text=episode.summary,
        when=episode.happened_at,
        message_id=None,
        parts={
            "opening": 1.0,
            "importance": episode.significance,
            "decay": decay(now - episode.happened_at, episode.times_used),
        },
        score=episode.significance,
        title=episode.title,
        conversation_id=str(episode.conversation_id or ""),
        tokens=episode.tokens,
    )


def _open_goal(user: User, now: datetime, known: Collection[str], project: str) -> MemoryItem | None:
    if project:
        goal = _GOAL_OF_PROJECT.first(user=user.pk, now=now, project=project)
    else:
        goal = _GOAL.first(user=user.pk, now=now)
    if goal is None or goal.ref in known:
        return None
    last_use = goal.last_used_at or goal.recorded_at
    item = MemoryItem(
        ref=goal.ref,
        source="fact",
        text=goal.statement,
        when=goal.recorded_at,
        message_id=goal.message_id,
        parts={"opening": 1.0, "importance": goal.importance, "decay": decay(now - last_use, goal.times_used)},
        score=goal.importance,
        tokens=goal.tokens,
    )
    if goal.status == Fact.Status.PROPOSED:  # recalled as the words that say it
        said = f"message:{goal.message_id}"
        qualifier = waiting([goal.statement])
        item = item._replace(ref=said, source="message", text=goal.quote, said_by="user", qualifier=qualifier)
    return item if item.ref not in known else None
