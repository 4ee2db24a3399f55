"""Stores an extraction, message by message: facts, changes of known facts, and documents.

`run.py` calls it in the transaction that ends the run. `decision.py` decides on each proposal, `changes/` finds
the known facts that a message corrects; here both become rows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from memory.embeddings.port import embedder
from memory.facts.deduplication import relation_of, relations_differ
from memory.facts.keys import USER, make_key, split_key
from memory.facts.links import create_superseding, link
from memory.facts.replacement import Replaces, replaces, with_now
from memory.facts.withdrawal import end_fact, overtake, retract_fact, withdraw_older_proposals
from memory.librarian import document_updates, episodes
from memory.librarian.changes.corrections import (
    Change,
    Correction,
    doubted_statement,
    find_corrections,
    is_doubt,
    replaced_key,
    retells,
)
from memory.librarian.changes.fact_words import repeats, states_attribute
from memory.librarian.changes.learned import NEAREST, with_changes
from memory.librarian.decision import Decision, Outcome, Policy, Reason, decide, evidence_of_quote, is_past, normal
from memory.librarian.engine import ExtractionInput, KnownFact, ProposedFact, Relation
from memory.librarian.known_facts import load_nearest, load_similarities, to_known_fact
from memory.librarian.store import create_fact
from memory.models import Fact, FactLink, LibrarianRun
from memory.models.kinds import default_importance
from memory.text.dates import find_date
from memory.text.keywords import content
from memory.text.replaced_statement import moved_to_day_said, replaced_statement
from recall.celery import enqueue_on_commit

if TYPE_CHECKING:
    from memory.embeddings.limits import Vectors
    from memory.librarian.engine import Extraction, ProposedEpisode, Withdrawal
    from memory.models.facts import FactQuerySet
    from memory.ports.source import Utterance

COMPATIBLE_RELATIONS: Final = {
    Relation.PART_OF: FactLink.Relation.PART_OF,
    Relation.DEPENDS_ON: FactLink.Relation.DEPENDS_ON,
    Relation.CAUSED_BY: FactLink.Relation.CAUSED_BY,
    Relation.RELATED_TO: FactLink.Relation.RELATED_TO,
}
"""Links an engine may propose between two active facts."""
MAX_LINK_STRENGTH: Final = 0.7
"""Strength of those links, at most: they are the engine's inference, not the user's words."""
REINFORCEMENT: Final = 0.05
"""Added to a fact's confidence when the user says it again."""
REPLACED_CONFIDENCE: Final = 0.95
"""Confidence of a value that replaces a known one in words that name both."""
_CORRECTING: Final = re.compile(r"(?i)^\W*(?:no|nope|sorry|correction|actually|oops)\b|\bnot\b|\bwrong\b|\bi meant\b")
"""What makes a statement that is likely to replace another its correction."""
OPEN: Final = (Fact.Status.ACTIVE, Fact.Status.PROPOSED)
"""Facts that a correction can change."""


@dataclass(slots=True)
class RunState:
    """What a run has stored so far."""

    run: LibrarianRun
    reading: ExtractionInput
    known: list[KnownFact]
    policy: Policy
    vectors: dict[int, Any] = field(default_factory=dict)
    """Vectors of the facts this run added, by fact id; unit length."""
    learned: int = 0
    waiting: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def cosines(self, vector: Any) -> dict[int, float]:
        """Similarity of a statement to those this run has added."""
        return {fact_id: float(vector @ other) for fact_id, other in self.vectors.items()}

    def open_fact(self, known: KnownFact) -> KnownFact | None:
        """The fact as it is now, if it is still active or proposed."""
        return next((fact for fact in self.known if fact.fact_id == known.fact_id and fact.status in OPEN), None)

    def drop(self, fact_ids: Iterable[int]) -> None:
        """Remove facts that are no longer known."""
        gone = set(fact_ids)
        self.known = [fact for fact in self.known if fact.fact_id not in gone]


