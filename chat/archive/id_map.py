"""What names another row? Columns that point to it, references within JSON, and marks in texts: all are renumbered.

A conversation's name is long enough to be told apart anywhere: where it stands in a line of the archive, whatever the
column, it is replaced. A number is only replaced where it is known to be one of a row.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from django.db import models

from chat.archive.tables import Row, Table
from chat.archive.values import read
from memory.facts.undo import KEPT
from memory.models import Fact

KINDS: Final = {
    "fact": "memory.fact",
    "episode": "memory.episode",
    "message": "chat.message",
    "segment": "chat.segment",
    "attachment": "chat.attachment",
    "chunk": "memory.chunk",
}
"""What a reference names, and in which table it stands (memory/refs.py)."""
_REF: Final = re.compile(rf"({'|'.join(KINDS)}):(\d{{1,18}})")
_ADDRESSES: Final = (
    (re.compile(r"/m/(\d{1,18})"), "chat.message"),
    (re.compile(r"/attachments/(\d{1,18})"), "chat.attachment"),
)
"""Addresses of single rows, as receipts keep them."""
_MARK: Final = re.compile(r"\^(fact|said)-(\d{1,18})\b")
_MARKED: Final = {"fact": "memory.fact", "said": "chat.message"}
"""What a line's mark names (memory/text/fact_lines.py)."""
_UUID: Final = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")


@dataclass(slots=True)
class Numbers:
    """Old names of rows → new ones, by table; of conversations, which have long names, apart."""

    rows: dict[str, dict[int, int]] = field(default_factory=dict)
    conversations: dict[str, str] = field(default_factory=dict)
    new_conversations: frozenset[str] = frozenset()

    def renamed(self, line: str) -> str:
        """The line with the new names of conversations."""
        return _UUID.sub(lambda found: self.conversations.get(found[0], found[0]), line)

    def of(self, label: str, old: Any) -> int | None:
        """The new number of a row; None: there is no such row in the archive."""
        return self.rows.get(label, {}).get(old) if type(old) is int else None

    def row(self, table: Table, row: Row) -> Row:
        """The row with everything in it that names another renumbered, but for the columns that point to one."""
        changed = dict(row)
        for name in table.refs:
            changed[name] = self.refs(row.get(name))
        for name in table.marks:
            changed[name] = self.marks(row.get(name))
        if table.label == "memory.reviewaction":
            changed["before"] = self.before(row.get("before"))
            changed["links"] = self.links(row.get("links"))
        return changed

    def refs(self, value: Any) -> Any:
        """A JSON value with each text renumbered that is a reference, or an address, and nothing else."""
        if isinstance(value, dict):
            return {self._ref(name): self.refs(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.refs(inner) for inner in value]
        return self._ref(value) if isinstance(value, str) else value

    def marks(self, text: Any) -> Any:
        """A text with the librarian's marks renumbered."""
        return _MARK.sub(self._mark, text) if isinstance(text, str) else text

    def before(self, value: Any) -> Row:
        """What a decision changed: {fact: {column: value}}; of a fact that is not there any more nothing is kept."""
        told = value if isinstance(value, dict) else {}
        return {
            str(new): self._columns(columns)
            for old, columns in told.items()
            if isinstance(columns, dict) and (new := self.of("memory.fact", _number(old))) is not None
        }

    def links(self, value: Any) -> list[Any]:
        """Links between facts: [[from, to, relation, strength], …]."""
        told = [one for one in value if isinstance(one, list) and len(one) == 4] if isinstance(value, list) else []
        pairs = [(self.of("memory.fact", one[0]), self.of("memory.fact", one[1]), one[2:]) for one in told]
        return [[first, second, *rest] for first, second, rest in pairs if first is not None and second is not None]

    def _columns(self, columns: Row) -> Row:
        """A fact's columns as they stood, each checked as the fact's own is. Its vector is made anew, also after an
        undo.

        Raises:
            NotFittingError: a value does not fit.
        """
        kept = {name: self._column(name, value) for name, value in columns.items() if name in KEPT - _MADE_ANEW.keys()}
        return kept | {name: empty for name, empty in _MADE_ANEW.items() if name in columns}

    def _column(self, name: str, value: Any) -> Any:
        if (target := _POINTERS.get(name)) is not None:
            return None if value is None else self.of(target, value)
        read(_COLUMNS[name], value)
        return value

    def _ref(self, text: str) -> str:
        named = _REF.fullmatch(text)
        if named is not None:
            new = self.of(KINDS[named[1]], int(named[2]))
            return text if new is None else f"{named[1]}:{new}"
        for address, label in _ADDRESSES:
            pointed = address.fullmatch(text)
            if pointed is not None and (new := self.of(label, int(pointed[1]))) is not None:
                return text.replace(pointed[1], str(new))
        return text

    def _mark(self, found: re.Match[str]) -> str:
        new = self.of(_MARKED[found[1]], int(found[2]))
        return found[0] if new is None else f"^{found[1]}-{new}"


def pointers(model: type[models.Model]) -> Mapping[str, str]:
    """Columns that point to a row of another table, and which; the person aside."""
    return {
        one.name: str(one.related_model._meta.label_lower)
        for one in model._meta.concrete_fields
        if isinstance(one, models.ForeignKey) and one.related_model._meta.label_lower != "accounts.user"
    }


_COLUMNS: Final = {one.name: one for one in Fact._meta.concrete_fields}
_MADE_ANEW: Final[Mapping[str, Any]] = {"vector": None, "embedded_by": ""}
_POINTERS: Final = {f"{name}_id": label for name, label in pointers(Fact).items()}


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 19 else None
