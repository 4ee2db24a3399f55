"""Documents: list, read, write, move and delete them; folders, tags and history."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Final

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema
from pydantic import Field

from accounts.api.auth import Replay, check_scope, person, require_scope
from memory import models, trash
from memory.documents import revisions, tree
from memory.documents.fact_line_edits import PROFILE, is_profile
from memory.text.fact_lines import facts_in, without_marks
from memory.tombstones import ForgottenTextError
from recall.llm.tokens import count_tokens
from recall.openapi.fields import Moment
from recall.openapi.pagination import Page, Paging, paginate
from recall.openapi.problems import ProblemError, refused_with

router = Router(tags=["documents"])

REVIEW_SCOPE: Final = "review"
"""Needed in addition to `memory:write` for the profile, which is in every prompt, and for lines linked to facts, since
editing one decides on its fact."""
READ_SCOPE: Final = "memory:read"
"""Needed in addition where the response to a change shows what was stored before."""
BY_PATH: Final = ("path",)
MAX_VERSION: Final = 2_000_000_000
Path = Annotated[str, Field(min_length=2, max_length=500, description="Such as /projects/garden/plan")]
Version = Annotated[int, Field(ge=0, le=MAX_VERSION)]


class Document(Schema):
    """A document without its text."""

    path: str
    title: str
    tags: list[str]
    source: str = Field(description="user, librarian, upload, import, sync, …")
    external_id: str = Field(description="Its ID at the source")
    tokens: int
    changed_at: datetime


class DocumentText(Document):
    """A document; `version` is its latest revision, to send back with a change."""

    text: str
    version: int


class NewText(Schema):
    """A document's text, and the version it is based on (0 for a new document)."""

    path: Path
    text: str = Field(max_length=revisions.MAX_TEXT)
    version: Version = 0
    title: str = Field("", max_length=200, description="Title of a new document; empty: the last part of its path")
    tags: list[Annotated[str, Field(max_length=200)]] | None = Field(None, max_length=100)


class Documents(Paging):
    """Filters of the document list."""

    under: str = Field("", max_length=500, description="Only this folder and its subfolders")
    tag: str = Field("", max_length=200)


@router.get("/documents", response=Page[Document], auth=require_scope("memory:read"), summary="List documents")
def list_documents(request: HttpRequest, given: Query[Documents]) -> Any:
    """Your documents in the order of their paths, filtered by folder or tag."""
    owned = models.Document.objects.for_user(person(request)).written().defer("text")
    if given.under.strip("/"):
        owned = owned.under(given.under.rstrip("/"))
    if given.tag:
        owned = owned.filter(tags__contains=[tree.normal_tag(given.tag)])
    return paginate(request, owned, BY_PATH, given)


@router.get("/document", response=DocumentText, auth=require_scope("memory:read"), summary="Read a document")
def get_document(request: HttpRequest, path: Path, known_at: Moment | None = None) -> DocumentText:
    """The full text of the document at `path`; with `known_at`, the version current at that moment."""
    document = _get_own_document(request, path)
    return _build_document(document) if known_at is None else _build_past_document(document, known_at)


@router.put(
    "/document", response=DocumentText, auth=require_scope("memory:write", also=REVIEW_SCOPE),
    summary="Write a document",
)  # fmt: skip
def put_document(request: HttpRequest, given: NewText) -> DocumentText:
    """Saves a new version; 409 if it has changed or its text was forgotten. The profile needs the `review` scope."""
    check_may_write(request, given.path, text=given.text)
    with refused_with(HTTPStatus.CONFLICT, revisions.DocumentChangedError, ForgottenTextError):
        document = revisions.save(
            person(request), given.path, given.text, started_from=given.version, title=given.title
        )
    if given.tags is not None:
        tree.set_tags(document, given.tags)
    return _build_document(_get_own_document(request, given.path))


class Tags(Schema):
    """All tags of a document."""

    path: Path
    tags: list[Annotated[str, Field(max_length=200)]] = Field(max_length=100)


@router.put("/document/tags", response=DocumentText, auth=require_scope("memory:write"), summary="Tag a document")
def put_document_tags(request: HttpRequest, given: Tags) -> DocumentText:
    """Replaces all tags. They are stored in lower case, without duplicates. A key also needs `memory:read`."""
    check_scope(request, READ_SCOPE)
    document = _get_own_document(request, given.path)
    tree.set_tags(document, given.tags)
    return _build_document(_get_own_document(request, given.path))


class Move(Schema):
    """The current path and the new path; everything below moves too."""

    path: Path
    to: Path


class Moved(Schema):
    """The number of documents moved."""

    moved: int


@router.post(
    "/documents/move", response=Moved, auth=require_scope("memory:write", Replay.NO_TEXT, also=REVIEW_SCOPE),
    summary="Move or rename documents",
)  # fmt: skip
def move_documents(request: HttpRequest, given: Move) -> Any:
    """Moves a document or folder with everything below it, or nothing. The profile also needs the `review` scope."""
    check_may_write(request, given.path, given.to)
    with refused_with(HTTPStatus.CONFLICT, tree.NotMovedError):
        return {"moved": tree.move(person(request), given.path.rstrip("/"), given.to.rstrip("/"))}


class DeletedDocuments(Schema):
    """The deleted paths. Until `until`, `deleted_at` restores them."""

    deleted: list[str]
    deleted_at: str
    until: datetime


