"""Indexes messages, segments and documents as passages: words within the caller's transaction, vectors seconds later.

Messages are indexed with the words of their neighbors (`Chunk.search`), so that an answer is found by the words of its
question; the vector is of the passage alone. A row whose `embedded_by` is not the current model's name needs a vector,
whatever happened to the task that announced it. After a change of the model, rows are re-embedded in the background and
keep serving with their old vectors.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import batched
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from django.contrib.postgres.search import SearchConfig, SearchVector
from django.db import connection, transaction
from django.db.models import OuterRef, Q, Subquery, TextField
from django.db.models.functions import Cast
from django.db.models.lookups import Exact

from accounts.models import User
from memory.embeddings.port import MODELS, embedder
from memory.index import chunking
from memory.models import Chunk, Document, Episode, Fact, Indexed
from memory.ports.source import Utterance, get_source
from memory.secrets.secrets_filter import mask_secrets
from memory.speech_acts.made_up import MADE_UP, omit_rule
from memory.text.message_kinds import (
    FORGOTTEN_BEFORE,
    NOT_KNOWN,
    SMALL_TALK,
    STATES_NOTHING,
    admits_not_knowing,
    is_small_talk,
)
from memory.tombstones import Recognizer, load
from recall.db.prepared import PreparedInsert, write_together
from recall.db.sql_files import load_sql
from recall.redaction import FORGOTTEN

if TYPE_CHECKING:
    from memory.embeddings.limits import Vectors
    from memory.embeddings.port import Embedder

NEIGHBOURS: Final = 3
"""Places on either side whose words are indexed with a passage, with weights B, C and D. They raise the evidence among
the first ten results of the keyword leg from 59% to 70% (`manage.py evaluate`, docs/memory.md)."""

EMBED_AT_ONCE: Final = 32
"""Rows per commit: a killed worker loses less than a second's work."""

EMBED_SECONDS: Final = 60.0
"""Maximum duration of one task, so that other tasks can run; the scheduler continues with the rest."""

LOOK_AGAIN_SECONDS: Final = 30
"""How long a process caches which models are in use."""

RESTORED_AT_ONCE: Final = 500
"""Passages whose words are set in one statement."""

WRITTEN: Final = "/conversations/"
"""Folder of what Recall writes from texts without secrets."""

_NEW_CHUNKS: Final = PreparedInsert(Chunk, "DO NOTHING")

INDEX_TASK: Final = "memory.tasks.index_conversation"

EMBEDDED_COLUMNS: Final[dict[type[Indexed], tuple[str, ...]]] = {
    Chunk: ("heading", "text"),  # without the speaker: a small model places all lines of one person close together
    Fact: ("statement",),
    Episode: ("title", "summary"),
}
"""Every model with a vector, and the columns whose text is embedded, in order."""


_ADDRESS: Final = re.compile(r"(?<=\])\([^()\s]*\)")
"""Where a link in Markdown leads."""


def embedded_text(row: Indexed) -> str:
    """The text to embed of a row: its headings or title, then its words, without the addresses of its links: the id of
    a conversation means nothing, and moves the vector."""
    text = ": ".join(text for column in EMBEDDED_COLUMNS[type(row)] if (text := getattr(row, column)))
    return _ADDRESS.sub("", text)


# Conversations ---------------------------------------------------------------------------------------------------


def index_utterances(user_id: int, conversation_id: UUID, utterances: Sequence[Utterance]) -> None:
    """Index the words of these utterances within the caller's transaction; the scheduler adds their vectors."""
    forgotten = load(user_id)
    hidden = _forgotten_turns(forgotten, utterances)
    fresh = [chunk for said in utterances for chunk in _chunks_of(forgotten, hidden, conversation_id, said)]
    _NEW_CHUNKS(fresh)
    _set_words(conversation_id, [chunk.place for chunk in fresh])


def index_conversation(conversation_id: UUID) -> int:
    """Sync the index with the conversation's active branch; return how many passages were added or removed."""
    with transaction.atomic():
        _lock_conversation(conversation_id)
        owner, said = get_source().load_all(conversation_id)
        known = Chunk.objects.filter(conversation_id=conversation_id, kind=Chunk.Kind.MESSAGE)
        gone, _ = known.exclude(message_id__in=[utterance.message_id for utterance in said]).delete()
        indexed = set(known.values_list("message_id", flat=True))
        missing = [utterance for utterance in said if utterance.message_id not in indexed]
        forgotten = load(owner)
        hidden = _forgotten_turns(forgotten, said if missing else ())
        fresh = [chunk for one in missing for chunk in _chunks_of(forgotten, hidden, conversation_id, one)]
        Chunk.objects.bulk_create(fresh, ignore_conflicts=True)
        if gone or fresh:
            _set_words(conversation_id, None if gone else [chunk.place for chunk in fresh])
    return gone + len(fresh)


