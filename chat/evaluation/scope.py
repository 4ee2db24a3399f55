"""Forget scope: a user supersedes, corrects and forgets; then everything the memory can return is searched for words.

Everything works as through a user's own actions: a statement is proposed and accepted, a correction edits the fact that
its topic selects, and a topic is forgotten as the preview ticks it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from typing import Any, Final

from django.utils import timezone

from chat.evaluation.cases import DATA, as_tuples, read_rows
from chat.evaluation.person import Person, Worker
from chat.models import Message
from memory.documents import revisions
from memory.documents.profile import profile_lines
from memory.forgetting.execute import forget, preview
from memory.forgetting.select import select_topic
from memory.forgetting.targets import Target, What
from memory.librarian.remember import propose_from_assistant
from memory.models import Document, Episode, Fact
from memory.ports.source import Utterance, get_source
from memory.retrieval.recall import retrieve
from memory.review import decisions
from recall.redaction import FORGOTTEN

MANY: Final = 50
"""Memories requested at once: more than a case has."""


@dataclass(frozen=True, slots=True)
class ScopeCase:
    """Statements, operations on them, and words that must and must not be returned afterwards."""

    id: str
    category: str
    held_out: bool
    ops: tuple[Mapping[str, str], ...]
    """`release` and `purge` a topic; `supersede`: say something new; `about`: by correcting the fact of that topic."""
    must_contain: tuple[str, ...]
    must_not_contain: tuple[str, ...]
    facts: tuple[str, ...] = ()
    documents: tuple[Mapping[str, str], ...] = ()
    messages: tuple[str, ...] = ()
    erased: tuple[str, ...] = ()
    """Words that must not be in the history of facts either."""


@dataclass(frozen=True, slots=True)
class ScopeOutcome:
    """How one case ended."""

    id: str
    category: str
    held_out: bool
    failures: tuple[str, ...]
    seconds: float
    statements: tuple[str, ...]


def load_scope_cases() -> list[ScopeCase]:
    """All cases, in the file's order."""
    return [ScopeCase(**as_tuples(row)) for row in read_rows(DATA / "forget_scope.jsonl")]


def run_scope_case(case: ScopeCase, worker: Worker) -> ScopeOutcome:
    """Play one case with a new user."""
    started, person = monotonic(), Person(worker)
    _tell(case, person)
    failures: list[str] = []
    for op in case.ops:
        failures += OPERATIONS[op["op"]](person, op)
        worker.work()
    returned = "\n".join(_returned(case, person)).casefold()
    kept = "\n".join(fact.statement for fact in Fact.objects.for_user(person.user)).casefold()
    failures += [f"lacks “{one}”" for one in case.must_contain if one.casefold() not in returned]
    failures += [f"has “{one}”" for one in case.must_not_contain if one.casefold() in returned]
    failures += [f"keeps “{one}”" for one in case.erased if one.casefold() in kept]
    known = person.known()
    person.user.delete()
    return ScopeOutcome(case.id, case.category, case.held_out, tuple(failures), monotonic() - started, known)


def _tell(case: ScopeCase, person: Person) -> None:
    if case.messages:
        now = timezone.now()
        said = [
            Utterance(0, number, "user", text, now + timedelta(seconds=number), "")
            for number, text in enumerate(case.messages, start=1)
        ]
        get_source().import_conversation(person.user, "An old conversation", said)
    for document in case.documents:
        revisions.save(person.user, document["path"], document["text"], started_from=0)
    for statement in case.facts:
        _say(person, statement)
    person.worker.work()


def _say(person: Person, statement: str) -> None:
    propose_from_assistant("Notes", person.user, statement)
    person.accept_all()


def _supersede(person: Person, op: Mapping[str, str]) -> list[str]:
    if "about" not in op:
        _say(person, op["say"])
        return []
    chosen = [match for match in select_topic(person.user, op["about"]) if match.is_ticked and match.kind == "fact"]
    active = Fact.objects.for_user(person.user).active()
    fact = next((one for match in chosen for one in active.filter(pk=match.ref.split(":")[1])), None)
    if fact is None:
        return [f"no fact to correct: {op['about']}"]
    decisions.correct(fact, op["say"], by=person.user)
    return []


def _forget(person: Person, op: Mapping[str, str]) -> list[str]:
    ticked = tuple(match.ref for match in select_topic(person.user, op["topic"]) if match.is_ticked)
    if not ticked:
        return [f"nothing is ticked: {op['topic']}"]
    target = Target(What.TOPIC, refs=ticked)
    receipt = forget(person.user, target, by=person.user, expected=preview(person.user, target).fingerprint)
    return [f"{receipt.found_again} traces found"] if receipt.found_again else []


OPERATIONS: Final[Mapping[str, Callable[[Person, Mapping[str, str]], list[str]]]] = {
    "supersede": _supersede,
    "release": _forget,
    "purge": _forget,
}


def _returned(case: ScopeCase, person: Person) -> Iterator[str]:
    """Everything the memory can return: active facts, profile, documents, episodes, messages, and recalled memories."""
    yield from Fact.objects.for_user(person.user).active().values_list("statement", flat=True)
    yield from (line.text for line in profile_lines(person.user))
    yield from Document.objects.for_user(person.user).values_list("text", flat=True)
    yield from Episode.objects.for_user(person.user).values_list("summary", flat=True)
    yield from Message.objects.for_user(person.user).exclude(text=FORGOTTEN).values_list("text", flat=True)
    asked: list[Any] = [
        *case.must_contain,
        *case.must_not_contain,
        *(op.get("topic", op.get("say")) for op in case.ops),
    ]
    for question in asked:
        result = retrieve(person.user, question, now=timezone.now(), top_k=MANY)
        yield from (f"{item.title} {item.text}" for item in result.kept)
