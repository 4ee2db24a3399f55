"""Extraction jobs: one run reads one range of a conversation and stores the facts found in it, exactly once.

`request_reading` writes a row and queues a task; `run_extraction` claims the row, extracts without a database
connection and writes everything in the transaction that ends the run (`recall/jobs.py`). So a worker may be killed at
any moment, and a task delivered twice, without anything being stored twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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
from memory.facts.links import create_superseding, link
from memory.forget_epoch import forget_epoch
from memory.librarian import document_updates, episodes, spending
from memory.librarian.decision import Decision, Outcome, Policy, decide
from memory.librarian.echo import mark_echoes
from memory.librarian.engine import (
    Extraction,
    ExtractionEngine,
    ExtractionError,
    ExtractionInput,
    KnownFact,
    ProposedEpisode,
    ProposedFact,
    Relation,
    Usage,
)
from memory.librarian.known_facts import load_known_facts, load_similarities, to_known_fact
from memory.librarian.placement import load_existing
from memory.librarian.policies import policy_for
from memory.librarian.store import create_fact
from memory.models import Fact, FactLink, LibrarianRun
from memory.ports.source import Utterance, get_source
from recall.celery import enqueue_on_commit
from recall.db.connections import release_connection
from recall.db.notify import publish_event
from recall.jobs import LeasedJob

if TYPE_CHECKING:
    from memory.embeddings.limits import Vectors
    from memory.models.facts import FactQuerySet

RETRY_AFTER: Final = (timedelta(seconds=30), timedelta(minutes=2), timedelta(minutes=10), timedelta(hours=1))
"""Pause after each failed attempt: a hiccup is over in seconds, an outage of the provider in an hour."""
MAX_ATTEMPTS: Final = len(RETRY_AFTER) + 1
CHECK_LIMIT_AFTER: Final = timedelta(hours=1)
"""While a limit stops spending: it may be raised before its period ends."""
MAX_KNOWN_FACTS: Final = 150
"""Known facts an engine is shown: those with a key, then the newest. The decision compares with all of them."""
COMPATIBLE_RELATIONS: Final = {
    Relation.PART_OF: FactLink.Relation.PART_OF,
    Relation.DEPENDS_ON: FactLink.Relation.DEPENDS_ON,
    Relation.CAUSED_BY: FactLink.Relation.CAUSED_BY,
    Relation.RELATED_TO: FactLink.Relation.RELATED_TO,
}
"""Links an engine may propose between two active facts."""
MAX_LINK_STRENGTH: Final = 0.7
"""Of those links: they are the engine's inference, not the user's words."""
REINFORCEMENT: Final = 0.05
"""Added to a fact's confidence when the user says it again."""

CONFLICT: Final = "These memories were changed at the same time."

State = LibrarianRun.State


def choose_engine() -> ExtractionEngine:
    """What extracts: the model, or the rules where the operator says so or there is no model."""
    choice = settings.ENVIRONMENT.librarian_engine
    # Late imports: the SDK takes a second to load and the rules' patterns a third, and each process needs one at most.
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


def request_reading(user: User, conversation_id: UUID, first: int, last: int, trigger: str) -> LibrarianRun | None:
    """Queue messages `first` to `last` for reading, within the caller's transaction; None if there are none.

    A range is read once: another request returns the existing run.
    """
    if last < first:
        return None
    run: LibrarianRun
    run, created = LibrarianRun.objects.get_or_create(
        conversation_id=conversation_id, first_seq=first, last_seq=last, defaults={"user": user, "trigger": trigger}
    )
    if created:
        RUNS.enqueue(run)
    return run


# Extraction ------------------------------------------------------------------------------------------------------


def run_extraction(run_id: int) -> None:
    """Worker entry point: carry out a run, if it is due and no other worker has it."""
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
    try:
        _commit_extraction(run, reading, replace(extraction, facts=proposals), vectors, updates, epoch)
    except IntegrityError:  # a user, or another worker, took the same key, or the message is gone
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
    active = [fact for fact in load_known_facts(user) if fact.status == Fact.Status.ACTIVE]
    shown = sorted(active, key=lambda fact: (not fact.key, -fact.fact_id))[:MAX_KNOWN_FACTS]
    known = [replace(fact, number=number) for number, fact in enumerate(shown, start=1)]
    paths = [document.path for document in load_existing(user)]
    return ExtractionInput(utterances, user.preferred_name, user.zone, known, paths)


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
    """Add what an attempt cost to the run and to the user's day, in the transaction that stores its result or error."""
    run.cost += spending.record_usage(run.user_id, usage)
    run.input_tokens += usage.input_tokens
    run.output_tokens += usage.output_tokens


