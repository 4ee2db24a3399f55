"""Finds what depends on the target, in memory's tables; `memory/ports/forgettable.py` asks the other apps.

A receipt shows which answers *carried* a memory, and words show which *repeat* it (`Erasure.repeats`). An answer for
which the memory was recalled is erased completely: a paraphrase leaves no word to search for. If the memory was in the
prompt anyway (profile, history), the answer is erased only if it repeats it: otherwise, forgetting a name would erase
every answer the user ever had. A text of the user is erased only where it contains the forgotten text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Final

from django.db.models import F, Q

from memory.forgetting.targets import of_chat
from memory.forgetting.vocabulary import naming_words, said_elsewhere
from memory.librarian.document_updates import documents_based_on
from memory.models import Chunk, Document, Episode, Fact, Revision
from memory.ports.forgettable import forgettables
from memory.text.fact_lines import MarkKind, fact_line, line_of
from memory.text.parts import parts_of, without_parts
from recall.redaction import Erasure, WordMatch, words_of

if TYPE_CHECKING:
    from accounts.models import User
    from memory.forgetting.targets import Target

ROUNDS: Final = 6
"""Maximum rounds of following dependents: an answer that repeats it may itself have been recalled elsewhere,
and so on."""


def find(user: User, target: Target) -> Erasure:
    """Everything that is erased with the target.

    Raises:
        NothingThereError: the target names nothing of this user.
    """
    return follow(user, target.seed(user))


def follow(user: User, erasure: Erasure) -> Erasure:
    """Add everything that depends on it."""
    asked_for = set(erasure.episodes)
    for _ in range(ROUNDS):
        before = erasure.extent
        _facts(user, erasure)
        _parts(user, erasure)
        _documents(user, erasure)
        erasure.telling = _telling(user, erasure)
        for keeper in forgettables():
            keeper.collect(user, erasure)
        _episodes(user, erasure, asked_for)
        if erasure.extent == before:
            break
    _lines(user, erasure)
    erasure.naming = _naming(user, erasure)
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


def _parts(user: User, erasure: Erasure) -> None:
    """Shorten facts and messages that say more, and erase those parts in their sources and in facts learned
    from them."""
    for fact in Fact.objects.for_user(user).filter(pk__in=_ids_of(erasure, "fact")).defer("vector", "search"):
        if fact.pk in erasure.facts:
            continue
        going = erasure.parts[fact.ref]
        left = without_parts(fact.statement, numbers_of(fact.statement, going))
        erasure.shortened[fact.pk] = left
        erasure.echoes.add(fact.ref)
        said = {
            part.in_context for part in parts_of(fact.statement) if part.number in numbers_of(fact.statement, going)
        }
        erasure.add_text(*said)
        forgotten_words = set().union(*map(words_of, said)) - words_of(left)
        erasure.sayings.append(WordMatch(frozenset(forgotten_words), frozenset(forgotten_words & words_of(fact.value))))
        if fact.message_id is not None:
            _parts_of_source(user, erasure, fact, forgotten_words)
    for pk, text in of_chat("Message", user).filter(pk__in=_ids_of(erasure, "message")).values_list("pk", "text"):
        erasure.quotes.setdefault(pk, set()).update(erasure.parts[f"message:{pk}"])
        numbers = numbers_of(text, erasure.parts[f"message:{pk}"])
        erasure.add_text(*(part.in_context for part in parts_of(text) if part.number in numbers))


def _parts_of_source(user: User, erasure: Erasure, fact: Fact, words: set[str]) -> None:
    """The parts of the fact's source message that state what the fact loses."""
    for text in of_chat("Message", user).filter(pk=fact.message_id).values_list("text", flat=True):
        going = {text[part.start : part.end] for part in parts_of(text)}
        going = {one for one in going if words & words_of(one)}
        if going:
            erasure.parts.setdefault(f"message:{fact.message_id}", set()).update(going)


def numbers_of(text: str, parts: Collection[str]) -> set[int]:
    """The numbers of these parts within a text."""
    return {part.number for part in parts_of(text) if text[part.start : part.end] in parts}


def _ids_of(erasure: Erasure, kind: str) -> list[int]:
    pairs = (ref.split(":") for ref in erasure.parts)
    return [int(number) for what, number in pairs if what == kind]


