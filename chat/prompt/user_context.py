"""The clock section of a prompt: time, name, how well the user and Recall know each other, what waits for review."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from accounts.models import User
from chat.models import Conversation
from chat.prompt.stated_identity import NOTHING_STATED, Stated
from memory.models import Fact
from recall.db import prepared
from recall.environment import setting

Stage = User.Stage

BELOW: Final = [int(sessions) for sessions in setting("relationship_stages", "2,5,20").split(",")]
"""A stage lasts below this many sessions, from NEW on (DESIGN §4)."""


@dataclass(frozen=True, slots=True)
class StageRequirements:
    sessions: int
    known_for: timedelta = timedelta()
    facts: int = 0
    """Minimum active facts."""


STAGES: Final[Mapping[Stage, StageRequirements]] = MappingProxyType(
    {
        Stage.DEVELOPING: StageRequirements(BELOW[0]),
        # Sessions decide; but no one becomes an old friend in an afternoon, or without anything known about them.
        Stage.COMFORTABLE: StageRequirements(BELOW[1], timedelta(days=1), facts=1),
        Stage.TRUSTED: StageRequirements(BELOW[2], timedelta(days=7), facts=5),
    }
)
"""Stages in order; before the first, the stage is NEW."""
MAX_FACTS: Final = max(needs.facts for needs in STAGES.values())


@dataclass(frozen=True, slots=True)
class RelationshipStats:
    """How much the user and Recall have talked."""

    sessions: int
    """Conversations, including this one."""
    last_session: datetime | None
    """Last activity of the previous conversation."""
    facts: int = 0
    """Active facts, counted up to `MAX_FACTS`."""
    waiting: int = 0
    """Proposals that wait for the user's review."""


_NO_CONVERSATION: Final = UUID(int=0)
_COUNT_OTHERS: Final = """
SELECT count(*), max(last_activity_at), (
    SELECT count(*) FROM (
        SELECT FROM memory_fact WHERE user_id = %(user)s::bigint AND status = 'active' LIMIT %(facts)s::int
    ) AS known
), (
    SELECT count(*) FROM memory_fact WHERE user_id = %(user)s::bigint AND status = 'proposed'
)
FROM chat_conversation WHERE user_id = %(user)s::bigint AND deleted_at IS NULL AND id <> %(conversation)s::uuid
"""


def load_relationship(conversation: Conversation) -> RelationshipStats:
    """Count the user's other conversations, active facts and proposals. One statement."""
    others, last, facts, waiting = _count_others(conversation.user_id, conversation.pk)
    return RelationshipStats(others + 1, last, facts, waiting)


def load_relationship_so_far(user: User) -> RelationshipStats:
    """The same stats outside a conversation."""
    return RelationshipStats(*_count_others(user.pk, _NO_CONVERSATION))


def relationship_read(user_id: int, conversation_id: UUID) -> prepared.Read:
    """What `load_relationship` reads."""
    return prepared.Read(_COUNT_OTHERS, {"user": user_id, "conversation": conversation_id, "facts": MAX_FACTS})


def _count_others(user_id: int, conversation_id: UUID) -> tuple[int, datetime | None, int, int]:
    [(others, last, facts, waiting)] = relationship_read(user_id, conversation_id).fetch()
    return others, last, facts, waiting


def relationship_stage(sessions: int, known_for: timedelta, facts: int) -> Stage:
    """The highest stage whose requirements are met."""
    reached = Stage.NEW
    for stage, needs in STAGES.items():
        if sessions < needs.sessions or known_for < needs.known_for or facts < needs.facts:
            break
        reached = stage
    return reached


def stage_of(user: User, stats: RelationshipStats, now: datetime) -> Stage:
    """The stage the user set, or else the one reached."""
    return Stage(user.relationship_stage) if user.relationship_stage else reached_stage(user, stats, now)


def reached_stage(user: User, stats: RelationshipStats, now: datetime) -> Stage:
    """The stage reached through conversations."""
    return relationship_stage(stats.sessions, now - user.date_joined, stats.facts)


def stages_reached(user: User) -> list[tuple[str, datetime]]:
    """Each stage after the first, with the time at which it was reached. Two statements."""
    conversations = Conversation.objects.not_deleted().for_user(user).order_by("started_at", "pk")
    started = list(
        conversations.values_list("started_at", flat=True)[: max(needs.sessions for needs in STAGES.values())]
    )
    facts = Fact.objects.for_user(user).filter(status=Fact.Status.ACTIVE).order_by("recorded_at", "pk")
    learned = list(facts.values_list("recorded_at", flat=True)[:MAX_FACTS])
    reached = []
    for stage, needs in STAGES.items():
        if len(started) < needs.sessions or len(learned) < needs.facts:
            break
        moments = [*started[: needs.sessions], *learned[: needs.facts], user.date_joined + needs.known_for]
        reached.append((str(stage), max(moments)))
    return reached


def render_clock(user: User, stats: RelationshipStats, now: datetime, stated: Stated = NOTHING_STATED) -> str:
    """The lines before the user's message: with the name and zone the user stated, else the account's."""
    name = " ".join((stated.preferred_name or user.preferred_name).split())  # no line that isn't the clock's
    zone = stated.time_zone or user.time_zone
    local = now.astimezone(ZoneInfo(zone))
    lines = [
        f"Current time: {local.isoformat(timespec='seconds')}",
        f"Current date: {local:%A, %B} {local.day}, {local.year}",
        f"User timezone: {zone}",
        f"User name: {name}" if name else "",
        f"Relationship stage: {stage_of(user, stats, now)}",
        f"Last session: {_ago(now - stats.last_session)}" if stats.last_session else "Last session: this is the first",
        f"Memories waiting for review: {stats.waiting}" if stats.waiting else "",
    ]
    return "\n".join(line for line in lines if line)


def _ago(passed: timedelta) -> str:
    """“3 days ago”: the largest unit that is at least one."""
    minutes = int(passed.total_seconds() // 60)
    for unit, size in (("day", 1440), ("hour", 60), ("minute", 1)):
        if minutes >= size:
            count = minutes // size
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "a moment ago"
