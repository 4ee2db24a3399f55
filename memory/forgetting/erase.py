"""Erases facts, episodes, documents and lines from memory's tables; restores chosen facts that they had superseded."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, Final

from django.db.models import Q
from django.urls import reverse

from memory.documents.profile_updates import refresh_profile
from memory.documents.revisions import write
from memory.forgetting.find import without_forgotten
from memory.models import Chunk, Document, Episode, Fact, FactLink, ReviewAction, Revision, Upload
from recall.llm.tokens import count_tokens
from recall.redaction import Erasure, ErasureItem, words_of

if TYPE_CHECKING:
    from accounts.models import User

BACK: Final = "came back: what had taken its place was forgotten"
"""Reason of a restored fact."""
FORGOTTEN_NOTE: Final = "Something was forgotten here"
"""Note of the new revision. An editor with an earlier one open can't save over it."""
TOOK_PLACE: Final = (Fact.Status.ACTIVE, Fact.Status.ARCHIVED)
"""States of a forgotten fact whose predecessor may be restored; a rejected or expired fact restores nothing."""


# Preview ---------------------------------------------------------------------------------------------------------


def preview(user: User, erasure: Erasure) -> Iterator[ErasureItem]:
    """What would be erased in memory's tables."""
    facts = Fact.objects.for_user(user).filter(pk__in=erasure.facts).defer("search").order_by("pk")
    for fact in facts:
        yield ErasureItem("fact", fact.ref, fact.statement)
    for fact in Fact.objects.for_user(user).filter(pk__in=erasure.shortened).defer("vector", "search").order_by("pk"):
        yield ErasureItem("shortened", fact.ref, f"{fact.statement} → {erasure.shortened[fact.pk]}")
    for fact in _quoting(user, erasure):
        yield ErasureItem("evidence", f"evidence:{fact.pk}", fact.statement)
    for action in ReviewAction.objects.for_user(user).filter(fact__in=erasure.facts):
        yield ErasureItem("decision", f"decision:{action.pk}", action.get_verb_display())
    for link in FactLink.objects.for_user(user).filter(Q(from_fact__in=erasure.facts) | Q(to_fact__in=erasure.facts)):
        yield ErasureItem("link", f"link:{link.pk}")
    for episode in Episode.objects.for_user(user).filter(pk__in=erasure.episodes).defer("vector", "search"):
        yield ErasureItem("episode", episode.ref, episode.title)
    yield from _documents(user, erasure)
    yield from _index(user, erasure)


def _documents(user: User, erasure: Erasure) -> Iterator[ErasureItem]:
    documents = Document.objects.for_user(user)
    for document in documents.filter(pk__in=erasure.documents).defer("text"):
        yield ErasureItem("document", f"document:{document.pk}", document.title, _address(document))
    for document in documents.filter(pk__in=erasure.lines).defer("text"):
        for number in range(erasure.lines[document.pk]):
            yield ErasureItem("line", f"line:{document.pk}:{number}", document.title, _address(document))
    for revision in Revision.objects.for_user(user).filter(document__in=erasure.documents).defer("text"):
        yield ErasureItem("version", f"version:{revision.pk}")
    for upload in Upload.objects.for_user(user).filter(document__in=erasure.documents).defer("content"):
        yield ErasureItem("upload", f"upload:{upload.pk}", upload.name)


def _address(document: Document) -> str:
    return reverse("memory:document", args=[document.path[1:]])


def _index(user: User, erasure: Erasure) -> Iterator[ErasureItem]:
    chunks = Chunk.objects.for_user(user).filter(
        Q(document__in=erasure.documents)
        | Q(message__in={*erasure.messages, *erasure.quotes})
        | Q(segment__in=erasure.segments)
        | Q(conversation__in=erasure.conversations)
    )
    vectors = 0
    for pk, has_vector in chunks.values_list("pk", "embedded_by"):
        vectors += bool(has_vector)
        yield ErasureItem("passage", f"chunk:{pk}")
    for model, ids in ((Fact, erasure.facts), (Episode, erasure.episodes)):
        vectors += model._default_manager.filter(user=user.pk, pk__in=ids).exclude(embedded_by="").count()
    for number in range(vectors):
        yield ErasureItem("vector", f"vector:{number}")


def restorable(user: User, erasure: Erasure) -> list[Fact]:
    """Facts that only a forgotten fact had superseded; of each key the latest one."""
    older = Fact.objects.for_user(user).filter(status=Fact.Status.SUPERSEDED).exclude(pk__in=erasure.facts)
    gone: dict[int, Fact] = Fact.objects.for_user(user).defer("vector", "search").in_bulk(list(erasure.facts))
    by_date = older.defer("vector", "search").order_by("-superseded_at", "-pk")
    taken = set(
        Fact.objects.for_user(user)
        .filter(status=Fact.Status.ACTIVE)
        .exclude(pk__in=erasure.facts)
        .keyed()
        .values_list("key", flat=True)
    )
    restored: list[Fact] = []
    for fact in by_date:
        if _is_free(fact, gone) and not (fact.key and fact.key in taken):
            taken.add(fact.key)
            restored.append(fact)
    return restored


