"""Imports as the page shows them: one row per file, with progress and results in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.utils.text import get_text_list

from chat.importing.jobs import ARCHIVE, count_unread
from chat.models import ImportJob
from memory.librarian.imported import NAMES

if TYPE_CHECKING:
    from accounts.models import User

MAX_LISTED: Final = 20
"""Imports on the page, the latest first."""
State = ImportJob.State
BUSY: Final = (State.WAITING, State.RUNNING)


@dataclass(frozen=True, slots=True)
class ImportView:
    """An import as the page shows it."""

    job: ImportJob
    origin: str
    """The service's name; empty if not known yet."""
    sentence: str
    """Progress or outcome."""
    results: tuple[str, ...]
    """Results, one sentence each."""
    broken: tuple[str, ...]
    """Names of entries that couldn't be read."""
    percent: int | None
    """None: not counted yet."""

    @property
    def is_busy(self) -> bool:
        """Whether it waits or is being read."""
        return self.job.state in BUSY


@dataclass(frozen=True, slots=True)
class Unread:
    """Imported conversations that the librarian hasn't read."""

    origin: str
    name: str
    count: int


def list_imports(user: User) -> list[ImportView]:
    """The latest imports."""
    return [
        describe_import(job) for job in ImportJob.objects.for_user(user).order_by("-created_at", "-pk")[:MAX_LISTED]
    ]


def describe_import(job: ImportJob) -> ImportView:
    """One import, from its row alone."""
    counts: Mapping[str, Any] = job.counts
    counted, broken = counts.get("counted", {}), tuple(counts.get("broken", ()))
    results = _archive(counts) if job.origin == ARCHIVE else _results(counted)
    percent = round(100 * job.done / job.total) if job.total else None
    name = "Recall" if job.origin == ARCHIVE else NAMES.get(job.origin, "")
    return ImportView(job, name, _sentence(job), tuple(results), broken, percent)


def unread_imports(user: User) -> list[Unread]:
    """Imported conversations that the librarian could read, by origin."""
    counted = [Unread(origin, name, count_unread(user, origin)) for origin, name in NAMES.items()]
    return [unread for unread in counted if unread.count]


def _sentence(job: ImportJob) -> str:
    if job.state == State.WAITING and not job.total:
        return "Waiting."
    if job.state in BUSY:
        return f"{job.done:,} of {job.total:,} read." if job.total else "Checking the file."
    if job.state == State.CANCELLED:
        return f"Stopped after {job.done:,} of {job.total:,}. What was imported is kept."
    return job.error if job.state == State.FAILED else "Done."


def _archive(counts: Mapping[str, Any]) -> Iterator[str]:
    names = {"chat.conversation": "conversation", "memory.fact": "fact", "memory.document": "document"}
    rows = {name: counts[label] for label, name in names.items() if isinstance(counts.get(label), int)}
    if rows:
        parts = [_many(number, name) for name, number in rows.items()]
        yield f"{get_text_list(parts, 'and')} imported, with everything that belongs to them."


def _results(counted: Mapping[str, int]) -> Iterator[str]:
    def number(name: str) -> int:
        return int(counted.get(name, 0))

    talk = [(number("new"), "new"), (number("extended"), "extended"), (number("known"), "already here")]
    parts = [f"{count:,} {what}" for count, what in talk if count]
    if parts:
        yield f"Conversations: {get_text_list(parts, 'and')}; {_many(number('messages'), 'message')} imported."
    if number("memories"):
        known = f", {number('memories_known'):,} of them already known" if number("memories_known") else ""
        yield f"{_many(number('memories'), 'memory', 'memories')} to review{known}."
    if number("memories_seen"):
        yield f"{_many(number('memories_seen'), 'memory', 'memories')} already imported."
    if number("memories_refused"):
        refused = _many(number("memories_refused"), "memory", "memories")
        yield f"{refused} not proposed: a secret, too long, of a kind you turned off, or rejected before."
    if number("documents"):
        yield f"{_many(number('documents'), 'document')} saved to Documents."
    if number("left_out"):
        yield f"{_many(number('left_out'), 'picture, sound or file', 'pictures, sounds and files')} skipped."
    if number("empty"):
        yield f"{_many(number('empty'), 'conversation')} empty."
    if number("broken"):
        yield f"{_many(number('broken'), 'entry', 'entries')} couldn't be read."


def _many(number: int, one: str, more: str = "") -> str:
    return f"{number:,} {one if number == 1 else more or f'{one}s'}"
