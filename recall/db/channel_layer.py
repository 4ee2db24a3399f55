"""The in-process channel layer: Channels' own, which looks through every socket at each event, made to do so rarely."""

import time
from typing import Any, Final

from channels.layers import InMemoryChannelLayer

CLEAN_EVERY: Final = 5.0
"""Seconds; an event that no one took expires after 60."""


class ChannelLayer(InMemoryChannelLayer):  # type: ignore[misc]
    """With hundreds of sockets, looking through them at each event shows in the event loop's profile."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._next_cleaning = 0.0

    def _clean_expired(self) -> None:
        if time.monotonic() >= self._next_cleaning:
            self._next_cleaning = time.monotonic() + CLEAN_EVERY
            super()._clean_expired()
