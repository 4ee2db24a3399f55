"""Labeled messages: which facts a set expects, and whether a statement states one of them.

The layout is described in tests/memory/data/README.md. A statement matches a label if it contains every entry of its
`words` and none of its `not`. It is misattributed if it contains the words and an entry of `not`, and matches no label.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from memory.models.kinds import Kind


class UnknownLabelsError(Exception):
    """The file isn't a set of labeled messages; the message says why."""


class Label(BaseModel):
    """One fact that a careful reader would propose, or tolerate."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kinds: tuple[Kind, ...] = Field(min_length=1)
    about: str
    words: tuple[str, ...] = Field(min_length=1)
    other: tuple[str, ...] = Field((), alias="not")
    value_date: date | None = None

    def is_stated_by(self, statement: str) -> bool:
        """Whether `statement` states this fact."""
        return self.is_named_by(statement) and not any(_contains(statement, entry) for entry in self.other)

    def is_named_by(self, statement: str) -> bool:
        """Whether `statement` contains its words, about anyone."""
        return all(_contains(statement, entry) for entry in self.words)


class LabeledMessage(BaseModel):
    """A user's message and the facts in it."""

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

    def is_right(self, statement: str) -> bool:
        """Whether `statement` states an expected or tolerated fact."""
        return any(label.is_stated_by(statement) for label in (*self.facts, *self.tolerated))

    def is_misattributed(self, statement: str) -> bool:
        """Whether `statement` attributes a fact to the wrong person."""
        return not self.is_right(statement) and any(
            label.is_named_by(statement) for label in (*self.facts, *self.tolerated)
        )


def read_labels(path: Path) -> tuple[LabeledMessage, ...]:
    """The messages of a file with one JSON object per line.

    Raises:
        UnknownLabelsError: a line is invalid.
        OSError: the file cannot be read.
    """
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return tuple(_parse_message(path, number, line) for number, line in enumerate(lines, start=1))


def find_stated(labels: Iterable[Label], statements: Sequence[str]) -> list[Label]:
    """The labels that any of the statements states."""
    return [label for label in labels if any(label.is_stated_by(statement) for statement in statements)]


def _parse_message(path: Path, number: int, line: str) -> LabeledMessage:
    try:
        return LabeledMessage.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise UnknownLabelsError(
            f"{path.name}, line {number}, is no labeled message ({where}: {first['msg']})."
        ) from error


def _contains(statement: str, entry: str) -> bool:
    return _compile_entry(entry).search(statement.replace("’", "'")) is not None


@cache
def _compile_entry(entry: str) -> re.Pattern[str]:
    """A pattern for alternative words or phrases; whole words only, unless `*` allows any ending."""
    ways = (_alternative(way.strip()) for way in entry.replace("’", "'").split("|"))
    return re.compile("|".join(ways), re.IGNORECASE)


def _alternative(way: str) -> str:
    stem = re.escape(way.removesuffix("*"))
    return rf"(?<!\w){stem}" if way.endswith("*") else rf"(?<!\w){stem}(?!\w)"
