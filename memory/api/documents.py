"""Documents: listed, read, written, moved, deleted; their folders, tags and history."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Final

from django.http import Http404, HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from accounts.api.auth import Replay, person, require_scope
from memory import models
from memory.api.permissions import DECIDES, may_write
from memory.documents import revisions, trash, tree
from memory.pages.time_travel import document_then
from memory.text.fact_lines import without_marks
from recall.llm.tokens import count_tokens
from recall.openapi.fields import Moment
from recall.openapi.pagination import Page, Paging, paginate
from recall.openapi.problems import ProblemError

router = Router(tags=["documents"])

BY_PATH: Final = ("path",)
MOST_VERSION: Final = 2_000_000_000
Path = Annotated[str, Field(min_length=2, max_length=500, description="Such as /projects/garden/plan")]
Version = Annotated[int, Field(ge=0, le=MOST_VERSION)]


class Document(Schema):
    """A document without its text."""

    path: str
    title: str
    tags: list[str]
    source: str = Field(description="user, librarian, upload, import, sync, …")
    external_id: str = Field(description="Its name at its source")
    tokens: int
    changed_at: datetime


class DocumentText(Document):
    """A document; `version` is the number of its newest revision, to be sent back with a change."""

    text: str
    version: int


class NewText(Schema):
    """A document's text, and the version it was written over (0: it is new)."""

    path: Path
    text: str = Field(max_length=revisions.MAX_TEXT)
    version: Version = 0
    title: str = Field("", max_length=200, description="Of a new document; empty: the last name of its path")
    tags: list[Annotated[str, Field(max_length=200)]] | None = Field(None, max_length=100)


class Documents(Paging):
    """Which documents."""

    under: str = Field("", max_length=500, description="Only this folder and what is below it")
    tag: str = Field("", max_length=200)


@router.get(
    "/documents", response=Page[Document], auth=require_scope("memory:read"), summary="List documents",
    operation_id="list_documents",
)  # fmt: skip
def list_documents(request: HttpRequest, given: Query[Documents]) -> Any:
    """By path: all, those below a folder, those with a tag."""
    owned = models.Document.objects.for_user(person(request)).defer("text")
    if given.under.strip("/"):
        owned = owned.under(given.under.rstrip("/"))
    if given.tag:
        owned = owned.filter(tags__contains=[tree.normal_tag(given.tag)])
    return paginate(request, owned, BY_PATH, given)


@router.get(
    "/document", response=DocumentText, auth=require_scope("memory:read"), summary="Read a document",
    operation_id="get_document",
)  # fmt: skip
def get_document(request: HttpRequest, path: Path, known_at: Moment | None = None) -> DocumentText:
    """The whole text of the document at `path`; with `known_at` the version that stood at that moment."""
    document = _document(request, path)
    return _whole(document) if known_at is None else _whole_then(document, known_at)


@router.put(
    "/document", response=DocumentText, auth=require_scope("memory:write", also=DECIDES), summary="Write a document",
    operation_id="put_document",
)  # fmt: skip
def put_document(request: HttpRequest, given: NewText) -> DocumentText:
    """As a new version; 409 where somebody wrote another one meanwhile. The profile takes `review` as well."""
    may_write(request, given.path, text=given.text)
    try:
        document = revisions.save(
            person(request), given.path, given.text, started_from=given.version, title=given.title
        )
    except revisions.DocumentChangedError as changed:
        raise ProblemError(HTTPStatus.CONFLICT, str(changed)) from changed
    if given.tags is not None:
        tree.set_tags(document, given.tags)
    return _whole(_document(request, given.path))


class Tags(Schema):
    """The tags of a document, these and no others."""

    path: Path
    tags: list[Annotated[str, Field(max_length=200)]] = Field(max_length=100)


@router.put(
    "/document/tags", response=DocumentText, auth=require_scope("memory:write"), summary="Tag a document",
    operation_id="put_document_tags",
)  # fmt: skip
def put_document_tags(request: HttpRequest, given: Tags) -> DocumentText:
    """In small letters, each once."""
    document = _document(request, given.path)
    tree.set_tags(document, given.tags)
    return _whole(_document(request, given.path))


class Move(Schema):
    """Where something stands, and where it shall stand; what is below it goes along."""

    path: Path
    to: Path


class Moved(Schema):
    """How many documents have another path now."""

    moved: int


@router.post(
    "/documents/move", response=Moved, auth=require_scope("memory:write", Replay.NO_TEXT, also=DECIDES),
    summary="Move or rename documents", operation_id="move_documents",
)  # fmt: skip
def move_documents(request: HttpRequest, given: Move) -> Any:
    """A document or a folder with all below it; all or none. Into or out of the profile it takes `review` as well."""
    may_write(request, given.path, given.to)
    try:
        return {"moved": tree.move(person(request), given.path.rstrip("/"), given.to.rstrip("/"))}
    except tree.NotMovedError as refused:
        raise ProblemError(HTTPStatus.CONFLICT, str(refused)) from refused


class DeletedDocuments(Schema):
    """The paths that went. Until `until` they come back by `deleted_at`."""

    deleted: list[str]
    deleted_at: str
    until: datetime