def reindex(conversation_id: UUID, changed: Collection[int]) -> None:
    """Index these messages again, within the caller's transaction: removed words disappear from their own passages and
    from
    those of their neighbors."""
    Chunk.objects.filter(conversation_id=conversation_id, message_id__in=changed).delete()
    index_conversation(conversation_id)
    _set_words(conversation_id, None)


def mark_made_up(user_id: int, message_ids: Collection[int]) -> None:
    """Mark passages of messages that only their conversation shows to be made up: those of a role play."""
    Chunk.objects.filter(user_id=user_id, message_id__in=message_ids, omit__in=("", STATES_NOTHING)).update(
        omit=MADE_UP
    )


def index_segment(user_id: int, conversation_id: UUID, segment_id: int, text: str, *, place: int) -> None:
    """Index a segment's summary; `place` is the seq of its last message."""
    Chunk.objects.filter(segment_id=segment_id).delete()
    masked = load(user_id).mask(mask_secrets(text, is_own=False))
    Chunk.objects.bulk_create(
        Chunk(
            user_id=user_id,
            kind=Chunk.Kind.SEGMENT,
            segment_id=segment_id,
            conversation_id=conversation_id,
            number=number,
            place=place,
            text=passage.text,
            tokens=passage.tokens,
        )
        for number, passage in enumerate(chunking.chunk_text(masked, is_markdown=False))
    )
    _set_plain_words(Q(segment_id=segment_id))


def _forgotten_turns(forgotten: Recognizer, utterances: Iterable[Utterance]) -> set[int]:
    """Turns in which the user repeated something forgotten: the answer may repeat it in words that no list has."""
    if not forgotten.lists:
        return set()
    return {said.turn for said in utterances if said.speaker == "user" and said.turn and forgotten.find(said.text)}


def _chunks_of(
    forgotten: Recognizer, hidden: Collection[int], conversation_id: UUID, said: Utterance
) -> Iterator[Chunk]:
    is_users = said.speaker == "user" or bool(said.author)
    text = FORGOTTEN if said.turn in hidden and not is_users else forgotten.mask(said.text)
    omit = FORGOTTEN_BEFORE if text.strip(" .!?…") == FORGOTTEN else said.omit or _omit_rule(said)
    for number, passage in enumerate(chunking.chunk_text(text, is_markdown=not is_users)):
        yield Chunk(
            user_id=forgotten.user_id,
            kind=Chunk.Kind.MESSAGE,
            message_id=said.message_id,
            conversation_id=conversation_id,
            number=number,
            place=said.number,
            text=passage.text,
            author=said.author,
            own_words=is_users,
            omit=omit,
            said_at=said.said_at,
            tokens=passage.tokens,
        )


def _omit_rule(said: Utterance) -> str:
    """The rule by which a message isn't a memory, or MADE_UP; empty if it is one, or from an imported participant."""
    if said.author:
        return ""
    if said.speaker == "user":
        return omit_rule(said.text)
    return SMALL_TALK if is_small_talk(said.text) else NOT_KNOWN if admits_not_knowing(said.text) else ""


def _lock_conversation(conversation_id: UUID) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"recall.index {conversation_id}"])


# Documents -------------------------------------------------------------------------------------------------------


def index_document(document: Document) -> None:
    """Chunk and index the document within the caller's transaction; an unchanged passage keeps its vector."""
    earlier = {chunk.text: chunk for chunk in Chunk.objects.filter(document=document)}
    is_story = document.path.startswith("/stories/")
    is_own = not document.path.startswith(WRITTEN)
    text = load(document.user_id).mask(mask_secrets(document.index_text, is_own=is_own))
    cut = chunking.chunk_text(text, is_markdown=True, story=is_story) if text.strip() else []
    Chunk.objects.filter(document=document).delete()
    Chunk.objects.bulk_create(
        Chunk(
            user_id=document.user_id,
            kind=Chunk.Kind.DOCUMENT,
            document=document,
            number=number,
            text=passage.text,
            heading=passage.heading[:400],
            own_words=is_story or document.source == Document.Source.USER,
            said_at=document.changed_at,
            tokens=passage.tokens,
            vector=earlier[passage.text].vector if passage.text in earlier else None,
            embedded_by=earlier[passage.text].embedded_by if passage.text in earlier else "",
        )
        for number, passage in enumerate(cut)
    )
    _set_plain_words(Q(document=document))


# Words -----------------------------------------------------------------------------------------------------------

_NEIGHBORS_SQL: Final = load_sql(Path(__file__).with_name("neighbor_words.sql"))


