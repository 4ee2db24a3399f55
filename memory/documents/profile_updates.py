"""Keeps the profile documents' lines in sync with the facts: which facts have a line, and in which document.

`refresh_profile` runs in every transaction that changes facts' states: it compares the active facts with the lines and
writes a revision if they differ; it is idempotent. It never changes a line without a mark, and never restores a line
that the user removed: that fact is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from django.db import transaction
from django.db.models import Q

from memory.documents import revisions
from memory.documents.fact_line_edits import MARK_OF_ORIGIN, PROFILE, active_successors
from memory.documents.tree import fitting_name, join_path, name_of
from memory.facts.keys import PETS, SubjectType, split_key, subject_type
from memory.models import Document, Fact, Revision
from memory.models.facts import GUARANTEED_IMPORTANCE
from memory.models.kinds import Kind
from memory.models.paths import encode
from memory.text.fact_lines import facts_in, sync_fact_lines
from recall.db.postgres import wait_for_turn

if TYPE_CHECKING:
    from accounts.models import User

IDENTITY, PREFERENCES, GOALS = (beginning.path for beginning in revisions.BEGINNINGS)
PEOPLE: Final = f"{PROFILE}/people"

PLACES: Final[Mapping[Kind, str]] = {
    Kind.IDENTITY: IDENTITY,
    Kind.BIOGRAPHY: IDENTITY,
    Kind.PERSON: PEOPLE,  # a document per named person, else identity
    Kind.PREFERENCE: PREFERENCES,
    Kind.CONSTRAINT: PREFERENCES,  # allergies and diets are expected next to tastes
    Kind.INSTRUCTION: PREFERENCES,  # how to answer
    Kind.GOAL: GOALS,
}
"""Document of each kind. The others (events, decisions, things) are recalled when relevant."""
_SUBJECT_OF_SENTENCE: Final = re.compile(r"(?:The user['’]s (?:(?!(?:is|are|was|has)\b)[a-z-]+ ){1,3})?")
"""Words that may precede the name a sentence is about: “The user's sister Mary loves figs.”"""
MIN_IMPORTANCE: Final = GUARANTEED_IMPORTANCE
"""A line costs tokens in every prompt, as a guaranteed fact does."""
MAX_LINES: Final = 30
"""Maximum librarian lines per document: about 400 tokens. Existing lines stay; important facts fill the rest."""
NOTE: Final = "What was learned"
LOCK: Final = "memory.profile"


@dataclass(slots=True)
class _Profile:
    """The profile documents during a refresh."""

    user: User
    documents: list[Document]
    """The documents, locked."""
    holds: dict[int, dict[int, str]] = field(default_factory=dict)
    """Document → fact → statement."""
    names: dict[str, str] = field(default_factory=dict)
    """Subject of a key → the name: `user/sister` → Mary."""


def refresh_profile(user: User) -> bool:
    """Sync the profile documents with the user's active facts; return whether anything was written.

    Only this function writes profile lines. Call it in the transaction that changed the facts.
    """
    with transaction.atomic():
        wait_for_turn(LOCK, user.pk)  # a concurrent refresh waits, then reads what this one wrote
        profile = _Profile(user, _documents(user))
        stated_in = {fact: document for document in profile.documents for fact in facts_in(document.text)}
        facts = _load_listable_facts(user, stated_in)
        taken_over = active_successors(user.pk, stated_in.keys() - {fact.pk for fact in facts})
        profile.names = {split_key(one.key)[0]: one.value for one in facts if split_key(one.key)[1] == "name"}
        _give_places(profile, facts, stated_in, taken_over)
        changed = [_rewrite(document, profile.holds.get(document.pk, {}), taken_over) for document in profile.documents]
        return any(changed)


def _documents(user: User) -> list[Document]:
    """The profile documents, wherever they were moved; a synced file belongs to its source."""
    in_profile = Q(path__under=PROFILE) | Q(external_id__startswith=MARK_OF_ORIGIN)
    ours = Q(source__in=[Document.Source.USER, Document.Source.LIBRARIAN])
    found = Document.objects.for_user(user).filter(in_profile & (ours | Q(text__contains="^fact-")))
    return list(found.order_by("pk").select_for_update(no_key=True, of=("self",)))


def _load_listable_facts(user: User, stated_in: Iterable[int]) -> list[Fact]:
    """Active facts that may have a line, or have one, most important first."""
    worth_it = Q(kind__in=PLACES, importance__gte=MIN_IMPORTANCE)
    facts = Fact.objects.for_user(user).active().filter(worth_it | Q(pk__in=list(stated_in)))
    return list(facts.defer("vector", "search").order_by("-importance", "recorded_at", "pk"))


