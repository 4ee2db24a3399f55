"""How does a file become a document? Accepted as a row, read in the background, written when the row is done.

    accept           check name, size and kind; keep the bytes; queue
    read             claim the row · read the file in a process of its own, holding no connection · write, done

The row is the truth. A worker that is killed leaves a row whose lease runs out, and the clock queues it again; the
document is written in the transaction that makes the row done, and only by the worker whose claim still stands.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from memory.documents import revisions, tree
from memory.documents.readers import NotReadable, read_file, recognise
from memory.forget_epoch import try_lock_user
from memory.models import Document, Revision, Upload
from memory.models.paths import encode
from recall.celery import enqueue_on_commit
from recall.db.connections import release_connection
from recall.db.notify import publish_event

if TYPE_CHECKING:
    from accounts.models import User

FOLDER: Final = "/reference"
"""Where files go if nothing else is said."""
READ_TASK: Final = "memory.tasks.read_upload"
LEASE: Final = timedelta(seconds=90)
"""Reading takes at most 30 seconds and writing a few: a reader that is silent for longer is dead."""
MAX_ATTEMPTS: Final = 3
MAX_WAITING: Final = 100
"""Files of one person that wait: together they must not fill the database."""
REQUEUE_AT_ONCE: Final = 100
MEGABYTE: Final = 1_000_000
LONGEST_FOLDER: Final = 500
"""Characters of `Upload.folder`."""

GAVE_UP: Final = f"Reading was begun {MAX_ATTEMPTS} times and never came to an end; the worker's log says why."

UNFINISHED: Final = (Upload.State.WAITING, Upload.State.READING)


class UploadRefusedError(Exception):
    """The file is not taken; the message is one sentence for its owner."""


# Accepting -------------------------------------------------------------------------------------------------------


@transaction.atomic
def accept(user: User, name: str, content: bytes, folder: str = FOLDER) -> Upload:
    """Keep a file to be read in the background.

    Raises:
        UploadRefusedError: one sentence on why not.
    """
    kind = _checked(user, name, content, folder)
    upload = Upload.objects.create(
        user=user,
        name=tree.fitting_name(name),
        media_type=kind,
        size=len(content),
        folder=folder,
        content=content,
    )
    _queue(upload)
    return upload


def _checked(user: User, name: str, content: bytes, folder: str) -> str:
    """The media type of a file that may be taken."""
    largest = settings.ENVIRONMENT.max_upload_mb
    if len(content) > largest * MEGABYTE:
        raise UploadRefusedError(f"This file has {len(content) / MEGABYTE:.1f} MB; {largest} MB are the limit.")
    try:
        encode(tree.join_path(folder, "x"))
        kind = recognise(name, content)
    except ValidationError as error:
        raise UploadRefusedError(error.messages[0]) from error
    except NotReadable as refusal:
        raise UploadRefusedError(str(refusal)) from refusal
    if len(folder) > LONGEST_FOLDER:
        raise UploadRefusedError("The path of this folder is too long.")
    if Upload.objects.for_user(user).filter(state__in=UNFINISHED).count() >= MAX_WAITING:
        raise UploadRefusedError(f"{MAX_WAITING} files are waiting already. Try again when some are read.")
    return kind.media_type


@transaction.atomic
def try_again(upload: Upload) -> bool:
    """Have a file read anew whose readers never came to an end; False if it is not such a one."""
    again = Upload.objects.filter(pk=upload.pk, state=Upload.State.FAILED, content__isnull=False)
    fresh = again.update(state=Upload.State.WAITING, attempts=0, error="", finished_at=None, lease_until=None)
    if fresh:
        _queue(upload)
    return bool(fresh)


def requeue_stale() -> int:
    """Queue the files that wait, or whose worker was lost; how many they were."""
    due = list(_due().order_by("created_at").values_list("pk", flat=True)[:REQUEUE_AT_ONCE])
    for pk in due:
        enqueue_on_commit(READ_TASK, pk)
    return len(due)


def _due() -> QuerySet[Upload]:
    abandoned = Q(state=Upload.State.READING, lease_until__lt=timezone.now())
    return Upload.objects.filter(Q(state=Upload.State.WAITING) | abandoned)


def _queue(upload: Upload) -> None:
    enqueue_on_commit(READ_TASK, upload.pk)
    _tell(upload)


def _tell(upload: Upload) -> None:
    publish_event(f"user-{upload.user_id}", "memory", upload=upload.pk)


# Reading ---------------------------------------------------------------------------------------------------------


def process_upload(upload_id: int) -> None:
    """Make a document of the file, if it waits and nobody else is at it."""
    upload = _claim(upload_id)
    if upload is None:
        return
    content = bytes(upload.content or b"")
    release_connection()
    try:
        text = read_file(upload.name, content)
    except NotReadable as refusal:
        _fail(upload, str(refusal))
        return
    _finish(upload, text, hashlib.sha256(content).hexdigest())


@transaction.atomic
def _claim(upload_id: int) -> Upload | None:
    """Make the row this worker's own until its lease ends; None: it is not due, or another worker has it."""
    upload = _due().filter(pk=upload_id).select_for_update(skip_locked=True, of=("self",)).first()
    if upload is None:
        return None
    if upload.attempts >= MAX_ATTEMPTS:
        _end(upload, Upload.State.FAILED, error=upload.error or GAVE_UP)
        return None
    upload.attempts += 1
    upload.state, upload.lease_until = Upload.State.READING, timezone.now() + LEASE
    upload.save(update_fields=["attempts", "state", "lease_until"])
    _tell(upload)
    return upload


