"""What is an engine given, and what does it answer? The one interface of those that write summaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from chat.compaction.summaries.schema import Exchange, Summary, Verbosity
from memory.librarian.engine import Usage

NO_USAGE: Final = Usage()


@dataclass(frozen=True, slots=True)
class SummaryResult:
    """A summary, who made it, and what that cost."""

    summary: Summary
    engine_name: str
    """With its version, such as rules/1."""
    usage: Usage = NO_USAGE
    """Tokens, those of a failed attempt included."""
    failure: str = ""
    """Why the engine asked first came to nothing; empty: it did not."""


class SummaryFailed(Exception):
    """An engine came to nothing, with a sentence for the user. The tokens it used are used all the same."""

    def __init__(self, sentence: str, usage: Usage = NO_USAGE) -> None:
        super().__init__(sentence)
        self.usage = usage


class SummaryEngine(Protocol):
    """Something that reads turns and tells what of them stays."""

    @property
    def version(self) -> str:
        """Name and version, such as rules/1."""

    def summarize(self, turns: Sequence[Exchange], verbosity: Verbosity) -> SummaryResult:
        """What of the turns stays.

        Raises:
            SummaryFailed: with a sentence for the user.
        """
