"""The processor time limit for reading one message: beyond it, the message is skipped and counted."""

from dataclasses import dataclass, field
from time import thread_time
from typing import Final

MESSAGE_SECONDS: Final = 2.0
"""Seconds of the thread's own processor time, so that a busy machine skips nothing. A message takes milliseconds."""
TOO_LONG: Final = "a message was too long to read"
"""The reason under which a run counts them."""


class TookTooLongError(Exception):
    """A message used up its time."""


@dataclass(frozen=True, slots=True)
class CpuLimit:
    """A budget of processor time that starts on creation."""

    seconds: float = MESSAGE_SECONDS
    started: float = field(default_factory=thread_time)

    def check(self) -> None:
        """Check the budget; call it between steps.

        Raises:
            TookTooLongError: the budget is used up.
        """
        if thread_time() - self.started > self.seconds:
            raise TookTooLongError
