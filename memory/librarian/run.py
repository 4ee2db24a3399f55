"""Extraction jobs: one run reads one range of a conversation and stores the facts found in it, exactly once.

`request_reading` writes a row and queues a task; `run_extraction` claims the row, extracts without a database
connection and writes everything in the transaction that ends the run (`recall/jobs.py`). So a worker may be killed at
any moment, and a task delivered twice, without anything being stored twice.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import User
from memory.documents.profile_updates import refresh_profile
from memory.embeddings.port import embedder
from memory.forget_epoch import forget_epoch
from memory.index.indexer import mark_made_up
from memory.librarian import document_updates
from memory.librarian.decision import Reason
from memory.librarian.echo import mark_echoes
from memory.librarian.engine import (
    Extraction,
    ExtractionEngine,
    ExtractionError,
    ExtractionInput,
    ProposedFact,
)
from memory.librarian.known_facts import load_known_facts
from memory.librarian.placement import load_existing
from memory.librarian.policies import policy_for
from memory.models import Fact, LibrarianRun, MessageChange
from memory.network.reader import load
from memory.ports import spending
from memory.ports.source import get_source
from memory.ports.spending import Usage
from memory.secrets.secrets_filter import MASK
from memory.speech_acts.made_up import made_up
from memory.text.user_text import mask_foreign_text
from memory.updates.pairs import WEIGHTS as UPDATES
from recall.cpu_limit import TOO_LONG
from recall.db.connections import release_connection
from recall.db.notify import publish_event
from recall.db.postgres import new_ids
from recall.db.prepared import PreparedInsert, PreparedQuery
from recall.jobs import LeasedJob

if TYPE_CHECKING:
    from memory.embeddings.limits import Vectors

RETRY_AFTER: Final = (timedelta(seconds=30), timedelta(minutes=2), timedelta(minutes=10), timedelta(hours=1))
"""Pause after each failed attempt: a glitch is over in seconds, an outage of the provider in an hour."""
MAX_ATTEMPTS: Final = len(RETRY_AFTER) + 1
CHECK_LIMIT_AFTER: Final = timedelta(hours=1)
"""How long to wait while a limit stops spending: it may be raised before its period ends."""
MAX_KNOWN_FACTS: Final = 150
"""Known facts shown to an engine: those with a key, then the newest. The decision compares with all of them."""
CONFLICT: Final = "These memories were changed at the same time."

State = LibrarianRun.State


def choose_engine() -> ExtractionEngine:
    """The extraction engine: the model, or the rules if the operator says so or there is no model."""
    choice = settings.ENVIRONMENT.librarian_engine
    # Late imports: the SDK takes a second to load and the rules' patterns a third, and each process needs at most one.
    if choice == "rules" or (choice == "auto" and settings.IS_OFFLINE):
        from memory.librarian.rules.engine import RuleEngine

        return RuleEngine()
    from memory.librarian.model_engine import ModelEngine

    return ModelEngine(settings.ENVIRONMENT.librarian_model)


# Queueing --------------------------------------------------------------------------------------------------------


def _notify(run: LibrarianRun) -> None:
    publish_event(f"user-{run.user_id}", "librarian", conversation=str(run.conversation_id), run=run.pk)


RUNS: Final = LeasedJob(
    LibrarianRun,
    "memory.tasks.read",
    _notify,
    MAX_ATTEMPTS,
    backoff=RETRY_AFTER,
    waiting=State.PENDING,
    eligible=Q(conversation__deleted_at=None),  # if the deletion is undone, the run is picked up after its lease
)

_NEW: Final = PreparedInsert(LibrarianRun, "(conversation_id, first_seq, last_seq) DO NOTHING")
_SAME: Final[PreparedQuery[LibrarianRun]] = PreparedQuery(
    LibrarianRun.objects.filter, conversation_id=UUID, first_seq=int, last_seq=int
)


def request_reading(user_id: int, conversation_id: UUID, first: int, last: int, trigger: str) -> LibrarianRun | None:
    """Queue messages `first` to `last` for reading, within the caller's transaction; None if there are none.

    A range is read once: another request returns the existing run.
    """
    if last < first:
        return None
    (pk,) = new_ids(LibrarianRun, 1)
    which: dict[str, Any] = {"conversation_id": conversation_id, "first_seq": first, "last_seq": last}
    _NEW([LibrarianRun(pk=pk, user_id=user_id, trigger=trigger, **which)])
    run = _SAME.first(**which)
    if run is not None and run.pk == pk:
        RUNS.enqueue(run)
    return run


# Extraction ------------------------------------------------------------------------------------------------------


def run_extraction(run_id: int) -> None:
    """Worker entry point: carry out a run if it is due and no other worker has it."""
    from memory.librarian.changed_messages import find_changed_messages  # late: its patterns take a third of a second

    engine = choose_engine()
    run = _claim(run_id, engine)
    if run is None:
        return
    epoch = forget_epoch(run.user_id)
    reading = _load_input(run)
    release_connection()
    try:
        extraction = engine.extract(reading)
    except ExtractionError as failure:
        _reschedule(run, str(failure), failure.usage, final=failure.final)
        return
    proposals = [proposal.normalized() for proposal in extraction.facts]
    vectors = _embed_statements(proposals)
    updates = document_updates.prepare_updates(run, extraction)
    played = _made_up_in(reading)
    earnest = [said for said in reading.utterances if said.speaker == "user" and said.message_id not in played]
    RUNS.renew(run)  # what follows takes a time of its own, and the lease was for the engine
    changes = find_changed_messages(run.user, earnest)
    load(UPDATES)  # here, as the commit locks the user's row
    try:
        _commit_extraction(run, reading, replace(extraction, facts=proposals), vectors, updates, played, changes, epoch)
    except IntegrityError:  # a user or another worker took the same key, or the message is gone
        _reschedule(run, CONFLICT, extraction.usage, final=False)


@transaction.atomic
def _claim(run_id: int, engine: ExtractionEngine) -> LibrarianRun | None:
    run = RUNS.lock_due(run_id)
    if run is None:
        return None
    stop = spending.get_spending_stop(run.user_id) if engine.uses_tokens else None
    if stop is not None:  # not counted as an attempt: nothing failed
        run.not_before, run.error = min(stop.until, timezone.now() + CHECK_LIMIT_AFTER), stop.sentence
        run.save(update_fields=["not_before", "error"])
    else:
        RUNS.start(run, engine.max_duration, engine=engine.version)
    _notify(run)
    return run if stop is None else None


def _load_input(run: LibrarianRun) -> ExtractionInput:
    utterances = mark_echoes(*get_source().load_range(run.conversation_id, run.first_seq, run.last_seq))
    user: User = User.objects.get(pk=run.user_id)
    facts = load_known_facts(user)
    active = [fact for fact in facts if fact.status == Fact.Status.ACTIVE]
    waiting = [fact.statement for fact in facts if fact.status == Fact.Status.PROPOSED]
    shown = sorted(active, key=lambda fact: (not fact.key, -fact.fact_id))[:MAX_KNOWN_FACTS]
    known = [replace(fact, number=number) for number, fact in enumerate(shown, start=1)]
    paths = [document.path for document in load_existing(user)]
    return ExtractionInput(utterances, user.preferred_name, user.zone, known, paths, waiting)


def _made_up_in(reading: ExtractionInput) -> list[int]:
    """The user's messages that make something up, read in their order."""
    said = [utterance for utterance in reading.utterances if utterance.speaker == "user"]
    readings = zip(said, made_up(mask_foreign_text(one.text, one.echoes) for one in said), strict=True)
    return [utterance.message_id for utterance, is_made_up in readings if is_made_up]


