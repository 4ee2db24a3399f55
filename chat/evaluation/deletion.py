"""Deletion that holds: forgotten or rejected memories don't return, through any way in or any job.

For each kind of memory: say something that no one can guess, forget it, enter the original words again in every way,
run every job, and search every store. Each step is judged, and a failing step says where the name was found.
"""

import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from io import BytesIO
from time import monotonic
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from chat.archive.restore import restore_archive
from chat.evaluation import scripted_model, stores
from chat.evaluation.person import Person, Worker
from chat.evaluation.writers import JOBS, WAYS_IN
from chat.models import Conversation, Message
from memory.documents import revisions, uploads
from memory.forgetting.execute import forget
from memory.forgetting.select import select_topic
from memory.forgetting.targets import Target, What
from memory.models import Document, Episode, Fact, Forgetting, Upload

SAID: Final = timedelta(days=40)
"""How long ago it was said."""
BY_HAND: Final = "edit"
"""The way in by which users write the words again themselves: the message stays, and nothing recalls it."""
SYLLABLES: Final = tuple(f"{one}{two}" for one in "bdfgklmnprstvz" for two in "aeiou")


def unguessable() -> str:
    """A name that no one has, such as Vokaterubi."""
    return "".join(secrets.choice(SYLLABLES) for _ in range(6)).capitalize()


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of memory: what is said, how it is stored, and how it is forgotten."""

    text: str
    ask: str
    forget: Callable[[Person, str], object]
    store: Callable[[Person, str], None] | None = None
    """None: the user says it in a chat, and accepts the proposals."""
    facts: tuple[Mapping[str, Any], ...] = ()
    """A language model's facts from it."""
    episode: str = ""
    """A language model's summary of it."""
    is_rejection: bool = False
    """Whether the rows stay, so that the librarian sees the rejection; only prompts and current facts lack it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of one kind, and where the name was found although it should be gone."""

    kind: str
    name: str
    failures: tuple[str, ...]
    seconds: float


def run_kind(name: str, worker: Worker) -> list[Step]:
    """Every step for one kind of memory."""
    return list(_Run(name, KINDS[name], Person(worker), unguessable()).steps())


# Storing and forgetting ------------------------------------------------------------------------------------------


def _talk(person: Person, text: str) -> None:
    person.talk([text], timezone.now() - SAID)
    person.accept_all()


def _talk_at_length(person: Person, text: str) -> None:
    """Talk long enough for an episode."""
    person.talk(
        ["We have to decide about the boat.", text, "That was a hard decision, and I'm glad it is made."],
        timezone.now() - SAID,
    )


def _upload(person: Person, text: str) -> None:
    uploads.accept(person.user, "boat.txt", f"{text}\n".encode())
    person.worker.work()


def _save(path: str) -> Callable[[Person, str], None]:
    def store(person: Person, text: str) -> None:
        if path.startswith("/profile"):
            revisions.beginnings(person.user)
        revisions.save(person.user, path, f"{text}\n", started_from=0)
        person.worker.work()

    return store


def _forget_row(what: What, rows: Callable[[Person, str], Any]) -> Callable[[Person, str], None]:
    def forget_rows(person: Person, name: str) -> None:
        for pk in rows(person, name):
            forget(person.user, Target(what, str(pk)), by=person.user)

    return forget_rows


def _facts(person: Person, name: str) -> Any:
    return _ids(Fact.objects.for_user(person.user).filter(statement__icontains=name))


def _messages(person: Person, name: str) -> Any:
    return _ids(Message.objects.for_user(person.user).filter(text__icontains=name, role=Message.Role.USER))


def _documents(person: Person, name: str) -> Any:
    return _ids(Document.objects.for_user(person.user).filter(text__icontains=name))


def _uploaded(person: Person, name: str) -> Any:
    return list(Upload.objects.for_user(person.user).values_list("document", flat=True))


def _conversations(person: Person, name: str) -> Any:
    return _ids(Conversation.objects.for_user(person.user))


def _ids(rows: Any) -> list[Any]:
    return list(rows.values_list("pk", flat=True))


