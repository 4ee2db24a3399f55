"""How does talk become memory? One run reads one stretch of a conversation and settles what it found.

    request_reading   a row is written, a task is queued: the row is the truth, the task only says “look”
    read              claim the row · extract, holding no connection · write everything in one transaction
    requeue_due       by the clock: what waits, or whose worker was lost, is queued again
    retry             by a person: a failed run starts afresh

Facts are written in the transaction that makes the run done, and only by the worker whose claim still stands. So a
worker may be killed at any moment, and a task delivered twice, without anything being learned twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID, uuid4

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import User
from memory.documents.placement import load_existing
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
from memory.librarian.policies import policy_for
from memory.librarian.store import create_fact
from memory.models import Fact, FactLink, LibrarianRun
from memory.ports.source import Utterance, get_source
from recall.celery import enqueue_on_commit
from recall.db.connections import release_connection
from recall.db.notify import publish_event

if TYPE_CHECKING:
    from memory.embeddings.port import Vectors
    from memory.models.facts import FactQuerySet

RETRY_AFTER: Final = (timedelta(seconds=30), timedelta(minutes=2), timedelta(minutes=10), timedelta(hours=1))
"""Pause before each further attempt: a hiccup is over in seconds, an outage of the provider in an hour."""
LOOK_AGAIN_AFTER: Final = timedelta(hours=1)
"""While a limit stops spending: it may be raised before its period ends."""
MAX_ATTEMPTS: Final = len(RETRY_AFTER) + 1
REQUEUE_AT_ONCE: Final = 100
"""Runs queued again at a time, oldest first: a long backlog must not fill the queue with repeats of itself."""
CANDIDATES: Final = 150
"""Known facts an engine is shown: those with a key, then the newest. The decision compares with all of them."""
BOOKED: Final = ("cost", "input_tokens", "output_tokens")
"""Columns that add up over a run's attempts."""
TOGETHER: Final = {
    Relation.PART_OF: FactLink.Relation.PART_OF,
    Relation.DEPENDS_ON: FactLink.Relation.DEPENDS_ON,
    Relation.CAUSED_BY: FactLink.Relation.CAUSED_BY,
    Relation.RELATED_TO: FactLink.Relation.RELATED_TO,
}
"""What an engine may say of two facts that both stand."""
SUPPOSED: Final = 0.7
"""Strongest link of those: how facts hang together is the engine's reading, not the user's words."""
REINFORCEMENT: Final = 0.05
"""What saying a thing again adds to its confidence."""

GAVE_UP: Final = f"The reading was begun {MAX_ATTEMPTS} times and never came to an end; the worker's log says why."
CAME_BETWEEN: Final = "Another change to the same memories came in between."


def choose_engine() -> ExtractionEngine:
    """What extracts: the model, or the rules where the operator says so or there is no model."""
    choice = settings.ENVIRONMENT.librarian_engine
    # Late imports: the SDK takes a second to load and the rules' patterns a third, and each process needs one at most.
    if choice == "rules" or (choice == "auto" and settings.IS_OFFLINE):
        from memory.librarian.rules.engine import RuleEngine

        return RuleEngine()
    from memory.librarian.model_engine import ModelEngine

    return ModelEngine(settings.ENVIRONMENT.librarian_model)


# Asking for a reading --------------------------------------------------------------------------------------------


def request_reading(user: User, conversation_id: UUID, first: int, last: int, trigger: str) -> LibrarianRun | None:
    """Have messages `first` to `last` read, within the caller's transaction; None: there is nothing to read.

    A range is read once: asking again gives the run that is there.
    """
    if last < first:
        return None
    run: LibrarianRun
    run, created = LibrarianRun.objects.get_or_create(
        conversation_id=conversation_id, first_seq=first, last_seq=last, defaults={"user": user, "trigger": trigger}
    )
    if created:
        _queue(run)
    return run


def retry(run: LibrarianRun) -> bool:
    """Start a failed run afresh; False: it has not failed, or was started by somebody else a moment ago."""
    with transaction.atomic():
        changed = LibrarianRun.objects.filter(pk=run.pk, state=LibrarianRun.State.FAILED).update(
            state=LibrarianRun.State.PENDING, attempts=0, not_before=timezone.now(), error="", finished_at=None
        )
        if changed:
            _queue(run)
    return bool(changed)


def requeue_due() -> int:
    """Queue the runs whose time has come, and those whose worker was lost; how many they were."""
    due = LibrarianRun.objects.due(timezone.now()).order_by("not_before", "pk").values_list("pk", flat=True)
    runs = list(due[:REQUEUE_AT_ONCE])
    for pk in runs:
        enqueue_on_commit("memory.tasks.read", pk)
    return len(runs)


