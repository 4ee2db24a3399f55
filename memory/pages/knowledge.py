"""Page data of the knowledge base: the document tree, a document, a folder, a tag, versions, and uploads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import quote

from django.conf import settings
from django.core.paginator import Paginator
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from memory.documents import tree, uploads
from memory.documents.profile import FOLDER
from memory.documents.readers.formats import ENDINGS, KNOWN
from memory.documents.revisions import MAX_TEXT, PART, WENT_BACK, Change, changes, part
from memory.models import Chunk, Document, Upload
from memory.pages.about import Editor, build_editor
from memory.text.second_person import document_to_user, you_wrote
from recall.rendering.render import render
from recall.text import split_way_back

MAX_IN_FOLDER: Final = 200
"""Documents per folder in the tree; the folder's page lists all of them."""
MAX_IN_TREE: Final = 1_000
"""Rows of the tree: about 200 kB of HTML, 20 kB compressed."""
PAGE_SIZE: Final = 100
MAX_LATEST: Final = 10
"""Documents listed on the start page."""
MAX_VERSIONS: Final = 200


# The tree ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Leaf:
    """A document in the tree."""

    path: str
    name: str
    title: str
    """Empty if it equals the name."""
    address: str
    is_current: bool = False


@dataclass(slots=True)
class Folder:
    """A folder in the tree with its contents."""

    path: str
    name: str
    address: str
    folders: list[Folder] = field(default_factory=list)
    documents: list[Leaf] = field(default_factory=list)
    count: int = 0
    """Documents in it and its subfolders."""
    unlisted: int = 0
    """Documents directly in it that the tree leaves out."""
    is_open: bool = False
    is_current: bool = False
    """The page is about it, and not about a document of the same path."""


@dataclass(frozen=True, slots=True)
class Moved:
    """The result of dragging a document or folder."""

    old: str
    new: str
    documents: int
    """Number moved."""
    why_not: str = ""

    @property
    def sentence(self) -> str:
        """The result, or the reason for a refusal."""
        if self.why_not or not self.documents:
            return self.why_not or f"{self.old} is already there."
        more = f" with {self.documents} documents" if self.documents > 1 else ""
        return f"Moved {tree.name_of(self.old)}{more} to {tree.parent_of(self.new)}."


def build_tree(user: User, current: str = "") -> Folder:
    """The user's documents by folder, expanded around the path `current`. One query."""
    return build_folder(tree.whole(user), current, iter(range(MAX_IN_TREE)))


def build_folder(node: tree.Node, current: str, places: Iterator[int]) -> Folder:
    """A folder of the tree; each listed document takes one of the remaining `places`. Pure."""
    has_document = node.document is not None
    is_open = node.path == tree.ROOT or f"{current}/".startswith(f"{node.path}/")
    shown = Folder(
        node.path, node.name, document_url(node.path), count=node.documents - has_document, is_open=is_open,
        is_current=node.path == current and not has_document,
    )  # fmt: skip
    for child in node.below:
        if child.below:
            shown.folders.append(build_folder(child, current, places))
        if child.document is None:
            continue
        if len(shown.documents) < MAX_IN_FOLDER and next(places, None) is not None:
            shown.documents.append(_build_leaf(child.document, child.name, current))
        else:
            shown.unlisted += 1
    return shown


def _build_leaf(document: Document, name: str, current: str) -> Leaf:
    title = document.title if document.title != name else ""
    return Leaf(document.path, name, title, document_url(document.path), document.path == current)


def document_url(path: str) -> str:
    """The URL of the document or folder at this path.

    Paths with `.`, `..` or line breaks go into a parameter, because browsers rewrite such URLs.
    """
    if path == tree.ROOT:
        return reverse("memory:documents")
    if {".", ".."} & set(path.split("/")) or not path.isprintable():
        return f"{reverse('memory:documents')}?path={quote(path, safe='')}"
    return reverse("memory:document", args=[path[1:]])


# Documents and folders ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Crumb:
    """A parent folder in the breadcrumb."""

    name: str
    address: str


def build_crumbs(path: str) -> list[Crumb]:
    """The parent folders, from the outermost in."""
    names = path[1:].split("/")[:-1]
    return [Crumb(name, document_url("/" + "/".join(names[:depth]))) for depth, name in enumerate(names, start=1)]


