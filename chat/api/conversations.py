"""Conversation operations: list, read, change, delete and restore them; their messages and background state."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal, Self
from uuid import UUID

from django.db import transaction
from django.db.models import Prefetch
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.http import content_disposition_header
from ninja import Query, Router, Schema, Status
from pydantic import Field, model_validator

from accounts.api.auth import Replay, person, require_scope
from chat import models
from chat.api.attachments import Attachment
from chat.archive.stream import stream_from_thread
from chat.compaction import jobs
from chat.conversations import archiving, markdown_export, options, trash
from chat.conversations.model_choice import ModelNotOfferedError, models_for
from chat.conversations.titles import given_title
from chat.ingest import librarian_triggers
from chat.messages.branch_path import walk
from chat.messages.branches import IS_BRANCH
from chat.messages.rendering import librarian_line
from chat.messages.thinking import thinking_of
from chat.pages.compacted_turns import compaction_status
from chat.pages.conversation import get_own_conversation
from chat.projects.project_scope import project_of
from chat.protocol import OPTION_FIELDS, ConversationOptions
from chat.turn import TurnRejectedError
from chat.turns import intake
from chat.turns.remote import publish_stop
from chat.turns.start import STATUS
from memory.librarian import run as librarian
from memory.models import LibrarianRun
from recall.db.notify import publish_event
from recall.openapi.fields import Moment, Number
from recall.openapi.pagination import Page, Paging, paginate
from recall.openapi.problems import ProblemError

router = Router(tags=["conversations"])

LATEST: Final = ("-last_activity_at", "-pk")
IN_ORDER: Final = ("seq",)
BY_TURN: Final = ("first_turn", "pk")
TITLE_CHARS: Final = 200
MAX_CONVERSATIONS: Final = 200
"""Conversations per request."""
MARKDOWN: Final = "text/markdown"
STOP_FIRST: Final = "Recall is still answering in this conversation. Stop it first, then delete."
HAS_MARKDOWN: Final = {
    "responses": {
        200: {
            "description": "The active branch as a file",
            "content": {MARKDOWN: {"schema": {"type": "string"}, "example": "# The cello\n\nWhich strings?\n"}},
        }
    }
}


Exactly = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
"""A time that clients send back: in microseconds, where other JSON has milliseconds."""


class Conversation(Schema):
    """A conversation, without its messages."""

    id: UUID
    title: str
    status: str = Field(description="active, paused or ended")
    role_id: int | None
    scope: str = Field(description="Its project's folder; empty if it has none")
    only_project: bool = Field(description="Only uses memories of its project")
    model: str = Field(description="Empty for the default")
    effort: str = Field(description="low, medium or high; empty for the model's default")
    pinned_at: datetime | None
    archived_at: datetime | None
    started_at: datetime
    last_activity_at: datetime
    ended_at: datetime | None
    origin: str = Field(description="Where it was imported from, such as chatgpt; empty if it wasn't")


class Conversations(Paging):
    """Filters of a list of conversations."""

    pinned: bool | None = None
    archived: bool | None = Field(None, description="Omit for both")
    status: list[Literal["active", "paused", "ended"]] = Field([], max_length=3)
    project: Number | None = None
    role: Number | None = None
    q: str = Field("", max_length=200, description="Part of the title")
    since: Moment | None = Field(None, description="Last active at this moment or later")
    until: Moment | None = None


@router.get("", response=Page[Conversation], auth=require_scope("chat:read"), summary="List conversations")
def list_conversations(request: HttpRequest, query: Query[Conversations]) -> Any:
    """Latest first, without deleted ones."""
    rows = models.Conversation.objects.not_deleted().for_user(person(request))
    chosen = {
        "pinned_at__isnull": None if query.pinned is None else not query.pinned,
        "archived_at__isnull": None if query.archived is None else not query.archived,
        "status__in": query.status or None,
        "scope": _project_path(request, query.project) if query.project else None,
        "role": query.role,
        "title__icontains": query.q or None,
        "last_activity_at__gte": query.since,
        "last_activity_at__lt": query.until,
    }
    rows = rows.filter(**{name: value for name, value in chosen.items() if value is not None})
    return paginate(request, rows, LATEST, query)


def _project_path(request: HttpRequest, project: int) -> str:
    found: models.Project = get_object_or_404(models.Project.objects.for_user(person(request)), pk=project)
    return found.path


class ModelChoice(Schema):
    """A model that can be chosen."""

    name: str
    label: str
    price: str = Field(description="Per million tokens; empty if unknown")
    has_effort: bool
    is_default: bool


@router.get("/models", response=list[ModelChoice], auth=require_scope("chat:read"), summary="List models")
def list_models(request: HttpRequest) -> Any:
    """The models to choose from, default first."""
    return models_for(person(request))


# Several ---------------------------------------------------------------------------------------------------------


class SeveralConversations(Schema):
    """The conversations' ids."""

    conversations: list[UUID] = Field(min_length=1, max_length=MAX_CONVERSATIONS)