@transaction.atomic
def _finish(upload: Upload, text: str, content_hash: str) -> None:
    mine = _still_mine(upload) if try_lock_user(upload.user_id) else None  # nothing is forgotten meanwhile
    if mine is None:
        return
    mine.document = _document(mine, text, content_hash)
    mine.content = None
    _end(mine, Upload.State.DONE)


@transaction.atomic
def _fail(upload: Upload, error: str) -> None:
    """For good: the same bytes would fail again, so they are not kept."""
    mine = _still_mine(upload)
    if mine is not None:
        mine.content = None
        _end(mine, Upload.State.FAILED, error=error)


def _still_mine(upload: Upload) -> Upload | None:
    """The row, locked; None: the lease ran out and another worker took over, or the row is gone."""
    claimed = Upload.objects.filter(pk=upload.pk, state=Upload.State.READING, attempts=upload.attempts)
    return claimed.select_for_update(of=("self",)).select_related("user").first()


def _end(upload: Upload, state: Upload.State, *, error: str = "") -> None:
    upload.state, upload.error = state, error
    upload.lease_until, upload.finished_at = None, timezone.now()
    upload.save()
    _tell(upload)


def _document(upload: Upload, text: str, content_hash: str) -> Document:
    """The file's document: a new revision of the one it became before, else a new one at a path that is free."""
    origin = revisions.Origin(Document.Source.UPLOAD, content_hash=content_hash)
    note = f"Read from {upload.name}"[:200]
    author = Revision.Author.IMPORT
    for path in tree.numbered(tree.join_path(upload.folder, tree.fitting_name(upload.name))):
        standing = Document.objects.for_user(upload.user).filter(path=path).first()
        if standing is None:
            title = PurePosixPath(upload.name).stem
            return revisions.add(upload.user, path, text, author, origin, title=title, note=note)
        if standing.source == Document.Source.UPLOAD:
            return revisions.replace_text(standing, text, author, content_hash, note=note)
    raise revisions.PathTakenError(upload.folder)


# Watching --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an upload is: its state, and how many of its document's passages have a vector."""

    state: str
    embedded: int
    total: int
    error: str

    @property
    def share(self) -> float:
        """0–1; 1 when every passage is found by meaning too."""
        if self.state != Upload.State.DONE:
            return 0.0
        return self.embedded / self.total if self.total else 1.0


def recent(user: User) -> QuerySet[Any]:
    """The user's uploads, the newest first, each with `total` passages and how many are `embedded`; no bytes."""
    with_vector = Q(document__chunks__embedded_by__gt="")
    return (
        Upload.objects.for_user(user)
        .defer("content")
        .annotate(total=Count("document__chunks"), embedded=Count("document__chunks", filter=with_vector))
        .order_by("-created_at", "-pk")
    )


def progress(upload: Upload) -> Progress:
    """How far this upload is now."""
    row = recent(upload.user).get(pk=upload.pk)
    return Progress(row.state, row.embedded, row.total, row.error)
