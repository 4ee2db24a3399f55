"""Page data of forgetting: the preview by type, topic matches, receipts, and where words are still found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from django.db.models import Exists, OuterRef, QuerySet
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils.text import get_text_list

from memory.forgetting.execute import Preview
from memory.forgetting.select import Match, select_topic
from memory.forgetting.targets import Target, What, of_chat
from memory.forgetting.verify import holding
from memory.models import Document, Fact, Forgetting, Tombstone
from memory.pages.knowledge import document_url
from memory.text.plain_words import plain_words
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
    "given": (
        "answer that used this memory without mentioning it",
        "answers that used this memory without mentioning it",
    ),
    "thinking": ("answer that only loses its thinking", "answers that only lose their thinking"),
    "attachment": ("attachment", "attachments"),
    "tool text": ("tool result", "tool results"),
    "summary": ("summary, to be rewritten", "summaries, to be rewritten"),
    "title": ("conversation that only loses its title", "conversations that only lose their titles"),
    "episode": ("episode", "episodes"),
    "document": ("document", "documents"),
    "line": ("line in documents", "lines in documents"),
    "version": ("document version", "document versions"),
    "upload": ("uploaded file", "uploaded files"),
    "decision": ("review decision", "review decisions"),
    "link": ("link between facts", "links between facts"),
}
"""Type → singular and plural, in page order. Other types are shown by their table name."""
INNER_TYPES: Final = frozenset(
    {"passage", "vector", "receipt", "snapshot", "chunk", "profile snapshot", "agent run", "librarian run"}
)
"""Types that follow from the others and have no page of their own: one sentence says that they are updated."""
SUMMED_UP: Final = (
    "conversation", "fact", "message", "quote", "answer", "attachment", "tool text", "episode", "document", "line",
    "upload",
)  # fmt: skip
"""Types that the first sentence counts: what goes as a whole. The list below it has all."""
MAX_NAME_CHARS: Final = 80
MAX_TEXT_CHARS: Final = 300
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
    groups = [
        _build_group(what, would.counts[what], by_type.get(what, ())) for what in kinds if what not in INNER_TYPES
    ]
    return {
        "groups": groups,
        "are_inner_updated": bool(INNER_TYPES & set(would.counts)),
        "coming_back": would.coming_back,
        "fingerprint": would.fingerprint,
    }


def name_target(target: Target, would: Preview) -> str:
    """What is to be forgotten, in quotes and with its kind, such as “the conversation “Garden””; empty: no name."""
    if target.what == What.DOCUMENT and target.id.startswith("/"):
        return f"the folder “{shorten(target.id.rsplit('/', 1)[-1], MAX_NAME_CHARS)}”"
    named = _find_named(target, would)
    if named is None or not named.text:
        return ""
    kind, _, _ = named.ref.partition(":")
    words = f"“{shorten(_said_to_the_user(named).text, MAX_NAME_CHARS)}”"
    return words if kind == "fact" else f"the {kind} {words}"


def sum_up(target: Target, would: Preview) -> str:
    """What else goes as a whole, in words; empty: nothing."""
    counts = Counter(would.counts)
    counts["answer"] += counts.pop("given", 0)
    if (named := _find_named(target, would)) is not None:
        counts["answer" if named.what == "given" else named.what] -= 1
    lines = [item for item in would.going if item.what == "line"]
    return get_text_list(
        [f"{counts[what]} {_group_name(what, counts[what], lines)}" for what in SUMMED_UP if counts[what] > 0], "and"
    )


def _find_named(target: Target, would: Preview) -> ErasureItem | None:
    """The item that the target names, if it names one that goes as a whole."""
    ref = f"{target.what}:{target.id}"
    if target.what == What.TOPIC:
        ref = target.refs[0] if len(target.refs) == 1 else ""
    return next((item for item in would.going if item.ref == ref), None)


def _build_group(what: str, number: int, going: Sequence[ErasureItem]) -> Group:
    counts = Counter((item.text, item.url) for item in going if item.text)
    listed = {(item.text, item.url): item for item in going if item.text}
    shown = dict(list(listed.items())[:MAX_ITEMS_SHOWN])
    items = tuple(map(_as_listed, shown.values()))
    return Group(_group_name(what, number, going), number, items, number - sum(counts[one] for one in shown))


def _group_name(what: str, number: int, going: Sequence[ErasureItem]) -> str:
    documents = len({item.ref.split(":")[1] for item in going}) if what == "line" else 0
    if not documents:
        return type_name(what, number)
    return f"line{pluralize(number)} in {documents} document{pluralize(documents)}"


def _as_listed(item: ErasureItem) -> ErasureItem:
    said = _said_to_the_user(item)
    return replace(said, text=shorten(said.text, MAX_TEXT_CHARS))


def _said_to_the_user(item: ErasureItem) -> ErasureItem:
    if item.what not in OF_FACTS:
        return replace(item, text=plain_words(item.text) if item.url else item.text)
    return replace(item, text=" → ".join(map(second_person, item.text.split(" → "))))


def shorten(text: str, chars: int) -> str:
    """The start of a text in one line, cut off between two words."""
    line = " ".join(text.split())
    if len(line) <= chars:
        return line
    cut = line[:chars]
    return f"{cut.rpartition(' ')[0] or cut}…"


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
    "receipts": "contexts of answers",
    "review actions": "review decisions",
    "forgettings": "records of forgetting",
    "personal indexes": "search word lists",
    "kind policies": "memory rules",
    "librarian runs": "librarian jobs",
    "segments": "conversation summaries",
    "compactions": "compaction jobs",
    "import jobs": "imports",
    "api keys": "API keys",
    "idempotent requests": "stored API responses",
    "api rates": "API rate counters",
    "access logs": "access log entries",
    "usage days": "daily usage counts",
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
        TopicMatch(match.ref, _kind_and_status(match), match.text, match.is_ticked, match.ruling.reason)
        for match in select_topic(user, words)
    ]


def _kind_and_status(match: Match) -> str:
    kind = "your message" if match.kind == "message" else match.kind
    return f"{kind}, {match.status}" if match.status else kind


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
        ReceiptView(
            row, [(number, type_name(what, number)) for what, number in row.gone.items() if what not in INNER_TYPES]
        )
        for row in rows[:MAX_RECEIPTS]
    ]