def _forget_topic(person: Person, name: str) -> None:
    ticked = tuple(match.ref for match in select_topic(person.user, name) if match.is_ticked)
    forget(person.user, Target(What.TOPIC, refs=ticked), by=person.user)


def _forget_episode(person: Person, name: str) -> None:
    """The episode with the message it describes: otherwise the message would still be recalled, rightly."""
    episodes = [f"episode:{pk}" for pk in _ids(Episode.objects.for_user(person.user))]
    refs = (*episodes, *(f"message:{pk}" for pk in _messages(person, name)))
    forget(person.user, Target(What.TOPIC, refs=refs if episodes else ()), by=person.user)


EMPLOYER: Final = "I work at {name} Instruments."
KEY: Final = "The spare key of the boathouse is under the {name} stone."
AT_WORK: Final = {
    "statement": "The user works at {name} Instruments.", "kind": "biography", "quote": "I work at {name} Instruments",
    "subject": "user", "attribute": "employer", "value": "{name} Instruments",
}  # fmt: skip
EPISODE: Final[Mapping[str, Any]] = {"kind": "decision_made", "first": 1, "last": 2, "significance": 0.8}
WHERE_KEY: Final = "Where is the spare key of the boathouse?"

KINDS: Final[Mapping[str, Kind]] = {
    "fact": Kind(EMPLOYER, "Where do I work?", _forget_row(What.FACT, _facts), facts=(AT_WORK,)),
    "message": Kind(KEY, WHERE_KEY, _forget_row(What.MESSAGE, _messages)),
    "conversation": Kind(KEY, WHERE_KEY, _forget_row(What.CONVERSATION, _conversations)),
    "document": Kind(KEY, WHERE_KEY, _forget_row(What.DOCUMENT, _documents), _save("/reference/boathouse")),
    "profile line": Kind(KEY, WHERE_KEY, _forget_row(What.DOCUMENT, _documents), _save("/profile/preferences")),
    "upload": Kind(KEY, WHERE_KEY, _forget_row(What.DOCUMENT, _uploaded), _upload),
    "episode": Kind(
        "I decided to sell the boat {name} to my neighbor.", "What did I decide about the boat?", _forget_episode,
        _talk_at_length, episode="The user decided to sell the boat {name} to a neighbor.",
    ),
    "topic": Kind(EMPLOYER, "Where do I work?", _forget_topic, facts=(AT_WORK,)),
    "rejected fact": Kind(EMPLOYER, "Where do I work?", Person.reject, facts=(AT_WORK,), is_rejection=True),
}  # fmt: skip


