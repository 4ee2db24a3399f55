"""Conversations: listed, read, changed, deleted and brought back; their messages, and what goes on in them."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal, Self
from uuid import UUID

from django.db import transaction
from django.db.models import Prefetch
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.utils.http import content_disposition_header
from ninja import Query, Router, Schema, Status
from pydantic import Field, model_validator

from accounts.api.auth import Replay, person, require_scope
from chat import models
from chat.api.attachments import Attachment
from chat.archive.stream import streamed
from chat.compaction import jobs
from chat.conversations import archiving, markdown_export, options, trash
from chat.conversations.model_choice import ModelNotOfferedError, models_for
from chat.ingest import librarian_triggers
from chat.messages.branch_path import walk
from chat.messages.branches import IS_BRANCH
from chat.messages.rendering import librarian_line
from chat.pages.compacted_turns import compaction_status
from chat.projects.project_scope import project_of
from chat.protocol import OPTION_FIELDS, ConversationOptions
from chat.turn import TurnRejectedError
from chat.turns import intake
from chat.turns.start import STATUS
from chat.turns.stop import publish_stop
from memory.librarian import run as librarian
from memory.models import LibrarianRun
from recall.db.notify import publish_event
from recall.openapi.fields import Moment, Number
from recall.openapi.pagination import Page, Paging, paginate
from recall.openapi.problems import ProblemError

router = Router(tags=["conversations"])

LATEST: Final = ("-last_activity_at", "-pk")
IN_ORDER: Final = ("seq",)
FROM_THE_FIRST: Final = ("first_turn", "pk")
TITLE_CHARS: Final = 200
MOST: Final = 200
"""Conversations of one request."""
MARKDOWN: Final = "text/markdown"
STOP_FIRST: Final = "An answer is still being written here. Stop it first, then delete."
HAS_MARKDOWN: Final = {
    "responses": {
        200: {
            "description": "The branch that is followed, as a file",
            "content": {MARKDOWN: {"schema": {"type": "string"}, "example": "# The cello\n\nWhich strings?\n"}},
        }
    }
}


Exactly = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
"""A moment to be sent back: to the microsecond, where JSON elsewhere tells milliseconds."""


class Conversation(Schema):
    """One thread of talk."""

    id: UUID
    title: str
    status: str = Field(description="active, paused or ended")
    role_id: int | None
    scope: str = Field(description="Its project's folder; empty: none")
    only_project: bool = Field(description="Recalls nothing from outside its project")
    model: str = Field(description="Empty: the installation's")
    effort: str = Field(description="low, medium or high; empty: the model's default")
    pinned_at: datetime | None
    archived_at: datetime | None
    started_at: datetime
    last_activity_at: datetime
    ended_at: datetime | None
    origin: str = Field(description="Where it was held, such as chatgpt; empty: here")


class Conversations(Paging):
    """Which conversations."""

    pinned: bool | None = None
    archived: bool | None = Field(None, description="Empty: both")
    status: list[Literal["active", "paused", "ended"]] = Field([], max_length=3)
    project: Number | None = None
    role: Number | None = None
    q: str = Field("", max_length=200, description="Words of the title")
    since: Moment | None = Field(None, description="Something was said there at this moment or later")
    until: Moment | None = None


@router.get(
    "", response=Page[Conversation], auth=require_scope("chat:read"), summary="List conversations",
    operation_id="list_conversations",
)  # fmt: skip
def list_conversations(request: HttpRequest, given: Query[Conversations]) -> Any:
    """The latest first. Deleted ones are not among them."""
    mine = models.Conversation.objects.not_deleted().for_user(person(request))
    chosen = {
        "pinned_at__isnull": None if given.pinned is None else not given.pinned,
        "archived_at__isnull": None if given.archived is None else not given.archived,
        "status__in": given.status or None,
        "scope": _scope(request, given.project) if given.project else None,
        "role": given.role,
        "title__icontains": given.q or None,
        "last_activity_at__gte": given.since,
        "last_activity_at__lt": given.until,
    }
    wanted = mine.filter(**{name: value for name, value in chosen.items() if value is not None})
    return paginate(request, wanted, LATEST, given)


def _scope(request: HttpRequest, project: int) -> str:
    found = models.Project.objects.for_user(person(request)).filter(pk=project).first()
    if found is None:
        raise Http404
    return found.path


class ModelChoice(Schema):
    """A model to choose."""

    name: str
    label: str
    price: str = Field(description="Per million tokens; empty: not known")
    has_effort: bool
    is_default: bool


@router.get(
    "/models",
    response=list[ModelChoice],
    auth=require_scope("chat:read"),
    summary="List models",
    operation_id="list_models",
)
def list_models(request: HttpRequest) -> Any:
    """What a conversation may be answered by, the installation's first."""
    return models_for(person(request))


