"""At which path does a proposed document stand? Where one on the same subject does, wherever it was moved to.

    known by its mark    the librarian wrote on this very subject before: that document, under whatever name it has now
    same words           a document's title or name has the same content words, in any order and number
    same meaning         the titles' vectors are as close as those of two names of one thing
    new                  in the folder of the same topic if there is one, else in the engine's folder

Choosing is pure; `placed` asks the database and the embedding model, before any lock is held.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memory.documents.tree import ROOT, fitting_name, join_path, name_of, parent_of
from memory.embeddings.port import embedder
from memory.librarian.engine import Folder, ProposedDocument
from memory.models import Document

if TYPE_CHECKING:
    from accounts.models import User

MARK: Final = "subject:"
"""`Document.external_id` of such a document begins so: it is known again wherever a person moves it."""
SAME_SUBJECT: Final = 0.8
"""Cosine of two titles from which on they name one subject. High on purpose: a second document is a smaller harm than
one that mixes two subjects."""
SAME_WORDS: Final = 0.75
"""Share of the content words of both titles that they have in common, from which on they are the same."""
MOST_KNOWN: Final = 200
"""Documents looked at, the latest changed first."""
_FILLERS: Final = frozenset(
    {"a", "an", "and", "for", "in", "my", "note", "notes", "of", "on", "our", "plan", "project", "the", "to", "user"}
)
"""Words of a title that tell no subject apart."""


@dataclass(frozen=True, slots=True)
class ExistingDocument:
    """A document or folder that is there."""

    path: str
    title: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a proposal goes, and why."""

    path: str
    mark: str
    why: str
    """known, words, meaning or new."""


type Likeness = Callable[[str, str], float]
"""Cosine of two titles, −1…1."""


def placed(user: User, proposals: Sequence[ProposedDocument]) -> list[Placement]:
    """A place for each proposal, in order. Two on one subject get the same."""
    if not proposals:
        return []
    known = load_existing(user)
    likeness = _likeness({*(p.title for p in proposals), *(p.topic for p in proposals), *_names(known)})
    places: list[Placement] = []
    for proposal in proposals:
        place = choose(proposal, known, likeness)
        known.append(ExistingDocument(place.path, proposal.title, place.mark))
        places.append(place)
    return places


def load_existing(user: User) -> list[ExistingDocument]:
    """Documents that may be added to: those of the librarian's subjects, wherever they are, and the person's own."""
    folders = [f"/{folder}" for folder in Folder]
    documents = Document.objects.for_user(user).filter(source__in=[Document.Source.USER, Document.Source.LIBRARIAN])
    found = documents.order_by("-changed_at").values_list("path", "title", "external_id")[: MOST_KNOWN * 5]
    mine = (ExistingDocument(*row) for row in found)
    return [one for one in mine if one.mark.startswith(MARK) or one.path.startswith(tuple(f"{f}/" for f in folders))][
        :MOST_KNOWN
    ]


def choose(proposal: ProposedDocument, known: Sequence[ExistingDocument], likeness: Likeness) -> Placement:
    """The place of one proposal among what is known."""
    mark = mark_of(proposal)
    if same := next((one for one in known if one.mark == mark), None):
        return Placement(same.path, mark, "known")
    folder = f"/{proposal.folder}"
    near = [one for one in known if one.path.startswith(f"{folder}/") or one.mark.startswith(MARK)]
    if alike := next((one for one in near if same_words(proposal.title, one)), None):
        return Placement(alike.path, alike.mark or mark, "words")
    closest = max(near, key=lambda one: likeness(proposal.title, one.title), default=None)
    if closest is not None and likeness(proposal.title, closest.title) >= SAME_SUBJECT:
        return Placement(closest.path, closest.mark or mark, "meaning")
    return Placement(join_path(_folder(proposal, known, likeness), fitting_name(proposal.title)), mark, "new")


def mark_of(proposal: ProposedDocument) -> str:
    """The subject as a mark: a digest, so that a forgotten title leaves no word behind."""
    subject = f"{proposal.folder}/{' '.join(sorted(_content(proposal.title)))}"
    return f"{MARK}{hashlib.sha256(subject.encode()).hexdigest()[:32]}"


def same_words(title: str, one: ExistingDocument) -> bool:
    """Whether a title has the words of a document's title, or of its name."""
    words = _content(title)
    return any(_share(words, _content(name)) >= SAME_WORDS for name in (one.title, name_of(one.path)))


def _folder(proposal: ProposedDocument, known: Iterable[ExistingDocument], likeness: Likeness) -> str:
    """The folder of the topic, as it is called already; without a topic, or one that is the title, the engine's own."""
    folder = f"/{proposal.folder}"
    topic = proposal.topic
    if not topic or _share(_content(topic), _content(proposal.title)) >= SAME_WORDS:
        return folder
    there = {parent_of(one.path) for one in known} | {one.path for one in known}
    inside = sorted(path for path in there if path.startswith(f"{folder}/") and parent_of(path) == folder)
    for path in inside:
        if _share(_content(topic), _content(name_of(path))) >= SAME_WORDS:
            return path
    closest = max(inside, key=lambda path: likeness(topic, name_of(path)), default="")
    if closest and likeness(topic, name_of(closest)) >= SAME_SUBJECT:
        return closest
    return join_path(folder, fitting_name(topic))


def _content(title: str) -> frozenset[str]:
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", title).casefold())
    return frozenset(_stem(word) for word in words if word not in _FILLERS) or frozenset(words)


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0


def _names(known: Iterable[ExistingDocument]) -> set[str]:
    paths = {one.path for one in known} | {parent_of(one.path) for one in known} - {ROOT}
    return {one.title for one in known} | {name_of(path) for path in paths}


def _likeness(titles: Iterable[str]) -> Likeness:
    """Cosines among these titles: the embedding model's vectors have length 1."""
    names = sorted(title for title in titles if title)
    vectors = dict(zip(names, embedder().embed(names), strict=True)) if names else {}

    def cosine(one: str, other: str) -> float:
        return float(vectors[one] @ vectors[other]) if one in vectors and other in vectors else 0.0

    return cosine