def saying(fact: Fact) -> WordMatch:
    """The words that identify a fact."""
    return WordMatch(frozenset(words_of(f"{fact.statement} {fact.value}")), frozenset(words_of(fact.value)))


def _bare(text: str) -> str:
    return " ".join(sorted(words_of(text)))


def _telling(user: User, erasure: Erasure) -> set[str]:
    """Words of it that the user uses nowhere else."""
    words: set[str] = set().union(*(saying.words | saying.value for saying in erasure.sayings))
    quotes = Fact.objects.for_user(user).filter(pk__in=erasure.facts).values_list("quote", flat=True)
    for quote in quotes:
        words |= words_of(quote)
    return words - said_elsewhere(user, words, erasure)


def _naming(user: User, erasure: Erasure) -> set[str]:
    """Names and codes of it that the user uses nowhere else."""
    words = set[str]().union(*map(naming_words, erasure.texts))
    words -= said_elsewhere(user, words, erasure)
    for document in Document.objects.for_user(user).filter(pk__in=erasure.lines if words else ()):
        words -= words_of(without_forgotten(erasure, document.pk, document.source, document.text))
    return words


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
    if (left := without_forgotten(erasure, document, author, text)) != text:
        changed = len(set(text.split("\n")) - set(left.split("\n")))
        erasure.lines[document] = max(changed, 1, erasure.lines.get(document, 0))


def without_forgotten(erasure: Erasure, document: int, author: str, text: str) -> str:
    """The text of a document without what is forgotten. Librarian lines that paraphrase it are removed too."""
    numbers = numbers_of(text, erasure.parts.get(f"document:{document}", ()))
    if numbers:
        text = without_parts(text, numbers)
    is_librarians = author == Document.Source.LIBRARIAN
    lines = (_without_forgotten(erasure, raw, is_librarians) for raw in text.split("\n"))
    return "\n".join(line for line in lines if line is not None)


def _without_forgotten(erasure: Erasure, raw: str, is_librarians: bool) -> str | None:
    """What remains of a line; None: nothing. A user's own line only loses the parts that say it."""
    line = line_of(raw)
    if line.fact is not None and line.fact in erasure.shortened:
        return fact_line(line.fact, erasure.shortened[line.fact])
    marked = erasure.facts if line.mark == MarkKind.FACT else erasure.messages
    if line.mark is not None and line.number in marked:
        return None
    if (is_librarians or line.mark is not None) and erasure.is_paraphrased_in(line.words):
        return None
    if not erasure.occurs_in(line.words):
        return raw
    saying_it = {part.number for part in parts_of(raw) if erasure.occurs_in(part.in_context)}
    return (saying_it and without_parts(raw, saying_it)) or None


# Episodes --------------------------------------------------------------------------------------------------------


def _episodes(user: User, erasure: Erasure, asked_for: Iterable[int]) -> None:
    """Add episodes of turns with erased messages, or that mention it; their other turns are summarized again."""
    episodes = Episode.objects.for_user(user)
    touched = {*erasure.messages, *erasure.quotes}
    resting = Q(facts__in=erasure.facts) | Q(merged_into__in=erasure.episodes) | Q(merged__in=erasure.episodes)
    spanning = Q(
        conversation__messages__in=touched,
        conversation__messages__turn__gte=F("first_turn"),
        conversation__messages__turn__lte=F("last_turn"),
    )
    found = set(episodes.filter(resting).values_list("pk", flat=True)) if erasure.facts or erasure.episodes else set()
    found |= set(episodes.filter(spanning).values_list("pk", flat=True)) if touched else set()
    found |= set(episodes.filter(conversation__in=erasure.conversations).values_list("pk", flat=True))
    texts = episodes.exclude(pk__in=found).values_list("pk", "title", "summary", "context")
    found |= {
        pk for pk, *said in texts if erasure.occurs_in("\n".join(said)) or erasure.telling & words_of(" ".join(said))
    }
    staying = episodes.filter(pk__in=found, conversation__isnull=False).exclude(conversation__in=erasure.conversations)
    erasure.retold |= set(staying.values_list("pk", flat=True)) - set(asked_for)
    erasure.episodes |= found
    erasure.refs |= {f"episode:{pk}" for pk in erasure.episodes}
    erasure.add_text(*episodes.filter(pk__in=erasure.episodes).values_list("summary", flat=True))
