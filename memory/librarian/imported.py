"""Imports from other assistants: their memories become proposals, their files documents.

A memory that is already known is proposed too, linked to the known fact, so that the user sees both. Secrets, and
statements the user rejected before, are only counted.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, Protocol

from django.db import transaction
from pydantic import ValidationError

from memory.documents import revisions, tree
from memory.embeddings.port import embedder
from memory.facts.deduplication import is_same_statement
from memory.facts.links import link
from memory.forget_epoch import lock_user
from memory.librarian.decision import Outcome, Policy, Reason, decide, normal
from memory.librarian.engine import KnownFact, ProposedFact
from memory.librarian.known_facts import Near, load_similar_facts
from memory.librarian.policies import policy_for
from memory.librarian.store import create_fact
from memory.models import Document, Fact, FactLink, Revision
from memory.models.kinds import Kind, default_importance
from recall.db.notify import publish_event
from recall.text import storable

if TYPE_CHECKING:
    from accounts.models import User

VERSION: Final = 1
CONFIDENCE: Final = 0.6
"""For another assistant's words: never stored without asking."""
NAMES: Final = {"chatgpt": "ChatGPT", "claude": "Claude"}
"""Names of the origins, as the user knows them."""
REASON: Final = "remembered by {name}"
ALREADY_KNOWN: Final = "already known: “{statement}”"
REASON_CHARS: Final = 200
MIN_LETTERS: Final = 3
NO_MESSAGE: Final = 0
FOLDER: Final = "/reference"
PROJECTS: Final = "/projects"
MARK: Final = 10
"""Characters of the suffix that distinguishes files of the same name."""

WAITING: Final = "memories"
KNOWN: Final = "memories_known"
SEEN: Final = "memories_seen"
REFUSED: Final = "memories_refused"
"""Counts in `propose`: proposals, those of them already known, those imported before, and those not stored."""


class Remembered(Protocol):
    """A memory in an export."""

    @property
    def text(self) -> str: ...
    @property
    def kind(self) -> Kind: ...


def propose(user: User, origin: str, memories: Iterable[Remembered]) -> Counter[str]:
    """Add memories to the review queue; return the counts by outcome."""
    counted: Counter[str] = Counter()
    extracted_by = f"import:{origin}/{VERSION}"
    unseen = _drop_seen(user, extracted_by, {memory.text.strip(): memory.kind for memory in memories}, counted)
    proposals = [
        proposal for text, kind in unseen.items() if (proposal := _build_proposal(text, kind, counted)) is not None
    ]
    if not proposals:
        return counted
    vectors = embedder().embed([proposal.statement for proposal in proposals])
    policy = policy_for(user)
    with transaction.atomic():
        lock_user(user.pk)  # concurrent proposals would otherwise both be new
        for proposal, vector in zip(proposals, vectors, strict=True):
            counted += _propose(user, origin, proposal, vector, policy)
        publish_event(f"user-{user.pk}", "memory")
    return counted


def _drop_seen(user: User, extracted_by: str, kinds: dict[str, Kind], counted: Counter[str]) -> dict[str, Kind]:
    """Texts that no earlier import proposed: decisions about those are kept."""
    seen = set(
        Fact.objects.for_user(user)
        .filter(extracted_by=extracted_by, quote__in=[storable(text) for text in kinds])
        .values_list("quote", flat=True)
    )
    counted[SEEN] += len(seen)
    return {text: kind for text, kind in kinds.items() if storable(text) not in seen}


def _build_proposal(text: str, kind: Kind, counted: Counter[str]) -> ProposedFact | None:
    quote = storable(text)
    try:
        if sum(char.isalpha() for char in quote) < MIN_LETTERS:
            return None
        return ProposedFact(
            statement=quote,
            kind=kind,
            quote=quote,
            number=0,
            confidence=CONFIDENCE,
            importance=default_importance(kind),
        )
    except ValidationError:
        counted[REFUSED] += 1  # longer than a fact may be
        return None


def _propose(user: User, origin: str, proposal: ProposedFact, vector: object, policy: Policy) -> Counter[str]:
    found = load_similar_facts(user, proposal, vector, NO_MESSAGE)
    decision = decide(proposal, [], found.facts, policy, found.similarity)
    if decision.outcome == Outcome.DROP and decision.reason != Reason.KNOWN:
        return Counter({REFUSED: 1})
    known = _find_same(proposal, found)
    fact = create_fact(
        user.pk,
        proposal,
        status=Fact.Status.PROPOSED,
        reason=_reason_known(known) if known else REASON.format(name=NAMES.get(origin, origin)),
        source=Fact.Source.IMPORTED,
        said=None,
        vector=vector,
        extracted_by=f"import:{origin}/{VERSION}",
    )
    if known is None:
        return Counter({WAITING: 1})
    link(user.pk, fact.pk, FactLink.Relation.RELATED_TO, known.fact_id, found.similarity.get(known.fact_id, 1.0))
    return Counter({WAITING: 1, KNOWN: 1})


def _find_same(proposal: ProposedFact, found: Near) -> KnownFact | None:
    """The most similar known fact that says the same."""
    alike = [
        fact
        for fact in found.facts
        if fact.status != Fact.Status.REJECTED
        and (
            normal(fact.statement) == normal(proposal.statement)
            or is_same_statement(proposal.statement, fact.statement, found.similarity.get(fact.fact_id, 0.0))
        )
    ]
    return max(alike, key=lambda fact: found.similarity.get(fact.fact_id, 0.0), default=None)


def _reason_known(known: KnownFact) -> str:
    room = REASON_CHARS - len(ALREADY_KNOWN.format(statement=""))
    statement = known.statement if len(known.statement) <= room else f"{known.statement[: room - 1]}…"
    return ALREADY_KNOWN.format(statement=statement)


# Documents -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """The text of a file in an export."""

    key: str
    """Its id at its origin."""
    name: str
    text: str
    project: str = ""
    """Name of its project, if any."""


@transaction.atomic
def store_document(user: User, origin: str, file: ImportedFile) -> bool:
    """Store the file as a document or a new revision; False if it is already stored."""
    text = storable(file.text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    external_id = f"{origin}:{file.key}"[:300]
    existing = Document.objects.for_user(user).filter(source=Document.Source.IMPORT, external_id=external_id).first()
    if existing is not None:
        if existing.content_hash == digest:
            return False
        revisions.replace_text(existing, text, Revision.Author.IMPORT, digest, note=_note(origin))
        return True
    source = revisions.Origin(Document.Source.IMPORT, external_id, digest)
    revisions.add(user, _free_path(user, origin, file), text, Revision.Author.IMPORT, source, note=_note(origin))
    return True


def _free_path(user: User, origin: str, file: ImportedFile) -> str:
    """The file's own name, with a unique suffix if that is taken: hundreds may be called “pasted text”."""
    parent, folder = (PROJECTS, file.project) if file.project else (FOLDER, NAMES.get(origin, origin))
    within, name = tree.join_path(parent, tree.fitting_name(folder)), PurePosixPath(tree.fitting_name(file.name))
    wanted = tree.join_path(within, str(name))
    if not Document.objects.for_user(user).filter(path=wanted).exists():
        return wanted
    mark = hashlib.sha256(file.key.encode()).hexdigest()[:MARK]
    return tree.join_path(within, tree.fitting_name(f"{name.stem[:100]} ({mark}){name.suffix}"))


def _note(origin: str) -> str:
    return f"From {NAMES.get(origin, origin)}"
