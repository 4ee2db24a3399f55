"""Uploads: a file is accepted as a row, read in the background and becomes a document.

`accept` checks and stores the file; `process_upload` claims the row, reads the file in a process of its own without a
database connection, and writes the document in the transaction that ends the row (`recall/jobs.py`).
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from memory.documents import revisions, tree
from memory.documents.readers.formats import NotReadableError, recognize
from memory.documents.readers.isolated import read_file
from memory.forget_epoch import try_lock_user
from memory.models import Document, Revision, Upload
from memory.models.paths import encode
from memory.secrets.secrets_filter import mask_name
from recall.celery import enqueue_on_commit
from recall.db.connections import release_connection
from recall.db.notify import publish_event
from recall.db.postgres import wait_for_turn
from recall.db.quotas import QuotaError, make_room
from recall.jobs import LeasedJob

if TYPE_CHECKING:
    from accounts.models import User

FOLDER: Final = "/reference"
"""Default folder."""
TASK: Final = "memory.tasks.read_upload"
MAX_WAITING: Final = 100
"""Unread files of one user, so that they can't fill the database."""
LOCK: Final = "memory.uploads"
"""Taken for a user where their files are counted: two requests at once may not both find room for the last one."""
MEGABYTE: Final = 1_000_000
MAX_FOLDER_CHARS: Final = 500
"""Width of `Upload.folder`."""

State = Upload.State
UNFINISHED: Final = (State.WAITING, State.READING)


def _notify(upload: Upload) -> None:
    publish_event(f"user-{upload.user_id}", "memory", upload=upload.pk)


UPLOADS: Final = LeasedJob(
    Upload,
    TASK,
    _notify,
    max_attempts=3,
    lease=timedelta(seconds=90),  # reading takes at most 30 seconds and writing a few
    running=State.READING,
)


class UploadRefusedError(Exception):
    """The file is refused; the message is for its owner."""


# Accepting -------------------------------------------------------------------------------------------------------


@transaction.atomic
def accept(user: User, name: str, content: bytes, folder: str = FOLDER) -> Upload:
    """Store a file to be read in the background.

    Raises:
        UploadRefusedError: the reason, for the user.
    """
    kind = _validate(user, name, content, folder)
    upload = Upload.objects.create(
        user=user,
        name=mask_name(tree.fitting_name(name)),
        media_type=kind,
        size=len(content),
        folder=folder,
        content=content,
    )
    UPLOADS.enqueue(upload)
    return upload


def _validate(user: User, name: str, content: bytes, folder: str) -> str:
    """The media type of an accepted file."""
    largest = settings.ENVIRONMENT.max_upload_mb
    if len(content) > largest * MEGABYTE:
        raise UploadRefusedError(f"This file is {len(content) / MEGABYTE:.1f} MB. The limit is {largest} MB.")
    try:
        encode(tree.join_path(folder, "x"))
        kind = recognize(name, content)
    except ValidationError as error:
        raise UploadRefusedError(error.messages[0]) from error
    except NotReadableError as refusal:
        raise UploadRefusedError(str(refusal)) from refusal
    if len(folder) > MAX_FOLDER_CHARS:
        raise UploadRefusedError("This folder's path is too long.")
    wait_for_turn(LOCK, user.pk)
    waiting = Upload.objects.for_user(user).filter(state__in=UNFINISHED).count()
    if waiting >= MAX_WAITING:
        raise UploadRefusedError(f"{MAX_WAITING} files are already queued. Try again when some are done.")
    try:
        make_room(Document.objects.for_user(user), user.pk, more=waiting + 1)
    except QuotaError as full:
        raise UploadRefusedError(str(full)) from full
    return kind.media_type


def retry_upload(upload: Upload) -> bool:
    """Restart an upload whose workers all died; False if it isn't one."""
    return UPLOADS.retry_failed(upload, content__isnull=False)


# Reading ---------------------------------------------------------------------------------------------------------


def process_upload(upload_id: int) -> None:
    """Worker entry point: make a document of the file, if it is due and no other worker has it."""
    upload = _claim(upload_id)
    if upload is None:
        return
    _notify(upload)
    content = bytes(upload.content or b"")
    release_connection()
    try:
        text = read_file(upload.name, content)
    except NotReadableError as refusal:
        _fail(upload, str(refusal))
    else:
        _finish(upload, text, hashlib.sha256(content).hexdigest())
    _queue_next(upload.user_id)


@transaction.atomic
def _claim(upload_id: int) -> Upload | None:
    """The upload, claimed; None if it isn't due, or another file of its user is being read: others have their turn."""
    user_id = Upload.objects.filter(pk=upload_id).values_list("user_id", flat=True).first()
    if user_id is None:
        return None
    wait_for_turn(LOCK, user_id)
    reading = Upload.objects.filter(user_id=user_id, state=State.READING, lease_until__gt=timezone.now())
    return None if reading.exclude(pk=upload_id).exists() else UPLOADS.claim(upload_id)


def _queue_next(user_id: int) -> None:
    """Queue the user's next file; if this is lost, the scheduler queues it."""
    waiting = Upload.objects.filter(user_id=user_id, state=State.WAITING)
    if (upload_id := waiting.order_by("pk").values_list("pk", flat=True).first()) is not None:
        enqueue_on_commit(TASK, upload_id)


@transaction.atomic
def _finish(upload: Upload, text: str, content_hash: str) -> None:
    if not try_lock_user(upload.user_id):  # nothing is forgotten while the document is written
        return
    claimed = UPLOADS.lock_claimed(upload)
    if claimed is not None:
        UPLOADS.finish(claimed, State.DONE, document=_write_document(claimed, text, content_hash), content=None)


@transaction.atomic
def _fail(upload: Upload, error: str) -> None:
    """Fail for good: the same bytes would fail again, so they are dropped."""
    claimed = UPLOADS.lock_claimed(upload)
    if claimed is not None:
        UPLOADS.finish(claimed, State.FAILED, error=error, content=None)


def _write_document(upload: Upload, text: str, content_hash: str) -> Document:
    """The file's document: a new revision of an earlier upload's document, or a new document at a free path."""
    origin = revisions.Origin(Document.Source.UPLOAD, content_hash=content_hash)
    note = f"Read from {upload.name}"[:200]
    author = Revision.Author.IMPORT
    for path in tree.numbered(tree.join_path(upload.folder, tree.fitting_name(upload.name))):
        existing = Document.objects.for_user(upload.user).filter(path=path).first()
        if existing is None:
            title = PurePosixPath(upload.name).stem
            return revisions.add(upload.user, path, text, author, origin, title=title, note=note)
        if existing.source == Document.Source.UPLOAD:
            return revisions.replace_text(existing, text, author, content_hash, note=note)
    raise revisions.PathTakenError(upload.folder)


# Progress --------------------------------------------------------------------------------------------------------


def recent(user: User) -> QuerySet[Any]:
    """The user's uploads without their bytes, newest first: `total` chunks, how many are `embedded`, `can_retry`."""
    with_vector = Q(document__chunks__embedded_by__gt="")
    return (
        Upload.objects.for_user(user)
        .defer("content")
        .annotate(total=Count("document__chunks"), embedded=Count("document__chunks", filter=with_vector))
        .annotate(can_retry=Q(state=State.FAILED, content__isnull=False))
        .order_by("-created_at", "-pk")
    )
