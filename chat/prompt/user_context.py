"""What the model is told of the moment and of the person: the clock, the name, how well they know each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final
from uuid import UUID

from accounts.models import User
from chat.models import Conversation
from recall.db import prepared
from recall.environment import setting

Stage = User.Stage

BELOW: Final = [int(sessions) for sessions in setting("relationship_stages", "2,5,20").split(",")]
"""Sessions below which a stage holds, from NEW on (DESIGN §4)."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What a stage is not reached without."""

    sessions: int
    known_for: timedelta = timedelta()
    facts: int = 0
    """Active ones."""


STAGES: Final[Mapping[Stage, Needs]] = MappingProxyType(
    {
        Stage.DEVELOPING: Needs(BELOW[0]),
        # Sessions decide; but nobody is an old friend after an afternoon, or of somebody they know nothing of.
        Stage.COMFORTABLE: Needs(BELOW[1], timedelta(days=1), facts=1),
        Stage.TRUSTED: Needs(BELOW[2], timedelta(days=7), facts=5),
    }
)
"""In order; before the first one it is NEW."""
MOST_FACTS: Final = max(needs.facts for needs in STAGES.values())


@dataclass(frozen=True, slots=True)
class RelationshipStats:
    """How much the person and Recall have talked."""

    sessions: int
    """Conversations, this one included."""
    last_session: datetime | None
    """When the one before this was last active."""
    facts: int = 0
    """Active ones, counted as far as `MOST_FACTS`."""


_NO_CONVERSATION: Final = UUID(int=0)
_OTHERS: Final = """
SELECT count(*), max(last_activity_at), (
    SELECT count(*) FROM (
        SELECT FROM memory_fact WHERE user_id = %(user)s::bigint AND status = 'active' LIMIT %(facts)s::int
    ) AS known
)
FROM chat_conversation WHERE user_id = %(user)s::bigint AND deleted_at IS NULL AND id <> %(conversation)s::uuid
"""


def load_relationship(conversation: Conversation) -> RelationshipStats:
    """Count the person's other conversations, and what is known of them. One statement."""
    others, last, facts = _others(conversation.user_id, conversation.pk)
    return RelationshipStats(others + 1, last, facts)


def acquaintance_so_far(user: User) -> RelationshipStats:
    """The same, outside of a conversation."""
    return RelationshipStats(*_others(user.pk, _NO_CONVERSATION))


def _others(user_id: int, conversation_id: UUID) -> tuple[int, datetime | None, int]:
    values = {"user": user_id, "conversation": conversation_id, "facts": MOST_FACTS}
    [(others, last, facts)] = prepared.fetch_prepared(_OTHERS, values)
    return others, last, facts


def relationship_stage(sessions: int, known_for: timedelta, facts: int) -> Stage:
    """The stage after so many sessions and so long, with so many active facts: as far as nothing is missing."""
    reached = Stage.NEW
    for stage, needs in STAGES.items():
        if sessions < needs.sessions or known_for < needs.known_for or facts < needs.facts:
            break
        reached = stage
    return reached


def stage_of(user: User, known: RelationshipStats, now: datetime) -> Stage:
    """The stage as the person set it, or else as it has grown."""
    return Stage(user.relationship_stage) if user.relationship_stage else grown(user, known, now)


def grown(user: User, known: RelationshipStats, now: datetime) -> Stage:
    """The stage as it has grown by itself."""
    return relationship_stage(known.sessions, now - user.date_joined, known.facts)


def render_clock(user: User, known: RelationshipStats, now: datetime) -> str:
    """The lines that stand before what the user just wrote (seed 000, “Time and date injection”)."""
    local = now.astimezone(user.zone)
    lines = [
        f"Current time: {local.isoformat(timespec='seconds')}",
        f"Current date: {local:%A, %B} {local.day}, {local.year}",
        f"User timezone: {user.time_zone}",
        f"User name: {user.preferred_name}" if user.preferred_name else "",
        f"Relationship stage: {stage_of(user, known, now)}",
        f"Last session: {_ago(now - known.last_session)}" if known.last_session else "Last session: this is the first",
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
