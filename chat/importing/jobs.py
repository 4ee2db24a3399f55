"""Import jobs: the uploaded file is kept as rows and read in the background, entry by entry.

`accept` stores and queues the file; `run_import` reads it for `STRETCH_SECONDS`, then queues itself again
(`recall/jobs.py`). Each entry is stored and counted in one transaction and is idempotent, so reading resumes after the
last counted entry (`done`) when a worker dies. `cancel` stops between two entries and keeps what was imported.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from chat.archive.restore import is_archive, restore_archive
from chat.archive.safe_zip import MEGABYTE, NotImportedError
from chat.importing import entries
from chat.importing.entries import NOT_AN_EXPORT
from chat.importing.file_parts import open_file, store_parts
from chat.importing.tree import BrokenEntryError, ParsedEntry
from chat.importing.upsert import store_conversation
from chat.models import Conversation, ImportJob, ImportPart
from memory.documents.tree import fitting_name
from memory.forget_epoch import try_lock_user
from memory.librarian.imported import ImportedFile, propose, store_document
from memory.models import LibrarianRun
from recall.db.notify import publish_event
from recall.db.postgres import wait_for_turn
from recall.jobs import LeasedJob

if TYPE_CHECKING:
    from accounts.models import User

TASK: Final = "chat.tasks.import_conversations"
STRETCH_SECONDS: Final = 60.0
"""How long one task reads: other jobs run in between, and a killed worker loses little."""
RUN_INTERVAL: Final = timedelta(seconds=2)
"""Interval between the librarian's runs over imported conversations, so that current conversations are read first."""
ARCHIVE: Final = "recall"
"""Origin of a Recall archive."""
MAX_NAMED: Final = 20
"""Maximum broken entries that are named; the others are counted."""
MAX_WAITING: Final = 5
"""Unfinished imports of one user: together they must not fill the database."""

TOO_MANY: Final = f"{MAX_WAITING} files are already queued. Try again when one is done."
EMPTY: Final = "This file is empty."

State = ImportJob.State
OPEN: Final = (State.WAITING, State.RUNNING)


def _notify(job: ImportJob) -> None:
    publish_event(f"user-{job.user_id}", "import", job=job.pk)


def _drop_file(job: ImportJob) -> None:
    ImportPart.objects.filter(job=job).delete()
    publish_event(f"user-{job.user_id}", "conversations")


IMPORTS: Final = LeasedJob(ImportJob, TASK, _notify, on_end=_drop_file)
"""An attempt counts only when its stretch stored no entry."""


# Requesting ------------------------------------------------------------------------------------------------------


@transaction.atomic
def accept(user: User, name: str, size: int, chunks: Iterable[bytes]) -> ImportJob:
    """Store a file to be read in the background.

    Raises:
        NotImportedError: the reason, for the user.
    """
    largest = settings.ENVIRONMENT.max_import_mb
    if size > largest * MEGABYTE:
        raise NotImportedError(f"This file is {size / MEGABYTE:,.0f} MB. The limit is {largest:,} MB.")
    if not size:
        raise NotImportedError(EMPTY)
    wait_for_turn("chat.imports", user.pk)  # another request may not find room for the same last file
    if ImportJob.objects.for_user(user).filter(state__in=OPEN).count() >= MAX_WAITING:
        raise NotImportedError(TOO_MANY)
    job = ImportJob.objects.create(user=user, name=fitting_name(name), size=size)
    store_parts(job, _validate_start(iter(chunks)))
    IMPORTS.enqueue(job)
    return job


