"""Syncs a folder with documents by the hash of each file: new, changed and deleted files.

What a user edited in Recall is never overwritten or deleted, and the report says so. `sync_files` knows no file system:
the command, the API and integrations pass it names and bytes.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from memory.documents import revisions, tree
from memory.documents.readers.formats import NotReadableError
from memory.documents.readers.isolated import read_file
from memory.models import Document, Revision
from memory.models.paths import encode
from recall.db.connections import release_connection

if TYPE_CHECKING:
    from accounts.models import User

FOLDER: Final = "/reference/notes"
MEGABYTE: Final = 1_000_000
MAX_ID_CHARS: Final = 300
"""Width of `Document.external_id`."""


class What(StrEnum):
    """Result for a file."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    REMOVED = "removed"
    KEPT = "kept"
    SKIPPED = "skipped"


REASONS: Final = {
    "new": (What.NEW, ""),
    "changed": (What.CHANGED, ""),
    "same hash": (What.UNCHANGED, ""),
    "edited here": (What.KEPT, "you changed it in Recall, and the file has changed too"),
    "taken": (What.SKIPPED, "another document has this path"),
    "vanished": (What.REMOVED, "its file is gone"),
    "vanished, edited here": (What.KEPT, "its file is gone, but you changed it in Recall: it is now your own document"),
}
"""Each decision on a readable file, with its result and reason in the report."""
WRITTEN: Final = (What.NEW, What.CHANGED)
"""Results for which the file is read and written."""


class SyncRefusedError(Exception):
    """Nothing was synced; the message is one sentence."""


class Incoming(NamedTuple):
    """A file of the source: its permanent name there, its path below the folder, its bytes.

    `problem`: why it could not be read; its document stays.
    """

    external_id: str
    name: str
    content: bytes
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result for one file, its document's path, and the reason if needed."""

    what: What
    path: str
    reason: str = ""


@dataclass(slots=True)
class Report:
    """What a sync did, or would do in a dry run."""

    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def counts(self) -> Counter[What]:
        """Files by result."""
        return Counter(outcome.what for outcome in self.outcomes)


def decide(known_hash: str | None, digest: str, *, is_edited: bool, is_taken: bool) -> str:
    """The decision on an existing file: a key of REASONS. `known_hash` is None for a new one."""
    if known_hash is None:
        return "taken" if is_taken else "new"
    if known_hash == digest:
        return "same hash"
    return "edited here" if is_edited else "changed"


# The core --------------------------------------------------------------------------------------------------------


def sync_files(
    user: User,
    files: Iterable[tuple[str, str, bytes] | Incoming],
    *,
    origin: str,
    at: str = FOLDER,
    dry_run: bool = False,
    follow_deletions: bool = True,
) -> Report:
    """Sync the documents below `at` that came from `origin` with `files`.

    Each file is its own transaction, so an interrupted run can simply be repeated. `origin` is the permanent name of
    the source. Only documents from this origin and below `at` are deleted, and none if there are no files.

    Raises:
        SyncRefusedError: `origin` is invalid, or there are no files but documents from it exist.
        ValidationError: `at` is invalid.
    """
    encode(at)
    if not re.fullmatch(r"[\w.@-]{1,80}", origin):
        raise SyncRefusedError("The source needs a short name of letters, digits, dots and hyphens.")
    report = Report()
    seen: set[str] = set()
    for file in files:
        incoming = Incoming(*file)
        identity = _identity(origin, incoming.external_id)
        if identity not in seen:
            seen.add(identity)
            report.outcomes.append(_sync_one(user, incoming, identity, at, dry_run=dry_run))
    if follow_deletions:
        report.outcomes += _vanished(user, origin, at, seen, dry_run=dry_run)
    return report


def _identity(origin: str, external_id: str) -> str:
    """`Document.external_id`: the source and the name there; the hash of a name too long for the column."""
    identity = f"{origin}:{external_id}"
    if len(identity) <= MAX_ID_CHARS:
        return identity
    return f"{origin}:sha256:{hashlib.sha256(external_id.encode()).hexdigest()}"


def _sync_one(user: User, file: Incoming, identity: str, at: str, *, dry_run: bool) -> Outcome:
    """Decides twice: whether to read the file, without a lock or connection, then what to write."""
    digest = hashlib.sha256(file.content).hexdigest()
    known = _known(user, identity).first()
    path = known.path if known else _path(at, file.name)
    if problem := file.problem or _too_large(file.content):
        return Outcome(What.SKIPPED, path, problem)
    outcome = _decided(user, known, path, digest)
    if outcome.what not in WRITTEN:
        return outcome
    release_connection()
    try:
        text = read_file(file.name, file.content, waiting=user.pk)
    except NotReadableError as refusal:
        return Outcome(What.SKIPPED, path, str(refusal))
    if dry_run:
        return outcome
    return _follow(user, path, text, revisions.Origin(Document.Source.SYNC, identity, digest))


def _known(user: User, identity: str) -> QuerySet[Document]:
    return Document.objects.for_user(user).filter(source=Document.Source.SYNC, external_id=identity)