def store_extraction(
    state: RunState, extraction: Extraction, vectors: Vectors | list[None], updates: document_updates.DocumentUpdates
) -> RunState:
    """Store what is decided, in the order it was said: a later message corrects what an earlier one stated."""
    similarities = load_similarities(state.run.user, vectors)
    proposals = list(zip(extraction.facts, vectors, similarities, strict=True))
    by_place = {utterance.number: place for place, utterance in enumerate(state.reading.utterances)}
    proposals.sort(key=lambda one: by_place.get(one[0].number, len(by_place)))
    for utterance in state.reading.utterances:
        judged = {fact.related_to for fact, *_ in proposals if fact.number == utterance.number}
        judged |= {one.known for one in (*extraction.ends, *extraction.retracts) if one.number == utterance.number}
        corrections = _corrections_in(utterance, judged, state) if utterance.speaker == "user" else []
        corrected = {c.fact.key: c.value for c in corrections if c.change != Change.ASK}
        open_keys, replaced = {fact.key for fact in state.known if fact.key and fact.status in OPEN}, set[str]()
        while proposals and by_place.get(proposals[0][0].number) == by_place[utterance.number]:
            fact, vector, similarity = proposals.pop(0)
            if not fact.key and any(retells(fact.statement, correction) for correction in corrections):
                state.dropped[Reason.KNOWN] += 1
                continue
            if fact.key and fact.key in corrected:
                agreed = fact.value == corrected[fact.key]  # read twice over, as a claim and as a correction
                sure = max(fact.confidence, REPLACED_CONFIDENCE) if agreed else fact.confidence
                fact = fact.model_copy(update={"correction": True, "confidence": sure})
            replaced |= {fact.key} & open_keys
            _decide_and_apply(fact, vector, similarity, state)
        for correction in corrections:
            if not _is_accounted_for(correction, replaced, utterance):
                _apply_correction(correction, utterance, state)
    for proposal in proposals:
        _decide_and_apply(*proposal, state)
    for withdrawals, change in ((extraction.ends, Change.END), (extraction.retracts, Change.RETRACT)):
        for withdrawal in withdrawals:
            _apply_withdrawal(withdrawal, change, state)
    _record_episode(extraction.episode, state)
    _write_documents(updates, state)
    return state


def _is_accounted_for(correction: Correction, replaced: Set[str], utterance: Utterance) -> bool:
    """Whether a doubt is already explained by another value that the message states, of the fact or of another.

    “That's wrong, I live in Annecy” is about a home, and doubts no name; a fact whose words it has, it may doubt.
    """
    if correction.change != Change.ASK or not replaced:
        return False
    return correction.fact.key in replaced or not content(correction.fact.statement) & content(utterance.text)


def _corrections_in(utterance: Utterance, judged: Set[int | None], state: RunState) -> list[Correction]:
    """What a message changes: what it contrasts, and what the network reads of the facts nearest to it.

    `judged`: numbers of known facts for which the engine says how the message relates to them.
    """
    corrections = find_corrections(utterance, state.known)
    may_change = [
        fact
        for fact in state.known
        if fact.status in OPEN
        and not is_doubt(fact)
        and fact.said_at <= utterance.said_at
        and fact.message_id != utterance.message_id
        and (fact.number is None or fact.number not in judged)
    ]
    if not may_change:
        return corrections
    nearness = load_nearest(state.run.user, embedder().embed([utterance.text])[0], NEAREST)
    return list(with_changes(utterance, corrections, may_change, nearness))


# Proposals -------------------------------------------------------------------------------------------------------


def _decide_and_apply(proposal: ProposedFact, vector: Any, similarity: Mapping[int, float], state: RunState) -> None:
    proposal = _mark_update(_tell_apart(proposal, state.known), state)
    cosines = {**similarity, **state.cosines(vector)}
    decision = decide(proposal, state.reading.utterances, state.known, state.policy, cosines)
    _apply_decision(decision, proposal, vector, state)


