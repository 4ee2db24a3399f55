"""What the model is told of the moment and of the person: the clock, the name, how well they know each other."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Count, Max

from accounts.models import User
from chat.models import Conversation
from recall.environment import setting
from recall.prepared import Prepared

BELOW: Final = [int(sessions) for sessions in setting("relationship_stages", "2,5,20").split(",")]
STAGES: Final = tuple(zip(("NEW", "DEVELOPING", "COMFORTABLE"), BELOW, strict=True))
"""Relationship stages and the number of sessions below which each holds (DESIGN §4); from there on TRUSTED."""
TRUSTED: Final = "TRUSTED"


_OTHERS: Final = Prepared(
    lambda user, conversation: (
        Conversation.objects.standing()
        .filter(user=user)
        .exclude(pk=conversation)
        .values("user")
        .annotate(sessions=Count("pk"), last=Max("last_activity_at"))
        .values_list("sessions", "last")
    ),
    user=int,
    conversation=UUID,
)


@dataclass(frozen=True, slots=True)
class Acquaintance:
    """How much the person and Recall have talked."""

    sessions: int
    """Conversations, this one included."""
    last_session: datetime | None
    """When the one before this was last active."""


def acquaintance(conversation: Conversation) -> Acquaintance:
    """Count the person's other conversations."""
    others, last = _OTHERS.first(user=conversation.user_id, conversation=conversation.pk) or (0, None)
    return Acquaintance(others + 1, last)


def relationship_stage(sessions: int) -> str:
    """The stage after so many sessions."""
    return next((stage for stage, below in STAGES if sessions < below), TRUSTED)


def clock_lines(user: User, known: Acquaintance, now: datetime) -> str:
    """The lines that stand before what the user just wrote (seed 000, “Time and date injection”)."""
    local = now.astimezone(user.zone)
    lines = [
        f"Current time: {local.isoformat(timespec='seconds')}",
        f"Current date: {local:%A, %B} {local.day}, {local.year}",
        f"User timezone: {user.time_zone}",
        f"User name: {user.preferred_name}" if user.preferred_name else "",
        f"Relationship stage: {relationship_stage(known.sessions)}",
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
