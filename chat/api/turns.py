"""Turns as server-sent events, with debug lines as comments on request.

    : MEMORY_DEBUG {…}      event: accepted | delta | status | error | done
    : RAG_DEBUG {…}         data: {…}
    : SEARCH_DEBUG {…}

The turn belongs to the process, as with a socket: a client that disconnects finds the answer in the conversation.
Sending a `client_id` again returns the same answer, so these routes need no Idempotency-Key.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal
from uuid import UUID, uuid4

from django.conf import settings
from django.http import HttpRequest, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from ninja import Header, Query, Router, Schema
from pydantic import Field, ValidationError

from accounts.api.auth import Replay, person, require_scope
from accounts.models import User
from budget.models import Receipt
from budget.receipts.debug import build_views, line
from chat import models
from chat.api import comparison, provenance
from chat.api.conversations import Message, api_messages
from chat.attachments.limits import MAX_PER_MESSAGE
from chat.protocol import OPTION_FIELDS, VERSION, Continue, Edit, Retry, Send, Without
from chat.turn import TurnRejectedError
from chat.turns import intake
from chat.turns.live import TURN_REGISTRY, RunningTurn
from chat.turns.live_text import Frame
from chat.turns.oversized_message import keep_as_document
from chat.turns.start import STATUS, Accepted, accept
from recall.db.connections import run_in_thread
from recall.openapi.fields import Number
from recall.openapi.problems import ProblemError

router = Router(tags=["turns"])
router.add_router("", comparison.router)
router.add_router("/answers", provenance.router)

KEEP_ALIVE_SECONDS: Final = 15.0
"""Send a comment after this much silence: proxies close silent streams, and writing detects lost clients."""
LOOK_EVERY: Final = 0.5
"""Seconds between two checks of an answer that another process writes; only a repeated message waits for it."""
STILL_THERE: Final = ": still there\n\n"
STREAM: Final = "text/event-stream"
FORWARDED: Final = frozenset({"delta", "status"})
"""Socket frames that become events (docs/protocol.md); the others are about parts of a page."""
RENDERED: Final = frozenset({"closed", "open", "kept"})
"""Fields of a delta that are for pages."""
EXAMPLE: Final = """\
event: accepted
data: {"conversation": "0b6f…", "message": 8, "client_id": "5f0c…", "created": true, "duplicate": false}

event: delta
data: {"type": "delta", "message": 8, "offset": 0, "text": "Your sister lives in "}

