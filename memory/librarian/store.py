"""Creates facts: the one place where a proposed fact becomes a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.embeddings.port import embedder
from memory.facts.contradiction import oppose_replaced
from memory.models import Fact
from recall.llm.tokens import count_tokens

if TYPE_CHECKING:
    from memory.librarian.engine import ProposedFact
    from memory.models import LibrarianRun
    from memory.ports.source import Utterance


def create_fact(
    user_id: int,
    proposal: ProposedFact,
    *,
    status: Fact.Status,
    reason: str,
    source: Fact.Source,
    said: Utterance | None,
    vector: object,
    extracted_by: str,
    run: LibrarianRun | None = None,
) -> Fact:
    """The stored fact. `said`: its evidence. `vector`: of the statement, by the current model."""
    fact: Fact = Fact.objects.create(
        user_id=user_id,
        statement=proposal.statement,
        tokens=count_tokens(proposal.statement),
        kind=proposal.kind,
        key=proposal.key,
        value=proposal.value,
        tags=list(proposal.tags),
        confidence=proposal.confidence,
        importance=proposal.importance,
        status=status,
        reason=reason,
        valid_from=proposal.valid_from,
        valid_until=proposal.valid_until,
        source=source,
        message_id=said.message_id if said else None,
        quote=proposal.quote,
        run=run,
        extracted_by=extracted_by,
        vector=vector,
        embedded_by=embedder().name,
    )
    if status in (Fact.Status.ACTIVE, Fact.Status.PROPOSED) and proposal.valid_until is None:
        oppose_replaced(fact)
    return fact
