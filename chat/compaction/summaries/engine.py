"""The protocol of summary engines, and the result of one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from chat.compaction.summaries.schema import Exchange, Summary, Verbosity
from memory.ports.spending import Usage

NO_USAGE: Final = Usage()


@dataclass(frozen=True, slots=True)
class SummaryResult:
    """A summary, its engine, and what it cost."""

    summary: Summary
    engine_name: str
    """The engine's name and version, such as rules/1."""
    usage: Usage = NO_USAGE
    """Tokens, including those of a failed attempt."""
    failure: str = ""
    """Why the first engine failed; empty if it didn't."""


class SummaryFailedError(Exception):
    """An engine failed; the message is one sentence for the user. Its usage still counts."""

    def __init__(self, sentence: str, usage: Usage = NO_USAGE) -> None:
        super().__init__(sentence)
        self.usage = usage


class SummaryEngine(Protocol):
    """Summarizes turns."""

    @property
    def version(self) -> str:
        """Name and version, such as rules/1."""

    def summarize(self, turns: Sequence[Exchange], verbosity: Verbosity) -> SummaryResult:
        """Summarize the turns.

        Raises:
            SummaryFailedError: with a sentence for the user.
        """