def _mark_update(proposal: ProposedFact, state: RunState) -> ProposedFact:
    """Mark a statement that clearly replaces a known fact, in whatever words, as its correction."""
    if proposal.key or proposal.relation != Relation.NONE or proposal.is_no_claim or proposal.valid_until:
        return proposal
    newer = with_now(proposal.statement, proposal.quote)
    said = evidence_of_quote(proposal.quote, proposal.number, state.reading.utterances)
    least = Replaces.LIKELY if said is not None and _CORRECTING.search(said.text) else Replaces.CLEARLY
    older = next(
        (
            fact
            for fact in state.known
            if fact.status == Fact.Status.ACTIVE and replaces(newer, fact.statement) >= least
        ),
        None,
    )
    if older is None or (older.key and split_key(older.key)[0] != USER):
        return proposal
    sure = max(proposal.confidence, REPLACED_CONFIDENCE)
    related = {"relation": Relation.UPDATES, "related_to": _number_of(older, state)}
    return proposal.model_copy(update={"correction": True, "confidence": sure, **related})


def _number_of(fact: KnownFact, state: RunState) -> int:
    """The number by which a proposal refers to the fact; one that the engine didn't see gets its own here."""
    if fact.number is not None:
        return fact.number
    state.known = [replace(known, number=-known.fact_id) if known is fact else known for known in state.known]
    return -fact.fact_id


def _tell_apart(proposal: ProposedFact, known: Iterable[KnownFact]) -> ProposedFact:
    """Make a colleague Sam, where a brother Sam is known, a subject of his own."""
    said = f"{proposal.quote} {proposal.statement}"
    subject = proposal.subject
    others = [fact.statement for fact in known if fact.status in OPEN and split_key(fact.key)[0] == subject]
    if subject == USER or "/" in subject or not others or not all(relations_differ(said, one) for one in others):
        return proposal
    return proposal.model_copy(update={"subject": f"{subject}_{relation_of(proposal.statement) or relation_of(said)}"})


def _apply_decision(decision: Decision, proposal: ProposedFact, vector: object, state: RunState) -> None:
    match decision.outcome:
        case Outcome.KEEP:
            _supersede_then_add(decision, proposal, vector, state)
            state.learned += 1
        case Outcome.END:
            assert decision.supersedes is not None
            assert decision.evidence is not None
            end_fact(decision.supersedes, decision.evidence.said_at, proposal.valid_until)
            state.drop([decision.supersedes])
            state.learned += 1
        case Outcome.PROPOSE | Outcome.QUARANTINE:
            _propose(decision, proposal, vector, state)
            state.waiting += 1
        case Outcome.REINFORCE:
            _reinforce(decision, proposal, state)
            state.dropped[decision.reason] += 1
        case Outcome.DROP:
            state.dropped[decision.reason] += 1


def _supersede_then_add(decision: Decision, proposal: ProposedFact, vector: object, state: RunState) -> None:
    """Supersede the old fact first: only one active fact may have the key. If the new one is over, it becomes history
    at once."""
    status = Fact.Status.EXPIRED if is_past(proposal, decision.evidence) else Fact.Status.ACTIVE
    if status == Fact.Status.ACTIVE and decision.evidence is not None:
        _end_unkeyed(proposal, decision.evidence, state)
    if decision.supersedes is not None:
        state.drop([decision.supersedes])
    fact = create_superseding(decision.supersedes, lambda: _add(decision, proposal, vector, state, status))
    if status == Fact.Status.ACTIVE and decision.evidence is not None:
        state.drop(withdraw_older_proposals(fact, decision.evidence.said_at))


def _end_unkeyed(proposal: ProposedFact, said: Utterance, state: RunState) -> None:
    """End facts without a key that state another value of the attribute in other words: “stays in Eindhoven”."""
    for fact in _other_values(proposal.key, proposal.value, said, state):
        end_fact(fact.fact_id, said.said_at)
        state.drop([fact.fact_id])


