"""What becomes of what another assistant remembered? Proposals for the person to decide on, never facts by themselves.

What is known already is proposed all the same, with the known fact beside it: the person sees that both say it, and
nothing is dropped in silence. Secrets, and what they rejected before, are not proposed again; they are counted.
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
"""Another assistant's words about the person: worth asking, not worth keeping unasked."""
NAMES: Final = {"chatgpt": "ChatGPT", "claude": "Claude"}
"""How the person knows an origin."""
REASON: Final = "remembered by {name}"
ALREADY_KNOWN: Final = "already known: “{statement}”"
REASON_CHARS: Final = 200
LEAST_LETTERS: Final = 3
NO_MESSAGE: Final = 0
FOLDER: Final = "/reference"
PROJECTS: Final = "/projects"
MARK: Final = 10
"""Characters that tell files of one name apart."""

WAITING: Final = "memories"
KNOWN: Final = "memories_known"
SEEN: Final = "memories_seen"
REFUSED: Final = "memories_refused"
"""What `propose` counts: those that wait, of these the ones already known, those an earlier import brought, those that
are not stored."""


class Remembered(Protocol):
    """A memory as an export tells it."""

    @property
    def text(self) -> str: ...
    @property
    def kind(self) -> Kind: ...


def propose(user: User, origin: str, memories: Iterable[Remembered]) -> Counter[str]:
    """Put memories into the review queue; how many of them, and what became of the others."""
    counted: Counter[str] = Counter()
    extracted_by = f"import:{origin}/{VERSION}"
    fresh = _not_seen(user, extracted_by, {one.text.strip(): one.kind for one in memories}, counted)
    proposals = [proposal for text, kind in fresh.items() if (proposal := _proposal(text, kind, counted)) is not None]
    if not proposals:
        return counted
    vectors = embedder().embed([proposal.statement for proposal in proposals])
    policy = policy_for(user)
    with transaction.atomic():
        lock_user(user.pk)  # one at a time: see the librarian
        for proposal, vector in zip(proposals, vectors, strict=True):
            counted += _propose(user, origin, proposal, vector, policy)
        publish_event(f"user-{user.pk}", "memory")
    return counted


def _not_seen(user: User, extracted_by: str, told: dict[str, Kind], counted: Counter[str]) -> dict[str, Kind]:
    """Those that no earlier import brought: whatever was decided about them stands."""
    seen = set(
        Fact.objects.for_user(user)
        .filter(extracted_by=extracted_by, quote__in=[storable(text) for text in told])
        .values_list("quote", flat=True)
    )
    counted[SEEN] += len(seen)
    return {text: kind for text, kind in told.items() if storable(text) not in seen}


def _proposal(text: str, kind: Kind, counted: Counter[str]) -> ProposedFact | None:
    quote = storable(text)
    try:
        if sum(char.isalpha() for char in quote) < LEAST_LETTERS:
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
    known = _same(proposal, found)
    fact = create_fact(
        user.pk,
        proposal,
        status=Fact.Status.PROPOSED,
        reason=_known_reason(known) if known else REASON.format(name=NAMES.get(origin, origin)),
        source=Fact.Source.IMPORTED,
        said=None,
        vector=vector,
        extracted_by=f"import:{origin}/{VERSION}",
    )
    if known is None:
        return Counter({WAITING: 1})
    link(user.pk, fact.pk, FactLink.Relation.RELATED_TO, known.fact_id, found.similarity.get(known.fact_id, 1.0))
    return Counter({WAITING: 1, KNOWN: 1})


def _same(proposal: ProposedFact, found: Near) -> KnownFact | None:
    """The known fact that says the same, the most alike first."""
    near_by = found.similarity
    alike = [
        fact
        for fact in found.facts
        if fact.status != Fact.Status.REJECTED
        and (
            normal(fact.statement) == normal(proposal.statement)
            or is_same_statement(proposal.statement, fact.statement, near_by.get(fact.fact_id, 0.0))
        )
    ]
    return max(alike, key=lambda fact: near_by.get(fact.fact_id, 0.0), default=None)


def _known_reason(same: KnownFact) -> str:
    room = REASON_CHARS - len(ALREADY_KNOWN.format(statement=""))
    statement = same.statement if len(same.statement) <= room else f"{same.statement[: room - 1]}…"
    return ALREADY_KNOWN.format(statement=statement)


# Documents -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """The text of a file that an export holds."""

    key: str
    """Its name at its origin."""
    name: str
    text: str
    project: str = ""
    """Name of the project it belongs to, if any."""


@transaction.atomic
def store_document(user: User, origin: str, file: ImportedFile) -> bool:
    """Keep it as a document, or as a new version of the one it became before; False: it is there as it is."""
    text = storable(file.text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    external_id = f"{origin}:{file.key}"[:300]
    standing = Document.objects.for_user(user).filter(source=Document.Source.IMPORT, external_id=external_id).first()
    if standing is not None:
        if standing.content_hash == digest:
            return False
        revisions.replace_text(standing, text, Revision.Author.IMPORT, digest, note=_note(origin))
        return True
    made = revisions.Origin(Document.Source.IMPORT, external_id, digest)
    revisions.add(user, _free_path(user, origin, file), text, Revision.Author.IMPORT, made, note=_note(origin))
    return True


def _free_path(user: User, origin: str, file: ImportedFile) -> str:
    """Its own name; where that is taken, with a mark that is its alone: hundreds may be called “pasted text”."""
    parent, folder = (PROJECTS, file.project) if file.project else (FOLDER, NAMES.get(origin, origin))
    within, name = tree.join_path(parent, tree.fitting_name(folder)), PurePosixPath(tree.fitting_name(file.name))
    wanted = tree.join_path(within, str(name))
    if not Document.objects.for_user(user).filter(path=wanted).exists():
        return wanted
    mark = hashlib.sha256(file.key.encode()).hexdigest()[:MARK]
    return tree.join_path(within, tree.fitting_name(f"{name.stem[:100]} ({mark}){name.suffix}"))


def _note(origin: str) -> str:
    return f"From {NAMES.get(origin, origin)}"
