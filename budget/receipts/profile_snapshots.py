"""Profile snapshots: the profile text a conversation is pinned to, when to renew it, and what has changed since.

The profile comes before the history, so a new text invalidates the provider's cache of both. It stays pinned, and later
changes reach the model as a short update beside the recalled memories.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from accounts.models import User
from budget.models import ProfileSnapshot
from recall.db.prepared import PreparedQuery, Read

NEW: Final = "New: "
HOLDS_NO_LONGER: Final = "No longer holds: "
"""Prefixes of update lines."""

_LATEST: Final = PreparedQuery(
    lambda user, conversation: ProfileSnapshot.objects.filter(user=user, conversation_id=conversation).order_by("-id")[
        :1
    ],
    user=int,
    conversation=UUID,
)


class Reason(StrEnum):
    """Why a snapshot is taken, the most urgent first."""

    FORGOTTEN = "forgotten"  # at any cost: a forgotten memory must not be sent again
    NEW = "new"  # there is none yet
    COMPACTED = "compacted"  # the history changed anyway
    COLD = "cold"  # the cache expired, so everything is written again anyway


@dataclass(frozen=True, slots=True)
class Line:
    """One profile line in the prompt."""

    ref: str
    text: str
    tokens: int
    """Base count."""


def needs_renewal(
    snapshot: ProfileSnapshot | None,
    *,
    last_activity: datetime,
    now: datetime,
    lifetime: timedelta,
    compacted: bool = False,
    forgotten: bool = False,
) -> Reason | None:
    """Why this conversation needs a new snapshot; None: it keeps its current one.

    `lifetime`: of a cache entry, counted from the last request. `compacted`, `forgotten`: happened since the snapshot.
    """
    if snapshot is None:
        return Reason.NEW
    if forgotten:
        return Reason.FORGOTTEN
    if compacted:
        return Reason.COMPACTED
    return Reason.COLD if now - last_activity >= lifetime else None


def latest(user: User, conversation_id: UUID) -> ProfileSnapshot | None:
    """The conversation's current snapshot."""
    return _LATEST.first(user=user.pk, conversation=conversation_id)


def latest_read(user: User, conversation_id: UUID) -> Read:
    """What `latest` reads."""
    return _LATEST.read(user=user.pk, conversation=conversation_id)


def pin(user: User, conversation_id: UUID, lines: Sequence[Line], reason: Reason) -> ProfileSnapshot:
    """Take a new snapshot: the conversation's prompts now contain these lines."""
    return ProfileSnapshot.objects.create(
        user=user,
        conversation_id=conversation_id,
        text="\n".join(line.text for line in lines),
        lines=[asdict(line) for line in lines],
        reason=reason,
    )


def pinned_lines(snapshot: ProfileSnapshot) -> list[Line]:
    return [Line(**line) for line in snapshot.lines]


def changes_since(pinned: Iterable[Line], current: Iterable[Line]) -> list[str]:
    """Update lines beside a pinned profile: what no longer holds, then what is new; empty: no change.

    Lines are compared by text: a line's ref changes when one is added above it in the same document.
    """
    pinned, current = list(pinned), list(current)
    return [
        *(f"{HOLDS_NO_LONGER}{line.text}" for line in _missing(pinned, current)),
        *(f"{NEW}{line.text}" for line in _missing(current, pinned)),
    ]


def _missing(lines: Iterable[Line], others: Iterable[Line]) -> list[Line]:
    """The lines whose text isn't among `others`."""
    known = {line.text for line in others}
    return [line for line in lines if line.text not in known]
