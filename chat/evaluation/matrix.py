"""The contradiction matrix: what a later statement changed stays changed, in every column.

A  the answer is the current one
B  the prompt asserts nothing stale without a qualifier, and every recalled memory has one
C  A and B after every background job       C′  A and B after the first statement came in again by every other way
D  the old value is known when the past is asked       E  profile, documents, graph and exports agree
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Final

from django.utils import timezone

from chat.archive.readable import markdown_pages
from chat.evaluation import scripted_model
from chat.evaluation.cases import MatrixCase, found
from chat.evaluation.checks import Reply, Unit, judge
from chat.evaluation.person import Person, Worker
from chat.evaluation.writers import JOBS, WAYS_IN
from chat.models import Message
from memory.documents.profile import profile_lines
from memory.models import Document, Episode, Fact

COLUMNS: Final = ("A", "B", "C", "C′", "D", "E")
GAPS: Final[Mapping[str, timedelta]] = {"minutes": timedelta(minutes=6), "months": timedelta(days=200)}
"""Time between the two statements: in one conversation, or in two."""
LAST: Final = timedelta(hours=26)
"""How long before the questions the last statement was."""


@dataclass(frozen=True, slots=True)
class Row:
    """The result of one wording at one distance, by column."""

    case: str
    id: str
    gap: str
    variant: str
    failures: Mapping[str, tuple[str, ...]]
    """Failures by column; a column without failures holds."""
    seconds: float
    statements: tuple[str, ...] = ()


def run_case(case: MatrixCase, gap: str, worker: Worker, *, accept: bool) -> Row:
    """Say both statements, then judge every column."""
    started, person = monotonic(), Person(worker)
    later_at = timezone.now() - LAST
    first_at = later_at - GAPS[gap]
    _say(person, case, "first", first_at, same=False, accept=accept)
    _say(person, case, "later", later_at, same=gap == "minutes", accept=accept)
    failures: dict[str, list[str]] = {column: [] for column in COLUMNS}
    known = person.known()
    failures["A"], failures["B"] = _now(person, case)
    failures["D"] = _past(person, case)
    failures["E"] = _elsewhere(person, case)
    for name, job in JOBS.items():
        _script_again(person, case)
        job(person)
        worker.work()
        failures["C"] += [f"after {name}: {one}" for one in _now_and_elsewhere(person, case)]
    for name, way in WAYS_IN.items():
        _script_again(person, case)
        way(person, case.first, first_at)
        worker.work()
        failures["C′"] += [f"after {name}: {one}" for one in _now_and_elsewhere(person, case)]
    scripted_model.clear()
    person.user.delete()
    variant = "accepted" if accept else "as is"
    kept = {column: tuple(dict.fromkeys(wrong)) for column, wrong in failures.items()}
    return Row(case.case, case.id, gap, variant, kept, monotonic() - started, known)


def _say(person: Person, case: MatrixCase, which: str, at: datetime, *, same: bool, accept: bool) -> None:
    if scripted_model.is_model_in_use():
        scripted_model.clear()
        scripted_model.script(person, getattr(case, which), _answer(case, which), 3 if same else 1)
    person.talk([getattr(case, which)], at, same=same)
    if accept:
        person.accept_all()


def _answer(case: MatrixCase, which: str) -> Mapping[str, object]:
    """A model's answer to the first or the later statement."""
    if which == "first":
        return {"facts": case.model["first"]}
    return {"facts": case.model["later"], "ends": case.model["ends"], "retracts": case.model["retracts"]}


def _script_again(person: Person, case: MatrixCase) -> None:
    """Script the model to say the same again when it reads the same words again."""
    if not scripted_model.is_model_in_use():
        return
    scripted_model.clear()
    both = Message.objects.for_user(person.user).filter(text=case.later, seq__gt=1).exists()
    scripted_model.script(person, case.later, _answer(case, "later"), 3 if both else 1)
    scripted_model.script(person, case.first, _answer(case, "first"), 1)


def _now_and_elsewhere(person: Person, case: MatrixCase) -> list[str]:
    answered, prompted = _now(person, case)
    return [*answered, *prompted, *_elsewhere(person, case)]


def _now(person: Person, case: MatrixCase) -> tuple[list[str], list[str]]:
    """Failures of the answer, and of the prompt."""
    reply = person.ask(case.ask)
    wrong = judge(case.probe, reply)
    answered = [f"{one} (answer: {reply.answer[:100]})" for one in wrong if one.startswith("answer")]
    prompted = [one for one in wrong if not one.startswith("answer")]
    return answered, [*prompted, *_unqualified(reply)]


def _unqualified(reply: Reply) -> list[str]:
    bare = [unit.text for unit in reply.memories if not unit.qualifier]
    return [f"{len(bare)} memories without a qualifier, such as: {bare[0][:60]}"] if bare else []


def _past(person: Person, case: MatrixCase) -> list[str]:
    """Failures of the answer about the past; of what was never true, only its history remains."""
    if not case.past_must:
        remains = person.facts(Fact.Status.REJECTED, Fact.Status.SUPERSEDED, Fact.Status.EXPIRED)
        return [] if any(found(case.stale, fact.statement) for fact in remains) else ["no history of what was said"]
    reply = person.ask(case.past)
    return [
        f"asked of the past, {where} lacks “{one}” (answer: {reply.answer[:100]})"
        for one in case.past_must
        for where, text in (("answer", reply.answer), ("prompt", reply.prompt))
        if not found(one, text)
    ]


def _elsewhere(person: Person, case: MatrixCase) -> list[str]:
    """Places other than the prompt that still assert the old value."""
    return [f"{unit.place}: {unit.text[:90]}" for unit in _places(person) if unit.asserts(case.stale, case.must)]


def _places(person: Person) -> Iterable[Unit]:
    for fact in person.facts(Fact.Status.ACTIVE):
        ended = fact.valid_until is not None and fact.valid_until <= timezone.now()
        yield Unit("active fact", fact.statement, "until" if ended else None)
    for line in profile_lines(person.user):
        yield Unit("profile", line.text)
    for document in Document.objects.for_user(person.user).filter(source=Document.Source.LIBRARIAN):
        if not document.path.startswith("/conversations"):
            for text in document.text.splitlines():
                yield Unit(document.path, text)
    for episode in Episode.objects.for_user(person.user):
        yield Unit("episode", f"{episode.title} {episode.summary}", f"{episode.created_at:%Y-%m}")
    facts = next(text for name, text in markdown_pages(person.user) if name == "markdown/facts.md")
    active = facts.partition("## Active")[2].partition("\n## ")[0]
    for line_ in active.splitlines():
        yield Unit("export", line_.partition(" (“")[0])
