"""What memory needs from the apps above it, stated as protocols. They register theirs in `AppConfig.ready`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol
from uuid import UUID

Speaker = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Utterance:
    """One message as the librarian reads it. Only what the *user* wrote is evidence; the rest gives context."""

    message_id: int
    number: int
    """Place in the conversation (`Message.seq`), by which a proposal names its evidence."""
    speaker: Speaker
    text: str
    said_at: datetime


class Source(Protocol):
    """Where the librarian's utterances come from."""

    def utterances(self, conversation_id: UUID, first: int, last: int) -> list[Utterance]:
        """The active branch's messages numbered `first` to `last`, oldest first."""
        ...

    def link(self, message_id: int) -> str:
        """Address of the page that shows this message in its conversation."""
        ...


_registered: list[Source] = []


def register(source: Source) -> None:
    """Make `source` the place conversations are read from (called once, at start)."""
    _registered[:] = [source]


def source() -> Source:
    """The registered source.

    Raises:
        LookupError: no app has registered one.
    """
    if not _registered:
        raise LookupError("No source of conversations is registered with memory.")
    return _registered[0]


def links(message_ids: Iterable[int | None]) -> dict[int, str]:
    """Address of each message that is still there to point to."""
    return {message_id: source().link(message_id) for message_id in message_ids if message_id is not None}
