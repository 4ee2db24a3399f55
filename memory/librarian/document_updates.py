"""What is written into documents at the end of a reading? Lines on a subject, a conversation in short, a story.

    prepared     places, vectors and the summary, before any lock is held
    write_lines  lines that rest on the user's words, each with the mark of its message
    file_told    one document a conversation, brought up to date whenever it ends again
    file_story   the user's own words, character by character, once

All of it is written in the transaction that closes the run (memory/librarian/run.py), as revisions of the librarian's.
A document is known again by its mark (`Document.external_id`), wherever a person moved it and whatever they call it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction
from django.db.models import Q

from accounts.models import User
from memory.documents import revisions
from memory.documents.merge import Version, rebase_generated, taken_out
from memory.documents.revisions import Origin, PathTakenError
from memory.documents.tree import fitting_name, join_path, numbered
from memory.embeddings.port import embedder
from memory.forget_epoch import lock_user
from memory.librarian.engine import ProposedDocument, ProposedFact, ProposedLine, ProposedStory
from memory.librarian.placement import Placement, placed
from memory.models import Document, LibrarianRun, Revision
from memory.models.kinds import Kind, default_importance
from memory.ports.source import ConversationDigest, Utterance, get_source
from memory.text.fact_lines import MarkKind, lines_of, with_lines, with_mark, words_of
from memory.text.secrets_filter import sensitive
from memory.text.user_text import mask_foreign_text

if TYPE_CHECKING:
    from uuid import UUID

    from memory.librarian.engine import Extraction

LEAST_TURNS: Final = {"ended": 1, "idle": 3, "left": 3}
"""By what made the librarian read: turns from which on a conversation has a document. One that was ended is done with;
one that only paused must be worth it. A conversation that is still going on has none yet."""
CONVERSATIONS: Final = "/conversations"
STORIES: Final = "/stories"
CONFIDENCE: Final = 0.8
"""Of a document's line as it is judged: it may be kept unasked if it rests on the user's own words."""
OWN_SHARE: Final = 0.7
"""Of a story's letters so many must be the user's own words; the rest may be what people in it said."""
LEAST_STORY: Final = 120
"""Characters: what is shorter is a sentence, and a fact at most."""

NO_STORY: Final = "a story that is not in your own words"
TOO_SHORT: Final = "a story of a sentence or two"
SECRET_STORY: Final = "a story that holds a password, key, card or identity number"  # noqa: S105 - a sentence


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """A proposed line, where it would stand, and the same as the decision judges it."""

    place: Placement
    title: str
    text: str
    proposal: ProposedFact
    vector: Any


@dataclass(frozen=True, slots=True)
class DocumentUpdates:
    """What a run is to file."""

    lines: Sequence[PlacedLine] = ()
    stories: Sequence[ProposedStory] = ()
    told: ConversationDigest | None = None


def prepare_updates(run: LibrarianRun, extraction: Extraction) -> DocumentUpdates:
    """Everything that takes a while: where documents stand, what lines mean, what the conversation comes to."""
    places = placed(run.user, extraction.documents)
    judged = [
        (place, document, line, as_fact(document, line))
        for place, document in zip(places, extraction.documents, strict=True)
        for line in document.lines
    ]
    vectors: Iterable[Any] = embedder().embed([fact.statement for *_, fact in judged]) if judged else []
    lines = [
        PlacedLine(place, document.title, line.text, fact, vector)
        for (place, document, line, fact), vector in zip(judged, vectors, strict=True)
    ]
    return DocumentUpdates(lines, extraction.stories, _told(run))


def as_fact(document: ProposedDocument, line: ProposedLine) -> ProposedFact:
    """A line as the decision judges it, and as it waits for the user where it may not be written."""
    return ProposedFact(
        statement=line.text,
        kind=Kind.FACT,
        quote=line.quote,
        number=line.number,
        confidence=CONFIDENCE,
        importance=default_importance(Kind.FACT),
        tags=(document.title[:60],),
        hypothetical=line.hypothetical,
        reported=line.reported,
        about_third_party=line.about_third_party,
        health=line.health,
    )


def _told(run: LibrarianRun) -> ConversationDigest | None:
    if run.trigger not in LEAST_TURNS:
        return None
    told = get_source().load_digest(run.conversation_id)
    return told if told is not None and told.text and told.turns >= LEAST_TURNS[run.trigger] else None


# Lines on a subject ----------------------------------------------------------------------------------------------


def write_lines(user: User, kept: Iterable[tuple[PlacedLine, Utterance]]) -> int:
    """Write lines into their documents; how many were new. What a person took out is not written again."""
    by_place: dict[str, list[tuple[PlacedLine, Utterance]]] = {}
    for line, said in kept:
        by_place.setdefault(line.place.path, []).append((line, said))
    return sum(_write_into(user, lines) for _, lines in sorted(by_place.items()))


def _write_into(user: User, lines: Sequence[tuple[PlacedLine, Utterance]]) -> int:
    first, note = lines[0][0], f"Learned on {_day(lines[0][1])}"
    document = _standing_at(user, first.place)
    text = document.text if document else ""
    known = {line.words for line in lines_of(text)} | (taken_out(versions(document)) if document else frozenset())
    new: dict[str, str] = {}
    for line, said in lines:
        if (words := words_of(line.text)) not in known:
            new.setdefault(words, with_mark(f"- {line.text}", MarkKind.SAID, said.message_id))
    text = with_lines(text, new.values())
    if document is not None:
        revisions.write(document, text, Revision.Author.LIBRARIAN, note)
    elif new:
        _new(user, first.place.path, first.title, first.place.mark, text, note)
    return len(new)


def _standing_at(user: User, place: Placement) -> Document | None:
    """The document that was chosen, locked; one that was moved since is found by its mark."""
    ours = Document.objects.for_user(user).filter(source__in=[Document.Source.USER, Document.Source.LIBRARIAN])
    locked = ours.select_for_update(no_key=True, of=("self",))
    marked_so: Document | None = locked.filter(external_id=place.mark).order_by("pk").first()
    return marked_so or (None if place.why == "new" else locked.filter(path=place.path).first())


def _new(user: User, path: str, title: str, mark: str, text: str, note: str = "") -> Document:
    """A document of the librarian's at the path, or at the next one that is free."""
    origin = Origin(Document.Source.LIBRARIAN, mark)
    for free in numbered(path):
        if Document.objects.for_user(user).filter(path=free).exists():
            continue
        try:
            return revisions.add(user, free, text, Revision.Author.LIBRARIAN, origin, title=title, note=note)
        except PathTakenError:  # somebody was faster
            continue
    raise PathTakenError(path)


