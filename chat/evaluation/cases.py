"""Cases as data: scenarios and the wordings of the contradiction matrix, read from `data/`."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

DATA: Final = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Session:
    """The messages of one session; the librarian reads them when it is over."""

    at: datetime
    say: tuple[str, ...]
    same: bool = False
    """Whether it continues the conversation of the previous session."""
    reject: str = ""
    """Pattern of the facts that the user rejects afterwards."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A question in a new conversation, and what must be true of its answer and prompt. All conditions are patterns."""

    ask: str
    must: tuple[str, ...] = ()
    """Must be in the answer and in the prompt."""
    must_not: tuple[str, ...] = ()
    """Must not be in the answer; in the prompt only with a qualifier, or next to what replaced it."""
    answer_must: tuple[str, ...] = ()
    answer_must_not: tuple[str, ...] = ()
    prompt_must: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    """Must be neither in the answer nor anywhere in the prompt."""
    silent: bool = False
    """Whether nothing may be recalled."""


@dataclass(frozen=True, slots=True)
class FactRule:
    """What may be learned: facts that are active or waiting."""

    min: int = 0
    max: int | None = None
    of: str = ""
    """Pattern of the facts that are counted; empty: all."""
    none: tuple[str, ...] = ()
    """Patterns that no fact may match."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Sessions of one user, then probes."""

    id: str
    category: str
    sessions: tuple[Session, ...]
    probes: tuple[Probe, ...]
    held_out: bool = False
    facts: FactRule = FactRule()
    secret: str = ""
    """Must be in no prompt after the turn it was written in."""
    accept_at_end: bool = False
    """Whether proposals are accepted only at the end, oldest first, in the variant that accepts them."""
    model: tuple[Mapping[str, Any], ...] = ()
    """A language model's extraction from each session."""


@dataclass(frozen=True, slots=True)
class MatrixCase:
    """Two statements, of which the later one changes the first."""

    id: str
    case: str
    first: str
    later: str
    ask: str
    must: tuple[str, ...]
    stale: str
    """Pattern of what must no longer be asserted."""
    past: str
    """A question about the past that the first statement answers."""
    past_must: tuple[str, ...]
    model: Mapping[str, Any] = field(default_factory=dict)

    @property
    def probe(self) -> Probe:
        """The question about the present."""
        return Probe(self.ask, answer_must=self.must, must_not=(self.stale,))


def load_scenarios(file: Path = DATA / "scenarios.jsonl") -> list[Scenario]:
    """All scenarios, in the file's order."""
    return [_scenario(row) for row in read_rows(file)]


def load_matrix() -> list[MatrixCase]:
    """All wordings of all cases."""
    return [MatrixCase(**as_tuples(row)) for row in read_rows(DATA / "matrix.jsonl")]


def _scenario(row: dict[str, Any]) -> Scenario:
    sessions = tuple(
        Session(**{**as_tuples(one), "at": datetime.fromisoformat(f"{one['at']}T09:30:00+00:00")})
        for one in row["sessions"]
    )
    probes = tuple(Probe(**as_tuples(one)) for one in row["probes"])
    return Scenario(
        **{
            **as_tuples(row),
            "sessions": sessions,
            "probes": probes,
            "facts": FactRule(**as_tuples(row.get("facts", {}))),
        }
    )


def as_tuples(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}


def read_rows(file: Path) -> Iterable[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def found(pattern: str, text: str) -> bool:
    """Whether the pattern's words are in the text, in any case, not starting or ending within a word."""
    return re.search(rf"(?<!\w)(?:{pattern})(?!\w)", text.replace("’", "'"), re.IGNORECASE) is not None
