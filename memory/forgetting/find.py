"""Finds what depends on the target, in memory's tables; `memory/ports/forgettable.py` asks the other apps.

A receipt shows which answers *carried* a memory, and words show which *repeat* it (`Erasure.repeats`). An answer for
which the memory was recalled is erased completely: a paraphrase leaves no word to search for. If the memory was in the
prompt anyway (profile, history), the answer is erased only if it repeats it: otherwise, forgetting a name would erase
every answer the user ever had. A text of the user is erased only where it contains the forgotten text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from django.db.models import F, Q

from memory.forgetting.vocabulary import said_elsewhere
from memory.librarian.document_updates import documents_based_on
from memory.models import Chunk, Document, Episode, Fact, Revision
from memory.ports.forgettable import forgettables
from memory.text.fact_lines import Line, MarkKind, line_of
from recall.redaction import Erasure, WordMatch, words_of

if TYPE_CHECKING:
    from accounts.models import User
    from memory.forgetting.targets import Target

ROUNDS: Final = 6
"""Maximum rounds of following dependents: an answer that repeats it may have been recalled elsewhere, and so on."""


def find(user: User, target: Target) -> Erasure:
    """Everything that is erased with the target.

    Raises:
        NothingThereError: the target names nothing of this user.
    """
    erasure = target.seed(user)
    asked_for = set(erasure.episodes)
    for _ in range(ROUNDS):
        before = erasure.extent
        _facts(user, erasure)
        _documents(user, erasure)
        erasure.telling = _telling(user, erasure)
        for keeper in forgettables():
            keeper.collect(user, erasure)
        _episodes(user, erasure, asked_for)
        if erasure.extent == before:
            break
    _lines(user, erasure)
    return erasure


# Facts -----------------------------------------------------------------------------------------------------------


def _facts(user: User, erasure: Erasure) -> None:
    """Add facts learned from what is erased, and facts in the same words; with the words that identify them."""
    facts = Fact.objects.for_user(user)
    resting = Q(message__in=erasure.messages)
    if erasure.learned_too and erasure.conversations:
        resting |= Q(message__conversation__in=erasure.conversations) | Q(run__conversation__in=erasure.conversations)
    erasure.facts |= set(facts.filter(resting).values_list("pk", flat=True))
    going = list(facts.filter(pk__in=erasure.facts).defer("vector", "search"))
    same = {_bare(fact.statement) for fact in going}
    others = facts.exclude(pk__in=erasure.facts).only("pk", "statement")
    erasure.facts |= {fact.pk for fact in others if _bare(fact.statement) in same}
    going = list(facts.filter(pk__in=erasure.facts).defer("vector", "search"))
    for fact in going:
        erasure.refs.add(fact.ref)
        erasure.add_text(fact.statement, fact.quote)
        if fact.message_id is not None:
            erasure.quotes.setdefault(fact.message_id, set()).add(fact.quote)
    erasure.sayings = [saying(fact) for fact in going]


def saying(fact: Fact) -> WordMatch:
    """The words that identify a fact."""
    return WordMatch(frozenset(words_of(f"{fact.statement} {fact.value}")), frozenset(words_of(fact.value)))


def _bare(text: str) -> str:
    return " ".join(sorted(words_of(text)))


def _telling(user: User, erasure: Erasure) -> set[str]:
    """Its words that the user uses nowhere else."""
    words: set[str] = set().union(*(saying.words | saying.value for saying in erasure.sayings))
    quotes = Fact.objects.for_user(user).filter(pk__in=erasure.facts).values_list("quote", flat=True)
    for quote in quotes:
        words |= words_of(quote)
    return words - said_elsewhere(user, words, erasure)


# Documents -------------------------------------------------------------------------------------------------------


def _documents(user: User, erasure: Erasure) -> None:
    """Add documents that depend on it, with their refs and their passages' refs."""
    erasure.documents |= documents_based_on(user, erasure.conversations, erasure.messages)
    for document in Document.objects.for_user(user).filter(pk__in=erasure.documents).only("path", "title"):
        erasure.refs.add(document.ref)
        erasure.add_text(document.path)
    passages = Chunk.objects.for_user(user).filter(document__in=erasure.documents).values_list("pk", flat=True)
    erasure.refs |= {f"chunk:{pk}" for pk in passages}


def _lines(user: User, erasure: Erasure) -> None:
    """Count lines that contain it, in documents that stay and in their revisions."""
    erasure.lines = {}
    staying = Document.objects.for_user(user).exclude(pk__in=erasure.documents)
    versions = Revision.objects.for_user(user).exclude(document__in=erasure.documents)
    for pk, source, text in staying.exclude(text="").values_list("pk", "source", "text").iterator():
        _count_lines(erasure, pk, source, text)
    for pk, author, text in versions.values_list("document_id", "author", "text").iterator():
        _count_lines(erasure, pk, author, text)


def _count_lines(erasure: Erasure, document: int, author: str, text: str) -> None:
    going = len(text.split("\n")) - len(kept_lines(erasure, author, text))
    if going:
        erasure.lines[document] = max(going, erasure.lines.get(document, 0))


def kept_lines(erasure: Erasure, author: str, text: str) -> list[str]:
    """The lines of a document that stay. Of the librarian's lines, paraphrases go too."""
    is_librarians = author == Document.Source.LIBRARIAN
    return [line for line in text.split("\n") if not _goes(erasure, line_of(line), is_librarians)]


def _goes(erasure: Erasure, line: Line, is_librarians: bool) -> bool:
    marked = erasure.facts if line.mark == MarkKind.FACT else erasure.messages
    if line.mark is not None and line.number in marked:
        return True
    return erasure.occurs_in(line.words) or (
        (is_librarians or line.mark is not None) and erasure.is_paraphrased_in(line.words)
    )


# Episodes --------------------------------------------------------------------------------------------------------


def _episodes(user: User, erasure: Erasure, asked_for: Iterable[int]) -> None:
    """Add episodes of turns with erased messages or that mention it; their other turns are summarized again."""
    told = Episode.objects.for_user(user)
    touched = {*erasure.messages, *erasure.quotes}
    resting = Q(facts__in=erasure.facts) | Q(merged_into__in=erasure.episodes) | Q(merged__in=erasure.episodes)
    spanning = Q(
        conversation__messages__in=touched,
        conversation__messages__turn__gte=F("first_turn"),
        conversation__messages__turn__lte=F("last_turn"),
    )
    found = set(told.filter(resting).values_list("pk", flat=True)) if erasure.facts or erasure.episodes else set()
    found |= set(told.filter(spanning).values_list("pk", flat=True)) if touched else set()
    found |= set(told.filter(conversation__in=erasure.conversations).values_list("pk", flat=True))
    texts = told.exclude(pk__in=found).values_list("pk", "title", "summary", "context")
    found |= {
        pk for pk, *said in texts if erasure.occurs_in("\n".join(said)) or erasure.telling & words_of(" ".join(said))
    }
    staying = told.filter(pk__in=found, conversation__isnull=False).exclude(conversation__in=erasure.conversations)
    erasure.retold |= set(staying.values_list("pk", flat=True)) - set(asked_for)
    erasure.episodes |= found
    erasure.refs |= {f"episode:{pk}" for pk in erasure.episodes}
    erasure.add_text(*told.filter(pk__in=erasure.episodes).values_list("summary", flat=True))
