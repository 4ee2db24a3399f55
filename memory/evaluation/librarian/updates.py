"""Updates: what a later message does to a known fact, on labeled pairs of the two, and what the rules make of it.

A line has an outcome, a fact and a message, with a tab between them. Of a replaced fact, the words that no longer hold
are in square brackets, those that take their place in curly ones:
`replaced → The user lives in [Leeds]. → the lease is up, so from Sunday it's {Whitby} for me`.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from memory.evaluation.librarian.labels import UnknownLabelsError
from memory.facts.replacement import Replaces, replaces, with_now
from memory.librarian.changes.corrections import find_corrections
from memory.librarian.engine import ExtractionInput, KnownFact
from memory.librarian.key_assignment import in_first_person
from memory.librarian.rules.engine import RuleEngine
from memory.models.kinds import Kind
from memory.ports.source import Utterance

OUTCOMES: Final = ("holds", "ended", "wrong", "replaced")
"""The fact holds as before; it has stopped being true; it never was; it holds with another value."""
_MARKS: Final = (re.compile(r"\[([^\[\]]+)\]"), re.compile(r"\{([^{}]+)\}"))
_SAID: Final = datetime(2026, 11, 1, 12, tzinfo=UTC)
_LATER: Final = _SAID + timedelta(days=9)


@dataclass(frozen=True, slots=True)
class Pair:
    """A known fact, a later message and what the message does to the fact."""

    outcome: str
    """One of OUTCOMES."""
    fact: str
    message: str
    new: str = ""
    """The words of the message that take the place of the fact's value."""


@dataclass(slots=True)
class Counts:
    """What was found of the pairs of a file."""

    pairs: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    """Pairs whose fact is changed or asked about, by their outcome."""
    right: int = 0
    """Replaced facts that get the right new value."""

    def __str__(self) -> str:
        found = sum(self.changed[outcome] for outcome in OUTCOMES[1:])
        rows = [f"{outcome:<9} {self.changed[outcome]:>4} of {self.pairs[outcome]:>4} changed" for outcome in OUTCOMES]
        return "\n".join(
            (
                *rows,
                f"changes: precision {_percent(found, found + self.changed['holds'])}, recall "
                f"{_percent(found, sum(self.pairs[outcome] for outcome in OUTCOMES[1:]))}; "
                f"{self.right} of {self.pairs['replaced']} replaced with the right value",
            )
        )


def read_pairs(path: Path) -> list[Pair]:
    """The pairs of a file, one a line.

    Raises:
        UnknownLabelsError: a line is none.
    """
    return [_pair(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _pair(line: str) -> Pair:
    outcome, *texts = line.split("\t")
    if outcome not in OUTCOMES or len(texts) != len(_MARKS):
        raise UnknownLabelsError(f"This is no pair of a fact and a message: {line}")
    found = [mark.search(text) for mark, text in zip(_MARKS, texts, strict=True)]
    if any((one is None) == (outcome == "replaced") for one in found):
        raise UnknownLabelsError(f"What is replaced has a mark in the fact and in the message, all else none: {line}")
    fact, message = (mark.sub(r"\1", text) for mark, text in zip(_MARKS, texts, strict=True))
    return Pair(outcome, fact, message, found[1][1] if found[1] else "")


def evaluate_updates(pairs: Iterable[Pair]) -> Counts:
    """What the rules do to the facts."""
    counts = Counts()
    for pair in pairs:
        new = _new_value(pair)
        counts.pairs[pair.outcome] += 1
        counts.changed[pair.outcome] += new is not None
        counts.right += bool(pair.new and new and _plain(pair.new) in _plain(new))
    return counts


def _new_value(pair: Pair) -> str | None:
    """What the rules put in the fact's place, empty if it just ends; None: they leave it as it is."""
    key, value = _key_of(pair.fact)
    fact = KnownFact(1, pair.fact, Kind.FACT, key, value, 0.95, "active", "", _SAID, number=1)
    said = Utterance(5, 1, "user", pair.message, _LATER)
    extraction = RuleEngine().extract(ExtractionInput([said], "", ZoneInfo("UTC"), [fact]))
    for proposal in (found.normalized() for found in extraction.facts if not found.is_no_claim):
        if proposal.key and proposal.key == key and _plain(proposal.value) != _plain(value):
            return proposal.value
        newer = with_now(proposal.statement, proposal.quote)
        if not proposal.key and replaces(newer, pair.fact) >= Replaces.CLEARLY:
            return proposal.statement
    correction = next(iter(find_corrections(said, [fact])), None)
    if correction is not None:
        return correction.value
    return "" if extraction.ends else None


def _key_of(statement: str) -> tuple[str, str]:
    """The key and the value that the rules give a fact when it is told; empty if they give none, or several."""
    said = Utterance(1, 1, "user", in_first_person(statement), _SAID)
    extraction = RuleEngine().extract(ExtractionInput([said], "", ZoneInfo("UTC"), []))
    keyed = [fact for found in extraction.facts if (fact := found.normalized()).key]
    return (keyed[0].key, keyed[0].value) if len(keyed) == 1 else ("", "")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"
