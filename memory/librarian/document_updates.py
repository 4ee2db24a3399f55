"""Documents written at the end of a run: lines on a subject, a digest of the conversation, and stories.

`prepare_updates` does the slow part before any lock is held. The rest is written in the transaction that ends the run
(`run.py`), as the librarian's revisions. A document is recognized by its mark (`Document.external_id`), wherever the
user moves it and whatever they call it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
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
from memory.librarian.placement import Placement, place_documents
from memory.models import Document, LibrarianRun, Revision
from memory.models.kinds import Kind, default_importance
from memory.ports.source import ConversationDigest, Utterance, get_source
from memory.secrets.secrets_filter import sensitive
from memory.text.fact_lines import MarkKind, lines_of, with_lines, with_mark, words_of
from memory.text.user_text import mask_foreign_text
from memory.tombstones import mask

if TYPE_CHECKING:
    from uuid import UUID

    from memory.librarian.engine import Extraction

MIN_TURNS: Final = {"ended": 1, "idle": 3, "left": 3}
"""Minimum turns for a digest, by the run's trigger: an ended conversation always gets one, a paused one if it is long
enough, an ongoing one never."""
CONVERSATIONS: Final = "/conversations"
STORIES: Final = "/stories"
CONFIDENCE: Final = 0.8
"""Confidence of a document line: enough to store it without asking, if its evidence is in the user's words."""
MIN_OWN_SHARE: Final = 0.7
"""Minimum share of a story's letters in the user's own words; the rest may quote the people in it."""
MIN_STORY_CHARS: Final = 120
"""Characters; a shorter text is a sentence, or a fact at most."""

NO_STORY: Final = "a story that is not in your own words"
TOO_SHORT: Final = "a story of a sentence or two"
SECRET_STORY: Final = "a story that holds a password, key, card or identity number"  # noqa: S105 - a sentence


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """A proposed line, its document, and the same line as a proposed fact."""

    place: Placement
    title: str
    text: str
    proposal: ProposedFact
    vector: Any


@dataclass(frozen=True, slots=True)
class DocumentUpdates:
    """What a run writes into documents."""

    lines: Sequence[PlacedLine] = ()
    stories: Sequence[ProposedStory] = ()
    digest: ConversationDigest | None = None


def prepare_updates(run: LibrarianRun, extraction: Extraction) -> DocumentUpdates:
    """The slow part: choose documents, embed lines, load the conversation's digest."""
    places = place_documents(run.user, extraction.documents)
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
    return DocumentUpdates(lines, extraction.stories, _load_digest(run))


def as_fact(document: ProposedDocument, line: ProposedLine) -> ProposedFact:
    """A line as a proposed fact: `decide` judges it, and it waits for the user if it may not be written."""
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


def _load_digest(run: LibrarianRun) -> ConversationDigest | None:
    if run.trigger not in MIN_TURNS:
        return None
    digest = get_source().load_digest(run.conversation_id)
    return digest if digest is not None and digest.text and digest.turns >= MIN_TURNS[run.trigger] else None


# Lines on a subject ----------------------------------------------------------------------------------------------


def write_lines(user: User, kept: Iterable[tuple[PlacedLine, Utterance]]) -> None:
    """Write lines into their documents. Lines the user removed aren't written again."""
    by_place: dict[str, list[tuple[PlacedLine, Utterance]]] = {}
    for line, said in kept:
        by_place.setdefault(line.place.path, []).append((line, said))
    for _, lines in sorted(by_place.items()):
        _write_document(user, lines)


def _write_document(user: User, lines: Sequence[tuple[PlacedLine, Utterance]]) -> None:
    first, note = lines[0][0], f"Learned on {_day(lines[0][1])}"
    document = _lock_document(user, first.place)
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
        _create_document(user, first.place.path, first.title, first.place.mark, text, note)


def _lock_document(user: User, place: Placement) -> Document | None:
    """The chosen document, locked; if it was moved since, it is found by its mark."""
    ours = Document.objects.for_user(user).filter(source__in=[Document.Source.USER, Document.Source.LIBRARIAN])
    locked = ours.select_for_update(no_key=True, of=("self",))
    marked: Document | None = locked.filter(external_id=place.mark).order_by("pk").first()
    return marked or (None if place.why == "new" else locked.filter(path=place.path).first())


def _create_document(user: User, path: str, title: str, mark: str, text: str, note: str = "") -> None:
    """A new librarian document at the path, or at the next free one."""
    origin = Origin(Document.Source.LIBRARIAN, mark)
    for free in numbered(path):
        if Document.objects.for_user(user).filter(path=free).exists():
            continue
        try:
            revisions.add(user, free, text, Revision.Author.LIBRARIAN, origin, title=title, note=note)
            return
        except PathTakenError:  # taken by a concurrent request
            continue
    raise PathTakenError(path)


def versions(document: Document) -> list[Version]:
    """Every version, oldest first, and whether the user wrote it."""
    rows = document.revisions.order_by("number").values_list("author", "text")
    return [(author != Revision.Author.LIBRARIAN, text) for author, text in rows]


# Digests of conversations ----------------------------------------------------------------------------------------


