"""A turn as server-sent events, with debug lines as comments for those who ask for them.

    : MEMORY_DEBUG {…}      event: accepted | delta | status | error | done
    : RAG_DEBUG {…}         data: {…}
    : SEARCH_DEBUG {…}

The turn belongs to the process, as with a socket: who goes away in the middle finds the answer in the conversation. The
same `client_id` again changes nothing, and brings the same answer: these routes need no Idempotency-Key.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal
from uuid import UUID, uuid4

from django.conf import settings
from django.http import Http404, HttpRequest, StreamingHttpResponse
from ninja import Header, Query, Router, Schema
from pydantic import Field, ValidationError

from accounts.api.auth import Replay, person, require_scope
from accounts.models import User
from budget.models import Receipt
from budget.receipts.debug import build_views, line
from chat import models
from chat.api import comparison, provenance
from chat.api.conversations import Message
from chat.api.conversations import api_messages as as_told
from chat.attachments.limits import MOST_A_MESSAGE
from chat.protocol import OPTION_FIELDS, VERSION, Continue, Edit, Retry, Send, Without
from chat.turn import TurnRejectedError
from chat.turns import intake
from chat.turns.live import TURN_REGISTRY, Frame, RunningTurn
from chat.turns.oversized_message import keep_as_document
from chat.turns.start import STATUS, Accepted, accept
from recall.db.connections import run_in_thread
from recall.openapi.fields import Number
from recall.openapi.problems import ProblemError

router = Router(tags=["turns"])
router.add_router("", comparison.router)
router.add_router("/answers", provenance.router)

STILL_THERE_SECONDS: Final = 15.0
"""A comment at least so often: proxies close what is silent for a minute, and whoever went away is noticed."""
STREAM: Final = "text/event-stream"
PASSED_ON: Final = frozenset({"delta", "status"})
"""Frames of the socket that are events here as they are (docs/protocol.md); the others name pieces of a page."""
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
        "data": {"type": "string", "description": "JSON, as docs/api.md and docs/protocol.md tell it"},
    },
    "required": ["event", "data"],
}
STREAMED: Final = {
    "responses": {
        200: {
            "description": "Server-sent events: accepted, then delta and status, then done; error before it, if "
            "something failed",
            "content": {STREAM: {"schema": EVENT, "example": EXAMPLE}},
        }
    }
}
TO_WRITE: Final = require_scope("chat:write", Replay.NONE)

View = Literal["memory", "rag", "search"]
ClientId = Annotated[UUID, Field(description="Given once a message: the same one again changes nothing")]
Debug = Annotated[
    list[View], Query(max_length=9, description="Debug lines to send along: for staff, or where they are opened to all")
]
DebugHeader = Annotated[str, Header(description="The same, separated by commas")]


class NewTurn(Schema):
    """What the person says; and for a new conversation, what it begins with."""

    text: str = Field(description="May be empty where something is attached")
    conversation: UUID | None = Field(None, description="null: a new one")
    attachments: list[Number] = Field([], max_length=MOST_A_MESSAGE, description="Drafts that go with it, in order")
    role: Number | None = Field(None, description="This one and the next four with a new conversation only")
    project: Number | None = None
    model: str | None = Field(None, max_length=80)
    effort: Literal["", "low", "medium", "high"] | None = None
    only_project: bool | None = None
    client_id: ClientId = Field(default_factory=uuid4)


class Again(Schema):
    """One more answer."""

    client_id: ClientId = Field(default_factory=uuid4)


class Edited(Again):
    """Other words for an earlier message."""

    text: str


class Omission(Again):
    """What the answer shall do without."""

    refs: list[Annotated[str, Field(max_length=100)]] = Field(
        min_length=1, max_length=20, description="As the receipt names them: fact:12, message:55"
    )


@router.post(
    "", auth=TO_WRITE, summary="Send a message and read the answer as it is written", operation_id="send_turn",
    openapi_extra=STREAMED,
)  # fmt: skip
async def send_turn(
    request: HttpRequest,
    given: NewTurn,
    debug: Debug = [],  # noqa: B006 - never changed
    x_recall_debug: DebugHeader = "",
) -> StreamingHttpResponse:
    """Events: accepted, then delta and status, then done; error before it, if something failed.

    `debug` (repeated) or the header `X-Recall-Debug` (comma-separated) asks for debug lines: memory, rag, search.
    """
    views = _views(person(request), debug, x_recall_debug)
    return await _streamed(request, _frame(Send, "send", **given.model_dump()), views)


@router.post(
    "/{int:message}/retry", auth=TO_WRITE, summary="Have a question answered again", operation_id="retry_turn",
    openapi_extra=STREAMED,
)  # fmt: skip
async def retry_turn(request: HttpRequest, message: int, given: Again | None = None) -> StreamingHttpResponse:
    """`message`: the answer. The new one stands on a branch of its own, which is followed; the earlier one is kept."""
    return await _streamed(request, _frame(Retry, "retry", message=message, **_again(given)))


@router.post(
    "/{int:message}/continue", auth=TO_WRITE, summary="Have an answer go on", operation_id="continue_turn",
    openapi_extra=STREAMED,
)  # fmt: skip
async def continue_turn(request: HttpRequest, message: int, given: Again | None = None) -> StreamingHttpResponse:
    """`message`: the last answer, where it was interrupted or had become too long."""
    return await _streamed(request, _frame(Continue, "continue", message=message, **_again(given)))


@router.post(
    "/{int:message}/edit", auth=TO_WRITE, summary="Ask in other words", operation_id="edit_turn",
    openapi_extra=STREAMED,
)  # fmt: skip
async def edit_turn(request: HttpRequest, message: int, given: Edited) -> StreamingHttpResponse:
    """`message`: one of your own. What was asked then, and all that followed, is kept on its branch."""
    return await _streamed(request, _frame(Edit, "edit", message=message, **given.model_dump()))


@router.post(
    "/{int:message}/without", auth=TO_WRITE, summary="Have a question answered without some of the memories",
    operation_id="turn_without", openapi_extra=STREAMED,
)  # fmt: skip
async def turn_without(request: HttpRequest, message: int, given: Omission) -> StreamingHttpResponse:
    """Events as of a turn. `message`: the answer that had them; the new one stands beside it until `keep`.

    `comparison` tells both, side by side.
    """
    return await _streamed(request, _frame(Without, "without", message=message, **given.model_dump()))


class Kept(Schema):
    """Where the conversation goes on from."""

    conversation: UUID
    message: int


@router.post(
    "/{int:message}/keep", response=Kept, auth=require_scope("chat:write", Replay.NO_TEXT),
    summary="Go on from this answer instead of the other one", operation_id="keep_answer",
)  # fmt: skip
def keep(request: HttpRequest, message: int) -> Kept:
    """Only while the conversation has not gone on from the other answer to the same question."""
    try:
        conversation = intake.choose_answer(person(request), message)
    except TurnRejectedError as refused:
        raise _refusal(refused) from refused
    return Kept(conversation=conversation.pk, message=message)


class KeptText(Schema):
    """Where a message stands as a document."""

    path: str
    title: str


@router.post(
    "/{int:message}/keep-as-document", response=KeptText, auth=require_scope("chat:write"),
    summary="Keep a message that was too long as a document", operation_id="keep_as_document",
)  # fmt: skip
def keep_text(request: HttpRequest, message: int) -> Any:
    """`message`: the answer that says so. 409 where the message was not too long."""
    mine = models.Message.objects.not_deleted().for_user(person(request)).select_related("parent", "user")
    answer = mine.filter(pk=message).first()
    if answer is None:
        raise Http404
    document = keep_as_document(answer)
    if document is None:
        raise ProblemError(HTTPStatus.CONFLICT, "This message was not too long, so that nothing was kept.")
    return {"path": document.path, "title": document.title}


@router.get(
    "/{int:message}",
    response=Message,
    auth=require_scope("chat:read"),
    summary="Get a message",
    operation_id="get_message",
)
def get_message(request: HttpRequest, message: int) -> Any:
    """A question or an answer as it stands now; one that is being written has its first part at most."""
    found = as_told(models.Message.objects.not_deleted().for_user(person(request))).filter(pk=message).first()
    if found is None:
        raise Http404
    return found


# The stream ------------------------------------------------------------------------------------------------------


def _again(given: Again | None) -> dict[str, Any]:
    return {"client_id": given.client_id if given else uuid4()}


def _frame[F: Accepted](frame: type[F], name: str, **fields: Any) -> F:
    """The frame that the socket would have sent.

    Raises:
        Refusal: 422, its fields do not go together.
    """
    try:
        return frame(v=VERSION, type=name, **fields)
    except ValidationError as wrong:
        together = f"{', '.join(OPTION_FIELDS)} go with a new conversation only."
        detail = together if frame is Send else str(wrong.errors()[0]["msg"])
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail) from wrong


def _refusal(refused: TurnRejectedError) -> ProblemError:
    return ProblemError(STATUS.get(refused.code, HTTPStatus.BAD_REQUEST), refused.sentence)


async def _streamed(request: HttpRequest, frame: Accepted, views: list[str] | None = None) -> StreamingHttpResponse:
    try:
        accepted = await accept(person(request).pk, frame)
    except TurnRejectedError as refused:
        raise _refusal(refused) from refused
    response = StreamingHttpResponse(_events(accepted, views or []), content_type=STREAM)
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"  # else nginx holds the events back
    return response


def _views(user: User, named: list[View], header: str) -> list[str]:
    """The debug lines that were asked for.

    Raises:
        Refusal: 403 where they are not for this person, 422 where there is no such one.
    """
    environment = settings.ENVIRONMENT
    opened = {"memory": environment.memory_debug, "rag": environment.rag_debug, "search": environment.search_debug}
    asked = [*named, *(word.strip().lower() for word in header.split(",") if word.strip())]
    for name in asked:
        if name not in opened:
            raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, f"There is no debug output “{name[:40]}”.")
        if not (opened[name] or user.is_staff):
            raise ProblemError(
                HTTPStatus.FORBIDDEN, f"{name.upper()}_DEBUG is for staff; an operator may open it to all."
            )
    return [f"{name.upper()}_DEBUG" for name in asked]


async def _events(accepted: Frame, views: list[str]) -> AsyncIterator[str]:
    """The turn as it goes on; whoever closes the stream only stops listening."""
    conversation, answer = UUID(accepted["conversation"]), int(accepted["message"])
    named = ("conversation", "message", "client_id", "created", "duplicate")
    yield _event("accepted", {name: accepted[name] for name in named})
    running = TURN_REGISTRY.by_conversation.get(conversation)
    if running is not None and running.message_id == answer:
        async for event in _as_it_is_written(running):
            yield event
    for event in await run_in_thread(_ending, answer, views):
        yield event


async def _as_it_is_written(running: RunningTurn) -> AsyncIterator[str]:
    """What was written so far, and what follows, until the answer is kept."""
    heard: asyncio.Queue[Frame] = asyncio.Queue()
    hear = heard.put_nowait
    so_far = running.snapshot()["text"]
    TURN_REGISTRY.subscribe(running.conversation_id, hear)
    try:
        if so_far:
            yield _event("delta", {"type": "delta", "message": running.message_id, "offset": 0, "text": so_far})
        while not heard.empty() or TURN_REGISTRY.writes(running.message_id):
            frame = await _next(heard)
            if frame is None:
                yield ": still there\n\n"
            elif frame.get("message") == running.message_id and frame["type"] in PASSED_ON:
                yield _event(frame["type"], frame)
            elif frame.get("message") == running.message_id and frame["type"] == "done":
                return
    finally:
        TURN_REGISTRY.unsubscribe(running.conversation_id, hear)


async def _next(heard: asyncio.Queue[Frame]) -> Frame | None:
    """The next frame; None: nothing was said for a while."""
    try:
        async with asyncio.timeout(STILL_THERE_SECONDS):
            return await heard.get()
    except TimeoutError:
        return None


def _ending(message_id: int, views: list[str]) -> list[str]:
    """How it ended, as the rows say: debug lines, what failed, and the whole answer."""
    answer = models.Message.objects.get(pk=message_id)
    receipt = Receipt.objects.filter(message=answer).select_related("message").first()
    debugged = build_views(receipt, views) if receipt else {}
    events = [line(name, debugged[name]) for name in views if name in debugged]
    error = answer.event_data.get("error")
    if error:
        events.append(_event("error", error))
    done = {"message": answer.pk, "turn": answer.turn, "outcome": answer.status, "text": answer.text}
    return [*events, _event("done", {**done, "usage": _usage(receipt) if receipt else None})]


def _usage(receipt: Receipt) -> dict[str, Any]:
    return {
        "model": receipt.model,
        "input": receipt.input_tokens,
        "cache_read": receipt.cache_read_tokens,
        "cache_write": receipt.cache_write_tokens,
        "output": receipt.output_tokens,
        "estimated": receipt.usage_is_estimated,
        "cost": None if receipt.cost is None else str(receipt.cost),
    }


def _event(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
