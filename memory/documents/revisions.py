"""Saves documents. Every save is a revision; revisions are never changed or lost."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final, Literal

from django.db import IntegrityError, transaction

from memory.documents import fact_line_edits
from memory.documents.merge import three_way_merge
from memory.index.indexer import index_document
from memory.models import Document, Revision
from recall.db.notify import publish_event
from recall.llm.tokens import count_tokens
from recall.text import storable

if TYPE_CHECKING:
    from accounts.models import User


@dataclass(frozen=True, slots=True)
class StarterDocument:
    """A document that everybody has, and what the page says while it is empty."""

    path: str
    title: str
    hint: str


BEGINNINGS: Final = (
    StarterDocument(
        "/profile/identity",
        "Who you are",
        "Your name, where you live, the people around you, what you do. For example: “I am a nurse in Porto, "
        "and I live with my wife Ana and our dog Rufus.”",
    ),
    StarterDocument(
        "/profile/preferences",
        "What you prefer",
        "How you like to be answered and what you like or avoid. For example: “Short answers, metric units, "
        "no meat in recipes.”",
    ),
    StarterDocument(
        "/profile/goals",
        "What you are after",
        "What you are working towards, so that answers can help with it. For example: “Run a marathon in spring.”",
    ),
)
"""In the order in which the profile shows them."""

MAX_TEXT: Final = 100_000
"""Longest text that a page can edit, in characters: about fifty pages. Files may be longer
(`memory/documents/readers/limits.py`): they are shown in parts and edited at their source."""

PART: Final = 20_000
"""Characters a page shows at once of a long text: some ten pages of a book."""

WORD_BY_WORD: Final = 20_000
"""Characters of two versions together up to which they are compared word by word, beyond line by line: comparing takes
a time that grows with the square of the number of pieces."""


WENT_BACK: Final = "Back to version"
"""Prefix of the note of a revision that restored an earlier one."""


class DocumentChangedError(Exception):
    """Someone else saved the document since this editor opened it; `document` is its current state."""

    def __init__(self, document: Document, newest: Revision) -> None:
        self.document = document
        self.newest = newest
        super().__init__(
            f"This text was changed since you opened it (version {newest.number}, by {newest.get_author_display()}). "
            "Nothing was saved: compare, then save yours again."
        )


class PathTakenError(Exception):
    """There is a document at this path already."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"There is a document at {path} already.")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a text comes from: the kind of source, its name there, and the SHA-256 of what was read."""

    source: Document.Source = Document.Source.USER
    external_id: str = ""
    content_hash: str = ""


def beginnings(user: User) -> list[Document]:
    """The three documents every profile starts with, created at the first visit."""
    paths = [beginning.path for beginning in BEGINNINGS]
    owned = Document.objects.for_user(user).filter(path__in=paths)
    found: Mapping[str, Document] = {document.path: document for document in owned}
    if len(found) < len(paths):
        missing = [Document(user=user, path=b.path, title=b.title) for b in BEGINNINGS if b.path not in found]
        Document.objects.bulk_create(missing, ignore_conflicts=True)
        found = {document.path: document for document in owned.all()}
    return [found[path] for path in paths]


def save(
    user: User,
    path: str,
    text: str,
    author: str = Revision.Author.USER,
    note: str = "",
    *,
    started_from: int,
    title: str = "",
) -> Document:
    """Save `text` at `path` as a new revision; the same text again makes none.

    `started_from` is the number of the revision the writer read, 0 if there was none. What the librarian wrote since
    is merged line by line. `title` names a new document (default: a starter document's title, else the last part of the
    path).

    Raises:
        DocumentChangedError: someone else saved a newer revision.
        ValidationError: `path` is not a path.
    """
    text = storable(text).replace("\r\n", "\n")
    with transaction.atomic():
        fact_line_edits.hold(user, path)
        document = _locked(user, path, title or title_of(path))
        newest = newest_revision(document)
        if newest is not None and newest.number != started_from:
            text = three_way_merge(_all_but_the_librarians(document, newest, started_from), text, document.text)
        _put(document, text, author, note)
    return document


def write(document: Document, text: str, author: str, note: str = "") -> bool:
    """Make `text` the newest revision of a document that the caller has locked; False: it is so already."""
    if text == document.text:
        return False
    newest = newest_revision(document)
    _write(document, text, author, note, number=newest.number + 1 if newest else 1)
    return True


def _put(document: Document, text: str, author: str, note: str) -> None:
    """Save it, and apply the user's changes to the facts of its lines."""
    if author == Revision.Author.LIBRARIAN or text == document.text:
        write(document, text, author, note)
        return
    followed = fact_line_edits.apply_edits(document, text)
    write(document, followed.text, author, note)
    fact_line_edits.give_up(followed.removed, document.user)


def _all_but_the_librarians(document: Document, newest: Revision, started_from: int) -> str:
    """The text that the writer started from, if only the librarian wrote since.

    Raises:
        DocumentChangedError: someone else wrote since, or there is no such version.
    """
    since = document.revisions.filter(number__gt=started_from)
    by_others = since.exclude(author=Revision.Author.LIBRARIAN)
    base = document.revisions.filter(number=started_from).values_list("text", flat=True).first()
    if by_others.exists() or newest.number < started_from or (base is None and started_from > 0):
        raise DocumentChangedError(document, newest)
    return base or ""