class DeletedConversations(Schema):
    """A deletion; `deleted_at` undoes it."""

    conversations: int
    deleted_at: Exactly
    until: datetime = Field(description="Can be undone until then; permanent afterwards")


class Restoring(Schema):
    """The deletion to undo."""

    deleted_at: Moment


class Restored(Schema):
    """The restored conversations."""

    conversations: list[UUID]


@router.post(
    "/delete", response=DeletedConversations, auth=require_scope("chat:write", Replay.NO_TEXT),
    summary="Delete conversations",
)  # fmt: skip
def delete_conversations(request: HttpRequest, payload: SeveralConversations) -> Any:
    """Can be undone for 30 minutes. What Recall learned there stays; use forget to remove it."""
    return _delete(request, payload.conversations)


@router.post("/restore", response=Restored, auth=require_scope("chat:write", Replay.NO_TEXT), summary="Undo a deletion")
def restore_conversations(request: HttpRequest, payload: Restoring) -> Any:
    """Within 30 minutes, everything is restored."""
    found = trash.undo(person(request), payload.deleted_at)
    if not found:
        raise Http404
    return {"conversations": found}


class Archiving(SeveralConversations):
    """Conversations to archive or unarchive."""

    archived: bool


class Archived(Schema):
    """The number of conversations changed."""

    changed: int


@router.post(
    "/archive", response=Archived, auth=require_scope("chat:write", Replay.NO_TEXT),
    summary="Archive or unarchive conversations",
)  # fmt: skip
def archive_conversations(request: HttpRequest, payload: Archiving) -> Any:
    """Move conversations into the archive, or out of it. Search and memory are unaffected."""
    user = person(request)
    if payload.archived:
        _, changed = archiving.archive(user, payload.conversations)
    else:
        changed = archiving.unarchive(user, payload.conversations)
    return {"changed": changed}


# One -------------------------------------------------------------------------------------------------------------


@router.get(
    "/{uuid:conversation}", response=Conversation, auth=require_scope("chat:read"), summary="Get a conversation"
)
def get_conversation(request: HttpRequest, conversation: UUID) -> Any:
    """Without its messages; list those separately."""
    return get_own_conversation(person(request), conversation)


class Change(Schema):
    """The fields to change; omitted fields stay."""

    title: str | None = Field(None, min_length=1, max_length=TITLE_CHARS, pattern=r"\S")
    pinned: bool | None = None
    archived: bool | None = None
    role: Number | None = Field(None, description="null for none")
    project: Number | None = Field(None, description="null for none")
    model: str | None = Field(None, max_length=80, description="Empty for the default")
    effort: Literal["", "low", "medium", "high"] | None = None
    only_project: bool | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("Name at least one field to change.")
        return self


@router.patch(
    "/{uuid:conversation}", response=Conversation, auth=require_scope("chat:write"), summary="Change a conversation"
)
def change_conversation(request: HttpRequest, conversation: UUID, payload: Change) -> Any:
    """Title, pin, archive, role, project, model and effort. Takes effect with the next answer."""
    with transaction.atomic():
        found = get_own_conversation(person(request), conversation)
        _set_title_and_place(found, payload)
        _set_options(request, found, payload)
        publish_event(f"user-{found.user_id}", "conversations")
    return get_own_conversation(person(request), conversation)


def _set_title_and_place(found: models.Conversation, payload: Change) -> None:
    now = timezone.now()
    if payload.title is not None:
        found.title, found.title_is_own = given_title(payload.title)[:TITLE_CHARS], True
    if payload.pinned is not None:
        found.pinned_at = (found.pinned_at or now) if payload.pinned else None
    if payload.archived is not None:
        found.archived_at = (found.archived_at or now) if payload.archived else None
    found.save(update_fields=["title", "title_is_own", "pinned_at", "archived_at"])


def _set_options(request: HttpRequest, found: models.Conversation, payload: Change) -> None:
    """Set those of role, project, model and effort that are given."""
    named = payload.model_fields_set & set(OPTION_FIELDS)
    if not named:
        return
    project = project_of(found)
    now = {
        "role": found.role_id,
        "project": project.pk if project else None,
        "model": found.model,
        "effort": found.effort,
        "only_project": found.only_project,
    }
    try:
        fields = options.initial_fields(
            person(request), ConversationOptions(**now | {name: getattr(payload, name) for name in named})
        )
    except options.OptionNotFoundError:
        raise Http404 from None
    except ModelNotOfferedError as refused:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(refused)) from refused
    options.update_options(found, fields)


