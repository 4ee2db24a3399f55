"""What does the page say of an import? One row a file, with its progress and what came of it, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.utils.text import get_text_list

from chat.importing.jobs import ARCHIVE, unread
from chat.models import ImportJob
from memory.librarian.imported import NAMES

if TYPE_CHECKING:
    from accounts.models import User

LISTED: Final = 20
"""Imports on the page, the latest first."""
State = ImportJob.State
BUSY: Final = (State.WAITING, State.RUNNING)


@dataclass(frozen=True, slots=True)
class ShownJob:
    """An import as the page shows it."""

    job: ImportJob
    origin: str
    """As people know it; empty: not known yet."""
    sentence: str
    """How far it is, or how it ended."""
    results: tuple[str, ...]
    """What came of it, a sentence each."""
    broken: tuple[str, ...]
    """What could not be read, by name."""
    percent: int | None
    """None: it has not been counted yet."""

    @property
    def is_busy(self) -> bool:
        """Whether it waits or is being read."""
        return self.job.state in BUSY


@dataclass(frozen=True, slots=True)
class Unread:
    """Conversations that came in and that the librarian has not read."""

    origin: str
    name: str
    count: int


def shown_jobs(user: User) -> list[ShownJob]:
    """The latest imports."""
    return [shown(job) for job in ImportJob.objects.for_user(user).order_by("-created_at", "-pk")[:LISTED]]


def shown(job: ImportJob) -> ShownJob:
    """One import, from its row alone."""
    counts: Mapping[str, Any] = job.counts
    counted, broken = counts.get("counted", {}), tuple(counts.get("broken", ()))
    results = _archive(counts) if job.origin == ARCHIVE else _results(counted)
    percent = round(100 * job.done / job.total) if job.total else None
    name = "Recall" if job.origin == ARCHIVE else NAMES.get(job.origin, "")
    return ShownJob(job, name, _sentence(job), tuple(results), broken, percent)


def unread_imports(user: User) -> list[Unread]:
    """What the librarian could be asked to read, by origin."""
    told = [Unread(origin, name, unread(user, origin)) for origin, name in NAMES.items()]
    return [one for one in told if one.count]


def _sentence(job: ImportJob) -> str:
    if job.state == State.WAITING and not job.total:
        return "Waiting to be read."
    if job.state in BUSY:
        return f"{job.done:,} of {job.total:,} read." if job.total else "Looking what is in it."
    if job.state == State.CANCELLED:
        return f"Stopped after {job.done:,} of {job.total:,}. What came in until then is here."
    return job.error if job.state == State.FAILED else "Read."


def _archive(counts: Mapping[str, Any]) -> Iterator[str]:
    told = {"chat.conversation": "conversation", "memory.fact": "fact", "memory.document": "document"}
    rows = {name: counts[label] for label, name in told.items() if isinstance(counts.get(label), int)}
    if rows:
        parts = [_many(number, name) for name, number in rows.items()]
        yield f"{get_text_list(parts, 'and')} came in, with all that belongs to them."


def _results(counted: Mapping[str, int]) -> Iterator[str]:
    def number(name: str) -> int:
        return int(counted.get(name, 0))

    talk = [(number("new"), "new"), (number("extended"), "with more than before"), (number("known"), "here already")]
    parts = [f"{count:,} {what}" for count, what in talk if count]
    if parts:
        yield f"Conversations: {get_text_list(parts, 'and')}; {_many(number('messages'), 'message')} came in."
    if number("memories"):
        known = f", {number('memories_known'):,} of them known already" if number("memories_known") else ""
        yield f"{_many(number('memories'), 'memory', 'memories')} for you to review{known}."
    if number("memories_seen"):
        yield f"{_many(number('memories_seen'), 'memory', 'memories')} had come in before."
    if number("memories_refused"):
        refused = _many(number("memories_refused"), "memory", "memories")
        yield f"{refused} not proposed: a secret, too long, of a kind you never want, or rejected by you before."
    if number("documents"):
        yield f"{_many(number('documents'), 'document')} kept below /reference and /projects."
    if number("left_out"):
        yield f"{_many(number('left_out'), 'picture, sound or file', 'pictures, sounds and files')} left out."
    if number("empty"):
        yield f"{_many(number('empty'), 'conversation')} had nothing in it."
    if number("broken"):
        yield f"{_many(number('broken'), 'entry', 'entries')} could not be read."


def _many(number: int, one: str, more: str = "") -> str:
    return f"{number:,} {one if number == 1 else more or f'{one}s'}"