def _decided(user: User, known: Document | None, path: str, digest: str) -> Outcome:
    is_taken = known is None and Document.objects.for_user(user).filter(path=path).exists()
    is_edited = known is not None and known.content_hash != digest and _is_edited(known)
    verdict = decide(known.content_hash if known else None, digest, is_edited=is_edited, is_taken=is_taken)
    what, reason = REASONS[verdict]
    return Outcome(what, path, reason)


@transaction.atomic
def _follow(user: User, path: str, text: str, origin: revisions.Origin) -> Outcome:
    """Write the text if the locked document still needs it: it may have been edited or moved meanwhile."""
    known = _known(user, origin.external_id).select_for_update(no_key=True).first()
    outcome = _decided(user, known, known.path if known else path, origin.content_hash)
    if outcome.what in WRITTEN:
        _write(user, known, outcome.path, text, origin)
    return outcome


def _write(user: User, known: Document | None, path: str, text: str, origin: revisions.Origin) -> None:
    if known is None:
        revisions.add(user, path, text, Revision.Author.SYNC, origin, title=PurePosixPath(path).stem)
    else:
        revisions.replace_text(known, text, Revision.Author.SYNC, origin.content_hash)


def _is_edited(document: Document) -> bool:
    """Whether the text differs from the source's last version."""
    synced_texts = (
        document.revisions.filter(author=Revision.Author.SYNC).order_by("-number").values_list("text", flat=True)
    )
    return synced_texts.first() != document.text


@transaction.atomic
def _vanished(user: User, origin: str, at: str, seen: set[str], *, dry_run: bool) -> list[Outcome]:
    """Delete documents whose file is gone; edited ones become the user's own."""
    synced = Document.objects.for_user(user).under(at).filter(source=Document.Source.SYNC)
    ours = synced.filter(external_id__startswith=f"{origin}:").order_by("pk")
    gone = [document for document in ours.select_for_update() if document.external_id not in seen]
    if gone and not seen:
        raise SyncRefusedError("The source has no files, so nothing was deleted. Check that it is available.")
    edited = {document.pk for document in gone if _is_edited(document)}
    if not dry_run:
        Document.objects.filter(pk__in=edited).update(source=Document.Source.USER, external_id="", content_hash="")
        for document in gone:
            if document.pk not in edited:
                tree.delete(user, document.path, alone=True)
    verdicts = (("vanished, edited here" if one.pk in edited else "vanished", one.path) for one in gone)
    return [Outcome(REASONS[verdict][0], path, REASONS[verdict][1]) for verdict, path in verdicts]


def _path(at: str, name: str) -> str:
    names = [tree.fitting_name(part) for part in name.split("/") if part.strip()]
    return "/".join([at.rstrip("/"), *(names or ["file"])])


def _too_large(content: bytes) -> str:
    largest = settings.ENVIRONMENT.max_upload_mb
    return f"it has more than {largest} MB" if len(content) > largest * MEGABYTE else ""


# A folder --------------------------------------------------------------------------------------------------------


def sync_folder(user: User, folder: Path, at: str = FOLDER, *, origin: str = "", dry_run: bool = False) -> Report:
    """Sync the documents below `at` with the files of a local folder.

    Skips hidden files and links out of the folder. `origin` is the permanent name of the folder; the default is made
    from its name and path, so that a moved folder counts as another one.

    Raises:
        SyncRefusedError: the folder is missing, or empty while documents from it exist.
        ValidationError: `at` is invalid.
    """
    real = folder.expanduser().resolve()
    if not real.is_dir():
        raise SyncRefusedError(f"There is no folder {folder}.")
    return sync_files(user, files_of(real), origin=origin or origin_of(real), at=at, dry_run=dry_run)


def origin_of(folder: Path) -> str:
    """A permanent name for a folder: readable and unique per path."""
    readable = re.sub(r"[^\w.-]+", "-", _text(folder.name))[:40]
    return f"{readable}@{hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]}"


def files_of(folder: Path) -> Iterator[Incoming]:
    """Every file below `folder` that is not hidden, in order of names."""
    for place, below, names in os.walk(folder, followlinks=False):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                yield from _incoming(folder, Path(place) / name)


def _incoming(folder: Path, path: Path) -> Sequence[Incoming]:
    name = _text(path.relative_to(folder).as_posix())
    if not path.resolve().is_relative_to(folder):
        return [Incoming(name, name, b"", "it is a link to a place outside the folder")]
    try:
        content = _content(path)
    except OSError as error:
        return [Incoming(name, name, b"", f"it can't be read ({error.strerror})")]
    return [Incoming(name, name, content)] if content is not None else []


def _content(path: Path) -> bytes | None:
    """The file's bytes, at most one more than the limit; None: a pipe, socket or device."""
    # Non-blocking: opening a pipe would wait for a writer.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return None
        return file.read(settings.ENVIRONMENT.max_upload_mb * MEGABYTE + 1)


def _text(name: str) -> str:
    """A file name as text; undecodable bytes are percent-encoded, as in `caf%E9.md`."""
    return re.sub("[\udc80-\udcff]", lambda byte: f"%{ord(byte[0]) - 0xDC00:02X}", name)
