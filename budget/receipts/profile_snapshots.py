"""Which profile text is a conversation pinned to, when is it renewed, and what has changed since?

The profile stands before the history, so a new text makes the provider's cache forget both. It is pinned, and what
changes meanwhile reaches the model as a short update beside the recalled memories.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from accounts.models import User
from budget.models import ProfileSnapshot
from recall.db.prepared import PreparedQuery

NEW: Final = "New: "
HOLDS_NO_LONGER: Final = "No longer holds: "
"""How a line of the update begins."""

_LATEST: Final = PreparedQuery(
    lambda user, conversation: ProfileSnapshot.objects.filter(user=user, conversation_id=conversation).order_by("-id")[
        :1
    ],
    user=int,
    conversation=UUID,
)


class Reason(StrEnum):
    """Why a snapshot is taken, the most urgent first."""

    FORGOTTEN = "forgotten"  # at any price: a forgotten memory must not be told once more
    NEW = "new"  # there is none yet
    COMPACTED = "compacted"  # the history is written anew anyway
    COLD = "cold"  # the cache has run out, so everything is written anew anyway


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the profile as it stands in the prompt."""

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
    """Why this conversation needs a new snapshot; None: it keeps the one it has.

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
    """The snapshot the conversation is pinned to."""
    return _LATEST.first(user=user.pk, conversation=conversation_id)


def pin(user: User, conversation_id: UUID, lines: Sequence[Line], reason: Reason) -> ProfileSnapshot:
    """Take a new snapshot: from now on the conversation's prompts hold these lines, one below the other."""
    return ProfileSnapshot.objects.create(
        user=user,
        conversation_id=conversation_id,
        text="\n".join(line.text for line in lines),
        lines=[asdict(line) for line in lines],
        reason=reason,
    )


def pinned_lines(snapshot: ProfileSnapshot) -> list[Line]:
    """The lines of a stored snapshot."""
    return [Line(**line) for line in snapshot.lines]


def changes_since(pinned: Iterable[Line], current: Iterable[Line]) -> list[str]:
    """What to tell the model beside a pinned profile: what no longer holds, then what is new; empty: nothing changed.

    Lines are told apart by their words alone: a line's ref changes when one is added above it in the same document.
    """
    pinned, current = list(pinned), list(current)
    return [
        *(f"{HOLDS_NO_LONGER}{line.text}" for line in _missing(pinned, current)),
        *(f"{NEW}{line.text}" for line in _missing(current, pinned)),
    ]


def _missing(lines: Iterable[Line], others: Iterable[Line]) -> list[Line]:
    """Those of `lines` whose words are not among `others`."""
    told = {line.text for line in others}
    return [line for line in lines if line.text not in told]
