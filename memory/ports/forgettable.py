"""What memory needs from the apps above it to forget: each finds, lists and erases what is its own.

Chat and budget register theirs when they start. `Erasure` and `Going` are plain data (`recall/redaction.py`), so that
budget need not know memory to take part.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import User
    from recall.redaction import Erasure, ErasureItem


class BusyError(Exception):
    """It cannot be forgotten at this moment; the message is a sentence for the person."""


class Forgettable(Protocol):
    """A keeper of rows in which a memory may have left its traces."""

    def check_erasable(self, user: User, conversations: Collection[UUID]) -> None:
        """Whether these may be deleted at this moment.

        Raises:
            BusyError: not now.
        """
        ...

    def collect(self, user: User, erasure: Erasure) -> None:
        """Add to `erasure` what of yours rests on it, or carried it. Said again until nobody adds anything."""
        ...

    def preview(self, user: User, erasure: Erasure) -> Iterable[ErasureItem]:
        """What of yours would go."""
        ...

    def erase(self, user: User, erasure: Erasure) -> None:
        """Do it, within the caller's transaction, which holds the person's row."""
        ...

    def refresh_derived(self, user: User, erasure: Erasure) -> None:
        """What must stand anew at once, when everybody has erased theirs."""
        ...

    def regenerate(self, user: User, wanted: Mapping[str, Any]) -> bool:
        """Write anew what `Forgetting.to_rewrite` names, if it is yours; False: it has to be tried again."""
        ...


_registered: list[Forgettable] = []


def register(*keepers: Forgettable) -> None:
    """Make these the ones that are asked (called once, at start), in this order."""
    _registered[:] = keepers


def forgettables() -> list[Forgettable]:
    """Those that registered."""
    return list(_registered)
