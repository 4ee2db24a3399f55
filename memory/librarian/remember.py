"""Statements that a model asks to remember: stored as a proposal, or as the fact that the user's own words state.

`propose` serves Recall's own model in a conversation, `propose_from_assistant` another with an API key (`chat/mcp`).
The statement is a model's wording, and anyone may have written what is in its prompt. So it becomes active only if the
librarian's rules read the same in the user's latest message, and the policy stores that without asking; then the rules'
reading is stored. Anything else waits for review.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction
from pydantic import ValidationError

from accounts.models import User
from memory.documents.profile_updates import refresh_profile
from memory.embeddings.limits import Vectors
from memory.embeddings.port import embedder
from memory.facts.deduplication import SAME_MEANING_COSINE, is_same_statement
from memory.facts.keys import USER, kind_of, split_key
from memory.facts.links import create_superseding
from memory.forget_epoch import forgotten_since, lock_user
from memory.librarian.decision import Outcome, Policy, Reason, decide, normal
from memory.librarian.engine import ExtractionInput, KnownFact, ProposedFact
from memory.librarian.known_facts import load_similar_facts
from memory.librarian.policies import policy_for
from memory.librarian.store import create_fact
from memory.models import Fact
from memory.models.kinds import Kind, default_importance
from memory.ports.source import Utterance
from recall.db.notify import publish_event

EXTRACTED_BY = "remember/1"
REASON = "the assistant was asked to remember it"
CONFIDENCE = 0.7
"""Too low to be stored without asking: the words are the model's."""
QUOTE_CHARS = 1_000
"""Only the start of a longer message is quoted; the link leads to the rest."""

TOLD_BY: Final = "mcp/1"
"""`extracted_by` of a fact from another assistant, which its quote names."""
TOLD: Final = "told by “{name}”, another assistant"
TOLD_QUOTE: Final = "Told by “{name}”: {words}"
MAX_FROM_ASSISTANTS: Final = 200
"""Waiting proposals of other assistants, so that a broken one, or a leaked key, can't flood the review."""
NO_MESSAGE: Final = 0

KEPT = "It is remembered from now on, as: “{statement}”"
WAITS = "Proposed: it waits under Memory, To review, and isn't remembered until it is accepted there."
NOT_STORED = "It was not stored: {reason}."
FORGOTTEN_MEANWHILE = "the person had something forgotten while this answer was being written"
TOO_MANY: Final = f"{MAX_FROM_ASSISTANTS} proposals from other assistants wait for the person's review already"


def propose(user: User, statement: str, said: Utterance, began: datetime | None = None) -> str:
    """Propose `statement`, with the user's message `said` as its evidence; return a sentence that says what happened.

    `said` has its echoes marked (`memory/librarian/echo.py`). `began`: start of the turn. If anything was forgotten
    since, nothing is proposed, because the model may have read it.
    """
    try:
        proposal = ProposedFact(
            statement=statement.strip(),
            kind=Kind.FACT,
            quote=said.text[:QUOTE_CHARS],
            number=said.number,
            confidence=CONFIDENCE,
            importance=default_importance(Kind.FACT),
        )
    except ValidationError as error:
        return NOT_STORED.format(reason=error.errors()[0]["msg"].lower())
    vector = embedder().embed([proposal.statement])[0]
    with transaction.atomic():
        lock_user(user.pk)  # concurrent proposals would otherwise both be new
        if began is not None and forgotten_since(user.pk, began):
            return NOT_STORED.format(reason=FORGOTTEN_MEANWHILE)
        known, policy = load_similar_facts(user, proposal, vector, said.message_id), policy_for(user)
        decision = decide(proposal, [said], known.facts, policy, known.similarity)
        if decision.outcome in (Outcome.DROP, Outcome.REINFORCE):
            return NOT_STORED.format(reason=decision.reason)
        kept = _store_stated(user, proposal, said, vector, policy)
        if kept is None:
            create_fact(
                user.pk,
                proposal,
                status=Fact.Status.PROPOSED,
                reason=REASON,
                source=Fact.Source.INFERRED,
                said=said,
                vector=vector,
                extracted_by=EXTRACTED_BY,
            )
        publish_event(f"user-{user.pk}", "memory")
    return WAITS if kept is None else KEPT.format(statement=kept.statement)