def _queue(run: LibrarianRun) -> None:
    enqueue_on_commit("memory.tasks.read", run.pk)
    _tell(run)


def _tell(run: LibrarianRun) -> None:
    publish_event(f"user-{run.user_id}", "librarian", conversation=str(run.conversation_id), run=run.pk)


# Reading ---------------------------------------------------------------------------------------------------------


def run_extraction(run_id: int) -> None:
    """Carry out a run, if it is due and nobody else is at it."""
    reader = choose_engine()
    run = _claim(run_id, reader)
    if run is None:
        return
    began = forget_epoch(run.user_id)
    reading = _reading(run)
    release_connection()
    try:
        extraction = reader.extract(reading)
    except ExtractionError as failure:
        _reschedule(run, str(failure), failure.usage, final=failure.final)
        return
    proposals = [proposal.normalized() for proposal in extraction.facts]
    vectors = _vectors(proposals)
    filed = document_updates.prepare_updates(run, extraction)
    try:
        _commit_extraction(run, reading, replace(extraction, facts=proposals), vectors, filed, began)
    except IntegrityError:  # a person, or another worker, took the same key, or the message is gone
        _reschedule(run, CAME_BETWEEN, extraction.usage, final=False)


@transaction.atomic
def _claim(run_id: int, reader: ExtractionEngine) -> LibrarianRun | None:
    """Make the run this worker's own until its lease ends; None: it is not due, or another worker has it."""
    now = timezone.now()
    run: LibrarianRun | None = (
        LibrarianRun.objects.due(now).filter(pk=run_id).select_for_update(skip_locked=True, of=("self",)).first()
    )
    if run is None:
        return None
    if run.attempts >= MAX_ATTEMPTS:
        _finish(run, LibrarianRun.State.FAILED, error=run.error or GAVE_UP)
        return None
    stop = spending.get_spending_stop(run.user_id) if reader.uses_tokens else None
    if stop is not None:  # no attempt: nothing failed
        run.not_before, run.error = min(stop.until, now + LOOK_AGAIN_AFTER), stop.sentence
        run.save(update_fields=["not_before", "error"])
        _tell(run)
        return None
    run.state, run.claim, run.lease_until = LibrarianRun.State.RUNNING, uuid4(), now + reader.max_duration
    run.attempts += 1
    run.engine = reader.version
    run.save(update_fields=["state", "claim", "lease_until", "attempts", "engine"])
    _tell(run)
    return run


def _reading(run: LibrarianRun) -> ExtractionInput:
    utterances = mark_echoes(*get_source().load_range(run.conversation_id, run.first_seq, run.last_seq))
    user: User = User.objects.get(pk=run.user_id)
    active = [fact for fact in load_known_facts(user) if fact.status == Fact.Status.ACTIVE]
    shown = sorted(active, key=lambda fact: (not fact.key, -fact.fact_id))[:CANDIDATES]
    known = [replace(fact, number=number) for number, fact in enumerate(shown, start=1)]
    return ExtractionInput(utterances, user.preferred_name, user.zone, known, [one.path for one in load_existing(user)])


def _vectors(proposals: Sequence[ProposedFact]) -> Vectors | list[None]:
    return embedder().embed([proposal.statement for proposal in proposals]) if proposals else []


@transaction.atomic
def _reschedule(run: LibrarianRun, error: str, usage: Usage, *, final: bool) -> None:
    """Try again later, or never: the run fails, with its reason for everyone to see."""
    locked = _lock_claimed_run(run)
    if locked is None:
        spending.record_usage(run.user_id, usage)
        return
    _book(locked, usage)
    if final or locked.attempts >= MAX_ATTEMPTS:
        _finish(locked, LibrarianRun.State.FAILED, error=error)
        return
    locked.state, locked.claim, locked.lease_until = LibrarianRun.State.PENDING, None, None
    locked.not_before = timezone.now() + RETRY_AFTER[locked.attempts - 1]
    locked.error = error
    locked.save(update_fields=["state", "claim", "lease_until", "not_before", "error", *BOOKED])
    _tell(locked)


def _book(run: LibrarianRun, usage: Usage) -> None:
    """Add what an attempt cost to the run, and to the person's day: with what it brought, or failed to bring."""
    run.cost += spending.record_usage(run.user_id, usage)
    run.input_tokens += usage.input_tokens
    run.output_tokens += usage.output_tokens


