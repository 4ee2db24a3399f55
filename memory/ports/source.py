"""What memory needs from the apps above it, as protocols. They register theirs in `AppConfig.ready`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Literal, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from accounts.models import User
    from memory.text.user_text import Span

Speaker = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Utterance:
    """One message as the librarian reads it. Only the *user's* words are evidence; the rest gives context."""

    message_id: int
    number: int
    """Position in the conversation (`Message.seq`), by which a proposal names its evidence."""
    speaker: Speaker
    text: str
    said_at: datetime
    author: str = ""
    """The speaker, if neither the user nor the model: a participant of an imported conversation."""
    turn: int = 0
    """Number of its turn, from 1; 0: its source doesn't count turns."""
    echoes: Sequence[Span] = ()
    """Parts of a user's text that repeat someone else's words: not evidence (`memory/librarian/echo.py`)."""
    omit: str = ""
    """For an answer: the rule by which it isn't a memory (`memory/text/message_kinds.py`); empty: its text decides."""


@dataclass(frozen=True, slots=True)
class ContextText:
    """Text in a conversation before or next to a message that is not read for facts."""

    number: int
    """Number of the message it came with or before; 0: it was there from the beginning."""
    text: str
    is_users: bool = False
    """Said by the user earlier; else by the assistant, a tool, a recalled memory or a document."""


@dataclass(frozen=True, slots=True)
class ConversationDigest:
    """The digest of a conversation, for a document about it."""

    title: str
    began_at: datetime
    turns: int
    text: str
    """Markdown; empty if nothing is worth recording."""


class ConversationSource(Protocol):
    """The source of the librarian's utterances and of the index's passages."""

    def load_range(self, conversation_id: UUID, first: int, last: int) -> tuple[list[Utterance], list[ContextText]]:
        """Messages `first` to `last` of the active branch, oldest first; and the context up to message `last`:
        everything said before message `first`, and the tool results and recalled memories of the whole range."""
        ...

    def load_all(self, conversation_id: UUID) -> tuple[int, list[Utterance]]:
        """The owner's id, and all utterances of the active branch, oldest first."""
        ...

    def load_digest(self, conversation_id: UUID) -> ConversationDigest | None:
        """The digest of the active branch by the rules that summarize; None: the conversation is gone."""
        ...

    def import_conversation(self, user: User, title: str, said: Sequence[Utterance]) -> list[int]:
        """Store a conversation from elsewhere, ended; return the ids of its messages, in the given order."""
        ...

    def message_url(self, message_id: int) -> str:
        """Address of the page that shows this message in its conversation."""
        ...


_registered: list[Callable[[], ConversationSource]] = []


def register(load: Callable[[], ConversationSource]) -> None:
    """Register what loads the source of conversations, at its first use; called once, at startup."""
    _registered[:] = [cache(load)]


def get_source() -> ConversationSource:
    """The registered source.

    Raises:
        LookupError: no app has registered one.
    """
    if not _registered:
        raise LookupError("No source of conversations is registered with memory.")
    return _registered[0]()


def message_urls(message_ids: Iterable[int | None]) -> dict[int, str]:
    """Address of each message that still exists."""
    return {message_id: get_source().message_url(message_id) for message_id in message_ids if message_id is not None}
