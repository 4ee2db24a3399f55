"""The port for forgetting: each app above memory finds, lists and erases its own rows.

Chat registers at start-up what loads them. `Erasure` and `ErasureItem` are plain data (`recall/redaction.py`), so that
budget takes part without knowing memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import User
    from recall.redaction import Erasure, ErasureItem


class BusyError(Exception):
    """It can't be forgotten right now; the message is a sentence for the user."""


class Forgettable(Protocol):
    """An app whose rows may contain traces of a memory."""

    def check_erasable(self, user: User, conversations: Collection[UUID]) -> None:
        """Check that these can be deleted now.

        Raises:
            BusyError: they can't be deleted now.
        """
        ...

    def collect(self, user: User, erasure: Erasure) -> None:
        """Add this app's rows that depend on the erasure or contain it. Repeated until no app adds anything."""
        ...

    def preview(self, user: User, erasure: Erasure) -> Iterable[ErasureItem]:
        """This app's rows that would be erased."""
        ...

    def erase(self, user: User, erasure: Erasure) -> None:
        """Erase, within the caller's transaction, which holds the user's row lock."""
        ...

    def refresh_derived(self, user: User, erasure: Erasure) -> None:
        """Rebuild what must exist right after all apps have erased."""
        ...

    def regenerate(self, user: User, wanted: Mapping[str, Any]) -> bool:
        """Rewrite what `Forgetting.to_rewrite` names, if it belongs to this app; False: try again later."""
        ...


_registered: list[Callable[[], Sequence[Forgettable]]] = []


def register(load: Callable[[], Sequence[Forgettable]]) -> None:
    """Register what loads the apps that take part in forgetting, in their order, at its first use; called once, at
    startup."""
    _registered[:] = [cache(load)]


def forgettables() -> Sequence[Forgettable]:
    """The registered ones."""
    return [keeper for load in _registered for keeper in load()]
