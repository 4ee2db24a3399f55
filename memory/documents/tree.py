"""The document tree, whose folders are implied by paths: listing, moving, deleting, tags."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction

from accounts.api import idempotency
from memory.documents import fact_line_edits
from memory.models import Document
from memory.models.documents import STARTERS
from memory.models.paths import MAX_DEPTH, decode, encode
from memory.ports.moved_documents import documents_moved
from recall.db.notify import publish_event
from recall.text import storable

if TYPE_CHECKING:
    from accounts.models import User

ROOT: Final = "/"
MAX_TAGS: Final = 20
MAX_TAG: Final = 60
"""Characters: the column's width."""
MAX_FILE_NAME_CHARS: Final = 200
"""File systems allow about 255 bytes."""
ON_THE_WAY: Final = "_"
"""Temporary label for rows that move up the tree: no name is encoded like this (`memory/models/paths.py`)."""


class NotMovedError(Exception):
    """Nothing was moved; the message is for the user."""


# Listing ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entry:
    """A name in a folder: a document, a folder, or both. `documents`, `tokens` and `changed_at` count all of it."""

    name: str
    path: str
    document_id: int | None
    title: str
    documents: int
    tokens: int
    changed_at: datetime

    @property
    def is_folder(self) -> bool:
        """Whether there are documents below it."""
        return self.documents > (self.document_id is not None)


_LEVEL_SQL: Final = """
SELECT subpath(path, 0, %(depth)s + 1)::text AS head,
       max(id) FILTER (WHERE nlevel(path) = %(depth)s + 1),
       coalesce(max(title) FILTER (WHERE nlevel(path) = %(depth)s + 1), ''),
       count(*), sum(tokens), max(changed_at)
FROM memory_document
WHERE NOT (text = '' AND path = ANY(%(starters)s::ltree[]))
      AND user_id = %(user)s AND nlevel(path) > %(depth)s AND (%(folder)s = '' OR path <@ %(folder)s::ltree)
GROUP BY head
"""


def list_folder(user: User, folder: str = ROOT) -> list[Entry]:
    """The entries of a folder, one level deep, by name.

    Raises:
        ValidationError: `folder` is invalid.
    """
    inside = "" if folder == ROOT else encode(folder)
    with connection.cursor() as cursor:
        starters = [encode(path) for path in STARTERS]
        cursor.execute(_LEVEL_SQL, {"user": user.pk, "folder": inside, "depth": _depth(inside), "starters": starters})
        rows = cursor.fetchall()
    return sorted((_entry(*row) for row in rows), key=lambda entry: by_name(entry.name))


def _entry(head: str, document_id: int | None, title: str, documents: int, tokens: int, changed_at: datetime) -> Entry:
    path = decode(head)
    return Entry(name_of(path), path, document_id, title, documents, tokens, changed_at)


@dataclass(slots=True)
class Node:
    """A node of the tree: its document, if any, and the nodes below."""

    name: str
    path: str
    document: Document | None = None
    below: list[Node] = field(default_factory=list)
    documents: int = 0


def whole(user: User) -> Node:
    """All documents in their folders, with counts, by name. Texts are not loaded."""
    root = Node("", ROOT)
    nodes = {ROOT: root}
    for document in Document.objects.for_user(user).written().defer("text"):
        _node(nodes, document.path).document = document
    _finish(root)
    return root


def _node(nodes: dict[str, Node], path: str) -> Node:
    if path not in nodes:
        nodes[path] = Node(name_of(path), path)
        _node(nodes, parent_of(path)).below.append(nodes[path])
    return nodes[path]


def _finish(node: Node) -> None:
    node.below.sort(key=lambda child: by_name(child.name))
    for child in node.below:
        _finish(child)
    node.documents = (node.document is not None) + sum(child.documents for child in node.below)


# Names -----------------------------------------------------------------------------------------------------------


def name_of(path: str) -> str:
    """The last name of a path."""
    return path.rpartition("/")[2]


def parent_of(path: str) -> str:
    """The folder of a path."""
    return path.rpartition("/")[0] or ROOT


def join_path(folder: str, name: str) -> str:
    """The path of `name` in `folder`."""
    return f"{folder.rstrip('/')}/{name}"


def by_name(name: str) -> tuple[str, str]:
    """Sort key of a listing: ignores case, but never equal for two names."""
    return name.casefold(), name


def fitting_name(name: str) -> str:
    """A file name as one name of a path: without folders, shortened to fit, with its extension."""
    bare = unicodedata.normalize("NFC", storable(name)).replace("\\", "/").rstrip("/").rpartition("/")[2]
    bare = "".join(char for char in bare if unicodedata.category(char) != "Cc").strip()
    stem, ending = PurePosixPath(bare).stem, PurePosixPath(bare).suffix
    if not stem.strip("."):
        return "file"
    while not _fits(stem + ending):
        stem, ending = (stem[:-1], ending) if len(stem) > 1 else (ending.lstrip(".") or "file", "")
    return stem + ending


def _fits(name: str) -> bool:
    try:
        encode(f"/{name}")
    except ValidationError:
        return False
    return len(name) <= MAX_FILE_NAME_CHARS


def numbered(path: str) -> Iterator[str]:
    """The path itself, then with a number: `/a/b.pdf`, `/a/b (2).pdf`, …"""
    yield path
    name = PurePosixPath(name_of(path))
    for number in range(2, 1_000):
        yield join_path(parent_of(path), fitting_name(f"{name.stem[:100]} ({number}){name.suffix}"))


