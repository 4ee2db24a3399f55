"""The frames of the WebSocket protocol, one strict model each (docs/protocol.md)."""

import json
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from recall.observability import request_id

VERSION = 1
OPTION_FIELDS: Final = ("role", "project", "model", "effort", "only_project")
"""Names of the options in a frame, a form and the API."""


@dataclass(frozen=True, slots=True)
class ConversationOptions:
    """Options of a new conversation. None: not chosen, so the default applies."""

    role: int | None = None
    project: int | None = None
    model: str | None = None
    """Empty: the installation's."""
    effort: str | None = None
    """Empty: the model's default."""
    only_project: bool | None = None


NO_OPTIONS: Final = ConversationOptions()


class BadFrameError(Exception):
    """Not a frame of this protocol; the message is a sentence that says why."""


Id = Annotated[int, Field(ge=1, le=2**63 - 1)]


class Frame(BaseModel):
    """Fields of every frame."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    v: Literal[1]


class Open(Frame):
    """Follow a conversation."""

    type: Literal["open"]
    conversation: UUID


class Send(Frame):
    """One user message."""

    type: Literal["send"]
    client_id: UUID
    conversation: UUID | None
    text: str
    attachments: list[Id] = Field(default_factory=list, max_length=50)
    """Ids of the user's drafts (`POST /attachments`), in order. With them the text may be empty."""
    role: Id | None = None
    """This and the next four apply to a new conversation only (chat/conversations/options.py). Null: the default."""
    project: Id | None = None
    model: str | None = Field(None, max_length=80)
    effort: str | None = Field(None, max_length=6)
    only_project: bool | None = None

    @property
    def chosen(self) -> ConversationOptions:
        return ConversationOptions(**{name: getattr(self, name) for name in OPTION_FIELDS})

    @model_validator(mode="after")
    def _options_need_a_new_conversation(self) -> Self:
        if self.conversation is not None and self.chosen != NO_OPTIONS:
            raise ValueError(f"{', '.join(OPTION_FIELDS)} go with a new conversation only")
        return self


class Edit(Frame):
    """Ask this instead of an earlier message of the user's."""

    type: Literal["edit"]
    client_id: UUID
    message: int = Field(ge=1, le=2**63 - 1)
    text: str


class Retry(Frame):
    """Answer the same question again."""

    type: Literal["retry"]
    client_id: UUID
    message: int = Field(ge=1, le=2**63 - 1)


class Continue(Frame):
    """Continue after a length stop or an interruption."""

    type: Literal["continue"]
    client_id: UUID
    message: int = Field(ge=1, le=2**63 - 1)


class Without(Frame):
    """Answer the same question without these memories. Over HTTP only: the socket shows one branch."""

    type: Literal["without"]
    client_id: UUID
    message: int = Field(ge=1, le=2**63 - 1)
    refs: list[str] = Field(min_length=1, max_length=20)


class Temporary(Frame):
    """One user message of this socket's temporary chat; the first one starts it."""

    type: Literal["temporary"]
    client_id: UUID
    text: str = ""
    memory: bool = False
    again: Literal["", "retry", "continue"] = ""


class Stop(Frame):
    """Stop the answer that is being written."""

    type: Literal["stop"]
    conversation: UUID


class Ping(Frame):
    """Answered with `pong`."""

    type: Literal["ping"]


Incoming = Open | Send | Edit | Retry | Continue | Temporary | Stop | Ping
_incoming: TypeAdapter[Incoming] = TypeAdapter(Annotated[Incoming, Field(discriminator="type")])


def parse(text: str) -> Incoming:
    """The frame in `text`.

    Raises:
        BadFrameError: no JSON object, an unknown type or version, or a field missing, wrong or unknown.
    """
    try:
        return _incoming.validate_python(json.loads(text), strict=False)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the frame"
        raise BadFrameError(f"{where}: {first['msg']}.") from error
    except (ValueError, RecursionError) as error:  # not JSON, or a number of thousands of digits
        raise BadFrameError("This isn't JSON.") from error


def error_frame(code: str, sentence: str) -> dict[str, Any]:
    """What a refused frame or form is answered with; `request` finds it in the log."""
    return {"type": "error", "code": code, "text": sentence, "request": request_id.current()}


def client_id_of(text: str) -> str | None:
    """The client id of a rejected frame, if it can be read."""
    try:
        frame = json.loads(text)
        return str(UUID(frame["client_id"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
