"""Reads conversations with questions and evidence from files in two layouts.

- turns: `conversations[].sessions[].turns[]` with `id`, `speaker`, `text`, perhaps `image_caption`, below a session's
  `datetime`: two people who write to each other (LoCoMo);
- messages: `conversations[].messages[]` with `id`, `role`, `date`, `session`, `text`: a user and an assistant (BEAM).

Both have `questions[]` with `id`, `question`, `category` and `evidence`, the ids of the turns that contain the answer.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, Discriminator, Field, Tag, ValidationError, field_validator

type ItemId = int | str
"""Id of a turn or message in the file: unique within its conversation."""

CHARACTERS_A_TOKEN: Final = 4
"""Characters per token, as the scorer counts them, independent of any vocabulary."""
ANSWER_TOKENS: Final = 225
"""A longer message from an assistant counts as one chunk of this size, because a prompt holds no more of it."""
ITEM_INTERVAL: Final = timedelta(seconds=10)
"""Interval between items of a session whose file only has its start: keeps their order and day."""
NOON: Final = timedelta(hours=12)
"""Start of a session without a time: the same day in nearly every time zone."""


class UnknownLayoutError(Exception):
    """The file is in neither layout; the message says why."""


@dataclass(frozen=True, slots=True)
class Item:
    """One turn or message: what is ranked, and what evidence names."""

    id: ItemId
    role: Literal["user", "assistant"]
    author: str
    """The speaker's name; empty if the role suffices."""
    text: str
    """The text, followed by `[shared image: caption]` for a shared image."""
    when: datetime
    tokens: int
    """Tokens of its line `[date] speaker: text` in a prompt, as the scorer counts."""

    @property
    def rendered(self) -> str:
        """`speaker: text [shared image: caption]`."""
        return f"{self.author or self.role}: {self.text}"


@dataclass(frozen=True, slots=True)
class Session:
    """Consecutive items of one date."""

    date: datetime
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the ids of the items that contain its answer."""

    id: ItemId
    text: str
    category: str
    evidence: frozenset[ItemId]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A long conversation in dated sessions, with questions about it."""

    id: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]

    @property
    def items(self) -> tuple[Item, ...]:
        """All items, in the file's order."""
        return tuple(item for session in self.sessions for item in session.items)

    @property
    def ended_at(self) -> datetime:
        """The end of the last session: “now”, when its questions are asked."""
        return max(item.when for item in self.items)


def read(path: Path) -> tuple[Conversation, ...]:
    """The conversations of a file in either layout.

    Raises:
        UnknownLayoutError: it is in neither, or not JSON.
        OSError: it can't be read.
    """
    try:
        found = _File.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise UnknownLayoutError(_sentence(path, error)) from error
    return tuple(
        Conversation(
            str(conversation.id), conversation.read(), tuple(question.read() for question in conversation.questions)
        )
        for conversation in found.conversations
    )


def _sentence(path: Path, error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(step) for step in first["loc"])
    wrong = f"{where}: {first['msg']}" if where else first["msg"]
    return (
        f"{path.name} is in neither of the two layouts, conversations of sessions with turns or of messages"
        f" ({wrong.replace('Value error, ', '')})."
    )


def parse_date(said: str) -> datetime:
    """Parse a date as the files write it: ISO 8601 with or without a time, or `March-15-2024`. Without a zone it is
    UTC.

    Raises:
        ValueError: it is none of these.
    """
    try:
        when = datetime.fromisoformat(said)
    except ValueError:
        try:
            when = datetime.strptime(said, "%B-%d-%Y").replace(tzinfo=UTC)
        except ValueError:
            raise ValueError(f"“{said}” is no date such as 2024-03-15 or March-15-2024") from None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    has_time = "T" in said or ":" in said
    return when if has_time else when + NOON


def _tokens(text: str) -> int:
    return math.ceil(len(text) / CHARACTERS_A_TOKEN)


# File layouts ---------------------------------------------------------------------------------------------------


def _checked(said: str) -> str:
    parse_date(said)
    return said


type _Date = Annotated[str, AfterValidator(_checked)]


class _Turn(BaseModel):
    id: ItemId
    speaker: str
    text: str
    image_caption: str | None = None

    def read(self, date: str, when: datetime) -> Item:
        text = f"{self.text} [shared image: {self.image_caption}]" if self.image_caption else self.text
        tokens = _tokens(f"[{date}] {self.speaker}: {text}\n")
        # Both speakers are people, so both count as users.
        return Item(self.id, "user", self.speaker, text, when, tokens)


class _Session(BaseModel):
    datetime: _Date
    turns: list[_Turn]

    def read(self) -> Session:
        began = parse_date(self.datetime)
        turns = (turn.read(self.datetime[:10], began + n * ITEM_INTERVAL) for n, turn in enumerate(self.turns))
        return Session(began, tuple(turns))


class _Message(BaseModel):
    id: ItemId
    role: Literal["user", "assistant"]
    date: _Date
    text: str

    def read(self, when: datetime) -> Item:
        tokens = _tokens(self.text) if self.role == "user" else min(_tokens(self.text), ANSWER_TOKENS)
        tokens += _tokens(f"[{self.date}] {self.role}: ")
        return Item(self.id, self.role, "", self.text, when, tokens)


class _Question(BaseModel):
    id: ItemId
    question: str
    category: str
    evidence: list[ItemId] = []

    def read(self) -> Question:
        return Question(self.id, self.question, self.category, frozenset(self.evidence))


class _SessionsLayout(BaseModel):
    id: ItemId
    sessions: Annotated[list[_Session], Field(min_length=1)]
    questions: list[_Question]

    @field_validator("sessions")
    @classmethod
    def _has_turns(cls, sessions: list[_Session]) -> list[_Session]:
        if not any(session.turns for session in sessions):
            raise ValueError("no session has a turn")
        return sessions

    def read(self) -> tuple[Session, ...]:
        return tuple(session.read() for session in self.sessions if session.turns)


class _MessagesLayout(BaseModel):
    id: ItemId
    messages: Annotated[list[_Message], Field(min_length=1)]
    questions: list[_Question]

    def read(self) -> tuple[Session, ...]:
        return tuple(_session_of(date, messages) for date, messages in groupby(self.messages, lambda found: found.date))


def _session_of(date: str, messages: Iterable[_Message]) -> Session:
    """Consecutive messages of one date."""
    began = parse_date(date)
    return Session(began, tuple(message.read(began + n * ITEM_INTERVAL) for n, message in enumerate(messages)))


def _kind(conversation: Any) -> str | None:
    known = ("sessions", "messages")
    return next((key for key in known if isinstance(conversation, dict) and key in conversation), None)


type _Either = Annotated[
    Annotated[_SessionsLayout, Tag("sessions")] | Annotated[_MessagesLayout, Tag("messages")],
    Discriminator(
        _kind, custom_error_type="layout", custom_error_message="a conversation has neither sessions nor messages"
    ),
]


class _File(BaseModel):
    conversations: Annotated[list[_Either], Field(min_length=1)]
