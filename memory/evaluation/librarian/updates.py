"""Updates: what a later message changes of a known fact, on labeled pairs of the two (`updates/`)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from memory.embeddings.port import embedder
from memory.evaluation.librarian.labels import UnknownLabelsError
from memory.facts.replacement import Replaces, replaces, with_now
from memory.librarian.changes.corrections import Change, find_corrections
from memory.librarian.changes.learned import NEAREST, with_changes
from memory.librarian.decision import SURE_CONFIDENCE
from memory.librarian.engine import ExtractionInput, KnownFact
from memory.librarian.key_assignment import in_first_person
from memory.librarian.rules.engine import RuleEngine
from memory.models.kinds import Kind
from memory.ports.source import Utterance
from memory.updates.labeled import read_labeled
from memory.updates.pairs import OUTCOMES
from memory.updates.talks import TalkMessage, read_talks

ASKED: Final = "?"
_SAID: Final = datetime(2026, 11, 1, 12, tzinfo=UTC)
_LATER: Final = _SAID + timedelta(days=9)


@dataclass(slots=True)
class Counts:
    """What was found of the pairs of a file."""

    pairs: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    """Facts that are changed, by what the message really does to them."""
    asked: Counter[str] = field(default_factory=Counter)
    """Those that review asks about."""
    right: int = 0
    """Replaced facts that get the right new value."""
    misses: list[str] = field(default_factory=list)
    """What was missed, and what was changed or asked wrongly."""

    def __str__(self) -> str:
        rows = [
            f"{outcome:<9} {self.changed[outcome]:>4} of {self.pairs[outcome]:>4} changed, {self.asked[outcome]} asked"
            for outcome in OUTCOMES
        ]
        all_ = sum(self.pairs[outcome] for outcome in OUTCOMES[1:])
        changed, asked = (sum(of[outcome] for outcome in OUTCOMES[1:]) for of in (self.changed, self.asked))
        return "\n".join(
            (
                *rows,
                f"changed: precision {_percent(changed, changed + self.changed['holds'])}, recall "
                f"{_percent(changed, all_)}, {self.right} of {self.pairs['replaced']} replaced with the right value; "
                f"asked: precision {_percent(asked, asked + self.asked['holds'])}, recall {_percent(asked, all_)}",
            )
        )


def read_messages(path: Path) -> list[TalkMessage]:
    """The messages of a file of talks (*.talk) or of pairs (one known fact each), and what they change.

    Raises:
        UnknownLabelsError: a line has another form.
    """
    text = path.read_text("utf-8")
    try:
        if path.suffix == ".talk":
            return [said for talk in read_talks(text) for said in talk]
        pairs = [read_labeled(line) for line in text.splitlines() if line.strip()]
    except ValueError as wrong:
        raise UnknownLabelsError(str(wrong)) from wrong
    return [
        TalkMessage(pair.pair.message, [pair.pair.fact], [], [pair] if pair.outcome != "holds" else [])
        for pair in pairs
    ]


def evaluate_updates(messages: Iterable[TalkMessage]) -> Counts:
    """What the rules and the network do to the known facts."""
    counts = Counts()
    for said in messages:
        changes = _changes(said.message, said.facts)
        labeled = {pair.pair.fact: pair for pair in said.changed}
        for fact in said.facts:
            pair = labeled.get(fact)
            outcome = pair.outcome if pair else "holds"
            counts.pairs[outcome] += 1
            if fact in changes:
                counter = counts.asked if changes[fact] == ASKED else counts.changed
                counter[outcome] += 1
            counts.right += bool(pair and pair.marks and _plain(pair.new) in _plain(changes.get(fact, "")))
            if (pair is not None) != (fact in changes):
                counts.misses.append(f"{outcome}: {fact} <- {said.message} -> {changes.get(fact, 'holds')}")
    return counts


def _changes(message: str, statements: Sequence[str]) -> dict[str, str]:
    """The facts that don't stay as they are: what takes their place, or nothing if they end, or that review asks."""
    keys = {statement: _key_of(statement) for statement in statements}
    facts = [
        KnownFact(number, statement, Kind.FACT, *keys[statement], 0.95, "active", "", _SAID, number=number)
        for number, statement in enumerate(statements, 1)
    ]
    said = Utterance(5, 1, "user", message, _LATER)
    extraction = RuleEngine().extract(ExtractionInput([said], "", ZoneInfo("UTC"), facts))
    changes = {statements[end.known - 1]: "" for end in (*extraction.ends, *extraction.retracts)}
    corrections, nearness = find_corrections(said, facts), _nearness(message, facts)
    for correction in with_changes(said, corrections, facts, nearness):
        changes[correction.fact.statement] = ASKED if correction.change == Change.ASK else correction.value
    for proposal in (found.normalized() for found in extraction.facts if not found.is_no_claim):
        newer = with_now(proposal.statement, proposal.quote)
        for statement, (key, value) in keys.items():
            if proposal.key and proposal.key == key and _plain(proposal.value) != _plain(value):
                changes[statement] = proposal.value if proposal.confidence >= SURE_CONFIDENCE else ASKED
            elif not proposal.key and replaces(newer, statement) >= Replaces.CLEARLY:
                changes.setdefault(statement, proposal.statement)
    return changes


def _nearness(message: str, facts: Sequence[KnownFact]) -> dict[int, float]:
    vector, *vectors = embedder().embed([message, *(fact.statement for fact in facts)])
    cosines = {fact.fact_id: float(vector @ other) for fact, other in zip(facts, vectors, strict=True)}
    return dict(sorted(cosines.items(), key=lambda one: -one[1])[:NEAREST])


@cache
def _key_of(statement: str) -> tuple[str, str]:
    """The key and the value that the rules give a stated fact; empty if they give none, or several."""
    said = Utterance(1, 1, "user", in_first_person(statement), _SAID)
    extraction = RuleEngine().extract(ExtractionInput([said], "", ZoneInfo("UTC"), []))
    keyed = [fact for found in extraction.facts if (fact := found.normalized()).key]
    return (keyed[0].key, keyed[0].value) if len(keyed) == 1 else ("", "")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"