@router.delete("/documents", response=DeletedDocuments, auth=require_scope("forget"), summary="Delete documents")
def delete_documents(request: HttpRequest, path: Path) -> Any:
    """Deletes the document at `path` and everything below, with history. Facts learned from it stay: see forgetting."""
    moment, deleted = trash.delete(person(request), path.rstrip("/"))
    return {
        "deleted": deleted,
        "deleted_at": moment.isoformat(),
        "until": moment + trash.UNDO_FOR,
    }


class Restoring(Schema):
    """Which deletion to undo, by its time."""

    deleted_at: Moment


class RestoredDocuments(Schema):
    """The restored paths; a number is added where a path is taken."""

    documents: list[str]


@router.post(
    "/documents/restore", response=RestoredDocuments, auth=require_scope("memory:write"),
    summary="Undo a deletion of documents",
)  # fmt: skip
def restore_documents(request: HttpRequest, given: Restoring) -> Any:
    """Within 30 minutes: restores documents with their versions, tags and the facts of their lines."""
    back = trash.undo(person(request), given.deleted_at)
    if not back:
        raise Http404
    return {"documents": [document.path for document in back]}


# Folders and tags ------------------------------------------------------------------------------------------------


class Entry(Schema):
    """An entry of a folder: a document, a folder, or both at one path."""

    name: str
    path: str
    title: str
    is_document: bool
    documents: int = Field(description="Number at this path and below")
    tokens: int
    changed_at: datetime

    @staticmethod
    def resolve_is_document(entry: Any) -> bool:
        """Whether there is a document at this path."""
        return entry.document_id is not None


@router.get("/folder", response=list[Entry], auth=require_scope("memory:read"), summary="List a folder")
def list_folder(request: HttpRequest, path: Annotated[str, Field(max_length=500)] = "/") -> Any:
    """The entries one level deep, by name. “/” is the root."""
    inside = path.rstrip("/")
    return tree.list_folder(person(request), inside or tree.ROOT)


class TagCount(Schema):
    """A tag and its number of documents."""

    tag: str
    documents: int


@router.get("/tags", response=list[TagCount], auth=require_scope("memory:read"), summary="List tags")
def list_tags(request: HttpRequest) -> Any:
    """The tags of all documents, with counts."""
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
    """The document."""

    path: Path


@router.get(
    "/document/versions", response=Page[Revision], auth=require_scope("memory:read"),
    summary="List versions of a document",
)  # fmt: skip
def list_versions(request: HttpRequest, given: Query[OfDocument]) -> Any:
    """All versions, the newest first."""
    versions = _get_own_document(request, given.path).revisions.defer("text")
    return paginate(request, versions, ("-number",), given)


@router.get(
    "/document/versions/{int:number}", response=RevisionText, auth=require_scope("memory:read"),
    summary="Read a version of a document",
)  # fmt: skip
def get_version(request: HttpRequest, number: int, path: Path) -> Any:
    """One version with its text."""
    return get_object_or_404(_get_own_document(request, path).revisions, number=number)


class Reverting(Schema):
    """The version to restore, and the latest version you know."""

    path: Path
    number: Annotated[int, Field(ge=1, le=MAX_VERSION)]
    version: Version


@router.post(
    "/document/revert", response=DocumentText, auth=require_scope("memory:write", also=REVIEW_SCOPE),
    summary="Restore a version",
)  # fmt: skip
def revert_document(request: HttpRequest, given: Reverting) -> Any:
    """Saves its text as the newest version; later versions stay in the history.

    A key also needs `memory:read`; for the profile, `review`, too.
    """
    check_scope(request, READ_SCOPE)
    document = _get_own_document(request, given.path)
    earlier = document.revisions.filter(number=given.number).values_list("text", flat=True).first()
    check_may_write(request, given.path, text=earlier or "")
    try:
        revisions.revert(document, given.number, started_from=given.version)
    except models.Revision.DoesNotExist:
        raise Http404 from None
    except (revisions.DocumentChangedError, ForgottenTextError) as refused:
        raise ProblemError(HTTPStatus.CONFLICT, str(refused)) from refused
    return _build_document(_get_own_document(request, given.path))


def check_may_write(request: HttpRequest, *places: str, text: str = "") -> None:
    """Check that the caller may write `text` at these paths, or move them.

    Raises:
        ProblemError: the key lacks the scope.
    """
    within = [f"/{place.strip('/')}/" for place in places]
    inside = any(f"{PROFILE}/".startswith(place) or place.startswith(f"{PROFILE}/") for place in within)
    existing = models.Document.objects.for_user(person(request)).filter(path__in=places)
    if inside or facts_in(text) or any(is_profile(document) or facts_in(document.text) for document in existing):
        check_scope(request, REVIEW_SCOPE)


def _get_own_document(request: HttpRequest, path: str) -> models.Document:
    document: models.Document = get_object_or_404(models.Document.objects.for_user(person(request)), path=path)
    return document


def _build_past_document(document: models.Document, moment: datetime) -> DocumentText:
    revision = document.revisions.filter(created_at__lte=moment).order_by("-number").first()
    if revision is None:
        raise Http404
    fields = {name: getattr(document, name) for name in Document.model_fields}
    fields |= {"tokens": count_tokens(revision.text), "changed_at": revision.created_at}
    return DocumentText(**fields, text=without_marks(revision.text), version=revision.number)


def _build_document(document: models.Document) -> DocumentText:
    newest = revisions.newest_revision(document)
    fields = {name: getattr(document, name) for name in Document.model_fields}
    return DocumentText(**fields, text=document.text, version=newest.number if newest else 0)
