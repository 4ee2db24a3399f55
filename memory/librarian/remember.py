"""What happens when a model is asked to remember something? It makes a proposal, or has the person's own words kept.

    propose            Recall's own model, in mid-conversation: the person's own message stands beside it
    propose_told_by    another assistant, with a key (`chat/mcp`): its words are all there is, marked as told by it

The statement is a model's wording, and what stands in its prompt may have been written by anybody. So it becomes active
by itself only where the librarian's rules read the same in what the person just wrote, and the policy keeps that
unasked: then what they read is kept, not what the model says. Anything else waits for the person.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from django.db import transaction
from pydantic import ValidationError

from accounts.models import User
from memory.documents.profile_updates import refresh_profile
from memory.embeddings.limits import Vectors
from memory.embeddings.port import embedder
from memory.facts.deduplication import SAME_MEANING_COSINE, is_same_statement
from memory.facts.links import create_superseding
from memory.forget_epoch import forgotten_since, lock_user
from memory.librarian.decision import Outcome, Policy, Reason, decide, normal
from memory.librarian.engine import ExtractionInput, KnownFact, ProposedFact
from memory.librarian.known_facts import load_similar_facts
from memory.librarian.policies import policy_for
from memory.librarian.rules.engine import RuleEngine
from memory.librarian.store import create_fact
from memory.models import Fact
from memory.models.kinds import Kind, default_importance
from memory.ports.source import Utterance
from recall.db.notify import publish_event

EXTRACTED_BY = "remember/1"
REASON = "the assistant was asked to remember it"
CONFIDENCE = 0.7
"""Below what may be kept unasked: the words are the model's."""
QUOTE_CHARS = 1_000
"""A quote is a sentence or a few; of a longer message its beginning stands for it, and the link leads to the rest."""

TOLD_BY: Final = "mcp/1"
"""How a fact says that another assistant told it; which one stands in its quote, also once it is accepted."""
TOLD: Final = "told by “{name}”, another assistant"
TOLD_QUOTE: Final = "Told by “{name}”: {words}"
MOST_TOLD: Final = 200
"""Proposals of other assistants that may wait at a time: one gone astray, or a key that leaked, buries no queue."""
NO_MESSAGE: Final = 0

KEPT = "It is remembered from now on, as: “{statement}”"
WAITS = "It is proposed and waits for the person's review; it is not remembered yet."
NOT_STORED = "It was not stored: {reason}."
FORGOTTEN_MEANWHILE = "the person had something forgotten while this answer was being written"
TOO_MANY: Final = f"{MOST_TOLD} proposals from other assistants wait for the person's review already"


def propose(user: User, statement: str, said: Utterance, began: datetime | None = None) -> str:
    """Have `statement` remembered, resting on the user's message `said`; a sentence that says truthfully what happened.

    `said`: with its echoes marked (`memory/librarian/echo.py`). `began`: when the turn did. Where something was
    forgotten since, the model may have read it: nothing is proposed.
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
        lock_user(user.pk)  # one at a time: see the librarian
        if began is not None and forgotten_since(user.pk, began):
            return NOT_STORED.format(reason=FORGOTTEN_MEANWHILE)
        known, policy = load_similar_facts(user, proposal, vector, said.message_id), policy_for(user)
        decision = decide(proposal, [said], known.facts, policy, known.similarity)
        if decision.outcome in (Outcome.DROP, Outcome.REINFORCE):
            return NOT_STORED.format(reason=decision.reason)
        kept = _kept(user, proposal, said, vector, policy)
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


def _kept(user: User, proposal: ProposedFact, said: Utterance, vector: Vectors, policy: Policy) -> Fact | None:
    """What the person's own words say, kept, where their policy does so unasked; None: it does not."""
    own = _in_own_words(user, proposal, said, vector)
    if own is None:
        return None
    fact, own_vector = own
    known = load_similar_facts(user, fact, own_vector, said.message_id)
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
            vector=own_vector,
            extracted_by=EXTRACTED_BY,
        ),
    )
    refresh_profile(user)
    return kept


def _in_own_words(
    user: User, proposal: ProposedFact, said: Utterance, vector: Vectors
) -> tuple[ProposedFact, Vectors] | None:
    """What the rules read in the message that says the same as `proposal`, with its vector."""
    read = RuleEngine().extract(ExtractionInput([said], user.preferred_name, user.zone)).facts
    if not read:
        return None
    for fact, other in zip(read, embedder().embed([fact.statement for fact in read]), strict=True):
        alike = is_same_statement(proposal.statement, fact.statement, float(vector @ other), SAME_MEANING_COSINE)
        if alike or normal(proposal.statement) == normal(fact.statement):
            return fact, other
    return None


def propose_told_by(name: str, user: User, statement: str) -> str:
    """Propose what the assistant called `name` tells of the user; a sentence that says truthfully what happened.

    By the decision and the policy of the librarian, but for one thing: there are no words of the user's to rest on, so
    nothing is kept unasked, and nothing that is known becomes surer. The same again changes nothing.
    """
    try:
        proposal = ProposedFact(
            statement=statement.strip(),
            kind=Kind.FACT,
            quote=TOLD_QUOTE.format(name=name, words=statement.strip())[:QUOTE_CHARS],
            number=NO_MESSAGE,
            confidence=CONFIDENCE,
            importance=default_importance(Kind.FACT),
        )
    except ValidationError as error:
        return NOT_STORED.format(reason=error.errors()[0]["msg"].lower())
    vector = embedder().embed([proposal.statement])[0]
    with transaction.atomic():
        lock_user(user.pk)  # one at a time: see the librarian
        known = load_similar_facts(user, proposal, vector, NO_MESSAGE)
        decision = decide(proposal, [], known.facts, policy_for(user), known.similarity)
        if decision.outcome == Outcome.DROP:
            waits = decision.reason == Reason.KNOWN and _waits(proposal, known.facts)
            return NOT_STORED.format(reason=Reason.WAITING if waits else decision.reason)
        if Fact.objects.for_user(user).proposed().filter(extracted_by=TOLD_BY).count() >= MOST_TOLD:
            return NOT_STORED.format(reason=TOO_MANY)
        create_fact(
            user.pk,
            proposal,
            status=Fact.Status.PROPOSED,
            reason=TOLD.format(name=name),
            source=Fact.Source.IMPORTED,
            said=None,
            vector=vector,
            extracted_by=TOLD_BY,
        )
        publish_event(f"user-{user.pk}", "memory")
    return WAITS


def _waits(proposal: ProposedFact, known: Iterable[KnownFact]) -> bool:
    """Whether it is no more than a proposal that says the same already."""
    words = normal(proposal.statement)
    return any(fact.status == Fact.Status.PROPOSED and normal(fact.statement) == words for fact in known)