def _lock_claimed_run(run: LibrarianRun) -> LibrarianRun | None:
    """The run, locked; None: the lease ran out and another worker took over, or the conversation was deleted."""
    mine = LibrarianRun.objects.filter(pk=run.pk, state=LibrarianRun.State.RUNNING, claim=run.claim)
    found: LibrarianRun | None = (
        mine.filter(conversation__deleted_at=None)  # brought back, it is read when the lease has run out
        .select_for_update(of=("self",))
        .first()
    )
    return found


def _finish(run: LibrarianRun, state: LibrarianRun.State, *, error: str = "") -> None:
    run.state, run.error, run.finished_at = state, error, timezone.now()
    run.claim = run.lease_until = None
    run.save()
    _tell(run)


# Settling --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _RunState:
    """What a run has settled so far."""

    run: LibrarianRun
    reading: ExtractionInput
    known: list[KnownFact]
    vectors: dict[int, Any] = field(default_factory=dict)
    """Of the facts that this run added, by fact id; all of length 1."""
    learned: int = 0
    waiting: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def cosines(self, vector: Any) -> dict[int, float]:
        """How near a statement is to those this run has added."""
        return {fact_id: float(vector @ other) for fact_id, other in self.vectors.items()}


@transaction.atomic
def _commit_extraction(
    run: LibrarianRun,
    reading: ExtractionInput,
    extraction: Extraction,
    vectors: Vectors | list[None],
    filed: document_updates.DocumentUpdates,
    began: int,
) -> None:
    """Decide on every proposal, write the facts, and close the run: all of it or nothing.

    `began`: the forget epoch in which it was read; where something was forgotten since, it is read anew.
    """
    # One at a time per person: two runs that learn the same thing at once would each find it new.
    user: User | None = User.objects.select_for_update(no_key=True).filter(pk=run.user_id).first()
    locked = _lock_claimed_run(run)
    if user is None:
        return  # the account is gone, and its counters with it
    if locked is None:
        spending.record_usage(user.pk, extraction.usage)
        return
    _book(locked, extraction.usage)
    if forget_epoch(user.pk) != began:
        _begin_anew(locked)
        return
    numbers = {fact.fact_id: fact.number for fact in reading.known}
    known = [replace(fact, number=numbers.get(fact.fact_id)) for fact in load_known_facts(user, lock=True)]
    ledger, policy = _RunState(locked, reading, known), policy_for(user)
    alike = load_similarities(user, vectors)
    for proposal, vector, known_alike in zip(extraction.facts, vectors, alike, strict=True):
        near = known_alike | ledger.cosines(vector)
        _apply_decision(decide(proposal, reading.utterances, ledger.known, policy, near), proposal, vector, ledger)
    _record_episode(extraction.episode, ledger)
    _file(filed, ledger, policy, user)
    refresh_profile(user)
    locked.learned, locked.waiting, locked.dropped = ledger.learned, ledger.waiting, dict(ledger.dropped)
    _finish(locked, LibrarianRun.State.DONE)


def _begin_anew(run: LibrarianRun) -> None:
    """It was read from words that were forgotten meanwhile, and no attempt of it counts."""
    run.state, run.claim, run.lease_until, run.not_before = LibrarianRun.State.PENDING, None, None, timezone.now()
    run.attempts -= 1
    run.save(update_fields=["state", "claim", "lease_until", "not_before", "attempts", *BOOKED])
    _queue(run)


def _apply_decision(decision: Decision, proposal: ProposedFact, vector: object, ledger: _RunState) -> None:
    match decision.outcome:
        case Outcome.KEEP:
            _supersede_then_add(decision, proposal, vector, ledger)
            ledger.learned += 1
        case Outcome.PROPOSE | Outcome.QUARANTINE:
            _add_beside(decision, proposal, vector, ledger)
            ledger.waiting += 1
        case Outcome.REINFORCE:
            _reinforce(decision, proposal, ledger)
            ledger.dropped[decision.reason] += 1
        case Outcome.DROP:
            ledger.dropped[decision.reason] += 1


def _supersede_then_add(decision: Decision, proposal: ProposedFact, vector: object, ledger: _RunState) -> None:
    """The old fact leaves its key before the new one takes it: only one may be active."""
    ledger.known = [fact for fact in ledger.known if fact.fact_id != decision.supersedes]
    create_superseding(decision.supersedes, lambda: _add(decision, proposal, vector, ledger, Fact.Status.ACTIVE))


def _add_beside(decision: Decision, proposal: ProposedFact, vector: object, ledger: _RunState) -> None:
    """A proposal, linked to the fact that it contradicts."""
    fact = _add(decision, proposal, vector, ledger, Fact.Status.PROPOSED)
    if decision.supersedes is not None:
        link(fact.user_id, fact.pk, FactLink.Relation.CONTRADICTS, decision.supersedes, proposal.confidence)


