"""How does an export come in, without anybody waiting? The file is kept as rows, and read in the background.

    accept         check its size and beginning; keep it in pieces; queue
    carry_out      claim the row · look what it is · take entry after entry, each in one transaction · queue again
    cancel         between two entries; what came in by then stays
    read_too       have the librarian read what came in, newest first
    requeue_due    by the clock: what waits, or whose worker was lost, is queued again

The row is the truth: `done` says how many entries were taken. No task may take longer than a few minutes, so a long
file is read in stretches; a stretch that was cut off is begun again where it stood. Each entry is idempotent.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, Final
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from chat.archive.restore import is_archive, restore_archive
from chat.archive.safe_zip import MEGABYTE, NotImportedError
from chat.importing import entries
from chat.importing.entries import NOT_AN_EXPORT
from chat.importing.file_parts import keep_parts, opened
from chat.importing.threads import BrokenEntryError, ParsedEntry
from chat.importing.upsert import store_conversation
from chat.models import Conversation, ImportJob, ImportPart
from memory.documents.tree import fitting_name
from memory.forget_epoch import try_lock_user
from memory.librarian.imported import Brought, keep_document, propose
from memory.models import LibrarianRun
from recall.celery import LEASE_SECONDS, enqueue_on_commit
from recall.db.notify import publish_event

if TYPE_CHECKING:
    from accounts.models import User

TASK: Final = "chat.tasks.import_conversations"
LEASE: Final = timedelta(seconds=LEASE_SECONDS)
"""When a worker that does not come back counts as dead: no task takes longer."""
STRETCH_SECONDS: Final = 60.0
"""How long one task reads: others have their turn in between, and a killed worker loses little."""
MAX_ATTEMPTS: Final = 5
"""Stretches begun in a row that took nothing."""
REQUEUE_AT_ONCE: Final = 100
BETWEEN_READINGS: Final = timedelta(seconds=2)
"""Between the librarian's runs over imported conversations: talk that is going on is read before them."""
ARCHIVE: Final = "recall"
"""Origin of a Recall archive."""
MAX_NAMED: Final = 20
"""Broken entries that are named; the others are counted."""
MAX_WAITING: Final = 5
"""Unfinished imports of one user: together they must not fill the database."""

GAVE_UP: Final = f"Reading was begun {MAX_ATTEMPTS} times and never came to an end; the worker's log says why."
TOO_MANY: Final = f"{MAX_WAITING} files are waiting already. Try again when one of them is read."
EMPTY: Final = "This file is empty."

State = ImportJob.State
OPEN: Final = (State.WAITING, State.RUNNING)


# Asking for it ---------------------------------------------------------------------------------------------------


@transaction.atomic
def accept(user: User, name: str, size: int, chunks: Iterable[bytes]) -> ImportJob:
    """Keep a file to be read in the background.

    Raises:
        NotImportedError: one sentence on why not.
    """
    largest = settings.ENVIRONMENT.max_import_mb
    if size > largest * MEGABYTE:
        raise NotImportedError(f"This file has {size / MEGABYTE:,.0f} MB; {largest:,} MB are the limit.")
    if not size:
        raise NotImportedError(EMPTY)
    if ImportJob.objects.for_user(user).filter(state__in=OPEN).count() >= MAX_WAITING:
        raise NotImportedError(TOO_MANY)
    job = ImportJob.objects.create(user=user, name=fitting_name(name), size=size)
    keep_parts(job, _checked(iter(chunks)))
    _queue(job)
    return job