def _set_words(conversation_id: UUID, places: Iterable[int] | None) -> None:
    """Set the words of the passages at `places` (None: all) and of their neighbors."""
    parameters: dict[str, Any] = {
        "conversation": conversation_id,
        "places": None if places is None else sorted(set(places)),
        "reach": NEIGHBOURS,
    }
    with transaction.atomic(savepoint=False), write_together(), connection.cursor() as cursor:
        # While the planner still thinks the table is empty, it would compare each row of a large import with every
        # other (20,000 passages: minutes).
        cursor.execute("SET LOCAL enable_nestloop = off")
        cursor.execute(_NEIGHBORS_SQL, parameters)
        cursor.execute("SET LOCAL enable_nestloop = on")


def _set_plain_words(which: Q) -> None:
    """Set the passage's own words with weight A, its headings' with B."""
    language = SearchConfig(Subquery(User.objects.filter(pk=OuterRef("user_id")).values("language")))
    words = SearchVector("text", weight="A", config=language) + SearchVector("heading", weight="B", config=language)
    # Compared as text: Django's `=` on search vectors means "matches".
    there, wanted = Cast("search", TextField()), Cast(words, TextField())
    Chunk.objects.filter(which).exclude(Exact(there, wanted), search__isnull=False).update(search=words)


# Vectors ---------------------------------------------------------------------------------------------------------


def embed_pending(seconds: float = EMBED_SECONDS) -> bool:
    """Embed rows without a current vector for at most this long; return whether some are left."""
    until = time.monotonic() + seconds
    for model in EMBEDDED_COLUMNS:
        while _embed_some(model):
            if time.monotonic() > until:
                return True
    return False


def models_in_use() -> set[str]:
    """Names of the embedding models of stored vectors: several while rows are re-embedded."""
    return {name for model in EMBEDDED_COLUMNS for name in _models_of(model) if name}


def serving() -> list[Embedder]:
    """The models to embed questions with: the current one, then those that still have vectors."""
    current = embedder()
    older = _in_use(int(time.monotonic() / LOOK_AGAIN_SECONDS)) - {current.name}
    return [current, *(embedder(name) for name in sorted(older & MODELS))]


@lru_cache(maxsize=1)
def _in_use(_moment: int) -> frozenset[str]:
    return frozenset(models_in_use())


def _embed_some(model: type[Indexed]) -> int:
    """Embed one batch: rows without a vector first, then those of another model."""
    name = embedder().name
    for stale in ["", *(other for other in _models_of(model) if other not in ("", name))]:
        rows = list(_rows(model, stale))
        if rows:
            _store_vectors(model, rows, embedder().embed([embedded_text(row) for row in rows]), stale)
            return len(rows)
    return 0


def _rows(model: type[Indexed], embedded_by: str) -> Iterable[Indexed]:
    waiting = model._default_manager.filter(embedded_by=embedded_by)
    return waiting.defer("vector").order_by("id")[:EMBED_AT_ONCE]


@transaction.atomic
def _store_vectors(model: type[Indexed], rows: Sequence[Indexed], vectors: Vectors, stale: str) -> None:
    """Store the vectors, except for rows whose text or vector changed meanwhile."""
    for row, vector in zip(rows, vectors, strict=True):
        as_read = {column: getattr(row, column) for column in EMBEDDED_COLUMNS[model]}
        unchanged = model._default_manager.filter(pk=row.pk, embedded_by=stale, **as_read)
        unchanged.update(vector=vector.tolist(), embedded_by=embedder().name)


def _models_of(model: type[Indexed]) -> Iterator[str]:
    """The distinct names in the column, with one index step each."""
    name: str | None = None
    while True:
        rest = model._default_manager.all() if name is None else model._default_manager.filter(embedded_by__gt=name)
        name = rest.order_by("embedded_by").values_list("embedded_by", flat=True).first()
        if name is None:
            return
        yield name


# Import -----------------------------------------------------------------------------------------------------


def restore_words(user_id: int) -> None:
    """Set the words of all of a user's passages after an import without them; the scheduler adds the vectors."""
    for restore in word_restorers(user_id):
        restore()


def word_restorers(user_id: int) -> Iterator[Callable[[], None]]:
    """The same in parts, each of which skips passages that have their words."""
    passages = Chunk.objects.filter(user_id=user_id)
    said = passages.filter(kind=Chunk.Kind.MESSAGE).order_by().values_list("conversation_id", flat=True).distinct()
    for conversation_id in list(said):
        yield partial(_set_words, conversation_id, None)
    others = list(passages.exclude(kind=Chunk.Kind.MESSAGE).order_by("pk").values_list("pk", flat=True))
    for ids in batched(others, RESTORED_AT_ONCE, strict=False):
        yield partial(_set_plain_words, Q(pk__in=ids))