def _add(decision: Decision, proposal: ProposedFact, vector: object, ledger: _RunState, status: Fact.Status) -> Fact:
    said = decision.evidence or _named_message(proposal, ledger.reading)
    fact = create_fact(
        ledger.run.user_id,
        proposal,
        status=status,
        reason=decision.reason,
        source=Fact.Source.STATED if decision.evidence else Fact.Source.INFERRED,
        said=said,
        vector=vector,
        extracted_by=ledger.run.engine,
        run=ledger.run,
    )
    if decision.evidence:
        _link_to_known(proposal, fact, decision.supersedes, ledger)
    said_at = said.said_at if said else fact.recorded_at
    ledger.known.append(to_known_fact(fact, said_at))
    ledger.vectors[fact.pk] = vector
    return fact


def _link_to_known(proposal: ProposedFact, fact: Fact, opposed: int | None, ledger: _RunState) -> None:
    """What the engine says it is part of, rests on, came from: both facts stand, so it decides nothing."""
    relation = TOGETHER.get(proposal.relation)
    other = next((one for one in ledger.known if one.number == proposal.related_to is not None), None)
    stands = other is not None and other.status == Fact.Status.ACTIVE and other.fact_id != opposed
    if relation is not None and other is not None and stands:
        link(fact.user_id, fact.pk, relation, other.fact_id, min(proposal.confidence, SUPPOSED))


def _reinforce(decision: Decision, proposal: ProposedFact, ledger: _RunState) -> None:
    """Said again: surer, and no longer archived."""
    known = next(fact for fact in ledger.known if fact.fact_id == decision.reinforces)
    confidence = reinforced(known.confidence, proposal.confidence)
    fact = Fact.objects.filter(pk=known.fact_id)
    fact.update(confidence=confidence)
    fact.filter(status=Fact.Status.ARCHIVED).update(status=Fact.Status.ACTIVE)
    _rest_on(decision.evidence, proposal.quote, fact)
    ledger.known = [replace(f, confidence=confidence) if f is known else f for f in ledger.known]


def _rest_on(said: Utterance | None, quote: str, fact: FactQuerySet) -> None:
    """What was imported or inferred, and is now stated, rests on the user's own words from here on, and never fades."""
    if said is not None:
        taken_over = fact.filter(status=Fact.Status.ACTIVE, source__in=[Fact.Source.IMPORTED, Fact.Source.INFERRED])
        taken_over.update(source=Fact.Source.STATED, message_id=said.message_id, quote=quote)


def _file(filed: document_updates.DocumentUpdates, ledger: _RunState, policy: Policy, user: User) -> None:
    """Write documents. Their lines are decided on as facts are: what may not be kept unasked waits as a proposal."""
    kept: list[tuple[document_updates.PlacedLine, Utterance]] = []
    for line, known_alike in zip(
        filed.lines, load_similarities(user, [line.vector for line in filed.lines]), strict=True
    ):
        near = known_alike | ledger.cosines(line.vector)
        decision = decide(line.proposal, ledger.reading.utterances, ledger.known, policy, near)
        if decision.evidence is not None and decision.outcome in (Outcome.KEEP, Outcome.REINFORCE):
            kept.append((line, decision.evidence))
        else:
            _apply_decision(decision, line.proposal, line.vector, ledger)
    document_updates.write_lines(user, kept)
    ledger.dropped.update(document_updates.file_stories(user, filed.stories, ledger.reading.utterances).refused)
    if filed.told is not None:
        document_updates.write_digest(user, ledger.run.conversation_id, filed.told)


def reinforced(confidence: float, again: float) -> float:
    """Confidence in a fact that is said again with confidence `again`."""
    return min(1.0, max(confidence, again) + REINFORCEMENT)


def _named_message(proposal: ProposedFact, reading: ExtractionInput) -> Utterance | None:
    """The message a quarantined proposal claims to rest on, so that a person can look."""
    return next((utterance for utterance in reading.utterances if utterance.number == proposal.number), None)


def _record_episode(proposal: ProposedEpisode | None, ledger: _RunState) -> None:
    """Record the episode, with the facts that this run learned in its turns; or count why not."""
    if proposal is None:
        return
    reason = episodes.refusal(proposal, ledger.reading.utterances)
    if reason is not None:
        ledger.dropped[reason] += 1
        return
    episode = episodes.record(ledger.run, proposal, ledger.reading.utterances)
    spanned = {said.message_id for said in episodes.spanned(proposal, ledger.reading.utterances)}
    episode.facts.add(*Fact.objects.filter(run=ledger.run, message__in=spanned))
    enqueue_on_commit("memory.tasks.embed")
