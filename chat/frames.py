"""What may come in over the socket? One strict model a frame type (docs/protocol.md)."""

from __future__ import annotations

import json
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

VERSION = 1


class BadFrame(Exception):
    """The frame is no frame of this protocol; the message is a sentence that says why."""


class Frame(BaseModel):
    """What every frame has."""

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


class Retry(Frame):
    """Answer the same question again."""

    type: Literal["retry"]
    client_id: UUID
    message: int = Field(ge=1, le=2**63 - 1)


class Continue(Frame):
    """Go on after a length stop or an interruption."""

    type: Literal["continue"]
    client_id: UUID
    message: int = Field(ge=1, le=2**63 - 1)


class Stop(Frame):
    """End the answer being written."""

    type: Literal["stop"]
    conversation: UUID


class Ping(Frame):
    """Is anybody there?"""

    type: Literal["ping"]


Incoming = Open | Send | Retry | Continue | Stop | Ping
_incoming: TypeAdapter[Incoming] = TypeAdapter(Annotated[Incoming, Field(discriminator="type")])


def parse(text: str) -> Incoming:
    """The frame in `text`.

    Raises:
        BadFrame: no JSON object, an unknown type or version, or a field missing, wrong or unknown.
    """
    try:
        return _incoming.validate_python(json.loads(text), strict=False)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the frame"
        raise BadFrame(f"{where}: {first['msg']}.") from error
    except (ValueError, RecursionError) as error:  # no JSON, or a number of thousands of digits
        raise BadFrame("This is not JSON.") from error


def client_id_of(text: str) -> str | None:
    """The client id of a frame that was refused, if it had one that can be read."""
    try:
        frame = json.loads(text)
        return str(UUID(frame["client_id"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