# Several ---------------------------------------------------------------------------------------------------------


class SeveralConversations(Schema):
    """Which conversations."""

    conversations: list[UUID] = Field(min_length=1, max_length=MOST)


class DeletedConversations(Schema):
    """What was deleted: `deleted_at` brings it back."""

    conversations: int
    deleted_at: Exactly
    until: datetime = Field(description="Until then it can be brought back; afterwards it is removed for good")


class Restoring(Schema):
    """What to bring back: all that was deleted at that moment."""

    deleted_at: Moment


class Restored(Schema):
    """Which conversations are back."""

    conversations: list[UUID]


@router.post(
    "/delete", response=DeletedConversations, auth=require_scope("chat:write", Replay.NO_TEXT),
    summary="Delete conversations", operation_id="delete_conversations",
)  # fmt: skip
def delete_conversations(request: HttpRequest, given: SeveralConversations) -> Any:
    """Out of sight at once, for good half an hour later. What was learned there stays: see forgetting."""
    return _deleted(request, given.conversations)


@router.post(
    "/restore", response=Restored, auth=require_scope("chat:write", Replay.NO_TEXT), summary="Undo a deletion",
    operation_id="restore_conversations",
)  # fmt: skip
def restore_conversations(request: HttpRequest, given: Restoring) -> Any:
    """Within half an hour: everything is as it was."""
    found = trash.undo(person(request), given.deleted_at)
    if not found:
        raise Http404
    return {"conversations": found}


class Archiving(SeveralConversations):
    """Into the archive, or out of it."""

    archived: bool


class Archived(Schema):
    """How many changed their place."""

    changed: int


@router.post(
    "/archive", response=Archived, auth=require_scope("chat:write", Replay.NO_TEXT), summary="Archive conversations",
    operation_id="archive_conversations",
)  # fmt: skip
def archive_conversations(request: HttpRequest, given: Archiving) -> Any:
    """Out of the list, or back into it. They are found and recalled as before."""
    user = person(request)
    if given.archived:
        _, changed = archiving.archive(user, given.conversations)
    else:
        changed = archiving.unarchive(user, given.conversations)
    return {"changed": changed}


# One -------------------------------------------------------------------------------------------------------------


@router.get(
    "/{uuid:conversation}", response=Conversation, auth=require_scope("chat:read"), summary="Get a conversation",
    operation_id="get_conversation",
)  # fmt: skip
def get_conversation(request: HttpRequest, conversation: UUID) -> Any:
    """Without its messages."""
    return get_own_conversation(request, conversation)


class Change(Schema):
    """What to change; what is not named stays."""

    title: str | None = Field(None, min_length=1, max_length=TITLE_CHARS, pattern=r"\S")
    pinned: bool | None = None
    archived: bool | None = None
    role: Number | None = Field(None, description="null: none")
    project: Number | None = Field(None, description="null: none")
    model: str | None = Field(None, max_length=80, description="Empty: the installation's")
    effort: Literal["", "low", "medium", "high"] | None = None
    only_project: bool | None = None

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("name at least one thing to change")
        return self


@router.patch(
    "/{uuid:conversation}", response=Conversation, auth=require_scope("chat:write"), summary="Change a conversation",
    operation_id="change_conversation",
)  # fmt: skip
def change_conversation(request: HttpRequest, conversation: UUID, given: Change) -> Any:
    """Title, place in the list, role, project, model, effort. The next answer goes by it."""
    with transaction.atomic():
        found = get_own_conversation(request, conversation)
        _put(found, given)
        _choose(request, found, given)
        publish_event(f"user-{found.user_id}", "conversations")
    return get_own_conversation(request, conversation)


def _put(found: models.Conversation, given: Change) -> None:
    """Give it the title and the place in the list that are named."""
    now = timezone.now()
    if given.title is not None:
        found.title, found.title_is_own = " ".join(given.title.split()), True
    if given.pinned is not None:
        found.pinned_at = (found.pinned_at or now) if given.pinned else None
    if given.archived is not None:
        found.archived_at = (found.archived_at or now) if given.archived else None
    found.save(update_fields=["title", "title_is_own", "pinned_at", "archived_at"])


def _choose(request: HttpRequest, found: models.Conversation, given: Change) -> None:
    """Give it the role, project, model and effort that are named; the others stay."""
    named = given.model_fields_set & set(OPTION_FIELDS)
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
            person(request), ConversationOptions(**now | {name: getattr(given, name) for name in named})
        )
    except options.OptionNotFoundError:
        raise Http404 from None
    except ModelNotOfferedError as refused:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(refused)) from refused
    options.update_options(found, fields)