def versions(document: Document) -> list[Version]:
    """Every version from the first on, and whether a person wrote it."""
    rows = document.revisions.order_by("number").values_list("author", "text")
    return [(author != Revision.Author.LIBRARIAN, text) for author, text in rows]


# A conversation in short -----------------------------------------------------------------------------------------


def write_digest(user: User, conversation_id: UUID, told: ConversationDigest) -> None:
    """Write what the conversation comes to, or bring it up to date; what a person changed in it stays."""
    mark = mark_of(conversation_id)
    ours = Document.objects.for_user(user).filter(source=Document.Source.LIBRARIAN, external_id=mark)
    document: Document | None = ours.select_for_update(no_key=True, of=("self",)).first()
    if document is None:
        month = told.began_at.astimezone(user.zone).strftime("%Y-%m")
        path = join_path(CONVERSATIONS, fitting_name(f"{month}-{_as_name(told.title)}"))
        _new(user, path, told.title, mark, told.text)
        return
    text = rebase_generated(versions(document), told.text)
    revisions.write(document, text, Revision.Author.LIBRARIAN, "The conversation went on")


def file_ended(user: User, conversation_id: UUID) -> None:
    """Write it for a conversation that was ended with nothing left to read; doing it again changes nothing."""
    with transaction.atomic():
        lock_user(user.pk)  # one at a time, and nothing is forgotten between reading and writing
        told = get_source().load_digest(conversation_id)
        if told is not None and told.text:
            write_digest(user, conversation_id, told)


def remove_told(user: User, conversation_id: UUID) -> None:
    """Delete the document of a conversation that was deleted, unless a person wrote in it: then it is theirs."""
    mark = mark_of(conversation_id)
    filed = Document.objects.for_user(user).filter(source=Document.Source.LIBRARIAN, external_id=mark)
    filed.exclude(revisions__author=Revision.Author.USER).delete()


