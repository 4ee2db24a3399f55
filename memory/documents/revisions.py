"""Writes documents and their history: every save adds a revision, and none is changed or lost."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final, Literal

from django.db import DatabaseError, IntegrityError, transaction

from memory.documents import fact_line_edits
from memory.documents.merge import three_way_merge
from memory.index.indexer import index_document
from memory.models import Document, Revision
from memory.tombstones import ForgottenTextError, adds_forgotten, mask
from recall.db.notify import publish_event
from recall.db.quotas import make_room
from recall.llm.tokens import count_tokens
from recall.text import storable

if TYPE_CHECKING:
    from accounts.models import User

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StarterDocument:
    """A document that every user has, and the page's hint while it is empty."""

    path: str
    title: str
    hint: str


BEGINNINGS: Final = (
    StarterDocument(
        "/profile/identity",
        "Introduction",
        "Your name, where you live, the people around you, what you do. For example: “I am a nurse in Porto, "
        "and I live with my wife Ana and our dog Rufus.”",
    ),
    StarterDocument(
        "/profile/preferences",
        "Preferences",
        "How you like to be answered and what you like or avoid. For example: “Short answers, metric units, "
        "no meat in recipes.”",
    ),
    StarterDocument(
        "/profile/goals",
        "Goals",
        "What you are working towards, so that answers can help with it. For example: “Run a marathon in spring.”",
    ),
)
"""The starter documents, in the order of the profile."""

MAX_TEXT: Final = 100_000
"""Maximum characters that a page can edit: about fifty pages. Files may be longer
(`memory/documents/readers/limits.py`): they are shown in parts, and edited at their source."""

PART: Final = 20_000
"""Characters of a long text that a page shows at once: about ten pages."""

WORD_BY_WORD: Final = 20_000
"""Total characters of two versions up to which they are compared by words, beyond that by lines: the time grows with
the
square of the number of pieces."""


WENT_BACK: Final = "Back to version"
"""Prefix of the note of a revision that restores an earlier one."""


class DocumentChangedError(Exception):
    """Someone else saved the document since this editor opened it; `document` is its current state."""

    def __init__(self, document: Document, newest: Revision) -> None:
        self.document = document
        self.newest = newest
        super().__init__(
            f"This text was changed since you opened it (version {newest.number}, by {newest.get_author_display()}). "
            "Nothing was saved. Compare both versions, then save yours again."
        )


class PathTakenError(Exception):
    """A document with this path exists."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"There is already a document at {path}.")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a text comes from: the kind of source, its name there, and the SHA-256 of its bytes."""

    source: Document.Source = Document.Source.USER
    external_id: str = ""
    content_hash: str = ""


def beginnings(user: User) -> list[Document]:
    """The user's starter documents, created on first use; while nothing can be written, those that exist."""
    paths = [beginning.path for beginning in BEGINNINGS]
    owned = Document.objects.for_user(user).filter(path__in=paths)
    found: Mapping[str, Document] = {document.path: document for document in owned}
    if len(found) < len(paths):
        missing = [Document(user=user, path=b.path, title=b.title) for b in BEGINNINGS if b.path not in found]
        try:
            with transaction.atomic():
                Document.objects.bulk_create(missing, ignore_conflicts=True)
        except DatabaseError as error:
            logger.warning("Starter documents were not created (%s).", type(error).__name__)
        found = {document.path: document for document in owned.all()}
    return [found[path] for path in paths if path in found]


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
    """Write `text` at `path` as a new revision; unchanged text adds none.

    `started_from` is the number of the revision the writer read, 0 if there was none. What the librarian wrote since
    is merged line by line. `title` is for a new document (default: that of a starter document, else the last name of
    the path).

    Raises:
        DocumentChangedError: someone else wrote a newer revision.
        ForgottenTextError: it adds something that was forgotten.
        QuotaError: it is new, and the user has too many.
        ValidationError: `path` is invalid.
    """
    text = storable(text).replace("\r\n", "\n")
    with transaction.atomic():
        fact_line_edits.lock_facts(user, path)
        document = _lock_document(user, path, title or title_of(path))
        newest = newest_revision(document)
        if newest is not None and newest.number != started_from:
            text = three_way_merge(_base_of_edit(document, newest, started_from), text, document.text)
        _put(document, text, author, note)
    return document


def write(document: Document, text: str, author: str, note: str = "") -> bool:
    """Make `text` the newest revision of a document locked by the caller; False: it is unchanged."""
    if text == document.text:
        return False
    newest = newest_revision(document)
    _write(document, text, author, note, number=newest.number + 1 if newest else 1)
    return True


def _put(document: Document, text: str, author: str, note: str) -> None:
    """Write the text, and apply a user's edit to the facts that its lines state."""
    if author == Revision.Author.LIBRARIAN or text == document.text:
        write(document, text, author, note)
        return
    edit = fact_line_edits.apply_edits(document, text)
    write(document, edit.text, author, note)
    fact_line_edits.reject_removed(edit.removed, document.user)


def _base_of_edit(document: Document, newest: Revision, started_from: int) -> str:
    """The text a writer started from, if only the librarian has written since.

    Raises:
        DocumentChangedError: someone else has, or there is no such revision.
    """
    since = document.revisions.filter(number__gt=started_from)
    by_others = since.exclude(author=Revision.Author.LIBRARIAN)
    base = document.revisions.filter(number=started_from).values_list("text", flat=True).first()
    if by_others.exists() or newest.number < started_from or (base is None and started_from > 0):
        raise DocumentChangedError(document, newest)
    return base or ""