def build_document_page(user: User, document: Document, number: int = 1, shown: Editor | None = None) -> dict[str, Any]:
    """One document to read and edit, or part `number` of a long one; `shown` replaces the editor's text."""
    text, conversation_url = split_way_back(document_to_user(document.text))
    shown_part = part(text, number)
    return {
        **_build_frame(user, document.path),
        "document": document,
        "html": render(you_wrote(shown_part.text)) if document.text.strip() else "",
        "conversation_url": conversation_url,
        "part": shown_part,
        "editor": shown or build_editor(document),
        "is_too_long": len(document.text) > MAX_TEXT,
        "tags": ", ".join(document.tags),
        "passages": _load_passages(user, document),
        "is_of_facts": bool(document.text.strip()) and not document.index_text.strip(),
        "is_profile": document.path.startswith(f"{FOLDER}/"),
        "upload": document.uploads.defer("content").first(),
        "below": Document.objects.for_user(user).under(document.path).exclude(pk=document.pk).count(),
    }


@dataclass(frozen=True, slots=True)
class Listed:
    """A document in a folder or tag list."""

    address: str
    name: str
    """Its path relative to the folder."""
    title: str
    """Empty if it equals the name."""
    tags: Sequence[str]
    changed_at: datetime

    @property
    def shown(self) -> str:
        """Its title, or the last part of its name."""
        return self.title or self.name.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """The name of the folder it is in; empty: the folder of the list."""
        return self.name.rpartition("/")[0].rpartition("/")[2]


def build_documents_page(user: User) -> dict[str, Any]:
    """The start page of the documents: the latest changes. Two queries."""
    latest = Document.objects.for_user(user).written().order_by("-changed_at")[:MAX_LATEST]
    rows = latest.values_list("path", "title", "tags", "changed_at")
    return {
        "rows": [_build_listed(path, path[1:], *rest) for path, *rest in rows],
        "tree": build_tree(user),
        "largest": max_upload_bytes(),
    }


def build_folder_page(user: User, path: str, number: str | None) -> dict[str, Any] | None:
    """The documents directly in a folder, by page, and its subfolders; None: there are none."""
    below = load_listed(Document.objects.for_user(user).under(path).written(), path)
    if not below:
        return None
    page = Paginator([row for row in below if "/" not in row.name], PAGE_SIZE).get_page(number)
    return {
        **_build_frame(user, path),
        "documents": page,
        "rows": list(page),
        "count": len(below),
        "subfolders": _folders_in(path, below),
        "upload_folder": path,
    }


def load_listed(documents: Any, folder: str = "") -> list[Listed]:
    """Documents for a list, in tree order. One query."""
    rows = documents.values_list("path", "title", "tags", "changed_at")
    return [
        _build_listed(path, path.removeprefix(f"{folder}/") if path != folder else tree.name_of(path), *rest)
        for path, *rest in sorted(rows, key=lambda row: _tree_order(row[0]))
    ]


def _build_listed(path: str, name: str, title: str, tags: Sequence[str], changed_at: datetime) -> Listed:
    return Listed(document_url(path), name, "" if title == tree.name_of(path) else title, tags, changed_at)


def _folders_in(path: str, below: Sequence[Listed]) -> list[tuple[str, str, int]]:
    """URL, name and document count of each direct subfolder."""
    counted = Counter(row.name.partition("/")[0] for row in below if "/" in row.name)
    return [(document_url(f"{path}/{name}"), name, count) for name, count in counted.items()]


def build_tag_page(user: User, tag: str) -> dict[str, Any]:
    """The documents with a tag. None is not an error: a tag disappears with its last document."""
    kept = tree.normal_tag(tag)
    found = Document.objects.for_user(user).filter(tags__contains=[kept]) if kept else Document.objects.none()
    return {
        "tag": kept,
        "rows": load_listed(found),
        "tree": build_tree(user),
        "largest": max_upload_bytes(),
    }


def _build_frame(user: User, path: str) -> dict[str, Any]:
    """What every page of a path shows: the tree and the breadcrumb."""
    return {
        "path": path,
        "name": tree.name_of(path),
        "address": document_url(path),
        "crumbs": build_crumbs(path),
        "tree": build_tree(user, path),
        "largest": max_upload_bytes(),
    }


def _tree_order(path: str) -> list[tuple[str, str]]:
    """Sort key of the tree: `/a/b` before `/a-c`."""
    return [tree.by_name(name) for name in path[1:].split("/")]