def resting_on(user: User, conversations: Iterable[UUID], messages: Iterable[int]) -> set[int]:
    """Ids of the documents that tell one of these conversations, or a story that stands in one of these messages."""
    which = Q(external_id__in=[mark_of(one) for one in conversations])
    filed = Document.objects.for_user(user).filter(source=Document.Source.LIBRARIAN)
    told = set(filed.filter(which).values_list("pk", flat=True))
    stories = filed.filter(external_id__startswith="story:").values_list("pk", "external_id")
    wanted = {str(one) for one in messages}
    return told | {pk for pk, mark in stories if mark.split(":")[1] in wanted}


def mark_of(conversation_id: UUID) -> str:
    """By which the document of a conversation is known."""
    return f"conversation:{conversation_id}"


# Stories ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Passage:
    """Where a story stands in its message."""

    said: Utterance
    start: int
    end: int

    @property
    def text(self) -> str:
        """The words, character by character."""
        return self.said.text[self.start : self.end]

    @property
    def mark(self) -> str:
        """By which its document is known."""
        return f"story:{self.said.message_id}:{self.start}-{self.end}"


@dataclass(slots=True)
class Captured:
    """What became of the stories proposed."""

    written: int = 0
    refused: list[str] = field(default_factory=list)
    """Why others were not, in words for the user."""


def file_stories(user: User, stories: Iterable[ProposedStory], utterances: Sequence[Utterance]) -> Captured:
    """Keep the stories that are the user's own words; each passage once."""
    captured = Captured()
    for story in stories:
        passage = passage_of(story, utterances)
        reason = NO_STORY if passage is None else refusal(passage)
        if passage is None or reason is not None:
            captured.refused.append(reason or NO_STORY)
        elif not _is_kept(user, passage):
            path = join_path(STORIES, fitting_name(_as_name(story.title)))
            _new(user, path, story.title, passage.mark, _page(story, passage))
            captured.written += 1
    return captured


def passage_of(story: ProposedStory, utterances: Iterable[Utterance]) -> Passage | None:
    """The passage from its first words to its last, in the user's message it names."""
    for said in utterances:
        if said.number != story.number or said.speaker != "user":
            continue
        start = said.text.find(story.begins)
        end = said.text.find(story.ends, start) if start >= 0 else -1
        if end >= 0:
            return Passage(said, start, max(end + len(story.ends), start + len(story.begins)))
    return None


def refusal(passage: Passage) -> str | None:
    """Why this is kept as no story, in words for the user; None: it is."""
    if len(passage.text) < LEAST_STORY:
        return TOO_SHORT
    if sensitive(passage.text):
        return SECRET_STORY
    own = mask_foreign_text(passage.said.text, passage.said.echoes)[passage.start : passage.end]
    letters = sum(char.isalnum() for char in passage.text)
    return None if sum(char.isalnum() for char in own) >= OWN_SHARE * letters else NO_STORY


def _is_kept(user: User, passage: Passage) -> bool:
    """Whether this passage, or a part of it, has its document."""
    prefix = f"story:{passage.said.message_id}:"
    kept = Document.objects.for_user(user).filter(external_id__startswith=prefix).values_list("external_id", flat=True)
    ranges = (mark.removeprefix(prefix).split("-") for mark in kept)
    return any(int(start) < passage.end and passage.start < int(end) for start, end in ranges)


def _page(story: ProposedStory, passage: Passage) -> str:
    """The user's words, then when, with whom and where they were told."""
    link = get_source().message_url(passage.said.message_id)
    told = [f"Told on {_day(passage.said)}, [in this message]({link})."]
    told += [f"It happened: {story.when}."] if story.when else []
    told += [f"With {', '.join(dict.fromkeys(story.people))}."] if story.people else []
    return f"{passage.text.strip()}\n\n{with_mark(' '.join(told), MarkKind.SAID, passage.said.message_id)}"


def _day(said: Utterance) -> str:
    return f"{said.said_at.day} {said.said_at:%B %Y}"


def _as_name(title: str) -> str:
    """A title as one name of a path."""
    return " ".join(title.replace("/", " ").replace("\\", " ").split())[:100]
