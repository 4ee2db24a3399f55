"""Memory's routes of the API: search with reasons, documents, files, folder sync, facts as of a date, episodes."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from django.http import Http404, HttpRequest
from django.utils import timezone
from ninja import File, Query, Router, Schema, Status, UploadedFile
from ninja.errors import HttpError
from pydantic import AwareDatetime, Field

from memory import documents, syncing, tree, uploads
from memory.models import Document, Episode, Fact, Upload
from memory.paths import encode
from memory.ranking import Part, Rule, Source
from memory.retrieval import EVERYTHING, Filters, MemoryItem, recall

router = Router()

MOST_RESULTS: Final = 50
"""Of a search: as many candidates as a leg brings up are no longer an answer."""
PAGE: Final = 200
"""Rows of a list at once."""
MOST_FILES: Final = 500
"""Files of one synchronisation; a larger folder comes in several, the last of which follows deletions."""

Words = Annotated[str, Field(min_length=1, max_length=2_000)]
Path = Annotated[str, Field(min_length=2, max_length=500)]


def person(request: HttpRequest) -> Any:
    """Who calls: `SessionAuth` let nobody else through."""
    return request.user


# Search ----------------------------------------------------------------------------------------------------------


class Search(Schema):
    """What is looked for, and what it is limited to."""

    q: Words
    top_k: int = Field(10, ge=1, le=MOST_RESULTS)
    token_budget: int | None = Field(None, ge=1)
    source: list[Source] = []
    kind: list[str] = []
    tag: list[str] = []
    path: str = Field("", max_length=500)
    scope: str = Field("", max_length=500)
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None
    as_of: AwareDatetime | None = Field(None, description="What was known at this moment")
    minimum_importance: float = Field(0.0, ge=0, le=1)

    def filters(self) -> Filters:
        """The same as retrieval takes it.

        Raises:
            ValidationError: `path` or `scope` is no path.
        """
        for path in filter(None, (self.path, self.scope)):
            encode(path.rstrip("/"))
        return Filters(
            sources=frozenset(self.source) or EVERYTHING.sources,
            kinds=frozenset(self.kind),
            tags=frozenset(self.tag),
            path=self.path.rstrip("/"),
            since=self.since,
            until=self.until,
            minimum_importance=self.minimum_importance,
            scope=self.scope.rstrip("/"),
        )


class Found(Schema):
    """One memory, with what its score is made of."""

    ref: str
    source: Source
    title: str
    text: str
    said_by: str
    when: datetime
    score: float
    parts: dict[Part, float]


class LeftOut(Schema):
    """One that was considered and left out."""

    ref: str
    score: float
    rule: Rule


class Results(Schema):
    """Best first."""

    results: list[Found]
    left_out: list[LeftOut]
    milliseconds: dict[str, float]


@router.get("/search", response=Results, summary="Search everything that is remembered")
def search(request: HttpRequest, given: Query[Search]) -> Results:
    """By meaning and by words, over facts, episodes, documents and what was said."""
    found = recall(
        person(request),
        given.q,
        now=timezone.now(),
        top_k=given.top_k,
        token_budget=given.token_budget,
        filters=given.filters(),
        as_of=given.as_of,
    )
    left_out = [LeftOut(ref=one.item.ref, score=one.item.score, rule=one.rule) for one in found.cut]
    return Results(results=[_found(one) for one in found.kept], left_out=left_out, milliseconds=dict(found.timings))


def _found(item: MemoryItem) -> Found:
    return Found(
        ref=item.ref,
        source=item.source,
        title=item.title,
        text=item.text,
        said_by=item.said_by,
        when=item.when,
        score=item.score,
        parts=dict(item.parts),
    )


# Documents -------------------------------------------------------------------------------------------------------


class Listed(Schema):
    """A document without its text."""

    path: str
    title: str
    tags: list[str]
    source: str
    external_id: str
    tokens: int
    changed_at: datetime


class Whole(Listed):
    """A document; `version` is the number of its newest revision, to be sent back with a change."""

    text: str
    version: int


class Written(Schema):
    """A document's text, and the version it was written over (0: it is new)."""

    path: Path
    text: str = Field(max_length=documents.MAX_TEXT)
    version: int = Field(0, ge=0)
    title: str = Field("", max_length=200)
    tags: list[str] | None = None