def write_digest(user: User, conversation_id: UUID, digest: ConversationDigest) -> None:
    """Write or update the conversation's digest document. The user's own edits stay."""
    mark = mark_of(conversation_id)
    digest = replace(digest, title=mask(user.pk, digest.title))
    ours = Document.objects.for_user(user).filter(source=Document.Source.LIBRARIAN, external_id=mark)
    document: Document | None = ours.select_for_update(no_key=True, of=("self",)).first()
    if document is None:
        month = digest.began_at.astimezone(user.zone).strftime("%Y-%m")
        path = join_path(CONVERSATIONS, fitting_name(f"{month}-{_path_name(digest.title)}"))
        _create_document(user, path, digest.title, mark, digest.text)
        return
    text = rebase_generated(versions(document), digest.text)
    revisions.write(document, text, Revision.Author.LIBRARIAN, "The conversation continued")


def write_ended(user: User, conversation_id: UUID) -> None:
    """Write the digest of a conversation that ended with nothing left to read. Idempotent."""
    with transaction.atomic():
        lock_user(user.pk)  # nothing can be forgotten between reading and writing
        digest = get_source().load_digest(conversation_id)
        if digest is not None and digest.text:
            write_digest(user, conversation_id, digest)


def remove_digest(user: User, conversation_id: UUID) -> None:
    """Delete the digest of a deleted conversation, unless the user edited it: then it is theirs."""
    mark = mark_of(conversation_id)
    documents = Document.objects.for_user(user).filter(source=Document.Source.LIBRARIAN, external_id=mark)
    documents.exclude(revisions__author=Revision.Author.USER).delete()


def documents_based_on(user: User, conversations: Iterable[UUID], messages: Iterable[int]) -> set[int]:
    """Ids of the digests of these conversations and of the stories from these messages."""
    which = Q(external_id__in=[mark_of(conversation) for conversation in conversations])
    documents = Document.objects.for_user(user).filter(source=Document.Source.LIBRARIAN)
    digests = set(documents.filter(which).values_list("pk", flat=True))
    stories = documents.filter(external_id__startswith="story:").values_list("pk", "external_id")
    wanted = {str(message) for message in messages}
    return digests | {pk for pk, mark in stories if mark.split(":")[1] in wanted}


def mark_of(conversation_id: UUID) -> str:
    """The mark of a conversation's digest document."""
    return f"conversation:{conversation_id}"


# Stories ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Passage:
    """The part of a message that is a story."""

    said: Utterance
    start: int
    end: int

    @property
    def text(self) -> str:
        """The passage's text, verbatim."""
        return self.said.text[self.start : self.end]

    @property
    def mark(self) -> str:
        """The mark of its document."""
        return f"story:{self.said.message_id}:{self.start}-{self.end}"


def write_stories(user: User, stories: Iterable[ProposedStory], utterances: Sequence[Utterance]) -> list[str]:
    """Write the stories that are in the user's own words, each passage once; return why others were refused."""
    refused = []
    for story in stories:
        passage = passage_of(story, utterances)
        reason = NO_STORY if passage is None else refusal(passage)
        if passage is None or reason is not None:
            refused.append(reason or NO_STORY)
        elif not _is_stored(user, passage):
            path = join_path(STORIES, fitting_name(_path_name(story.title)))
            _create_document(user, path, story.title, passage.mark, _render_story(story, passage))
    return refused


def passage_of(story: ProposedStory, utterances: Iterable[Utterance]) -> Passage | None:
    """The passage of the named message from the story's first words to its last."""
    for said in utterances:
        if said.number != story.number or said.speaker != "user":
            continue
        start = said.text.find(story.begins)
        end = said.text.find(story.ends, start) if start >= 0 else -1
        if end >= 0:
            return Passage(said, start, max(end + len(story.ends), start + len(story.begins)))
    return None


def refusal(passage: Passage) -> str | None:
    """Why this passage is not stored as a story, for the user; None if it is."""
    if len(passage.text) < MIN_STORY_CHARS:
        return TOO_SHORT
    if sensitive(passage.text):
        return SECRET_STORY
    user_text = mask_foreign_text(passage.said.text, passage.said.echoes)[passage.start : passage.end]
    letters = sum(char.isalnum() for char in passage.text)
    return None if sum(char.isalnum() for char in user_text) >= MIN_OWN_SHARE * letters else NO_STORY


def _is_stored(user: User, passage: Passage) -> bool:
    """Whether this passage, or a part of it, is stored already."""
    prefix = f"story:{passage.said.message_id}:"
    kept = Document.objects.for_user(user).filter(external_id__startswith=prefix).values_list("external_id", flat=True)
    ranges = (mark.removeprefix(prefix).split("-") for mark in kept)
    return any(int(start) < passage.end and passage.start < int(end) for start, end in ranges)


def _render_story(story: ProposedStory, passage: Passage) -> str:
    """The user's words, followed by when and where they wrote them, and who was involved."""
    link = get_source().message_url(passage.said.message_id)
    lines = [f"Told on {_day(passage.said)}, [in this message]({link})."]
    lines += [f"It happened: {story.when}."] if story.when else []
    lines += [f"With {', '.join(dict.fromkeys(story.people))}."] if story.people else []
    return f"{passage.text.strip()}\n\n{with_mark(' '.join(lines), MarkKind.SAID, passage.said.message_id)}"


def _day(said: Utterance) -> str:
    return f"{said.said_at.day} {said.said_at:%B %Y}"


def _path_name(title: str) -> str:
    """A title as the last part of a path."""
    return " ".join(title.replace("/", " ").replace("\\", " ").split())[:100]