@router.delete(
    "/{uuid:conversation}", response=DeletedConversations, auth=require_scope("chat:write", Replay.NO_TEXT),
    summary="Delete a conversation", operation_id="delete_conversation",
)  # fmt: skip
def delete_conversation(request: HttpRequest, conversation: UUID) -> Any:
    """Out of sight at once, for good half an hour later. What was learned there stays: see forgetting."""
    get_own_conversation(request, conversation)
    return _deleted(request, [conversation])


def _deleted(request: HttpRequest, chosen: list[UUID]) -> dict[str, Any]:
    try:
        moment, many = trash.delete(person(request), chosen)
    except trash.AnswerStreamingError:
        raise ProblemError(HTTPStatus.CONFLICT, STOP_FIRST) from None
    if not many:
        raise Http404
    return {"conversations": many, "deleted_at": moment.isoformat(), "until": moment + trash.UNDO_FOR}


@router.get(
    "/{uuid:conversation}/markdown", auth=require_scope("chat:read"), summary="Export a conversation",
    operation_id="export_conversation", openapi_extra=HAS_MARKDOWN,
)  # fmt: skip
def export_conversation(request: HttpRequest, conversation: UUID) -> HttpResponse | StreamingHttpResponse:
    """The branch that is followed, as one Markdown file."""
    found = get_own_conversation(request, conversation)
    response = StreamingHttpResponse(streamed(markdown_export.pages, found), content_type=f"{MARKDOWN}; charset=utf-8")
    name = markdown_export.file_name(found)
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    return response


# Messages --------------------------------------------------------------------------------------------------------


class Message(Schema):
    """A question or an answer."""

    id: int
    conversation_id: UUID
    parent_id: int | None = Field(description="What it follows: two messages with one parent stand on two branches")
    seq: int = Field(description="Order of arrival")
    turn: int = Field(description="Number of the exchange along its branch")
    role: str = Field(description="user or assistant")
    author: str = Field(description="Who speaks, where it is neither you nor the model")
    text: str
    status: str = Field(description="streaming, complete, interrupted or failed")
    tokens: int
    created_at: datetime
    archived_at: datetime | None = Field(description="A summary stands for it in prompts since then")
    error: str = Field(description="What went wrong with an answer, in a sentence")
    attachments: list[Attachment]

    @staticmethod
    def resolve_error(message: models.Message) -> str:
        """Of the row's own notes."""
        error = message.event_data.get("error") or {}
        return str(error.get("sentence", "")) if isinstance(error, dict) else ""

    @staticmethod
    def resolve_attachments(message: models.Message) -> list[models.Attachment]:
        """In order."""
        return list(message.attachments.all())


class Messages(Paging):
    """Which messages."""

    branch: Literal["followed", "all"] = Field("followed", description="The branch that is followed, or all of them")


@router.get(
    "/{uuid:conversation}/messages", response=Page[Message], auth=require_scope("chat:read"), summary="List messages",
    operation_id="list_messages",
)  # fmt: skip
def list_messages(request: HttpRequest, conversation: UUID, given: Query[Messages]) -> Any:
    """Questions and answers in order of arrival, with their branches if asked."""
    found = get_own_conversation(request, conversation)
    said = api_messages(models.Message.objects.filter(conversation=found, user=person(request)))
    if given.branch == "followed":
        said = said.filter(pk__in=markdown_export.branch(found))
    return paginate(request, said, IN_ORDER, given)


def api_messages(rows: Any) -> Any:
    """Messages as the API tells them: no tools' own rows, none that is only tried, no large columns."""
    return with_attachments(rows.filter(IS_BRANCH))


def with_attachments(rows: Any) -> Any:
    """Messages with what is attached to them, without large columns."""
    light = models.Attachment.objects.defer("content", "text")
    return rows.defer("search").prefetch_related(Prefetch("attachments", queryset=light))


class FoldedTurns(Schema):
    """Older turns that the model reads as a summary. The messages themselves stay, and are listed as messages."""

    id: int
    first_turn: int
    last_turn: int
    text: str = Field(description="The summary")
    topics: list[str]
    tokens: int
    created_at: datetime


@router.get(
    "/{uuid:conversation}/folded", response=Page[FoldedTurns], auth=require_scope("chat:read"),
    summary="List folded turns", operation_id="list_folded",
)  # fmt: skip
def list_folded(request: HttpRequest, conversation: UUID, given: Query[Paging]) -> Any:
    """The summaries that stand on the branch that is followed, in order."""
    found = get_own_conversation(request, conversation)
    standing = [piece.segment for piece in walk(found, found.active_leaf_id) if piece.segment is not None]
    segments = models.Segment.objects.for_user(person(request)).filter(pk__in=standing)
    return paginate(request, segments, FROM_THE_FIRST, given)


# What goes on ----------------------------------------------------------------------------------------------------