def _checked(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The same chunks; a file that begins like no export is refused before it is kept."""
    first = next(chunks, b"")
    begins = first.removeprefix(b"\xef\xbb\xbf").lstrip()[:2]
    if begins != b"PK" and begins[:1] not in (b"[", b"{"):
        raise NotImportedError(NOT_AN_EXPORT)
    yield first
    yield from chunks


@transaction.atomic
def cancel(job: ImportJob) -> bool:
    """Stop it; what came in stays. False: it has come to an end before."""
    stopped = ImportJob.objects.filter(pk=job.pk, state__in=OPEN).update(
        state=State.CANCELLED, claim=None, lease_until=None, finished_at=timezone.now()
    )
    if stopped:
        ImportPart.objects.filter(job=job).delete()
        _tell(job)
    return bool(stopped)


@transaction.atomic
def go_on_now(job: ImportJob) -> bool:
    """Read on without waiting for the clock; False: it has come to an end, and its file is gone."""
    waits = ImportJob.objects.filter(pk=job.pk, state=State.WAITING).update(not_before=timezone.now(), attempts=0)
    overdue = ImportJob.objects.filter(pk=job.pk, state=State.RUNNING, lease_until__lte=timezone.now()).exists()
    if waits or overdue:
        _queue(job)
    return bool(waits or overdue)


def requeue_due() -> int:
    """Queue the imports whose time has come, and those whose worker was lost; how many they were."""
    due = ImportJob.objects.due(timezone.now()).order_by("not_before", "pk").values_list("pk", flat=True)
    found = list(due[:REQUEUE_AT_ONCE])
    for pk in found:
        enqueue_on_commit(TASK, pk)
    return len(found)


def _queue(job: ImportJob) -> None:
    enqueue_on_commit(TASK, job.pk)
    _tell(job)


def _tell(job: ImportJob) -> None:
    publish_event(f"user-{job.user_id}", "import", job=job.pk)


# Doing it --------------------------------------------------------------------------------------------------------


def run_import(job_id: int) -> bool:
    """Read one stretch of it, if it is due and nobody else is at it; whether there is more to read."""
    job = _claim(job_id)
    if job is None:
        return False
    try:
        with opened(job) as file:
            return _READERS[_origin(job, file)](job, file)
    except NotImportedError as refusal:
        return _finish(job, State.FAILED, str(refusal))


@transaction.atomic
def _claim(job_id: int) -> ImportJob | None:
    """Make it this worker's own until its lease ends; None: it is not due, or another worker has it."""
    now = timezone.now()
    due = ImportJob.objects.due(now).select_related("user")
    job: ImportJob | None = due.filter(pk=job_id).select_for_update(skip_locked=True, of=("self",)).first()
    if job is None:
        return None
    job.state, job.claim, job.lease_until = State.RUNNING, uuid4(), now + LEASE
    job.attempts += 1
    job.save(update_fields=["state", "claim", "lease_until", "attempts"])
    if job.attempts > MAX_ATTEMPTS:
        _finish(job, State.FAILED, job.error or GAVE_UP)
        return None
    return job


def _origin(job: ImportJob, file: BinaryIO) -> str:
    """What the file is; looked at once."""
    if not job.origin:
        job.origin = ARCHIVE if is_archive(file) else _look(job, file)
        _mine(job).update(origin=job.origin, total=job.total)
        _tell(job)
    return job.origin


def _look(job: ImportJob, file: BinaryIO) -> str:
    """Count the entries, and see whose export it is."""
    total, origin = 0, ""
    for raw in entries.raw_entries(file):
        origin = origin or entries.origin(raw)
        total += 1
    if not origin:
        raise NotImportedError(NOT_AN_EXPORT)
    job.total = total
    return origin


def _read_on(job: ImportJob, file: BinaryIO) -> bool:
    """Take entry after entry, for as long as a stretch lasts."""
    until = time.monotonic() + STRETCH_SECONDS
    for raw in islice(entries.raw_entries(file), job.done, None):
        if not _take(job, raw):
            return False
        if time.monotonic() > until:
            return _go_on(job)
    return _finish(job, State.DONE)


def _read_archive(job: ImportJob, file: BinaryIO) -> bool:
    """Everything in one transaction: an account is never left half filled."""
    with transaction.atomic():
        if not _held(job):
            return False
        counts = restore_archive(job.user, file)
        _mine(job).update(counts=counts, done=sum(counts.values()), total=sum(counts.values()))
        job.refresh_from_db()
        return _finish(job, State.DONE)


_READERS: Final[Mapping[str, Callable[[ImportJob, BinaryIO], bool]]] = {
    "chatgpt": _read_on,
    "claude": _read_on,
    ARCHIVE: _read_archive,
}


@transaction.atomic
def _take(job: ImportJob, raw: bytes | None) -> bool:
    """Keep one entry and count it: both or nothing. False: the job was cancelled, or another worker has it now."""
    if not _held(job):
        return False
    counts = Counter(job.counts.get("counted", {}))
    names = list(job.counts.get("broken", []))
    for found in entries.understood(raw):
        if isinstance(found, BrokenEntryError):
            counts["broken"] += 1
            names.append(str(found) or f"entry {job.done + 1}")
        else:
            counts += _kept(job.user, job.origin, found)
    job.counts = {"counted": dict(counts), "broken": names[:MAX_NAMED]}
    job.done += 1
    _mine(job).update(done=job.done, counts=job.counts, attempts=0, lease_until=timezone.now() + LEASE)
    return True


def _kept(user: User, origin: str, found: ParsedEntry) -> Counter[str]:
    """Keep all that an entry holds; what there was."""
    counts: Counter[str] = Counter()
    if found.thread is not None:
        kept = store_conversation(user, found.thread)
        counts[_what_became(kept.conversation_id, kept.is_new, kept.messages)] += 1
        counts["messages"] += kept.messages
        counts["left_out"] += found.thread.left_out if kept.messages else 0
    for one in found.attached:
        counts["documents"] += keep_document(user, origin, Brought(one.key, one.name, one.text, one.folder))
    counts += propose(user, origin, found.memories)
    return counts


def _what_became(conversation_id: UUID | None, is_new: bool, messages: int) -> str:
    if conversation_id is None:
        return "empty"
    return "new" if is_new else "extended" if messages else "known"


def _held(job: ImportJob) -> bool:
    """Hold the person's row, so that nothing is forgotten meanwhile, then the job's, so that nobody takes it over.

    False: it was cancelled or forgotten, another worker has it now, or the account is gone.
    """
    return try_lock_user(job.user_id) and _mine(job).select_for_update(of=("self",), no_key=True).first() is not None


def _mine(job: ImportJob) -> Any:
    """The row, as long as the claim stands."""
    return ImportJob.objects.filter(pk=job.pk, state=State.RUNNING, claim=job.claim)


@transaction.atomic
def _go_on(job: ImportJob) -> bool:
    """The stretch is over and there is more: the next task takes it."""
    goes_on = _mine(job).update(state=State.WAITING, claim=None, lease_until=None, attempts=0)
    if goes_on:
        _queue(job)
    return bool(goes_on)


@transaction.atomic
def _finish(job: ImportJob, state: ImportJob.State, error: str = "") -> bool:
    """The file is not needed any more. Always False: there is no more to read."""
    ended = _mine(job).update(
        state=state, error=error, claim=None, lease_until=None, finished_at=timezone.now(), attempts=F("attempts")
    )
    if ended:
        ImportPart.objects.filter(job=job).delete()
        _tell(job)
        publish_event(f"user-{job.user_id}", "conversations")
    return False


# Having it read --------------------------------------------------------------------------------------------------


def unread(user: User, origin: str) -> int:
    """How many imported conversations of this origin the librarian has not been asked to read."""
    return int(_unread(user, origin).count())


def _unread(user: User, origin: str) -> Any:
    return (
        Conversation.objects.not_deleted()
        .for_user(user)
        .filter(origin=origin, librarian_runs__isnull=True, active_leaf__isnull=False)
    )


@transaction.atomic
def read_too(user: User, origin: str) -> int:
    """Have the librarian read what came in from there, the newest first, one by one; how many there are.

    Only rows are written: each has its own time, and the clock queues it then. Talk that is going on is read before.
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
            not_before=now + place * BETWEEN_READINGS,
        )
        for place, (pk, next_seq) in enumerate(rows)
        if next_seq > 1
    ]
    LibrarianRun.objects.bulk_create(runs, batch_size=500, ignore_conflicts=True)
    return len(runs)