def _validate_start(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The same chunks; refuses a file that doesn't start like an export before storing it."""
    first = next(chunks, b"")
    start = first.removeprefix(b"\xef\xbb\xbf").lstrip()[:2]
    if start != b"PK" and start[:1] not in (b"[", b"{"):
        raise NotImportedError(NOT_AN_EXPORT)
    yield first
    yield from chunks


@transaction.atomic
def cancel(job: ImportJob) -> bool:
    """Stop the job and keep what was imported. False if it has already ended."""
    stopped = ImportJob.objects.filter(pk=job.pk, state__in=OPEN).update(
        state=State.CANCELLED, claim=None, lease_until=None, finished_at=timezone.now()
    )
    if stopped:
        ImportPart.objects.filter(job=job).delete()
        _notify(job)
    return bool(stopped)


@transaction.atomic
def resume_now(job: ImportJob) -> bool:
    """Queue the job now instead of waiting for the scheduler. False if it has ended."""
    is_waiting = ImportJob.objects.filter(pk=job.pk, state=State.WAITING).update(not_before=timezone.now(), attempts=0)
    is_stale = ImportJob.objects.filter(pk=job.pk, state=State.RUNNING, lease_until__lte=timezone.now()).exists()
    if is_waiting or is_stale:
        IMPORTS.enqueue(job)
    return bool(is_waiting or is_stale)


# Reading ---------------------------------------------------------------------------------------------------------


def run_import(job_id: int) -> bool:
    """Worker entry point: read one stretch, if the job is due and unclaimed; return whether there is more to read."""
    job = IMPORTS.claim(job_id)
    if job is None:
        return False
    try:
        with open_file(job) as file:
            return _READERS[_detect_origin(job, file)](job, file)
    except NotImportedError as refusal:
        return _finish(job, State.FAILED, str(refusal))


def _detect_origin(job: ImportJob, file: BinaryIO) -> str:
    """The service that exported the file; detected once."""
    if not job.origin:
        job.origin = ARCHIVE if is_archive(file) else _scan(job, file)
        IMPORTS.claimed(job).update(origin=job.origin, total=job.total)
        _notify(job)
    return job.origin


def _scan(job: ImportJob, file: BinaryIO) -> str:
    """Count the entries and detect which service exported them."""
    total, origin = 0, ""
    for raw in entries.raw_entries(file):
        origin = origin or entries.detect_origin(raw)
        total += 1
    if not origin:
        raise NotImportedError(NOT_AN_EXPORT)
    job.total = total
    return origin


def _read_entries(job: ImportJob, file: BinaryIO) -> bool:
    """Import entries until the file or the stretch ends."""
    until = time.monotonic() + STRETCH_SECONDS
    for raw in islice(entries.raw_entries(file), job.done, None):
        if not _import_entry(job, raw):
            return False
        if time.monotonic() > until:
            return _continue_later(job)
    return _finish(job, State.DONE)


def _read_archive(job: ImportJob, file: BinaryIO) -> bool:
    """Restore everything in one transaction: an account is never left half filled."""
    with transaction.atomic():
        if _lock_claimed(job) is None:
            return False
        counts = restore_archive(job.user, file)
        IMPORTS.claimed(job).update(counts=counts, done=sum(counts.values()), total=sum(counts.values()))
        return _finish(job, State.DONE)


_READERS: Final[Mapping[str, Callable[[ImportJob, BinaryIO], bool]]] = {
    "chatgpt": _read_entries,
    "claude": _read_entries,
    ARCHIVE: _read_archive,
}


@transaction.atomic
def _import_entry(job: ImportJob, raw: bytes | None) -> bool:
    """Store and count one entry in one transaction. False if the job was canceled or another worker has it now."""
    if _lock_claimed(job) is None:
        return False
    counts = Counter(job.counts.get("counted", {}))
    names = list(job.counts.get("broken", []))
    for found in entries.parse_entry(raw):
        if isinstance(found, BrokenEntryError):
            counts["broken"] += 1
            names.append(str(found) or f"entry {job.done + 1}")
        else:
            counts += _store_entry(job.user, job.origin, found)
    job.counts = {"counted": dict(counts), "broken": names[:MAX_NAMED]}
    job.done += 1
    IMPORTS.renew(job, done=job.done, counts=job.counts, attempts=0)
    return True


def _store_entry(user: User, origin: str, entry: ParsedEntry) -> Counter[str]:
    """Store the contents of an entry; return how many of each kind."""
    counts: Counter[str] = Counter()
    if entry.conversation is not None:
        stored = store_conversation(user, entry.conversation)
        counts[_outcome(stored.conversation_id, stored.is_new, stored.messages)] += 1
        counts["messages"] += stored.messages
        counts["left_out"] += entry.conversation.omitted_parts if stored.messages else 0
    for file in entry.files:
        counts["documents"] += store_document(user, origin, ImportedFile(file.key, file.name, file.text, file.folder))
    counts += propose(user, origin, entry.memories)
    return counts


def _outcome(conversation_id: UUID | None, is_new: bool, messages: int) -> str:
    if conversation_id is None:
        return "empty"
    return "new" if is_new else "extended" if messages else "known"


def _lock_claimed(job: ImportJob) -> ImportJob | None:
    """Lock the user's row, so that nothing is forgotten meanwhile, then the job's.

    None if it was canceled or forgotten, another worker has it now, or the account is gone.
    """
    return IMPORTS.lock_claimed(job) if try_lock_user(job.user_id) else None


@transaction.atomic
def _continue_later(job: ImportJob) -> bool:
    """Queue the next stretch; False if the claim was lost."""
    claimed = _lock_claimed(job)
    if claimed is not None:
        IMPORTS.restart(claimed, attempts=0)
    return claimed is not None


@transaction.atomic
def _finish(job: ImportJob, state: ImportJob.State, error: str = "") -> bool:
    """End the job and drop its file. Always False: there is nothing more to read."""
    claimed = _lock_claimed(job)
    if claimed is not None:
        IMPORTS.finish(claimed, state, error=error)
    return False


# Extraction ------------------------------------------------------------------------------------------------------


def count_unread(user: User, origin: str) -> int:
    """How many imported conversations of this origin were never queued for the librarian."""
    return int(_unread(user, origin).count())


def _unread(user: User, origin: str) -> Any:
    return (
        Conversation.objects.not_deleted()
        .for_user(user)
        .filter(origin=origin, librarian_runs__isnull=True, active_leaf__isnull=False)
    )


@transaction.atomic
def request_readings(user: User, origin: str) -> int:
    """Have the librarian read the imported conversations of this origin, newest first; return how many.

    Only writes rows, each with its own start time: the scheduler queues them.
    """
    now = timezone.now()
    rows = _unread(user, origin).order_by("-last_activity_at", "pk").values_list("pk", "next_seq")
    runs = [
        LibrarianRun(
            user=user,
            conversation_id=pk,
            first_seq=1,
            last_seq=next_seq - 1,
            trigger="asked",
            not_before=now + place * RUN_INTERVAL,
        )
        for place, (pk, next_seq) in enumerate(rows)
        if next_seq > 1
    ]
    LibrarianRun.objects.bulk_create(runs, batch_size=500, ignore_conflicts=True)
    return len(runs)