class Moved(Schema):
    """Where something stands, and where it shall stand; what is below it goes along."""

    path: Path
    to: Path


@router.get("/documents", response=list[Listed], summary="List documents")
def list_documents(
    request: HttpRequest, under: str = "", tag: str = "", offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0
) -> Any:
    """By path, 200 at a time: all, those below a folder, those with a tag."""
    owned = Document.objects.for_user(person(request)).defer("text").order_by("path")
    if under.strip("/"):
        owned = owned.under(under.rstrip("/"))
    if tag:
        owned = owned.filter(tags__contains=[tree.normal_tag(tag)])
    return list(owned[offset : offset + PAGE])


@router.get("/document", response=Whole, summary="Read a document")
def read_document(request: HttpRequest, path: Path) -> Whole:
    """The whole text of the document at `path`."""
    return _whole(_document(request, path))


@router.put("/document", response=Whole, summary="Write a document")
def write_document(request: HttpRequest, given: Written) -> Whole:
    """As a new version; 409 where somebody wrote another one meanwhile."""
    try:
        document = documents.save(
            person(request), given.path, given.text, started_from=given.version, title=given.title
        )
    except documents.DocumentChangedError as changed:
        raise HttpError(HTTPStatus.CONFLICT, str(changed)) from changed
    if given.tags is not None:
        tree.set_tags(document, given.tags)
    return _whole(_document(request, given.path))


@router.post("/documents/move", response=dict[str, int], summary="Move or rename documents")
def move_documents(request: HttpRequest, given: Moved) -> dict[str, int]:
    """A document or a folder with all below it; all or none."""
    try:
        return {"moved": tree.move(person(request), given.path.rstrip("/"), given.to.rstrip("/"))}
    except tree.NotMovedError as refused:
        raise HttpError(HTTPStatus.CONFLICT, str(refused)) from refused


@router.delete("/documents", response=dict[str, list[str]], summary="Delete documents")
def delete_documents(request: HttpRequest, path: Path) -> dict[str, list[str]]:
    """What stands at `path` and below, with its history; the paths that went."""
    return {"deleted": [one.path for one in tree.delete(person(request), path.rstrip("/"))]}


def _document(request: HttpRequest, path: str) -> Document:
    document: Document | None = Document.objects.for_user(person(request)).filter(path=path).first()
    if document is None:
        raise Http404
    return document


def _whole(document: Document) -> Whole:
    newest = documents.newest_revision(document)
    listed = {name: getattr(document, name) for name in Listed.model_fields}
    return Whole(**listed, text=document.text, version=newest.number if newest else 0)


# Files -----------------------------------------------------------------------------------------------------------


class Uploaded(Schema):
    """A file on its way to becoming a document."""

    id: int
    name: str
    folder: str
    size: int
    state: Literal["waiting", "reading", "done", "failed"]
    error: str
    path: str | None = Field(None, description="Of the document it became")

    @staticmethod
    def resolve_path(upload: Upload) -> str | None:
        """Where the document stands now."""
        return upload.document.path if upload.document is not None else None


@router.post("/uploads", response={202: Uploaded}, summary="Upload a file")
def upload_file(request: HttpRequest, file: File[UploadedFile], folder: str = uploads.FOLDER) -> Any:
    """It is read in the background: ask again for how far that is."""
    try:
        return Status(HTTPStatus.ACCEPTED, uploads.accept(person(request), file.name or "", file.read(), folder))
    except uploads.UploadRefusedError as refused:
        raise HttpError(HTTPStatus.UNPROCESSABLE_ENTITY, str(refused)) from refused