# Moving and deleting ---------------------------------------------------------------------------------------------

_MOVE_SQL: Final = """
UPDATE memory_document
SET path = CASE WHEN path = %(old)s::ltree THEN %(new)s::ltree
                ELSE %(new)s::ltree || subpath(path, nlevel(%(old)s::ltree)) END
WHERE user_id = %(user)s AND path <@ %(old)s::ltree
"""


def move(user: User, path: str, target: str) -> int:
    """Move `path` and everything below to `target`; return how many.

    Documents keep their history, passages and vectors. All are moved or none.

    Raises:
        NotMovedError: one sentence on why nothing was moved.
        ValidationError: one of the paths is invalid.
    """
    old, new = encode(path), encode(target)
    if old == new:
        return 0
    if new.startswith(f"{old}."):
        raise NotMovedError(f"{path} can't be moved into itself.")
    try:
        with transaction.atomic():
            return _move(user, old, new)
    except IntegrityError as error:  # a document was written there after the check
        raise NotMovedError(f"There is already a document at {target} or below it. Nothing was moved.") from error


def _move(user: User, old: str, new: str) -> int:
    moving = _lock_paths(user, old)
    if not moving:
        raise NotMovedError(f"There is nothing at {decode(old)}.")
    targets = [new + path[len(old) :] for path in moving]
    if max(map(_depth, targets)) > MAX_DEPTH:
        raise NotMovedError(f"Paths below {decode(new)} would be too long. Nothing was moved.")
    if taken := _taken(user, targets, moving):
        raise NotMovedError(f"There is already a document at {decode(taken)}. Nothing was moved.")
    if old.startswith(f"{new}."):  # upwards: /a/a/a becomes /a/a while the old /a/a may still be there
        _update(user, old, ON_THE_WAY)
        old_now = ON_THE_WAY
    else:
        old_now = old
    _update(user, old_now, new)
    _retitle(user, old, new)
    documents_moved.send(Document, user=user, old=decode(old), new=decode(new))
    publish_event(f"user-{user.pk}", "memory")
    return len(moving)


def _update(user: User, old: str, new: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_MOVE_SQL, {"user": user.pk, "old": old, "new": new})


def _retitle(user: User, old: str, new: str) -> None:
    """Update titles that equal the document's old name."""
    title, before = name_of(decode(new)), name_of(decode(old))
    Document.objects.for_user(user).filter(path=decode(new), title=before[:200]).update(title=title[:200])


def _lock_paths(user: User, old: str) -> list[str]:
    """Locked in id order, so that concurrent moves can't deadlock."""
    below = Document.objects.for_user(user).under(decode(old)).order_by("pk").select_for_update(no_key=True)
    return [encode(path) for path in below.values_list("path", flat=True)]


def _taken(user: User, targets: Sequence[str], moving: Iterable[str]) -> str | None:
    """A target taken by a document that is not moved itself; None: all are free."""
    among = Document.objects.for_user(user).filter(path__in=[decode(target) for target in targets])
    existing = {encode(path) for path in among.values_list("path", flat=True)} - set(moving)
    return min(existing, default=None)


@transaction.atomic
def delete(user: User, path: str, *, alone: bool = False) -> list[str]:
    """Delete `path` and everything below, or with `alone` only that document; return the deleted paths in order.

    Revisions and passages are deleted too; facts stated in their lines are rejected, as when a line is removed.

    Raises:
        ValidationError: `path` is invalid.
    """
    documents = Document.objects.for_user(user)
    going = documents.filter(path=path) if alone else documents.under(path)
    facts = fact_line_edits.lock_stated_facts(user, going.filter(text__contains="^fact-"))
    paths = dict(going.order_by("pk").select_for_update().values_list("pk", "path"))
    documents.filter(pk__in=paths).delete()
    fact_line_edits.reject_removed(facts, user)
    if paths:
        idempotency.drop_answers(user)
        publish_event(f"user-{user.pk}", "memory")
    return sorted(paths.values(), key=by_name)


def _depth(ltree: str) -> int:
    return ltree.count(".") + 1 if ltree else 0


# Tags ------------------------------------------------------------------------------------------------------------


def normal_tag(tag: str) -> str:
    """A tag as stored: without `#`, with single blanks, in lower case."""
    return " ".join(unicodedata.normalize("NFC", storable(tag)).lstrip("# ").split()).casefold()


def set_tags(document: Document, tags: Iterable[str]) -> list[str]:
    """Replace the document's tags, without duplicates, in alphabetical order.

    Raises:
        ValidationError: there are too many, or one is too long.
    """
    kept = sorted({normal_tag(tag) for tag in tags} - {""})
    if len(kept) > MAX_TAGS:
        raise ValidationError(f"A document can have at most {MAX_TAGS} tags.")
    if any(len(tag) > MAX_TAG for tag in kept):
        raise ValidationError(f"A tag can have at most {MAX_TAG} characters.")
    document.tags = kept
    document.save(update_fields=["tags"])
    publish_event(f"user-{document.user_id}", "memory")
    return kept


def tags_of(user: User) -> list[tuple[str, int]]:
    """The user's tags with their document counts, most frequent first."""
    rows: Any = Document.objects.for_user(user).exclude(tags=[]).values_list("tags", flat=True)
    return sorted(Counter(tag for tags in rows for tag in tags).items(), key=lambda pair: (-pair[1], pair[0]))
