"""Page data of forgetting: the preview by type, topic matches, receipts, and where words are still found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from django.db.models import Exists, OuterRef, QuerySet
from django.urls import reverse

from memory.forgetting.execute import Preview
from memory.forgetting.select import select_topic
from memory.forgetting.targets import of_chat
from memory.forgetting.verify import holding
from memory.models import Document, Fact, Forgetting, Tombstone
from memory.pages.knowledge import document_url
from memory.text.second_person import second_person
from recall.redaction import ErasureItem

if TYPE_CHECKING:
    from accounts.models import User

TYPE_NAMES: Final = {
    "conversation": ("conversation", "conversations"),
    "fact": ("fact", "facts"),
    "shortened": ("fact, only shortened", "facts, only shortened"),
    "evidence": ("other fact, its quote shortened", "other facts, their quotes shortened"),
    "message": ("message", "messages"),
    "quote": ("part of a message", "parts of messages"),
    "answer": ("answer", "answers"),
    "given": ("answer that was given it but doesn't repeat it", "answers that were given it but don't repeat it"),
    "thinking": ("answer that only loses its thinking", "answers that only lose their thinking"),
    "attachment": ("attachment", "attachments"),
    "tool text": ("tool result", "tool results"),
    "summary": ("summary, to be rewritten", "summaries, to be rewritten"),
    "title": ("conversation title", "conversation titles"),
    "episode": ("episode", "episodes"),
    "document": ("document", "documents"),
    "line": ("document line, in all versions", "document lines, in all versions"),
    "version": ("document version", "document versions"),
    "upload": ("uploaded file", "uploaded files"),
    "passage": ("search entry", "search entries"),
    "vector": ("search entry by meaning", "search entries by meaning"),
    "receipt": ("receipt, keeping only its numbers", "receipts, keeping only their numbers"),
    "snapshot": ("profile snapshot, to be rebuilt", "profile snapshots, to be rebuilt"),
    "decision": ("review decision", "review decisions"),
    "link": ("link between facts", "links between facts"),
}
"""Type → singular and plural, in page order. Other types are shown by their table name."""
OF_FACTS: Final = ("fact", "shortened", "evidence")
"""Types whose texts are facts' statements; a shortened one's before and after an arrow."""
MAX_ITEMS_SHOWN: Final = 50
"""Listed texts per type; all are counted."""
MAX_RECEIPTS: Final = 100


@dataclass(frozen=True, slots=True)
class Group:
    """Items of one type that would be deleted."""

    name: str
    number: int
    items: tuple[ErasureItem, ...]
    """Each text once: a document is named once for all of its lines."""
    more: int
    """Items whose text is not listed."""


def build_preview(would: Preview) -> dict[str, Any]:
    """The template context of a preview."""
    by_type: dict[str, list[ErasureItem]] = {}
    for item in would.going:
        by_type.setdefault(item.what, []).append(item)
    order = list(TYPE_NAMES)
    kinds = sorted(would.counts, key=lambda what: order.index(what) if what in TYPE_NAMES else len(order))
    groups = [_build_group(what, would.counts[what], by_type.get(what, ())) for what in kinds]
    return {"groups": groups, "coming_back": would.coming_back, "fingerprint": would.fingerprint}


def _build_group(what: str, number: int, going: Sequence[ErasureItem]) -> Group:
    counts = Counter((item.text, item.url) for item in going if item.text)
    listed = {(item.text, item.url): item for item in going if item.text}
    shown = dict(list(listed.items())[:MAX_ITEMS_SHOWN])
    items = tuple(map(_said_to_the_user, shown.values()))
    return Group(type_name(what, number), number, items, number - sum(counts[one] for one in shown))


def _said_to_the_user(item: ErasureItem) -> ErasureItem:
    if item.what not in OF_FACTS:
        return item
    return replace(item, text=" → ".join(map(second_person, item.text.split(" → "))))


def type_name(what: str, number: int) -> str:
    """The type in words, singular or plural."""
    singular, plural = TYPE_NAMES.get(what, (what, f"{what}s"))
    return singular if number == 1 else plural


# The check afterwards ----------------------------------------------------------------------------------------------

TABLE_NAMES: Final = {
    "chunks": "search entries",
    "revisions": "document versions",
    "deleted documents": "deleted documents that can be restored",
    "uploads": "uploaded files",
    "receipts": "answer receipts",
    "profile snapshots": "profile snapshots",
    "review actions": "review decisions",
    "forgettings": "erasure receipts",
    "personal indexes": "search word lists",
    "kind policies": "memory rules",
    "librarian runs": "librarian jobs",
    "segments": "conversation summaries",
    "compactions": "compaction jobs",
    "attachments": "attachments",
    "import jobs": "imports",
    "api keys": "API keys",
    "idempotent requests": "stored API responses",
    "api rates": "API rate counters",
    "access logs": "access log entries",
    "usage days": "daily usage counts",
    "budget plans": "budget plans",
}
"""Table name → words for the page; other table names are clear already."""
MAX_LINKS: Final = 5
"""Linked rows per table."""


@dataclass(frozen=True, slots=True)
class TableHits:
    """Rows of one table that contain the words."""

    name: str
    number: int
    places: tuple[tuple[str, str], ...]
    """Label and URL of some of them."""


def build_table_hits(user: User, words: str, hits: Mapping[str, int]) -> list[TableHits]:
    """The hits of `verify.search_rows` for the page, with links. At most one query for each linked table."""
    return [
        TableHits(
            TABLE_NAMES.get(table, table), rows, tuple(_load_places(user, words, table)) if table in LINKED else ()
        )
        for table, rows in hits.items()
    ]


def _load_places(user: User, words: str, table: str) -> Iterator[tuple[str, str]]:
    rows, label, url = LINKED[table]
    linked = rows(user)
    for row in linked.filter(holding(linked.model, words)).order_by("-pk")[:MAX_LINKS]:
        yield label(row) or "Untitled", url(row)


LINKED: Final[Mapping[str, tuple[Callable[[User], QuerySet[Any]], Callable[[Any], str], Callable[[Any], str]]]] = {
    "facts": (
        lambda user: Fact.objects.for_user(user).defer("vector", "search"),
        lambda fact: fact.statement,
        lambda fact: reverse("memory:fact", args=[fact.pk]),
    ),
    "documents": (
        Document.objects.for_user,
        lambda document: document.path,
        lambda document: document_url(document.path),
    ),
    "messages": (
        lambda user: of_chat("Message", user).filter(conversation__deleted_at=None),
        lambda message: " ".join(message.text.split()),
        lambda message: reverse("message", args=[message.pk]),
    ),
    "conversations": (
        lambda user: of_chat("Conversation", user).filter(deleted_at=None),
        lambda conversation: conversation.title,
        lambda conversation: reverse("conversation", args=[conversation.pk]),
    ),
}
"""Table → the rows with a page, the label of a row, and its URL."""


# A topic -----------------------------------------------------------------------------------------------------------

KIND_NAMES: Final = {
    "fact": "fact",
    "episode": "episode",
    "document": "document",
    "message": "your message",
    "answer": "answer",
}


@dataclass(frozen=True, slots=True)
class TopicMatch:
    """A possible match of a topic, as the page and the API show it."""

    ref: str
    what: str
    text: str
    is_sure: bool
    """It is clearly meant, and ticked."""
    reason: str


def find_matches(user: User, words: str) -> list[TopicMatch]:
    """What the topic means, ticked, then its neighbors and what is similar in meaning."""
    return [
        TopicMatch(
            match.ref,
            f"{KIND_NAMES[match.kind]}, {match.status}" if match.status else KIND_NAMES[match.kind],
            match.text,
            match.is_ticked,
            match.ruling.reason,
        )
        for match in select_topic(user, words)
    ]


# Receipts ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ReceiptView:
    """A forgetting receipt with its type names."""

    row: Forgetting
    gone: list[tuple[int, str]]
    """Number and type."""


def load_receipts(user: User) -> list[ReceiptView]:
    """The latest receipts, newest first."""
    kept_out = Exists(Tombstone.objects.filter(forgetting=OuterRef("pk")))
    rows = Forgetting.objects.for_user(user).annotate(is_kept_out=kept_out).order_by("-pk")
    return [
        ReceiptView(row, [(number, type_name(what, number)) for what, number in row.gone.items()])
        for row in rows[:MAX_RECEIPTS]
    ]