def _oppose_unkeyed(fact: Fact, said: Utterance, state: RunState) -> None:
    """The same for a proposal: it withdraws what waits, and what is active ends if it is accepted."""
    for known in _other_values(fact.key, fact.value, said, state):
        if known.status == Fact.Status.PROPOSED:
            overtake(known.fact_id, fact)
            state.drop([known.fact_id])
        else:
            link(fact.user_id, fact.pk, FactLink.Relation.CONTRADICTS, known.fact_id, fact.confidence)


def _other_values(key: str, value: str, said: Utterance, state: RunState) -> list[KnownFact]:
    """Older open facts without a key that state another value of it, or repeat a fact that has it; the job that names
    another employer, and what was said of the partner before."""
    if not key:
        return []
    known = [fact for fact in state.known if fact.status in OPEN]
    keyed = [fact for fact in known if fact.key == key]
    older = (fact for fact in known if fact.said_at < said.said_at and normal(value) not in normal(fact.statement))
    return [fact for fact in older if _states_other(fact, key, keyed)]


def _states_other(fact: KnownFact, key: str, keyed: Iterable[KnownFact]) -> bool:
    """Whether a fact states a value of the key in other words. `keyed`: the facts that have the key."""
    subject, attribute = split_key(key)
    if fact.key:
        is_job = attribute == "employer" and fact.key == make_key(subject, "job")
        names_employer = is_job and any(old.value and normal(old.value) in normal(fact.statement) for old in keyed)
        is_partner = key == make_key(USER, "partner") and fact.key != key
        return names_employer or (is_partner and states_attribute(fact.statement, key))
    return states_attribute(fact.statement, key) or any(
        old.message_id == fact.message_id is not None and repeats(fact.statement, old.key, old.value) for old in keyed
    )


def _propose(decision: Decision, proposal: ProposedFact, vector: object, state: RunState) -> None:
    """Store a proposal, linked to the fact it contradicts; it withdraws older ones about the same thing."""
    fact = _add(decision, proposal, vector, state, Fact.Status.PROPOSED)
    if decision.evidence is not None:
        _oppose_unkeyed(fact, decision.evidence, state)
    if decision.supersedes is not None:
        link(fact.user_id, fact.pk, FactLink.Relation.CONTRADICTS, decision.supersedes, proposal.confidence)
    if decision.outcome == Outcome.PROPOSE and decision.evidence is not None and not proposal.is_no_claim:
        state.drop(withdraw_older_proposals(fact, decision.evidence.said_at))


def _add(decision: Decision, proposal: ProposedFact, vector: object, state: RunState, status: Fact.Status) -> Fact:
    said = decision.evidence or _said_by_number(proposal.number, state)  # for the reviewer of what isn't quoted
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
    state.drop(Fact.objects.filter(superseded_by=fact).values_list("pk", flat=True))
    state.known.append(to_known_fact(fact, said_at))
    state.vectors[fact.pk] = vector
    return fact


def _link_to_known(proposal: ProposedFact, fact: Fact, superseded: int | None, state: RunState) -> None:
    """Link to the active fact that the engine names as related."""
    relation = COMPATIBLE_RELATIONS.get(proposal.relation)
    other = next((known for known in state.known if known.number == proposal.related_to is not None), None)
    if relation is None or other is None or other.status != Fact.Status.ACTIVE or other.fact_id == superseded:
        return
    link(fact.user_id, fact.pk, relation, other.fact_id, min(proposal.confidence, MAX_LINK_STRENGTH))


def _reinforce(decision: Decision, proposal: ProposedFact, state: RunState) -> None:
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


# Corrections -----------------------------------------------------------------------------------------------------