def _embed_statements(proposals: Sequence[ProposedFact]) -> Vectors | list[None]:
    return embedder().embed([proposal.statement for proposal in proposals]) if proposals else []


@transaction.atomic
def _reschedule(run: LibrarianRun, error: str, usage: Usage, *, final: bool) -> None:
    locked = RUNS.lock_claimed(run)
    if locked is None:
        spending.record_usage(run.user_id, usage)
        return
    _record_usage(locked, usage)
    RUNS.reschedule(locked, error, final=final)


def _record_usage(run: LibrarianRun, usage: Usage) -> None:
    """Add an attempt's cost to the run and to the user's day, in the transaction that stores its result or error."""
    run.cost += spending.record_usage(run.user_id, usage)
    run.input_tokens += usage.input_tokens
    run.output_tokens += usage.output_tokens


@transaction.atomic
def _commit_extraction(
    run: LibrarianRun,
    reading: ExtractionInput,
    extraction: Extraction,
    vectors: Vectors | list[None],
    updates: document_updates.DocumentUpdates,
    played: Collection[int],
    changes: Sequence[MessageChange],
    epoch: int,
) -> None:
    """Decide on every proposal, store the facts and end the run; or read again if something was forgotten meanwhile.

    `played`: the messages that make something up. `changes`: of earlier messages. `epoch`: the forget epoch in
    which the messages were read.
    """
    from memory.librarian.commit import RunState, store_extraction  # late, too

    # Lock the user row: concurrent runs would otherwise store the same fact twice.
    user: User | None = User.objects.select_for_update(no_key=True).filter(pk=run.user_id).first()
    locked = RUNS.lock_claimed(run)
    if user is None:
        return  # the account and its counters are gone
    if locked is None:
        spending.record_usage(user.pk, extraction.usage)
        return
    _record_usage(locked, extraction.usage)
    if forget_epoch(user.pk) != epoch:
        RUNS.restart(locked, attempts=locked.attempts - 1, not_before=timezone.now())
        return
    numbers = {fact.fact_id: fact.number for fact in reading.known}
    known = [replace(fact, number=numbers.get(fact.fact_id)) for fact in load_known_facts(user, lock=True)]
    mark_made_up(user.pk, played)
    state = store_extraction(RunState(locked, reading, known, policy_for(user)), extraction, vectors, updates)
    refresh_profile(user)
    masked = sum(MASK in said.text for said in reading.utterances if said.speaker == "user")
    state.dropped.update(
        {why: times for why, times in ((TOO_LONG, extraction.skipped), (Reason.SECRET, masked)) if times}
    )
    MessageChange.objects.bulk_create(changes, ignore_conflicts=True)
    RUNS.finish(locked, State.DONE, learned=state.learned, waiting=state.waiting, dropped=dict(state.dropped))