# Commit ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _RunState:
    """What a run has stored so far."""

    run: LibrarianRun
    reading: ExtractionInput
    known: list[KnownFact]
    vectors: dict[int, Any] = field(default_factory=dict)
    """Of the facts this run added, by fact id; unit length."""
    learned: int = 0
    waiting: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def cosines(self, vector: Any) -> dict[int, float]:
        """Similarity of a statement to those this run has added."""
        return {fact_id: float(vector @ other) for fact_id, other in self.vectors.items()}


@transaction.atomic
def _commit_extraction(
    run: LibrarianRun,
    reading: ExtractionInput,
    extraction: Extraction,
    vectors: Vectors | list[None],
    updates: document_updates.DocumentUpdates,
    epoch: int,
) -> None:
    """Decide on every proposal, store the facts and end the run, or read again if something was forgotten meanwhile.

    `epoch`: the forget epoch in which the messages were read.
    """
    # Lock the user row: concurrent runs would otherwise store the same fact twice.
    user: User | None = User.objects.select_for_update(no_key=True).filter(pk=run.user_id).first()
    locked = RUNS.lock_claimed(run)
    if user is None:
        return  # the account is gone, and its counters with it
    if locked is None:
        spending.record_usage(user.pk, extraction.usage)
        return
    _record_usage(locked, extraction.usage)
    if forget_epoch(user.pk) != epoch:
        RUNS.restart(locked, attempts=locked.attempts - 1, not_before=timezone.now())
        return
    numbers = {fact.fact_id: fact.number for fact in reading.known}
    known = [replace(fact, number=numbers.get(fact.fact_id)) for fact in load_known_facts(user, lock=True)]
    state, policy = _RunState(locked, reading, known), policy_for(user)
    similarities = load_similarities(user, vectors)
    for proposal, vector, similarity in zip(extraction.facts, vectors, similarities, strict=True):
        cosines = similarity | state.cosines(vector)
        _apply_decision(decide(proposal, reading.utterances, state.known, policy, cosines), proposal, vector, state)
    _record_episode(extraction.episode, state)
    _write_documents(updates, state, policy, user)
    refresh_profile(user)
    RUNS.finish(locked, State.DONE, learned=state.learned, waiting=state.waiting, dropped=dict(state.dropped))


def _apply_decision(decision: Decision, proposal: ProposedFact, vector: object, state: _RunState) -> None:
    match decision.outcome:
        case Outcome.KEEP:
            _supersede_then_add(decision, proposal, vector, state)
            state.learned += 1
        case Outcome.PROPOSE | Outcome.QUARANTINE:
            _propose(decision, proposal, vector, state)
            state.waiting += 1
        case Outcome.REINFORCE:
            _reinforce(decision, proposal, state)
            state.dropped[decision.reason] += 1
        case Outcome.DROP:
            state.dropped[decision.reason] += 1


def _supersede_then_add(decision: Decision, proposal: ProposedFact, vector: object, state: _RunState) -> None:
    """Supersede the old fact first: only one active fact may have the key."""
    state.known = [fact for fact in state.known if fact.fact_id != decision.supersedes]
    create_superseding(decision.supersedes, lambda: _add(decision, proposal, vector, state, Fact.Status.ACTIVE))


def _propose(decision: Decision, proposal: ProposedFact, vector: object, state: _RunState) -> None:
    """A proposal, linked to the fact that it contradicts."""
    fact = _add(decision, proposal, vector, state, Fact.Status.PROPOSED)
    if decision.supersedes is not None:
        link(fact.user_id, fact.pk, FactLink.Relation.CONTRADICTS, decision.supersedes, proposal.confidence)