def _apply_correction(correction: Correction, utterance: Utterance, state: RunState) -> None:
    """Change the fact that a message corrects, unless the same message has already changed it."""
    fact = correction.fact if correction.change == Change.REVIVE else state.open_fact(correction.fact)
    if fact is None:
        return
    match correction.change:
        case Change.END:
            end_fact(fact.fact_id, utterance.said_at, correction.when)
            state.drop([fact.fact_id])
        case Change.RETRACT:
            retract_fact(fact.fact_id)
            state.drop([fact.fact_id])
        case Change.REPLACE:
            _replace(replace(correction, fact=fact), state)
        case Change.REVIVE:
            _revive(correction, state)
        case Change.ASK:
            _ask_whether_still_true(replace(correction, fact=fact), utterance, state)


def _replace(correction: Correction, state: RunState) -> None:
    """Propose another value in the fact's place, decided on like any proposal."""
    fact = correction.fact
    statement = replaced_statement(fact.statement, correction.old or fact.value, correction.value)
    said = _said_by_number(correction.number, state)
    if fact.key.endswith("/age") and said is not None:
        statement = re.sub(r"(?<= in )[A-ZÀ-ÞĀ-Ž][a-z]+ \d{4}", f"{said.said_at:%B %Y}", statement)
    if not statement or normal(statement) == normal(fact.statement):
        return
    if said is not None and find_date(correction.value, said.said_at.date()) is None:
        statement = moved_to_day_said(statement, correction.quote, said.said_at.astimezone(state.reading.zone).date())
    _decide_instead(correction, statement, replaced_key(fact, correction), fact, state)


def _revive(correction: Correction, state: RunState) -> None:
    """Propose an earlier fact again, in the place of what replaced it."""
    fact, newer = correction.fact, correction.fact
    while newer.superseded_by is not None and newer.status not in OPEN:
        newer = next(
            (one for one in state.known if one.fact_id == newer.superseded_by), replace(newer, superseded_by=None)
        )
    subject, attribute = split_key(fact.key)
    key = subject or USER, attribute, fact.value
    _decide_instead(correction, fact.statement, key, newer if newer.status in OPEN else None, state)


def _said_by_number(number: int, state: RunState) -> Utterance | None:
    return next((said for said in state.reading.utterances if said.number == number), None)


def _decide_instead(
    correction: Correction, statement: str, key: tuple[str, str, str], older: KnownFact | None, state: RunState
) -> None:
    """Decide on what holds instead of an older fact. `key`: its subject, attribute and value.

    A proposal is overtaken even if the newer one waits, too; a fact that the user's words deny ends then.
    """
    proposal = _replacement(correction, statement, key, older, state)
    vector = embedder().embed([statement])[0]
    (similarity,) = load_similarities(state.run.user, [vector])
    before = {fact.fact_id for fact in state.known}
    _decide_and_apply(proposal, vector, similarity, state)
    remaining = state.open_fact(older) if older is not None else None
    if remaining is None:
        return
    if remaining.status != Fact.Status.PROPOSED:
        said = _said_by_number(proposal.number, state)
        if correction.is_denied and said is not None and said.said_at >= remaining.said_at:
            end_fact(remaining.fact_id, said.said_at)
            state.drop([remaining.fact_id])
        return
    newer = next((fact.fact_id for fact in state.known if fact.fact_id not in before), None)
    if newer is None:
        retract_fact(remaining.fact_id)
    else:
        overtake(remaining.fact_id, Fact.objects.only("user").get(pk=newer))
    state.drop([remaining.fact_id])


def _replacement(
    correction: Correction, statement: str, key: tuple[str, str, str], older: KnownFact | None, state: RunState
) -> ProposedFact:
    """What holds instead. What waits becomes no surer by another value: the rest of it is as unsure as before."""
    (subject, attribute, value), kind = key, correction.fact.kind
    sure = REPLACED_CONFIDENCE
    if correction.fact.status == Fact.Status.PROPOSED:
        sure = min(sure, correction.fact.confidence)
    return ProposedFact(
        statement=statement,
        kind=kind,
        subject=subject,
        attribute=attribute,
        value=value,
        quote=correction.quote,
        number=correction.number,
        confidence=sure,
        importance=default_importance(kind),
        about_third_party=subject != USER and kind == "person",
        correction=True,
        relation=Relation.UPDATES if older else Relation.NONE,
        related_to=_number_of(older, state) if older else None,
    )