@transaction.atomic
def add(user: User, path: str, text: str, author: str, origin: Origin, *, title: str = "", note: str = "") -> Document:
    """Add a document from an upload, import, sync or tool.

    Raises:
        PathTakenError: `path` is taken.
        QuotaError: the user writes it, and has too many.
        ValidationError: `path` is invalid.
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
            if author == Revision.Author.USER:
                make_room(Document.objects.for_user(user), user.pk)
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
    """Write the source's current text as a new revision; unchanged text adds none.

    Raises:
        Document.DoesNotExist: it was deleted meanwhile.
    """
    fact_line_edits.lock_facts(document.user, document.path)
    locked: Document = Document.objects.for_user(document.user).select_for_update(no_key=True).get(pk=document.pk)
    locked.content_hash = content_hash
    locked.save(update_fields=["content_hash"])
    _put(locked, storable(text), author, note)
    return locked


def revert(document: Document, number: int, *, started_from: int) -> Document:
    """Restore the text of revision `number` as a new revision; the history stays.

    Raises:
        Revision.DoesNotExist: there is no such revision.
        DocumentChangedError: there is a newer revision than `started_from`.
    """
    earlier: Revision = document.revisions.get(number=number)
    note = f"{WENT_BACK} {number}"
    return save(document.user, document.path, earlier.text, note=note, started_from=started_from)


def newest_revision(document: Document) -> Revision | None:
    """The latest revision; None: nothing was written yet."""
    newest: Revision | None = document.revisions.order_by("-number").first()
    return newest


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a long text; `number` runs from 1 to `of`."""

    text: str
    number: int
    of: int


def part(text: str, number: int) -> Part:
    """Part `number` of a text, or the nearest existing one; split between paragraphs if possible."""
    starts = [0]
    while len(text) - starts[-1] > PART:
        end = text.rfind("\n\n", starts[-1] + PART // 2, starts[-1] + PART)
        starts.append(starts[-1] + PART if end < 0 else end + 2)
    number = min(max(number, 1), len(starts))
    end_of_part = starts[number] if number < len(starts) else len(text)
    return Part(text[starts[number - 1] : end_of_part], number, len(starts))


MAX_COMPARED_PIECES: Final = 3_000
"""Words or lines between the first and last difference that are compared, in quadratic time. Beyond that, the whole old
and new text in between is shown."""


@dataclass(frozen=True, slots=True)
class Change:
    """A piece of text that two versions share, or that one lacks."""

    what: Literal["same", "deleted", "inserted"]
    text: str


def changes(old: str, new: str) -> list[Change]:
    """The changes from `old` to `new`; the pieces in order contain both texts."""
    # A word includes the blanks after it, a line break is separate: else a changed last word would break the line.
    piece = r"\S+[^\S\n]*|\s" if len(old) + len(new) <= WORD_BY_WORD else r".*\n|.+"
    before, after = re.findall(piece, old), re.findall(piece, new)
    head = _shared(before, after)
    tail = _shared(before[head:][::-1], after[head:][::-1])
    middle, new_middle = before[head : len(before) - tail], after[head : len(after) - tail]
    return [*_same(before[:head]), *_compared(middle, new_middle), *_same(before[len(before) - tail :])]


def _shared(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of their common prefix."""
    pairs = zip(first, second, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


def _same(pieces: Sequence[str]) -> list[Change]:
    return [Change("same", "".join(pieces))] if pieces else []


def _compared(before: Sequence[str], after: Sequence[str]) -> list[Change]:
    if len(before) + len(after) > MAX_COMPARED_PIECES:
        return _changed("".join(before), "".join(after))
    compared: list[Change] = []
    for what, start, end, new_start, new_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if what == "equal":
            compared.append(Change("same", "".join(before[start:end])))
        else:
            compared += _changed("".join(before[start:end]), "".join(after[new_start:new_end]))
    return compared


def _changed(deleted: str, inserted: str) -> list[Change]:
    pieces = (Change("deleted", deleted), Change("inserted", inserted))
    return [piece for piece in pieces if piece.text]


def title_of(path: str) -> str:
    """The title of a starter document, else the last name of the path."""
    titles = {beginning.path: beginning.title for beginning in BEGINNINGS}
    return titles.get(path, path.rpartition("/")[2])


def _lock_document(user: User, path: str, title: str) -> Document:
    """The document's row, locked, created if needed: concurrent saves of a path are serialized here."""
    if not Document.objects.for_user(user).filter(path=path).exists():
        make_room(Document.objects.for_user(user), user.pk)
    # Two first saves conflict in the unique index: the later one waits for the commit and reads the row.
    Document.objects.bulk_create([Document(user=user, path=path, title=title[:200])], ignore_conflicts=True)
    document: Document = Document.objects.for_user(user).select_for_update(no_key=True).get(path=path)
    return document


def _write(document: Document, text: str, author: str, note: str, *, number: int) -> None:
    if author != Revision.Author.USER:
        text = mask(document.user_id, text)
    elif adds_forgotten(document.user_id, document.text, text):
        raise ForgottenTextError
    Revision.objects.create(
        user_id=document.user_id, document=document, number=number, text=text, author=author, note=note
    )
    document.text = text
    document.tokens = count_tokens(document.display_text)
    document.save(update_fields=["text", "tokens", "changed_at"])
    index_document(document)
    publish_event(f"user-{document.user_id}", "memory")
