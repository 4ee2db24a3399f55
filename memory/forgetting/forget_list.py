"""Adds what is forgotten to the forget list, and applies the list to rows that are older than it.

A fact is recognized by its statement, quote and value; messages, documents and episodes by their sentences; all of them
by identifiers that remain nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Q

from memory import tombstones
from memory.forgetting.targets import of_chat
from memory.forgetting.vocabulary import TEXTS, words_in_column
from memory.models import Document, Episode, Fact
from recall.redaction import Erasure, words_of

if TYPE_CHECKING:
    from datetime import datetime

    from accounts.models import User
    from memory.models import Forgetting
    from memory.tombstones import Phrase, Recognizer


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was collected before the erasure; held in memory only."""

    phrases: frozenset[Phrase]
    identifiers: frozenset[tuple[str, Phrase]]
    """Kept as written, because one of its words may remain elsewhere."""

    def record(self, user: User, receipt: Forgetting, only_here: set[str]) -> None:
        """Add it to the list. `only_here`: the words that remain in no text."""
        kept = {phrase for written, phrase in self.identifiers if words_of(written) & only_here}
        unsure = {phrase for phrase in self.phrases if phrase.words > 1 and not set(phrase.text.split()) & only_here}
        tombstones.record(user.pk, (self.phrases | kept) - _said_elsewhere(user, unsure), receipt)


def _said_elsewhere(user: User, phrases: set[Phrase]) -> set[Phrase]:
    """The phrases that remain in the user's own texts: those texts were left alone, and are recalled as before."""
    patterns = {r"[^[:alnum:]]+".join(phrase.text.split()): phrase for phrase in phrases}
    hits: set[str] = set()
    for column in TEXTS:
        if column.own:
            hits |= words_in_column(user, column, patterns, Erasure(user.pk))
    found = {" ".join(words) for words in map(tombstones.spelled, hits)}
    return {phrase for phrase in phrases if phrase.text in found}


def collect(user: User, erasure: Erasure) -> Forgotten:
    """Collect what identifies an erasure when it is said again."""
    texts = [*erasure.texts, *_whole_texts(user, erasure)]
    phrases = {phrase for text in texts for phrase in tombstones.phrases_of(text)}
    for fact in Fact.objects.for_user(user).filter(pk__in=erasure.facts).only("statement", "quote", "key", "value"):
        texts += [fact.statement, fact.quote, fact.value]
        phrases |= {*_phrases_of_fact(fact), *tombstones.value_of(fact.key, fact.value)}
    alone = Episode.objects.for_user(user).filter(pk__in=erasure.episodes - erasure.retold)
    for episode in alone.defer("vector", "search"):
        phrases |= set(tombstones.turns_of(episode.conversation_id, episode.first_turn, episode.last_turn))
    identifiers = {found for text in texts for found in tombstones.identifiers_of(text)}
    return Forgotten(frozenset(phrases), frozenset(identifiers))


def _phrases_of_fact(fact: Fact) -> Iterator[Phrase]:
    for text in (fact.statement, fact.quote):
        yield from tombstones.phrases_of(text, tombstones.MIN_PHRASE)


def find_older(user: User) -> Erasure:
    """Rows with something forgotten that are older than its forgetting; in newer ones, the user said it again."""
    erasure, known = Erasure(user.pk), tombstones.load(user.pk)
    if not known.lists:
        return erasure
    for fact in Fact.objects.for_user(user).defer("vector", "search").iterator():
        at = known.forgotten_at(fact.statement, fact.key, fact.value, fact.quote)
        if at is not None and fact.recorded_at < at:
            erasure.facts.add(fact.pk)
    for pk, text, said_at in of_chat("Message", user).values_list("pk", "text", "created_at").iterator():
        older = _older(known, text, said_at)
        erasure.quotes |= {pk: older} if older else {}
        erasure.texts |= older
    for text, changed_at in Document.objects.for_user(user).values_list("text", "changed_at").iterator():
        erasure.texts |= _older(known, text, changed_at)
    for text, recorded_at in Episode.objects.for_user(user).values_list("summary", "recorded_at").iterator():
        erasure.texts |= _older(known, text, recorded_at)
    return erasure


def _older(known: Recognizer, text: str, written_at: datetime) -> set[str]:
    return {text[hit.begin : hit.end] for hit in known.find(text) if written_at < hit.at}


def _whole_texts(user: User, erasure: Erasure) -> Iterable[str]:
    """Texts that are erased completely."""
    messages = of_chat("Message", user).filter(Q(pk__in=erasure.messages) | Q(conversation__in=erasure.conversations))
    yield from messages.values_list("text", flat=True).iterator()
    documents = Document.objects.for_user(user).filter(pk__in=erasure.documents)
    yield from documents.values_list("text", flat=True).iterator()