def _store_stated(user: User, proposal: ProposedFact, said: Utterance, vector: Vectors, policy: Policy) -> Fact | None:
    """The fact that the user's own words state, if the policy stores it without asking; else None."""
    stated = _extract_same(user, proposal, said, vector)
    if stated is None:
        return None
    fact, fact_vector = stated
    known = load_similar_facts(user, fact, fact_vector, said.message_id)
    decision = decide(fact, [said], known.facts, policy, known.similarity)
    if decision.outcome != Outcome.KEEP:
        return None
    kept = create_superseding(
        decision.supersedes,
        lambda: create_fact(
            user.pk,
            fact,
            status=Fact.Status.ACTIVE,
            reason=decision.reason,
            source=Fact.Source.STATED,
            said=said,
            vector=fact_vector,
            extracted_by=EXTRACTED_BY,
        ),
    )
    refresh_profile(user)
    return kept


def _extract_same(
    user: User, proposal: ProposedFact, said: Utterance, vector: Vectors
) -> tuple[ProposedFact, Vectors] | None:
    """The rules' reading of the message that says the same as `proposal`, with its vector."""
    from memory.librarian.rules.engine import RuleEngine  # late: its patterns take a third of a second to load

    read = RuleEngine().extract(ExtractionInput([said], user.preferred_name, user.zone)).facts
    if not read:
        return None
    for fact, other in zip(read, embedder().embed([fact.statement for fact in read]), strict=True):
        alike = is_same_statement(proposal.statement, fact.statement, float(vector @ other), SAME_MEANING_COSINE)
        if alike or normal(proposal.statement) == normal(fact.statement):
            return fact, other
    return None


@dataclass(frozen=True, slots=True)
class Details:
    """What a program may say about its statement; `key` is spelled by the scheme (`memory/facts/keys.py`)."""

    key: str = ""
    value: str = ""
    tags: tuple[str, ...] = ()
    valid_from: datetime | None = None
    valid_until: datetime | None = None


def propose_from_assistant(name: str, user: User, statement: str, details: Details = Details()) -> str:
    """Propose what the assistant `name` says about the user; return a sentence that says what happened.

    Decided like any proposal, but without evidence in the user's words: nothing is stored without asking, and no known
    fact gains confidence. Idempotent.
    """
    from memory.librarian.rules.own_words import as_stored  # late, like the engine above

    try:
        proposal = _build_proposal(name, statement.strip(), details)
    except ValidationError as error:
        return NOT_STORED.format(reason=error.errors()[0]["msg"].lower())
    # “My sister …” may have been rejected as “The user's sister …”.
    wordings = list(dict.fromkeys((proposal.statement, as_stored(proposal.statement))))
    vectors = embedder().embed(wordings)
    with transaction.atomic():
        lock_user(user.pk)  # concurrent proposals would otherwise both be new
        asked = (proposal.model_copy(update={"statement": wording}) for wording in wordings)
        reasons = (_why_not_stored(user, one, vector) for one, vector in zip(asked, vectors, strict=True))
        if reason := next(filter(None, reasons), ""):
            return NOT_STORED.format(reason=reason)
        create_fact(
            user.pk,
            proposal,
            status=Fact.Status.PROPOSED,
            reason=TOLD.format(name=name),
            source=Fact.Source.IMPORTED,
            said=None,
            vector=vectors[0],
            extracted_by=TOLD_BY,
        )
        publish_event(f"user-{user.pk}", "memory")
    return WAITS


def _build_proposal(name: str, statement: str, details: Details) -> ProposedFact:
    subject, attribute = split_key(details.key)
    kind = kind_of(details.key) or Kind.FACT
    return ProposedFact(
        statement=statement,
        kind=kind,
        subject=subject or USER,
        attribute=attribute,
        value=details.value,
        tags=details.tags,
        valid_from=details.valid_from,
        valid_until=details.valid_until,
        quote=TOLD_QUOTE.format(name=name, words=statement)[:QUOTE_CHARS],
        number=NO_MESSAGE,
        confidence=CONFIDENCE,
        importance=default_importance(kind),
    )


def _why_not_stored(user: User, proposal: ProposedFact, vector: Vectors) -> str:
    """Why an assistant's proposal isn't stored; empty if it is."""
    known = load_similar_facts(user, proposal, vector, NO_MESSAGE)
    decision = decide(proposal, [], known.facts, policy_for(user), known.similarity)
    if decision.outcome == Outcome.DROP:
        is_waiting = decision.reason == Reason.KNOWN and _is_proposed(proposal, known.facts)
        return Reason.WAITING if is_waiting else decision.reason
    waiting = Fact.objects.for_user(user).proposed().filter(extracted_by=TOLD_BY)
    return TOO_MANY if waiting.count() >= MAX_FROM_ASSISTANTS else ""


def _is_proposed(proposal: ProposedFact, known: Iterable[KnownFact]) -> bool:
    """Whether the same statement is already proposed."""
    words = normal(proposal.statement)
    return any(fact.status == Fact.Status.PROPOSED and normal(fact.statement) == words for fact in known)