@transaction.atomic
def add(user: User, path: str, text: str, author: str, origin: Origin, *, title: str = "", note: str = "") -> Document:
    """A new document that came from elsewhere.

    Raises:
        PathTakenError: there is one at `path`.
        ValidationError: `path` is not a path.
    """
    document = Document(
        user=user,
        path=path,
        title=(title or title_of(path))[:200],
        source=origin.source,
        external_id=origin.external_id,
        content_hash=origin.content_hash,
    )
    try:
        with transaction.atomic():
            document.save()
    except IntegrityError as error:
        raise PathTakenError(path) from error
    text = storable(text)
    _write(
        document,
        text if author == Revision.Author.LIBRARIAN else fact_line_edits.apply_edits(document, text).text,
        author,
        note,
        number=1,
    )
    return document


@transaction.atomic
def replace_text(document: Document, text: str, author: str, content_hash: str, *, note: str = "") -> Document:
    """The text as its source has it now, as a revision on top of whatever there is; the same text again is none.

    Raises:
        Document.DoesNotExist: it was deleted meanwhile.
    """
    fact_line_edits.hold(document.user, document.path)
    locked: Document = Document.objects.for_user(document.user).select_for_update(no_key=True).get(pk=document.pk)
    locked.content_hash = content_hash
    locked.save(update_fields=["content_hash"])
    _put(locked, storable(text), author, note)
    return locked


def revert(document: Document, number: int, *, started_from: int) -> Document:
    """Make the text of revision `number` the newest one; the revisions between stay in the history.

    Raises:
        Revision.DoesNotExist: there is no such revision.
        DocumentChangedError: there is a newer revision than `started_from`.
    """
    earlier: Revision = document.revisions.get(number=number)
    note = f"{WENT_BACK} {number}"
    return save(document.user, document.path, earlier.text, note=note, started_from=started_from)


def newest_revision(document: Document) -> Revision | None:
    """The latest revision; None for a document without one."""
    newest: Revision | None = document.revisions.order_by("-number").first()
    return newest


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a long text; `number` counts from 1 to `of`."""

    text: str
    number: int
    of: int


def part(text: str, number: int) -> Part:
    """Part `number` of a text, cut between paragraphs where that can be; the nearest one, if there is none such."""
    starts = [0]
    while len(text) - starts[-1] > PART:
        end = text.rfind("\n\n", starts[-1] + PART // 2, starts[-1] + PART)
        starts.append(starts[-1] + PART if end < 0 else end + 2)
    number = min(max(number, 1), len(starts))
    end_of_part = starts[number] if number < len(starts) else len(text)
    return Part(text[starts[number - 1] : end_of_part], number, len(starts))


MOST_PIECES: Final = 3_000
"""Words or lines, between the first and the last difference, that are compared: it takes their number squared. Beyond,
all of the old and the new text between is shown."""


@dataclass(frozen=True, slots=True)
class Change:
    """A piece of text that two versions share, or that one of them lacks."""

    what: Literal["same", "deleted", "inserted"]
    text: str


def changes(old: str, new: str) -> list[Change]:
    """What became of `old` on the way to `new`; the pieces in order tell both whole texts."""
    # A word includes the spaces after it, a line break is separate: else a changed last word would break the line.
    piece = r"\S+[^\S\n]*|\s" if len(old) + len(new) <= WORD_BY_WORD else r".*\n|.+"
    before, after = re.findall(piece, old), re.findall(piece, new)
    head = _shared(before, after)
    tail = _shared(before[head:][::-1], after[head:][::-1])
    middle, new_middle = before[head : len(before) - tail], after[head : len(after) - tail]
    return [*_same(before[:head]), *_compared(middle, new_middle), *_same(before[len(before) - tail :])]


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """Number of leading pieces that both share."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _same(pieces: Sequence[str]) -> list[Change]:
    return [Change("same", "".join(pieces))] if pieces else []


def _compared(before: Sequence[str], after: Sequence[str]) -> list[Change]:
    if len(before) + len(after) > MOST_PIECES:
        return _changed("".join(before), "".join(after))
    found: list[Change] = []
    for what, start, end, new_start, new_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if what == "equal":
            found.append(Change("same", "".join(before[start:end])))
        else:
            found += _changed("".join(before[start:end]), "".join(after[new_start:new_end]))
    return found


def _changed(deleted: str, inserted: str) -> list[Change]:
    pieces = (Change("deleted", deleted), Change("inserted", inserted))
    return [piece for piece in pieces if piece.text]


def title_of(path: str) -> str:
    """The title of a beginning, else the last name of the path."""
    titles = {beginning.path: beginning.title for beginning in BEGINNINGS}
    return titles.get(path, path.rpartition("/")[2])


def _locked(user: User, path: str, title: str) -> Document:
    """The document's row, created if needed, locked: concurrent saves of a path wait here."""
    # Two first savers meet in the unique index: the later one waits for the earlier one's commit and reads its row.
    Document.objects.bulk_create([Document(user=user, path=path, title=title[:200])], ignore_conflicts=True)
    document: Document = Document.objects.for_user(user).select_for_update(no_key=True).get(path=path)
    return document


def _write(document: Document, text: str, author: str, note: str, *, number: int) -> None:
    Revision.objects.create(
        user_id=document.user_id, document=document, number=number, text=text, author=author, note=note
    )
    document.text = text
    document.tokens = count_tokens(document.display_text)
    document.save(update_fields=["text", "tokens", "changed_at"])
    index_document(document)
    publish_event(f"user-{document.user_id}", "memory")