def build_versions_page(document: Document, number: int | None) -> dict[str, Any]:
    """A document's versions, and the changes of version `number`, by default the newest.

    Raises:
        Revision.DoesNotExist: it has versions, but not this one.
    """
    versions = list(document.revisions.defer("text")[:MAX_VERSIONS])
    newest = versions[0].number if versions else 0
    chosen, changed, text = None, list[Change](), ""
    if versions:
        chosen = document.revisions.get(number=newest if number is None else number)
        before = document.revisions.filter(number__lt=chosen.number).values_list("text", flat=True).first()
        text = document_to_user(chosen.text)
        # The first version has nothing to be compared with.
        changed = changes(text if before is None else document_to_user(before), text)
    has_changes = any(change.what != "same" for change in changed)
    return {
        "document": document,
        "versions": versions,
        "newest": newest,
        "chosen": chosen,
        "changes": changed,
        "has_changes": has_changes,
        "html": render(you_wrote(text)) if text.strip() and not has_changes and len(text) <= PART else "",
        "has_notes": any(version.note for version in versions),
        "later": min((row.number for row in versions if chosen and row.number > chosen.number), default=0),
        "earlier": max(
            (version.number for version in versions if chosen and version.number < chosen.number), default=0
        ),
        "undoes": versions[1].number if len(versions) > 1 and versions[0].note.startswith(WENT_BACK) else 0,
        "address": document_url(document.path),
        "is_profile": document.path.startswith(f"{FOLDER}/"),
    }


def _load_passages(user: User, document: Document) -> list[Chunk]:
    """Its indexed passages in order, without vectors."""
    passages = Chunk.objects.for_user(user).filter(document=document).order_by("number")
    return list(passages.defer("vector", "search"))


# Uploads -----------------------------------------------------------------------------------------------------------

MAX_UPLOADS: Final = 8
EMBEDDING_WAIT: Final = timedelta(minutes=5)
"""Vectors follow within seconds; after this time the page stops polling for them."""


def build_uploads(user: User, refused: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """The latest uploads with their progress, and (name, reason) of files just refused."""
    latest = list(uploads.recent(user).select_related("document").defer("content", "document__text")[:MAX_UPLOADS])
    rows = [_build_upload_view(upload) for upload in latest]
    return {
        "uploads": rows,
        "refused": refused,
        "reading": sum(row.upload.state in uploads.UNFINISHED for row in rows),
        "is_busy": any(row.is_busy for row in rows),
        "largest_mb": settings.ENVIRONMENT.max_upload_mb,
        "largest": max_upload_bytes(),
        "endings": ",".join(ENDINGS),
        "known": KNOWN,
        "upload_folder": uploads.FOLDER,
    }


def max_upload_bytes() -> int:
    """The upload size limit in bytes."""
    return int(settings.ENVIRONMENT.max_upload_mb * uploads.MEGABYTE)


@dataclass(frozen=True, slots=True)
class UploadView:
    """An upload in the list."""

    upload: Upload
    sentence: str
    percent: int
    """Share of its passages that are searchable by meaning."""
    is_busy: bool
    address: str
    """URL of its document."""
    may_try_again: bool


def _build_upload_view(upload: Any) -> UploadView:
    is_new = upload.finished_at is not None and timezone.now() - upload.finished_at < EMBEDDING_WAIT
    is_embedding = upload.state == Upload.State.DONE and upload.embedded < upload.total and is_new
    return UploadView(
        upload=upload,
        sentence=upload_sentence(upload),
        percent=round(100 * upload.embedded / upload.total) if upload.total else 0,
        is_busy=upload.state in uploads.UNFINISHED or is_embedding,
        address=document_url(upload.document.path) if upload.document else "",
        may_try_again=upload.can_retry,
    )


def upload_sentence(upload: Any) -> str:
    """How far an upload is, for its user."""
    if upload.state == Upload.State.FAILED:
        return str(upload.error)
    if upload.state != Upload.State.DONE:
        return "Reading…" if upload.state == Upload.State.READING else "Waiting"
    if upload.document is None:
        return "Done. Its document was deleted later."
    if upload.embedded < upload.total:
        return f"Searchable by its own words. Other words find {upload.embedded} of {upload.total} excerpts so far."
    return f"Done: {upload.total} searchable excerpt{'' if upload.total == 1 else 's'}."