def _add(decision: Decision, proposal: ProposedFact, vector: object, state: _RunState, status: Fact.Status) -> Fact:
    said = decision.evidence or _claimed_message(proposal, state.reading)
    fact = create_fact(
        state.run.user_id,
        proposal,
        status=status,
        reason=decision.reason,
        source=Fact.Source.STATED if decision.evidence else Fact.Source.INFERRED,
        said=said,
        vector=vector,
        extracted_by=state.run.engine,
        run=state.run,
    )
    if decision.evidence:
        _link_to_known(proposal, fact, decision.supersedes, state)
    said_at = said.said_at if said else fact.recorded_at
    state.known.append(to_known_fact(fact, said_at))
    state.vectors[fact.pk] = vector
    return fact


def _link_to_known(proposal: ProposedFact, fact: Fact, superseded: int | None, state: _RunState) -> None:
    """Link to the active fact that the engine names as related."""
    relation = COMPATIBLE_RELATIONS.get(proposal.relation)
    other = next((known for known in state.known if known.number == proposal.related_to is not None), None)
    if relation is None or other is None or other.status != Fact.Status.ACTIVE or other.fact_id == superseded:
        return
    link(fact.user_id, fact.pk, relation, other.fact_id, min(proposal.confidence, MAX_LINK_STRENGTH))


def _reinforce(decision: Decision, proposal: ProposedFact, state: _RunState) -> None:
    """Raise the confidence of a fact that is said again, and restore it from the archive."""
    known = next(fact for fact in state.known if fact.fact_id == decision.reinforces)
    confidence = reinforced(known.confidence, proposal.confidence)
    fact = Fact.objects.filter(pk=known.fact_id)
    fact.update(confidence=confidence)
    fact.filter(status=Fact.Status.ARCHIVED).update(status=Fact.Status.ACTIVE)
    _adopt_evidence(decision.evidence, proposal.quote, fact)
    state.known = [replace(f, confidence=confidence) if f is known else f for f in state.known]


def _adopt_evidence(said: Utterance | None, quote: str, fact: FactQuerySet) -> None:
    """Make a statement of the user the evidence of an imported or inferred fact, which then never fades."""
    if said is not None:
        taken_over = fact.filter(status=Fact.Status.ACTIVE, source__in=[Fact.Source.IMPORTED, Fact.Source.INFERRED])
        taken_over.update(source=Fact.Source.STATED, message_id=said.message_id, quote=quote)


def _write_documents(updates: document_updates.DocumentUpdates, state: _RunState, policy: Policy, user: User) -> None:
    """Write documents. A line is decided on like a fact: what needs the user's approval becomes a proposal."""
    kept: list[tuple[document_updates.PlacedLine, Utterance]] = []
    similarities = load_similarities(user, [line.vector for line in updates.lines])
    for line, similarity in zip(updates.lines, similarities, strict=True):
        near = similarity | state.cosines(line.vector)
        decision = decide(line.proposal, state.reading.utterances, state.known, policy, near)
        if decision.evidence is not None and decision.outcome in (Outcome.KEEP, Outcome.REINFORCE):
            kept.append((line, decision.evidence))
        else:
            _apply_decision(decision, line.proposal, line.vector, state)
    document_updates.write_lines(user, kept)
    state.dropped.update(document_updates.write_stories(user, updates.stories, state.reading.utterances).refused)
    if updates.digest is not None:
        document_updates.write_digest(user, state.run.conversation_id, updates.digest)


def reinforced(confidence: float, again: float) -> float:
    """Confidence in a fact that is said again with confidence `again`."""
    return min(1.0, max(confidence, again) + REINFORCEMENT)


def _claimed_message(proposal: ProposedFact, reading: ExtractionInput) -> Utterance | None:
    """The message a quarantined proposal names as its source, shown to the reviewer."""
    return next((utterance for utterance in reading.utterances if utterance.number == proposal.number), None)


def _record_episode(proposal: ProposedEpisode | None, state: _RunState) -> None:
    """Record the episode with the facts this run stored from its turns, or count why not."""
    if proposal is None:
        return
    reason = episodes.refusal(proposal, state.reading.utterances)
    if reason is not None:
        state.dropped[reason] += 1
        return
    episode = episodes.record(state.run, proposal, state.reading.utterances)
    spanned = {said.message_id for said in episodes.spanned_messages(proposal, state.reading.utterances)}
    episode.facts.add(*Fact.objects.filter(run=state.run, message__in=spanned))
    enqueue_on_commit("memory.tasks.embed")