# The steps -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Run:
    name: str
    kind: Kind
    person: Person
    word: str

    def steps(self) -> Iterator[Step]:
        text = self.kind.text.format(name=self.word)
        at = timezone.now() - SAID
        yield self._step("said", lambda: self._say(text), is_known=True)
        older = stores.archive(self.person.user)
        yield self._step("forgotten", partial(self.kind.forget, self.person, self.word))
        for name, way in WAYS_IN.items():
            if name != BY_HAND:
                yield self._step(f"again by {name}", partial(way, self.person, text, at))
        yield from self._jobs("")
        for name, probe in PROBES.items():
            if not self.kind.is_rejection:
                yield self._probe(name, probe)
        yield self._step(f"again by {BY_HAND}", lambda: WAYS_IN[BY_HAND](self.person, text, at))
        yield from self._jobs(" after it")
        if self.kind.is_rejection or self.kind.facts:
            yield self._said_anew(text)
        if not self.kind.is_rejection:
            yield self._step("an older archive restored", lambda: self._restore(older))
            yield self._probe("database, after it", PROBES["database"])
        self.person.user.delete()

    def _jobs(self, when: str) -> Iterator[Step]:
        for name, job in JOBS.items():
            yield self._step(f"{name}{when}", partial(job, self.person))

    def _say(self, text: str) -> None:
        self._script(text, 1)
        (self.kind.store or _talk)(self.person, text)

    def _step(self, name: str, act: Callable[[], object], *, is_known: bool = False) -> Step:
        """Do it, let the background jobs finish, and check the prompt, the answer and current facts."""
        started = monotonic()
        self._script(self.kind.text.format(name=self.word), 1)
        act()
        self.person.worker.work()
        reply = self.person.ask(self.kind.ask)
        wrong = [f"{unit.place}: {unit.text[:120]}" for unit in reply.units if self._is_in(unit.text)]
        if is_known:
            return self._judged(name, started, [] if wrong else ["it isn't in the prompt"])
        wrong = [f"in the prompt: {place}" for place in wrong]
        wrong += ["in the answer"] if self._is_in(reply.answer) else []
        wrong += [
            f"a fact: {fact.statement}" for fact in self.person.facts(Fact.Status.ACTIVE) if self._is_in(str(fact))
        ]
        return self._judged(name, started, wrong)

    def _said_anew(self, text: str) -> Step:
        """The user says it in a new chat: it is asked, not assumed."""
        started = monotonic()
        self._script(text, 1)
        self.person.talk([text], timezone.now())
        JOBS["summaries"](self.person)  # ends the conversation, so that it is read at once
        self.person.worker.work()
        open_ = [fact for fact in self.person.facts() if self._is_in(fact.statement)]
        stored = [f"stored unasked: {fact.statement}" for fact in open_ if fact.status == Fact.Status.ACTIVE]
        return self._judged("said again: asked", started, stored or ([] if open_ else ["not asked"]))

    def _probe(self, name: str, probe: Callable[[Person, str, str], list[str]]) -> Step:
        started = monotonic()
        return self._judged(name, started, probe(self.person, self.word, self.kind.text.format(name=self.word)))

    def _restore(self, older: bytes) -> None:
        """Restore the archive from before into the emptied account."""
        forget(self.person.user, Target(What.EVERYTHING), by=self.person.user)
        with transaction.atomic():
            restore_archive(self.person.user, BytesIO(older))

    def _judged(self, name: str, started: float, wrong: list[str]) -> Step:
        return Step(self.name, name, tuple(dict.fromkeys(wrong)), monotonic() - started)

    def _is_in(self, text: str) -> bool:
        return self.word.casefold() in text.casefold()

    def _script(self, text: str, number: int) -> None:
        """Script the model to say the same again when it reads the words."""
        if scripted_model.is_model_in_use():
            scripted_model.clear()
            facts = [{key: value.format(name=self.word) for key, value in fact.items()} for fact in self.kind.facts]
            answer: dict[str, Any] = {"facts": facts}
            if self.kind.episode:
                summary = self.kind.episode.format(name=self.word)
                answer["episode"] = {**EPISODE, "title": summary, "summary": summary}
            scripted_model.script(self.person, text, answer, number)


# Stores, each by its own means -----------------------------------------------------------------------------------


def _database(person: Person, word: str, text: str) -> list[str]:
    """Search every table, including queues and their archives."""
    return [f"{column}: {rows}" for column, rows in stores.tables_with(word).items()]


def _nearest(person: Person, word: str, text: str) -> list[str]:
    near = stores.nearest(person.user, text)
    return [f"near: {one[:60]}" for one in near if word.casefold() in one.casefold()]


def _export(person: Person, word: str, text: str) -> list[str]:
    return ["in the archive"] if stores.is_in_archive(stores.archive(person.user), word) else []


def _audit(person: Person, word: str, text: str) -> list[str]:
    """Check that the event is recorded, without the value."""
    events = list(Forgetting.objects.for_user(person.user).values("what", "gone", "found_again"))
    wrong = [] if events else ["no record of the forgetting"]
    wrong += ["found again after forgetting" for event in events if event["found_again"]]
    return wrong + (["the record has the value"] if word.casefold() in json.dumps(events).casefold() else [])


PROBES: Final[Mapping[str, Callable[[Person, str, str], list[str]]]] = {
    "database": _database,
    "nearest vectors": _nearest,
    "export": _export,
    "audit": _audit,
}
