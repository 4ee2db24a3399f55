"""Chooses the path of a proposed document: that of a document on the same subject, or a new one.

    known      the librarian wrote on this subject before (the document's mark), whatever its name and path are now
    words      a document's title or name has the same content words, in any order
    meaning    the titles' vectors are close
    new        in the folder of the same topic, else in the engine's folder

`choose` is pure; `place_documents` reads the database and the embedding model, before any lock is held.
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
"""Prefix of such a document's `external_id`, which identifies it wherever the user moves it."""
SAME_SUBJECT: Final = 0.8
"""Minimum cosine of two titles that name one subject. High: a second document is better than mixed subjects."""
SAME_WORDS: Final = 0.75
"""Minimum share of common content words of two titles that are the same."""
MAX_EXISTING: Final = 200
"""Maximum documents compared, the latest changed first."""
_FILLERS: Final = frozenset(
    {"a", "an", "and", "for", "in", "my", "note", "notes", "of", "on", "our", "plan", "project", "the", "to", "user"}
)
"""Words of a title that don't distinguish subjects."""


@dataclass(frozen=True, slots=True)
class ExistingDocument:
    """A document that may be extended."""

    path: str
    title: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Placement:
    """The path of a proposed document, and why."""

    path: str
    mark: str
    why: str
    """known, words, meaning or new."""


type Likeness = Callable[[str, str], float]
"""Cosine of two titles, −1…1."""


def place_documents(user: User, proposals: Sequence[ProposedDocument]) -> list[Placement]:
    """A placement for each proposal, in order; two proposals on one subject get the same one."""
    if not proposals:
        return []
    known = load_existing(user)
    likeness = _embed_titles({*(p.title for p in proposals), *(p.topic for p in proposals), *_all_names(known)})
    places: list[Placement] = []
    for proposal in proposals:
        place = choose(proposal, known, likeness)
        known.append(ExistingDocument(place.path, proposal.title, place.mark))
        places.append(place)
    return places


def load_existing(user: User) -> list[ExistingDocument]:
    """Documents that may be extended: the librarian's by their marks, and the user's own in its folders."""
    rows = Document.objects.for_user(user).filter(source__in=[Document.Source.USER, Document.Source.LIBRARIAN])
    latest = rows.order_by("-changed_at").values_list("path", "title", "external_id")[: MAX_EXISTING * 5]
    prefixes = tuple(f"/{folder}/" for folder in Folder)
    documents = (ExistingDocument(*row) for row in latest)
    return [row for row in documents if row.mark.startswith(MARK) or row.path.startswith(prefixes)][:MAX_EXISTING]


def choose(proposal: ProposedDocument, known: Sequence[ExistingDocument], likeness: Likeness) -> Placement:
    """The placement of one proposal among existing documents."""
    mark = mark_of(proposal)
    if same := next((one for one in known if one.mark == mark), None):
        return Placement(same.path, mark, "known")
    folder = f"/{proposal.folder}"
    near = [one for one in known if one.path.startswith(f"{folder}/") or one.mark.startswith(MARK)]
    if alike := next((one for one in near if has_same_words(proposal.title, one)), None):
        return Placement(alike.path, alike.mark or mark, "words")
    closest = max(near, key=lambda one: likeness(proposal.title, one.title), default=None)
    if closest is not None and likeness(proposal.title, closest.title) >= SAME_SUBJECT:
        return Placement(closest.path, closest.mark or mark, "meaning")
    return Placement(join_path(_choose_folder(proposal, known, likeness), fitting_name(proposal.title)), mark, "new")


def mark_of(proposal: ProposedDocument) -> str:
    """The subject as a mark: a digest, so that a forgotten title leaves no trace."""
    subject = f"{proposal.folder}/{' '.join(sorted(_content_words(proposal.title)))}"
    return f"{MARK}{hashlib.sha256(subject.encode()).hexdigest()[:32]}"


def has_same_words(title: str, one: ExistingDocument) -> bool:
    """Whether a title has the words of a document's title or name."""
    words = _content_words(title)
    return any(_overlap(words, _content_words(name)) >= SAME_WORDS for name in (one.title, name_of(one.path)))


def _choose_folder(proposal: ProposedDocument, known: Iterable[ExistingDocument], likeness: Likeness) -> str:
    """The existing folder of the topic, or a new one; the engine's folder without a topic, or if it is the title."""
    folder = f"/{proposal.folder}"
    topic = proposal.topic
    if not topic or _overlap(_content_words(topic), _content_words(proposal.title)) >= SAME_WORDS:
        return folder
    paths = {parent_of(one.path) for one in known} | {one.path for one in known}
    inside = sorted(path for path in paths if path.startswith(f"{folder}/") and parent_of(path) == folder)
    for path in inside:
        if _overlap(_content_words(topic), _content_words(name_of(path))) >= SAME_WORDS:
            return path
    closest = max(inside, key=lambda path: likeness(topic, name_of(path)), default="")
    if closest and likeness(topic, name_of(closest)) >= SAME_SUBJECT:
        return closest
    return join_path(folder, fitting_name(topic))


def _content_words(title: str) -> frozenset[str]:
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", title).casefold())
    return frozenset(_stem(word) for word in words if word not in _FILLERS) or frozenset(words)


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0


def _all_names(known: Iterable[ExistingDocument]) -> set[str]:
    paths = {one.path for one in known} | {parent_of(one.path) for one in known} - {ROOT}
    return {one.title for one in known} | {name_of(path) for path in paths}


def _embed_titles(titles: Iterable[str]) -> Likeness:
    """A function that gives the cosine of two of these titles."""
    names = sorted(title for title in titles if title)
    vectors = dict(zip(names, embedder().embed(names), strict=True)) if names else {}

    def cosine(one: str, other: str) -> float:
        return float(vectors[one] @ vectors[other]) if one in vectors and other in vectors else 0.0

    return cosine
