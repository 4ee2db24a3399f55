"""What does a labelled set ask for, and does a statement tell a labelled fact?

The layout is described in tests/memory/data/README.md.

    told         the statement holds every entry of a label's `words` and none of its `not`
    misgiven     it holds the words, but gives them to somebody else (an entry of `not`), and tells nothing right
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, field_validator

from memory.models.kinds import Kind


class UnknownLabels(Exception):
    """The file is no set of labelled messages; the message is one sentence that says what is wrong."""


class Label(BaseModel):
    """One fact that a careful reader would propose, or tolerate."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kinds: tuple[Kind, ...] = Field(min_length=1)
    about: str
    words: tuple[str, ...] = Field(min_length=1)
    other: tuple[str, ...] = Field((), alias="not")
    value_date: date | None = None

    def is_told_by(self, statement: str) -> bool:
        """Whether `statement` says this."""
        return self.is_named_by(statement) and not any(_holds(statement, entry) for entry in self.other)

    def is_named_by(self, statement: str) -> bool:
        """Whether `statement` holds its words, of whomever it says them."""
        return all(_holds(statement, entry) for entry in self.words)


class LabelledMessage(BaseModel):
    """What a user wrote, and the facts in it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    category: str
    text: str
    said_at: AwareDatetime
    zone: ZoneInfo
    before: str = ""
    trap: str = ""
    facts: tuple[Label, ...]
    tolerated: tuple[Label, ...] = ()

    @field_validator("zone", mode="before")
    @classmethod
    def _is_a_zone(cls, name: object) -> object:
        return ZoneInfo(name) if isinstance(name, str) else name

    def tells_something_right(self, statement: str) -> bool:
        """Whether `statement` tells a fact that is asked for or tolerated."""
        return any(label.is_told_by(statement) for label in (*self.facts, *self.tolerated))

    def is_misgiven_by(self, statement: str) -> bool:
        """Whether `statement` gives what it tells to somebody else."""
        return not self.tells_something_right(statement) and any(
            label.is_named_by(statement) for label in (*self.facts, *self.tolerated)
        )


def read_labels(path: Path) -> tuple[LabelledMessage, ...]:
    """The messages of a file with one JSON object a line.

    Raises:
        UnknownLabels: a line is none.
        OSError: the file cannot be read.
    """
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return tuple(_message(path, number, line) for number, line in enumerate(lines, start=1))


def without_labels(path: Path) -> bool:
    """Whether the file holds conversations (`*.json`) rather than labelled messages (`*.jsonl`)."""
    return path.suffix == ".json"


def found(labels: Iterable[Label], statements: Sequence[str]) -> list[Label]:
    """The labels that any of the statements tells."""
    return [label for label in labels if any(label.is_told_by(statement) for statement in statements)]


def _message(path: Path, number: int, line: str) -> LabelledMessage:
    try:
        return LabelledMessage.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise UnknownLabels(f"{path.name}, line {number}, is no labelled message ({where}: {first['msg']}).") from error


def _holds(statement: str, entry: str) -> bool:
    return _entry(entry).search(statement.replace("’", "'")) is not None


@cache
def _entry(entry: str) -> re.Pattern[str]:
    """Words or phrases, one of which is enough; only whole ones count, unless `*` lets any ending follow."""
    ways = (_way(way.strip()) for way in entry.replace("’", "'").split("|"))
    return re.compile("|".join(ways), re.IGNORECASE)


def _way(way: str) -> str:
    stem = re.escape(way.removesuffix("*"))
    return rf"(?<!\w){stem}" if way.endswith("*") else rf"(?<!\w){stem}(?!\w)"