def _is_free(older: Fact, gone: dict[int, Fact]) -> bool:
    """Whether the last fact in its chain of successors is forgotten and was in use until now."""
    newer = gone.get(older.superseded_by_id or 0)
    while newer is not None and newer.superseded_by_id is not None:
        newer = gone.get(newer.superseded_by_id)
    return newer is not None and newer.status in TOOK_PLACE


def _quoting(user: User, erasure: Erasure) -> list[Fact]:
    """Other facts with the same evidence: they stay, with a shorter quote."""
    sources = {*erasure.messages, *erasure.quotes}
    others = Fact.objects.for_user(user).filter(message__in=sources).exclude(pk__in=erasure.facts).exclude(quote="")
    return [fact for fact in others.defer("vector", "search") if erasure.without_sentences(fact.quote) != fact.quote]


# Erasing ---------------------------------------------------------------------------------------------------------


def to_rewrite(user: User, erasure: Erasure) -> list[dict[str, Any]]:
    """The summaries and episodes to rewrite: ids and turn numbers."""
    again: list[dict[str, Any]] = [{"what": "segment", "id": pk} for pk in sorted(erasure.segments)]
    episodes = Episode.objects.for_user(user).filter(pk__in=erasure.retold).exclude(status=Episode.Status.MERGED)
    for conversation_id, first, last in episodes.values_list("conversation_id", "first_turn", "last_turn"):
        again.append({"what": "episode", "id": str(conversation_id), "first": first, "last": last})
    return again


def erase(user: User, erasure: Erasure, restore: Collection[str] = ()) -> int:
    """Erase it from memory's tables; return how many facts were restored, of those whose refs are in `restore`."""
    for fact in _quoting(user, erasure):
        Fact.objects.filter(pk=fact.pk).update(quote=erasure.without_sentences(fact.quote))
    _shorten_facts(user, erasure)
    restored = [fact for fact in restorable(user, erasure) if fact.ref in restore]
    _relink_predecessors(user, erasure)
    _forget_decisions(user, erasure)
    Episode.objects.for_user(user).filter(pk__in=erasure.episodes).delete()
    Fact.objects.for_user(user).filter(pk__in=erasure.facts).delete()
    for fact in restored:
        Fact.objects.filter(pk=fact.pk).update(
            status=Fact.Status.ACTIVE, reason=BACK, superseded_at=None, superseded_by=None
        )
    Upload.objects.for_user(user).filter(document__in=erasure.documents).delete()
    Document.objects.for_user(user).filter(pk__in=erasure.documents).delete()
    _erase_lines(user, erasure)
    refresh_profile(user)  # with the restored facts
    return len(restored)


def _shorten_facts(user: User, erasure: Erasure) -> None:
    """Remove the forgotten parts from facts that stay, with a key or value that was among them."""
    for fact in Fact.objects.for_user(user).filter(pk__in=erasure.shortened):
        left = erasure.shortened[fact.pk]
        if not words_of(fact.value) <= words_of(left):
            fact.key = fact.value = ""
        fact.statement, fact.tokens = left, count_tokens(left)
        fact.quote = erasure.without_sentences(fact.quote)
        fact.tags = [tag for tag in fact.tags if words_of(tag) <= words_of(left)]
        fact.vector, fact.embedded_by = None, ""
        fact.save(update_fields=["key", "value", "statement", "tokens", "quote", "tags", "vector", "embedded_by"])


def _relink_predecessors(user: User, erasure: Erasure) -> None:
    """Link facts superseded by a forgotten one to its successor, if it was superseded itself."""
    gone: dict[int, Fact] = Fact.objects.for_user(user).only("pk", "superseded_by").in_bulk(list(erasure.facts))
    for older in Fact.objects.for_user(user).filter(superseded_by__in=gone).exclude(pk__in=gone).only("superseded_by"):
        newer = gone.get(older.superseded_by_id or 0)
        while newer is not None and newer.superseded_by_id in gone:
            newer = gone[newer.superseded_by_id or 0]
        Fact.objects.filter(pk=older.pk).update(superseded_by=newer.superseded_by_id if newer else None)


def _forget_decisions(user: User, erasure: Erasure) -> None:
    """Remove previous values stored with decisions on other facts, so that undoing one can't restore it."""
    for action in ReviewAction.objects.for_user(user).filter(before__has_any_keys=[str(pk) for pk in erasure.facts]):
        kept = {pk: columns for pk, columns in action.before.items() if int(pk) not in erasure.facts}
        ReviewAction.objects.filter(pk=action.pk).update(before=kept)


def _erase_lines(user: User, erasure: Erasure) -> None:
    for revision in Revision.objects.for_user(user).filter(document__in=erasure.lines):
        text = without_forgotten(erasure, revision.document_id, revision.author, revision.text)
        Revision.objects.filter(pk=revision.pk).update(text=text, note=erasure.redact(revision.note))
    for document in Document.objects.for_user(user).filter(pk__in=erasure.lines):
        rest = without_forgotten(erasure, document.pk, document.source, document.text)
        if document.source == Document.Source.LIBRARIAN and not rest.strip():
            document.delete()  # nothing is left in it; a user's own document stays, empty
            continue
        write(document, rest, Revision.Author.USER, FORGOTTEN_NOTE)