@router.delete(
    "/{uuid:conversation}", response=DeletedConversations, auth=require_scope("chat:write", Replay.NO_TEXT),
    summary="Delete a conversation",
)  # fmt: skip
def delete_conversation(request: HttpRequest, conversation: UUID) -> Any:
    """Can be undone for 30 minutes. What Recall learned there stays; use forget to remove it."""
    get_own_conversation(person(request), conversation)
    return _delete(request, [conversation])


def _delete(request: HttpRequest, chosen: list[UUID]) -> dict[str, Any]:
    try:
        moment, count = trash.delete(person(request), chosen)
    except trash.AnswerStreamingError:
        raise ProblemError(HTTPStatus.CONFLICT, STOP_FIRST) from None
    if not count:
        raise Http404
    return {"conversations": count, "deleted_at": moment.isoformat(), "until": moment + trash.UNDO_FOR}


@router.get(
    "/{uuid:conversation}/markdown", auth=require_scope("chat:read"), summary="Export a conversation",
    openapi_extra=HAS_MARKDOWN,
)  # fmt: skip
def export_conversation(request: HttpRequest, conversation: UUID) -> HttpResponse | StreamingHttpResponse:
    """The active branch as one Markdown file."""
    found = get_own_conversation(person(request), conversation)
    response = StreamingHttpResponse(
        stream_from_thread(markdown_export.pages, found), content_type=f"{MARKDOWN}; charset=utf-8"
    )
    name = markdown_export.file_name(found)
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    return response


# Messages --------------------------------------------------------------------------------------------------------


class Message(Schema):
    """A question or an answer."""

    id: int
    conversation_id: UUID
    parent_id: int | None = Field(
        description="The message it follows; messages with one parent are on separate branches"
    )
    seq: int = Field(description="Order of arrival")
    turn: int = Field(description="Number of the turn on its branch")
    role: str = Field(description="user or assistant")
    author: str = Field(description="The author, if neither you nor the model")
    text: str
    status: str = Field(description="streaming, complete, interrupted or failed")
    tokens: int
    created_at: datetime
    archived_at: datetime | None = Field(description="Replaced by a summary in prompts since then")
    error: str = Field(description="Why the answer failed, as a sentence")
    thinking: str = Field(description="What the model thought before it answered, as the provider summarizes it")
    attachments: list[Attachment]

    @staticmethod
    def resolve_error(message: models.Message) -> str:
        """From the message's event data."""
        error = message.event_data.get("error") or {}
        return str(error.get("sentence", "")) if isinstance(error, dict) else ""

    @staticmethod
    def resolve_thinking(message: models.Message) -> str:
        """From the message's event data."""
        return thinking_of(message.event_data)

    @staticmethod
    def resolve_attachments(message: models.Message) -> list[models.Attachment]:
        """In the order they were sent."""
        return list(message.attachments.all())


class Messages(Paging):
    """Filters of a list of messages."""

    branch: Literal["followed", "all"] = Field("followed", description="The active branch, or all")


@router.get(
    "/{uuid:conversation}/messages", response=Page[Message], auth=require_scope("chat:read"), summary="List messages"
)
def list_messages(request: HttpRequest, conversation: UUID, query: Query[Messages]) -> Any:
    """Questions and answers in order of arrival, on the active branch or on all."""
    found = get_own_conversation(person(request), conversation)
    rows = api_messages(models.Message.objects.filter(conversation=found, user=person(request)))
    if query.branch == "followed":
        rows = rows.filter(pk__in=markdown_export.branch(found))
    return paginate(request, rows, IN_ORDER, query)


def api_messages(rows: Any) -> Any:
    """Messages that the API shows: no tool calls, no trial answers, no large columns."""
    return with_attachments(rows.filter(IS_BRANCH))


def with_attachments(rows: Any) -> Any:
    """Messages with their attachments, without large columns."""
    attachments = models.Attachment.objects.defer("content", "text")
    return rows.defer("search").prefetch_related(Prefetch("attachments", queryset=attachments))


class FoldedTurns(Schema):
    """Older turns that prompts replace with a summary. Their messages are still listed."""

    id: int
    first_turn: int
    last_turn: int
    text: str = Field(description="The summary")
    topics: list[str]
    tokens: int
    created_at: datetime


@router.get(
    "/{uuid:conversation}/folded", response=Page[FoldedTurns], auth=require_scope("chat:read"),
    summary="List summaries of older turns",
)  # fmt: skip
def list_folded(request: HttpRequest, conversation: UUID, query: Query[Paging]) -> Any:
    """The summaries on the active branch, in order."""
    found = get_own_conversation(person(request), conversation)
    shown = [piece.segment for piece in walk(found, found.active_leaf_id) if piece.segment is not None]
    segments = models.Segment.objects.for_user(person(request)).filter(pk__in=shown)
    return paginate(request, segments, BY_TURN, query)