def _ask_whether_still_true(correction: Correction, utterance: Utterance, state: RunState) -> None:
    """Propose that the fact has ended; not if that already waits, or the user has since said it is true."""
    fact, statement = correction.fact, doubted_statement(correction.fact)
    asked = [known for known in state.known if normal(known.statement) == normal(statement)]
    if fact.status != Fact.Status.ACTIVE or any(known.said_at >= utterance.said_at for known in asked):
        return
    if any(known.status in OPEN for known in asked):
        return
    proposal = ProposedFact(
        statement=statement,
        kind=fact.kind,
        quote=correction.quote,
        number=correction.number,
        confidence=0.5,
        importance=default_importance(fact.kind),
    )
    decision = Decision(Outcome.PROPOSE, Reason.DOUBTED, fact.fact_id, evidence=utterance)
    _apply_decision(decision, proposal, embedder().embed([statement])[0], state)


def _apply_withdrawal(withdrawal: Withdrawal, change: Change, state: RunState) -> None:
    """Apply a withdrawal that an engine found, if it names a known fact and quotes the user."""
    fact = next((known for known in state.known if known.number == withdrawal.known and known.status in OPEN), None)
    said = evidence_of_quote(withdrawal.quote, withdrawal.number, state.reading.utterances)
    if said is None:
        state.dropped[Reason.NOT_QUOTED] += 1
    elif fact is None or fact.said_at > said.said_at:
        state.dropped[Reason.NOT_KNOWN] += 1
    else:
        _apply_correction(Correction(fact, change, withdrawal.quote, said.number, when=withdrawal.when), said, state)


# Documents and episodes ------------------------------------------------------------------------------------------


def _write_documents(updates: document_updates.DocumentUpdates, state: RunState) -> None:
    """Write documents. A line is decided on like a fact: if it needs the user's approval, it becomes a proposal."""
    user = state.run.user
    kept: list[tuple[document_updates.PlacedLine, Utterance]] = []
    similarities = load_similarities(user, [line.vector for line in updates.lines])
    for line, similarity in zip(updates.lines, similarities, strict=True):
        near = similarity | state.cosines(line.vector)
        decision = decide(line.proposal, state.reading.utterances, state.known, state.policy, near)
        if decision.evidence is not None and decision.outcome in (Outcome.KEEP, Outcome.REINFORCE):
            kept.append((line, decision.evidence))
        else:
            _apply_decision(decision, line.proposal, line.vector, state)
    document_updates.write_lines(user, kept)
    state.dropped.update(document_updates.write_stories(user, updates.stories, state.reading.utterances))
    if updates.digest is not None:
        document_updates.write_digest(user, state.run.conversation_id, updates.digest)


def reinforced(confidence: float, again: float) -> float:
    """Confidence in a fact that is said again with confidence `again`."""
    return min(1.0, max(confidence, again) + REINFORCEMENT)


def _record_episode(proposal: ProposedEpisode | None, state: RunState) -> None:
    """Record the episode with the facts this run stored from its turns, or count why not."""
    if proposal is None:
        return
    reason = episodes.refusal(proposal, state.reading.utterances)
    if reason is None and episodes.is_forgotten(state.run, proposal, state.reading.utterances):
        reason = Reason.FORGOTTEN
    if reason is not None:
        state.dropped[reason] += 1
        return
    episode = episodes.record(state.run, proposal, state.reading.utterances)
    spanned = {said.message_id for said in episodes.spanned_messages(proposal, state.reading.utterances)}
    episode.facts.add(*Fact.objects.filter(run=state.run, message__in=spanned))
    enqueue_on_commit("memory.tasks.embed")
