"""What happens when the model is asked to remember something in mid-conversation? It makes a proposal, at most.

The statement is the model's wording, and what stands in its prompt may have been written by anybody. So nothing it
asks for becomes active by itself, whatever the policy: the person decides, with their own message beside it.
"""

from __future__ import annotations

from django.db import transaction
from pydantic import ValidationError

from accounts.models import User
from memory.decision import Outcome, decide
from memory.embedding import embedder
from memory.extraction import ProposedFact
from memory.kinds import Kind, default_importance
from memory.known import near
from memory.models import Fact
from memory.source import Utterance
from memory.storing import store
from recall.nudges import nudge

EXTRACTED_BY = "remember/1"
REASON = "the assistant was asked to remember it"
CONFIDENCE = 0.7
"""Below what may be kept unasked: the words are the model's."""
QUOTE_CHARS = 1_000
"""A quote is a sentence or a few; of a longer message its beginning stands for it, and the link leads to the rest."""

WAITS = "It is proposed and waits for the person's review; it is not remembered yet."
NOT_STORED = "It was not stored: {reason}."


def propose(user: User, statement: str, said: Utterance) -> str:
    """Propose `statement`, resting on the user's message `said`; a sentence that says truthfully what happened."""
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
        User.objects.select_for_update(no_key=True).get(pk=user.pk)  # one at a time: see the librarian
        known = near(user, proposal, vector, said.message_id)
        decision = decide(proposal, [said], known.facts, similarity=known.similarity)
        if decision.outcome in (Outcome.DROP, Outcome.REINFORCE):
            return NOT_STORED.format(reason=decision.reason)
        store(
            user.pk,
            proposal,
            status=Fact.Status.PROPOSED,
            reason=REASON,
            source=Fact.Source.INFERRED,
            said=said,
            vector=vector,
            extracted_by=EXTRACTED_BY,
        )
        nudge(f"user-{user.pk}", "memory")
    return WAITS