# State -----------------------------------------------------------------------------------------------------------


class State(Schema):
    """Background work on a conversation: the librarian, compaction and the current answer."""

    is_answering: bool
    is_reading: bool = Field(description="The librarian is reading it, or will soon")
    has_read: bool
    unread: bool = Field(description="There are unread messages")
    learned: int = Field(description="Facts learned")
    waiting: int = Field(description="Proposals to review")
    reading_error: str
    is_folding: bool
    can_fold: bool = Field(description="There are turns to compact")
    folding_error: str
    folding_warning: str = Field(description="Which turns will be compacted soon")


@router.get(
    "/{uuid:conversation}/state", response=State, auth=require_scope("chat:read"),
    summary="Get the state of a conversation", operation_id="get_conversation_state",
)  # fmt: skip
def get_state(request: HttpRequest, conversation: UUID) -> Any:
    """Progress of the librarian, of compaction and of the answer."""
    return _build_state(get_own_conversation(person(request), conversation))


@router.post(
    "/{uuid:conversation}/end", response=State, auth=require_scope("chat:write", Replay.NO_TEXT),
    summary="End a conversation",
)  # fmt: skip
def end_conversation(request: HttpRequest, conversation: UUID) -> Any:
    """The librarian reads it now. A new message reopens it."""
    found = get_own_conversation(person(request), conversation)
    librarian_triggers.end(found)
    return _build_state(get_own_conversation(person(request), conversation))


@router.post(
    "/{uuid:conversation}/compact", response={202: State}, auth=require_scope("chat:write", Replay.NO_TEXT),
    summary="Compact a conversation",
)  # fmt: skip
def compact_conversation(request: HttpRequest, conversation: UUID) -> Any:
    """Summarize its older turns now. Their messages stay searchable. 409 if there is nothing to compact."""
    found = get_own_conversation(person(request), conversation)
    now = compaction_status(found)
    if not now.can_compact and not now.is_working:
        raise ProblemError(HTTPStatus.CONFLICT, "There is nothing to compact yet.")
    with transaction.atomic():
        jobs.request_compaction(found, "asked")
    return Status(HTTPStatus.ACCEPTED, _build_state(found))


@router.post(
    "/{uuid:conversation}/read-again", response={202: State}, auth=require_scope("chat:write", Replay.NO_TEXT),
    summary="Retry the librarian", operation_id="read_conversation_again",
)  # fmt: skip
def read_again(request: HttpRequest, conversation: UUID) -> Any:
    """Retry failed runs of the librarian."""
    found = get_own_conversation(person(request), conversation)
    failed = LibrarianRun.objects.for_user(person(request)).filter(conversation=found, state=LibrarianRun.State.FAILED)
    for run in failed:
        librarian.RUNS.retry_failed(run)
    return Status(HTTPStatus.ACCEPTED, _build_state(found))


@router.post(
    "/{uuid:conversation}/stop", response={202: State}, auth=require_scope("chat:write", Replay.NO_TEXT),
    summary="Stop the answer",
)  # fmt: skip
def stop_answer(request: HttpRequest, conversation: UUID) -> Any:
    """Works from any process. The text so far is saved."""
    found = get_own_conversation(person(request), conversation)
    publish_stop(found.pk)
    return Status(HTTPStatus.ACCEPTED, _build_state(found))


class Following(Schema):
    """The branch to follow."""

    message: Number = Field(description="Any message on it; the newest branch with this message is followed")


@router.post(
    "/{uuid:conversation}/follow", response=Conversation, auth=require_scope("chat:write"), summary="Follow a branch"
)
def follow_branch(request: HttpRequest, conversation: UUID, payload: Following) -> Any:
    """The conversation continues from the end of this branch."""
    found = get_own_conversation(person(request), conversation)
    if not models.Message.objects.filter(conversation=found, pk=payload.message).exists():
        raise Http404
    try:
        intake.follow_branch(person(request), payload.message)
    except TurnRejectedError as refused:
        raise ProblemError(STATUS.get(refused.code, 400), refused.sentence) from refused
    return get_own_conversation(person(request), conversation)


def _build_state(found: models.Conversation) -> dict[str, Any]:
    reading, compaction = librarian_line(found), compaction_status(found)
    named = ("is_reading", "has_read", "unread", "learned", "waiting")
    return {
        **{name: getattr(reading, name) for name in named},
        "reading_error": reading.error,
        "is_answering": models.Message.objects.streaming().filter(conversation=found).exists(),
        "is_folding": compaction.is_working,
        "can_fold": compaction.can_compact,
        "folding_error": compaction.error,
        "folding_warning": compaction.warning,
    }