event: done
data: {"message": 8, "turn": 1, "outcome": "complete", "text": "Your sister lives in Lisbon.", "usage": null}
"""
EVENT: Final = {
    "type": "object",
    "description": "One event of the stream",
    "properties": {
        "event": {"type": "string", "enum": ["accepted", "delta", "status", "error", "done"]},
        "data": {"type": "string", "description": "JSON, as described in docs/api.md and docs/protocol.md"},
    },
    "required": ["event", "data"],
}
STREAMED: Final = {
    "responses": {
        200: {
            "description": "Server-sent events: accepted, then delta and status, then done; error before "
            "done if something failed",
            "content": {STREAM: {"schema": EVENT, "example": EXAMPLE}},
        }
    }
}
TO_WRITE: Final = require_scope("chat:write", Replay.NONE)

View = Literal["memory", "rag", "search"]
ClientId = Annotated[UUID, Field(description="Unique per message; sending it again changes nothing")]
Debug = Annotated[
    list[View],
    Query(max_length=9, description="Debug lines to include: for staff, or if enabled for everyone"),
]
DebugHeader = Annotated[str, Header(description="The same, comma-separated")]


class NewTurn(Schema):
    """A message; for a new conversation, with its options."""

    text: str = Field(description="May be empty if there are attachments")
    conversation: UUID | None = Field(None, description="null for a new one")
    attachments: list[Number] = Field([], max_length=MAX_PER_MESSAGE, description="Ids of drafts, in order")
    role: Number | None = Field(None, description="This field and the next four are for new conversations only")
    project: Number | None = None
    model: str | None = Field(None, max_length=80)
    effort: Literal["", "low", "medium", "high"] | None = None
    only_project: bool | None = None
    client_id: ClientId = Field(default_factory=uuid4)


class Again(Schema):
    """A request for another answer."""

    client_id: ClientId = Field(default_factory=uuid4)


class Edited(Again):
    """A new text for an earlier message."""

    text: str


class Omission(Again):
    """The memories to exclude."""

    refs: list[Annotated[str, Field(max_length=100)]] = Field(
        min_length=1, max_length=20, description="References from the receipt: fact:12, message:55"
    )


@router.post("", auth=TO_WRITE, summary="Send a message and stream the answer", openapi_extra=STREAMED)
async def send_turn(
    request: HttpRequest,
    payload: NewTurn,
    debug: Debug = [],  # noqa: B006 - never changed
    x_recall_debug: DebugHeader = "",
) -> StreamingHttpResponse:
    """Events: accepted, then delta and status, then done; error before done if something failed.

    `debug` (repeated) or the header `X-Recall-Debug` (comma-separated) adds debug lines: memory, rag, search.
    """
    views = _parse_views(person(request), debug, x_recall_debug)
    return await _stream(request, _build_frame(Send, "send", **payload.model_dump()), views)


@router.post("/{int:message}/retry", auth=TO_WRITE, summary="Regenerate an answer", openapi_extra=STREAMED)
async def retry_turn(request: HttpRequest, message: int, payload: Again | None = None) -> StreamingHttpResponse:
    """`message`: the answer. The new one is on a new active branch; the earlier one is kept."""
    return await _stream(request, _build_frame(Retry, "retry", message=message, **_client_id_of(payload)))


@router.post("/{int:message}/continue", auth=TO_WRITE, summary="Continue an answer", openapi_extra=STREAMED)
async def continue_turn(request: HttpRequest, message: int, payload: Again | None = None) -> StreamingHttpResponse:
    """`message`: the last answer, if it was interrupted or too long."""
    return await _stream(request, _build_frame(Continue, "continue", message=message, **_client_id_of(payload)))


@router.post("/{int:message}/edit", auth=TO_WRITE, summary="Edit a message", openapi_extra=STREAMED)
async def edit_turn(request: HttpRequest, message: int, payload: Edited) -> StreamingHttpResponse:
    """`message`: one of your messages. The original and all that followed are kept on their branch."""
    return await _stream(request, _build_frame(Edit, "edit", message=message, **payload.model_dump()))


@router.post(
    "/{int:message}/without", auth=TO_WRITE, summary="Answer again without some memories", openapi_extra=STREAMED
)
async def turn_without(request: HttpRequest, message: int, payload: Omission) -> StreamingHttpResponse:
    """`message`: the answer that used them. The new answer is a trial until `keep`; `comparison` shows both.

    Events as for a turn.
    """
    return await _stream(request, _build_frame(Without, "without", message=message, **payload.model_dump()))


class Kept(Schema):
    """The answer that the conversation continues from."""

    conversation: UUID
    message: int


@router.post(
    "/{int:message}/keep", response=Kept, auth=require_scope("chat:write", Replay.NO_TEXT),
    summary="Continue from this answer instead of the other", operation_id="keep_answer",
)  # fmt: skip
def keep(request: HttpRequest, message: int) -> Kept:
    """Only until the conversation continues from the other answer to the same question."""
    try:
        conversation = intake.choose_answer(person(request), message)
    except TurnRejectedError as refused:
        raise _problem(refused) from refused
    return Kept(conversation=conversation.pk, message=message)


class KeptText(Schema):
    """The document that a message was saved as."""

    path: str
    title: str


@router.post(
    "/{int:message}/keep-as-document", response=KeptText, auth=require_scope("chat:write"),
    summary="Save an overlong message as a document", operation_id="keep_as_document",
)  # fmt: skip
def keep_text(request: HttpRequest, message: int) -> Any:
    """`message`: the answer that says it was too long. 409 if it wasn't."""
    messages = models.Message.objects.not_deleted().for_user(person(request)).select_related("parent", "user")
    document = keep_as_document(get_object_or_404(messages, pk=message))
    if document is None:
        raise ProblemError(HTTPStatus.CONFLICT, "This message wasn't too long, so nothing was saved.")
    return {"path": document.path, "title": document.title}


@router.get("/{int:message}", response=Message, auth=require_scope("chat:read"), summary="Get a message")
def get_message(request: HttpRequest, message: int) -> Any:
    """A question or an answer. While an answer is being written, its text may be incomplete or empty."""
    return get_object_or_404(api_messages(models.Message.objects.not_deleted().for_user(person(request))), pk=message)


# The stream ------------------------------------------------------------------------------------------------------


def _client_id_of(payload: Again | None) -> dict[str, Any]:
    return {"client_id": payload.client_id if payload else uuid4()}


def _build_frame[F: Accepted](frame: type[F], name: str, **fields: Any) -> F:
    """The frame that the socket would have sent.

    Raises:
        ProblemError: 422 if its fields don't go together.
    """
    try:
        return frame(v=VERSION, type=name, **fields)
    except ValidationError as wrong:
        only_new = f"{', '.join(OPTION_FIELDS)} are for new conversations only."
        detail = only_new if frame is Send else str(wrong.errors()[0]["msg"])
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail) from wrong


def _problem(refused: TurnRejectedError) -> ProblemError:
    return ProblemError(STATUS.get(refused.code, HTTPStatus.BAD_REQUEST), refused.sentence)


async def _stream(request: HttpRequest, frame: Accepted, views: list[str] | None = None) -> StreamingHttpResponse:
    try:
        accepted = await accept(person(request).pk, frame)
    except TurnRejectedError as refused:
        raise _problem(refused) from refused
    response = StreamingHttpResponse(_stream_events(accepted, views or []), content_type=STREAM)
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"  # else nginx buffers the events
    return response