@router.delete(
    "/documents", response=DeletedDocuments, auth=require_scope("forget"), summary="Delete documents",
    operation_id="delete_documents",
)  # fmt: skip
def delete_documents(request: HttpRequest, path: Path) -> Any:
    """What stands at `path` and below, with its history. What was learned from it stays: see forgetting."""
    moment, gone = trash.delete(person(request), path.rstrip("/"))
    return {
        "deleted": [one.path for one in gone],
        "deleted_at": moment.isoformat(),
        "until": moment + trash.UNDO_FOR,
    }


class Restoring(Schema):
    """What to bring back: all that was deleted at that moment."""

    deleted_at: Moment


class RestoredDocuments(Schema):
    """Where they stand again; beside what stands there by now, with a number."""

    documents: list[str]


@router.post(
    "/documents/restore", response=RestoredDocuments, auth=require_scope("memory:write"),
    summary="Undo a deletion of documents", operation_id="restore_documents",
)  # fmt: skip
def restore_documents(request: HttpRequest, given: Restoring) -> Any:
    """Within half an hour: with their versions, their tags, and the facts that their lines told."""
    back = trash.undo(person(request), given.deleted_at)
    if not back:
        raise Http404
    return {"documents": [document.path for document in back]}


# Folders and tags ------------------------------------------------------------------------------------------------


class Entry(Schema):
    """What stands in a folder: a document, a folder, or both at one path."""

    name: str
    path: str
    title: str
    is_document: bool
    documents: int = Field(description="At this path and below")
    tokens: int
    changed_at: datetime

    @staticmethod
    def resolve_is_document(entry: Any) -> bool:
        """Whether a text stands at this very path."""
        return entry.document_id is not None


@router.get(
    "/folder",
    response=list[Entry],
    auth=require_scope("memory:read"),
    summary="List a folder",
    operation_id="list_folder",
)
def list_folder(request: HttpRequest, path: Annotated[str, Field(max_length=500)] = "/") -> Any:
    """One level deep, by name. “/” is the root."""
    inside = path.rstrip("/")
    return tree.list_folder(person(request), inside or tree.ROOT)


class TagCount(Schema):
    """A tag, and how many documents have it."""

    tag: str
    documents: int


@router.get(
    "/tags", response=list[TagCount], auth=require_scope("memory:read"), summary="List tags", operation_id="list_tags"
)
def list_tags(request: HttpRequest) -> Any:
    """Of all documents."""
    return [{"tag": tag, "documents": number} for tag, number in tree.tags_of(person(request))]


# History ---------------------------------------------------------------------------------------------------------


class Revision(Schema):
    """One version, without its text."""

    number: int
    author: str = Field(description="user, librarian, upload, …")
    note: str
    created_at: datetime


class RevisionText(Revision):
    """One version with its text."""

    text: str


class OfDocument(Paging):
    """Of which document."""

    path: Path


@router.get(
    "/document/versions", response=Page[Revision], auth=require_scope("memory:read"),
    summary="List versions of a document", operation_id="list_versions",
)  # fmt: skip
def list_versions(request: HttpRequest, given: Query[OfDocument]) -> Any:
    """The newest first."""
    versions = _document(request, given.path).revisions.defer("text")
    return paginate(request, versions, ("-number",), given)


@router.get(
    "/document/versions/{int:number}", response=RevisionText, auth=require_scope("memory:read"),
    summary="Read a version of a document", operation_id="get_version",
)  # fmt: skip
def get_version(request: HttpRequest, number: int, path: Path) -> Any:
    """As it stood then."""
    found = _document(request, path).revisions.filter(number=number).first()
    if found is None:
        raise Http404
    return found


class Reverting(Schema):
    """Which version to go back to, and the number of the newest one as you know it."""

    path: Path
    number: Annotated[int, Field(ge=1, le=MOST_VERSION)]
    version: Version


@router.post(
    "/document/revert", response=DocumentText, auth=require_scope("memory:write", also=DECIDES),
    summary="Go back to a version", operation_id="revert_document",
)  # fmt: skip
def revert_document(request: HttpRequest, given: Reverting) -> Any:
    """Its text becomes the newest version; those between stay in the history. The profile takes `review` as well."""
    document = _document(request, given.path)
    earlier = document.revisions.filter(number=given.number).values_list("text", flat=True).first()
    may_write(request, given.path, text=earlier or "")
    try:
        revisions.revert(document, given.number, started_from=given.version)
    except models.Revision.DoesNotExist:
        raise Http404 from None
    except revisions.DocumentChangedError as changed:
        raise ProblemError(HTTPStatus.CONFLICT, str(changed)) from changed
    return _whole(_document(request, given.path))


def _document(request: HttpRequest, path: str) -> models.Document:
    found: models.Document | None = models.Document.objects.for_user(person(request)).filter(path=path).first()
    if found is None:
        raise Http404
    return found


def _whole_then(document: models.Document, moment: datetime) -> DocumentText:
    revision = document_then(document, moment)
    if revision is None:
        raise Http404
    told = {name: getattr(document, name) for name in Document.model_fields}
    told |= {"tokens": count_tokens(revision.text), "changed_at": revision.created_at}
    return DocumentText(**told, text=without_marks(revision.text), version=revision.number)


def _whole(document: models.Document) -> DocumentText:
    newest = revisions.newest_revision(document)
    told = {name: getattr(document, name) for name in Document.model_fields}
    return DocumentText(**told, text=document.text, version=newest.number if newest else 0)