@router.get("/uploads/{int:number}", response=Uploaded, summary="How far is a file?")
def upload_state(request: HttpRequest, number: int) -> Any:
    """Waiting, reading, done or failed, and why."""
    upload = Upload.objects.for_user(person(request)).select_related("document").filter(pk=number).first()
    if upload is None:
        raise Http404
    return upload


class SyncedFile(Schema):
    """A file of the folder: its lasting name at the source, its path below the folder, its bytes in Base64."""

    external_id: str = Field(min_length=1, max_length=200)
    name: str = Field(min_length=1, max_length=500)
    content: str


class Sync(Schema):
    """The files of a folder, as the source has them now."""

    origin: str = Field(description="A short name of the source, always the same", max_length=80)
    at: Path = Field(syncing.FOLDER, description="The folder its documents stand in")
    files: list[SyncedFile] = Field(max_length=MOST_FILES)
    follow_deletions: bool = Field(True, description="These are all its files: remove the documents of others")
    dry_run: bool = False


class Followed(Schema):
    """What became of one file."""

    what: syncing.What
    path: str
    reason: str


@router.post("/sync", response=list[Followed], summary="Keep a folder in step")
def sync(request: HttpRequest, given: Sync) -> Any:
    """New, changed and vanished files follow; the same again changes nothing; what you edited here is kept."""
    try:
        report = syncing.sync_files(
            person(request),
            list(_incoming(given.files)),
            origin=given.origin,
            at=given.at.rstrip("/"),
            dry_run=given.dry_run,
            follow_deletions=given.follow_deletions,
        )
    except syncing.SyncRefusedError as refused:
        raise HttpError(HTTPStatus.UNPROCESSABLE_ENTITY, str(refused)) from refused
    return report.outcomes


def _incoming(files: list[SyncedFile]) -> Iterator[syncing.Incoming]:
    for file in files:
        try:
            content = base64.b64decode(file.content, validate=True)
        except (binascii.Error, ValueError) as error:
            raise HttpError(HTTPStatus.UNPROCESSABLE_ENTITY, f"“{file.name}” is not in Base64.") from error
        yield syncing.Incoming(file.external_id, file.name, content)


# Facts and episodes ----------------------------------------------------------------------------------------------


class Known(Schema):
    """A fact with the words it rests on."""

    id: int
    statement: str
    kind: str
    key: str
    value: str
    tags: list[str]
    status: str
    confidence: float
    importance: float
    quote: str
    message_id: int | None
    recorded_at: datetime
    valid_from: datetime | None
    valid_until: datetime | None
    superseded_at: datetime | None


@router.get("/facts", response=list[Known], summary="List facts")
def list_facts(
    request: HttpRequest,
    known_at: AwareDatetime | None = None,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> Any:
    """What holds now, or what Recall took for true at a moment; 200 at a time, the oldest first."""
    facts = Fact.objects.for_user(person(request)).defer("vector", "search").order_by("id")
    return list((facts.known_at(known_at) if known_at else facts.active())[offset : offset + PAGE])


class Told(Schema):
    """An episode."""

    id: int
    conversation_id: UUID | None
    first_turn: int
    last_turn: int
    kind: str
    title: str
    summary: str
    participants: list[str]
    outcome: str
    tone: str
    valence: float
    significance: float
    topics: list[str]
    happened_at: datetime


@router.get("/episodes", response=list[Told], summary="List episodes")
def list_episodes(
    request: HttpRequest,
    conversation: UUID | None = None,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> Any:
    """The timeline, latest first, 200 at a time; of one conversation, if it is named."""
    live = Episode.objects.for_user(person(request)).live().defer("vector", "search").latest_first()
    if conversation is not None:
        live = live.filter(conversation=conversation)
    return list(live[offset : offset + PAGE])