def _give_places(
    profile: _Profile, facts: list[Fact], stated_in: Mapping[int, Document], taken_over: Mapping[int, int]
) -> None:
    """Existing lines stay, a successor takes over its predecessor's line, and the rest fill the free places."""
    inherited = {heir: stated_in[fact] for fact, heir in taken_over.items() if heir not in stated_in}
    for fact in facts:
        document = stated_in.get(fact.pk) or inherited.get(fact.pk)
        if document is not None:
            profile.holds.setdefault(document.pk, {})[fact.pk] = fact.statement
    for fact in facts:
        if (
            fact.pk not in stated_in
            and fact.pk not in inherited
            and (document := _place_for(fact, profile)) is not None
        ):
            held = profile.holds.setdefault(document.pk, {})
            if len(held) < MAX_LINES:
                held[fact.pk] = fact.statement


def _rewrite(document: Document, holds: Mapping[int, str], taken_over: Mapping[int, int]) -> bool:
    text = sync_fact_lines(document.text, holds, taken_over)
    is_changed = revisions.write(document, text, Revision.Author.LIBRARIAN, NOTE)
    if is_changed and not text.strip() and _is_the_librarians_alone(document):
        document.delete()
    return is_changed


def _is_the_librarians_alone(document: Document) -> bool:
    """Whether only the librarian has ever written it."""
    by_person = document.revisions.exclude(author=Revision.Author.LIBRARIAN)
    return document.source == Document.Source.LIBRARIAN and not by_person.exists()


# Places ----------------------------------------------------------------------------------------------------------


def _place_for(fact: Fact, profile: _Profile) -> Document | None:
    """The document for this fact; None: the one at that path is not the librarian's to write."""
    place = PLACES[Kind(fact.kind)]
    if name := person_of(fact, profile.names):
        return _of_person(name, profile)
    return _at(IDENTITY if place == PEOPLE else place, profile)


def person_of(fact: Fact, names: Mapping[str, str]) -> str:
    """Whose document a fact belongs in: the subject of its key, else of its sentence; empty: the user's own."""
    subject, _ = split_key(fact.key)
    if subject and subject_type(subject) is SubjectType.PERSON:
        said = re.search(rf"\b{subject.rpartition('/')[2].replace('_', r'[\W_]+')}\b", fact.statement, re.IGNORECASE)
        spelled = said[0] if said and said[0][:1].isupper() else ""
        return names.get(subject) or spelled or name_in(fact.statement, fact.tags)
    if fact.kind == Kind.PERSON:
        return name_in(fact.statement, fact.tags)
    name = "" if subject else name_in(fact.statement, fact.tags)
    begins = _SUBJECT_OF_SENTENCE.match(fact.statement)
    rest = fact.statement[begins.end() :] if begins and not PETS & {*begins[0].split()} else ""
    return name if name and re.match(rf"{re.escape(name)}\b(?!['’]s)", rest) else ""


def name_in(statement: str, tags: Iterable[str]) -> str:
    """Name of the subject of a statement: the first capitalized tag that occurs in it."""
    named = [tag for tag in tags if tag[:1].isupper() and tag in statement and "/" not in tag]
    return min(named, key=statement.index, default="")


def _of_person(name: str, profile: _Profile) -> Document | None:
    """The document of this name: “Sarah” means “Sarah Chen” if that is the only Sarah with a document."""
    people = [document for document in profile.documents if _origin(document).startswith(f"{PEOPLE}/")]
    called = {person.pk: name_of(person.path).casefold() for person in people}
    same = [person for person in people if called[person.pk] == name.casefold()]
    alike = [person for person in people if called[person.pk].split()[:1] == [name.casefold()]]
    if same or len(alike) == 1:
        return (same or alike)[0]
    return _at(join_path(PEOPLE, fitting_name(name)), profile, title=name)


def _origin(document: Document) -> str:
    """The path where the librarian first wrote it, else its current path."""
    return document.external_id.removeprefix(MARK_OF_ORIGIN) or document.path


def _at(path: str, profile: _Profile, title: str = "") -> Document | None:
    """The librarian's document for `path`, wherever it is now; created if missing."""
    mark = f"{MARK_OF_ORIGIN}{path}"
    found = next((document for document in profile.documents if document.external_id == mark), None)
    found = found or next(
        (document for document in profile.documents if document.path == path and not document.external_id), None
    )
    if found is None:
        found = _create(path, title, profile)
    if found is not None and found.external_id != mark:
        found.external_id = mark
        found.save(update_fields=["external_id"])
    return found


def _create(path: str, title: str, profile: _Profile) -> Document | None:
    if any(document.path == path for document in profile.documents):  # a synced file, or one that was moved here
        return None
    encode(path)
    source = Document.Source.LIBRARIAN if title else Document.Source.USER  # starter documents are the user's own
    made, is_new = Document.objects.get_or_create(
        user=profile.user,
        path=path,
        defaults={
            "title": title or revisions.title_of(path),
            "source": source,
            "external_id": f"{MARK_OF_ORIGIN}{path}",
        },
    )
    if not is_new and (made.external_id or made.source not in (Document.Source.USER, Document.Source.LIBRARIAN)):
        return None
    profile.documents.append(made)
    return made