def _parse_views(user: User, named: list[View], header: str) -> list[str]:
    """The requested debug lines.

    Raises:
        ProblemError: 403 if the user may not see them, 422 if there is no such output.
    """
    environment = settings.ENVIRONMENT
    is_open = {"memory": environment.memory_debug, "rag": environment.rag_debug, "search": environment.search_debug}
    requested = [*named, *(word.strip().lower() for word in header.split(",") if word.strip())]
    for name in requested:
        if name not in is_open:
            raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, f"Unknown debug output “{name[:40]}”.")
        if not (is_open[name] or user.is_staff):
            raise ProblemError(
                HTTPStatus.FORBIDDEN, f"{name.upper()}_DEBUG is for staff, unless an operator enables it for everyone."
            )
    return [f"{name.upper()}_DEBUG" for name in requested]


async def _stream_events(accepted: Frame, views: list[str]) -> AsyncIterator[str]:
    """Events of the turn. Closing the stream doesn't stop the turn."""
    conversation, answer = UUID(accepted["conversation"]), int(accepted["message"])
    named = ("conversation", "message", "client_id", "created", "duplicate")
    yield _format_event("accepted", {name: accepted[name] for name in named})
    running = TURN_REGISTRY.by_conversation.get(conversation)
    if running is not None and running.message_id == answer:
        async for event in _follow_turn(running):
            yield event
    else:
        async for event in _follow_row(answer):
            yield event
    for event in await run_in_thread(_final_events, answer, views):
        yield event


async def _follow_turn(running: RunningTurn) -> AsyncIterator[str]:
    """The text so far, then the frames that follow, until the answer is saved."""
    frames: asyncio.Queue[Frame] = asyncio.Queue()
    receive = frames.put_nowait
    so_far = (await running.snapshot())["text"]
    TURN_REGISTRY.subscribe(running.conversation_id, receive)
    try:
        if so_far:
            yield _format_event("delta", {"type": "delta", "message": running.message_id, "offset": 0, "text": so_far})
        while not frames.empty() or TURN_REGISTRY.writes(running.message_id):
            frame = await _next_frame(frames)
            if frame is None:
                yield STILL_THERE
            elif frame.get("message") == running.message_id and frame["type"] in FORWARDED:
                yield _format_event(frame["type"], {k: v for k, v in frame.items() if k not in RENDERED})
            elif frame.get("message") == running.message_id and frame["type"] == "done":
                return
    finally:
        TURN_REGISTRY.unsubscribe(running.conversation_id, receive)


async def _follow_row(message_id: int) -> AsyncIterator[str]:
    """The text that another process saves, until the answer has ended, there or by the clock if that process died."""
    known, spoke = "", time.monotonic()
    while (text := await run_in_thread(_unfinished_text, message_id)) is not None:
        if len(text) > len(known):
            frame = {"type": "delta", "message": message_id, "offset": len(known), "text": text[len(known) :]}
            yield _format_event("delta", frame)
            known, spoke = text, time.monotonic()
        elif time.monotonic() - spoke > KEEP_ALIVE_SECONDS:
            yield STILL_THERE
            spoke = time.monotonic()
        await asyncio.sleep(LOOK_EVERY)


def _unfinished_text(message_id: int) -> str | None:
    """The saved text of an answer that is being written; None if none is."""
    return models.Message.objects.streaming().filter(pk=message_id).values_list("text", flat=True).first()


async def _next_frame(frames: asyncio.Queue[Frame]) -> Frame | None:
    """The next frame; None after `KEEP_ALIVE_SECONDS` of silence."""
    try:
        async with asyncio.timeout(KEEP_ALIVE_SECONDS):
            return await frames.get()
    except TimeoutError:
        return None


def _final_events(message_id: int, views: list[str]) -> list[str]:
    """Debug lines, the error and the whole answer, from the stored rows."""
    answer = models.Message.objects.get(pk=message_id)
    receipt = Receipt.objects.filter(message=answer).select_related("message").first()
    debug = build_views(receipt, views) if receipt else {}
    events = [line(name, debug[name]) for name in views if name in debug]
    error = answer.event_data.get("error")
    if error:
        events.append(_format_event("error", error))
    done = {"message": answer.pk, "turn": answer.turn, "outcome": answer.status, "text": answer.text}
    return [*events, _format_event("done", {**done, "usage": _build_usage(receipt) if receipt else None})]


def _build_usage(receipt: Receipt) -> dict[str, Any]:
    return {
        "model": receipt.model,
        "input": receipt.input_tokens,
        "cache_read": receipt.cache_read_tokens,
        "cache_write": receipt.cache_write_tokens,
        "output": receipt.output_tokens,
        "estimated": receipt.usage_is_estimated,
        "cost": None if receipt.cost is None else str(receipt.cost),
    }


def _format_event(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