class State(Schema):
    """What the librarian made of it, whether older turns are folded, and whether an answer is being written."""

    is_answering: bool
    is_reading: bool = Field(description="The librarian reads it, or soon will")
    has_read: bool
    unread: bool = Field(description="Something was said since")
    learned: int = Field(description="Facts that were learned")
    waiting: int = Field(description="Proposals from there that wait for review")
    reading_error: str
    is_folding: bool
    can_fold: bool = Field(description="There are turns that could be compacted now")
    folding_error: str
    folding_warning: str = Field(description="What will be compacted soon")


@router.get(
    "/{uuid:conversation}/state", response=State, auth=require_scope("chat:read"),
    summary="How does a conversation stand?", operation_id="get_conversation_state",
)  # fmt: skip
def get_state(request: HttpRequest, conversation: UUID) -> Any:
    """What goes on in the background."""
    return _state(get_own_conversation(request, conversation))


@router.post(
    "/{uuid:conversation}/end", response=State, auth=require_scope("chat:write", Replay.NO_TEXT),
    summary="End a conversation", operation_id="end_conversation",
)  # fmt: skip
def end_conversation(request: HttpRequest, conversation: UUID) -> Any:
    """The librarian reads it now. A new message opens it again."""
    found = get_own_conversation(request, conversation)
    librarian_triggers.end(found)
    return _state(get_own_conversation(request, conversation))


@router.post(
    "/{uuid:conversation}/compact", response={202: State}, auth=require_scope("chat:write", Replay.NO_TEXT),
    summary="Compact a conversation", operation_id="compact_conversation",
)  # fmt: skip
def compact_conversation(request: HttpRequest, conversation: UUID) -> Any:
    """Have its older turns summarised now. They stay, and stay searchable; 409 where there is nothing to do."""
    found = get_own_conversation(request, conversation)
    now = compaction_status(found)
    if not now.can_fold and not now.is_working:
        raise ProblemError(HTTPStatus.CONFLICT, "There is nothing to compact yet.")
    with transaction.atomic():
        jobs.request_compaction(found, "asked")
    return Status(HTTPStatus.ACCEPTED, _state(found))


@router.post(
    "/{uuid:conversation}/read-again", response={202: State}, auth=require_scope("chat:write", Replay.NO_TEXT),
    summary="Have the librarian try again", operation_id="read_conversation_again",
)  # fmt: skip
def read_again(request: HttpRequest, conversation: UUID) -> Any:
    """What it could not read, once more."""
    found = get_own_conversation(request, conversation)
    failed = LibrarianRun.objects.for_user(person(request)).filter(conversation=found, state=LibrarianRun.State.FAILED)
    for run in failed:
        librarian.RUNS.retry_failed(run)
    return Status(HTTPStatus.ACCEPTED, _state(found))


@router.post(
    "/{uuid:conversation}/stop", response={202: State}, auth=require_scope("chat:write", Replay.NO_TEXT),
    summary="Stop the answer", operation_id="stop_answer",
)  # fmt: skip
def stop_answer(request: HttpRequest, conversation: UUID) -> Any:
    """Whichever process writes it. What was written is kept."""
    found = get_own_conversation(request, conversation)
    publish_stop(found.pk)
    return Status(HTTPStatus.ACCEPTED, _state(found))


class Following(Schema):
    """Which branch."""

    message: Number = Field(description="Any message of it; the newest branch through it is followed")


@router.post(
    "/{uuid:conversation}/follow", response=Conversation, auth=require_scope("chat:write"), summary="Follow a branch",
    operation_id="follow_branch",
)  # fmt: skip
def follow_branch(request: HttpRequest, conversation: UUID, given: Following) -> Any:
    """The conversation goes on from its end."""
    found = get_own_conversation(request, conversation)
    if not models.Message.objects.filter(conversation=found, pk=given.message).exists():
        raise Http404
    try:
        intake.follow_branch(person(request), given.message)
    except TurnRejectedError as refused:
        raise ProblemError(STATUS.get(refused.code, 400), refused.sentence) from refused
    return get_own_conversation(request, conversation)


def get_own_conversation(request: HttpRequest, pk: UUID) -> models.Conversation:
    """The caller's conversation.

    Raises:
        Http404: there is none, or it was deleted.
    """
    mine = models.Conversation.objects.not_deleted().for_user(person(request)).select_related("user", "role")
    found: models.Conversation | None = mine.filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


def _state(found: models.Conversation) -> dict[str, Any]:
    read, folding = librarian_line(found), compaction_status(found)
    named = ("is_reading", "has_read", "unread", "learned", "waiting")
    return {
        **{name: getattr(read, name) for name in named},
        "reading_error": read.error,
        "is_answering": models.Message.objects.streaming().filter(conversation=found).exists(),
        "is_folding": folding.is_working,
        "can_fold": folding.can_fold,
        "folding_error": folding.error,
        "folding_warning": folding.warning,
    }
