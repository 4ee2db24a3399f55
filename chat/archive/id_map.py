"""Renumbering references between rows of an archive: foreign keys, references in JSON, and marks in texts.

A conversation's id is a UUID, so it is replaced wherever it occurs in a line of the archive. A number is replaced only
where it is known to be the id of a row.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from django.db import models

from chat.archive.tables import Row, Table
from chat.archive.values import from_json
from memory.facts.keys import upgrade_key
from memory.models import Fact
from memory.review.undo import KEPT
from recall.text import whole_number

KINDS: Final = {
    "fact": "memory.fact",
    "episode": "memory.episode",
    "message": "chat.message",
    "segment": "chat.segment",
    "attachment": "chat.attachment",
    "chunk": "memory.chunk",
}
"""The table of each kind of reference (memory/refs.py)."""
_REF: Final = re.compile(rf"({'|'.join(KINDS)}):(\d{{1,18}})")
_URLS: Final = (
    (re.compile(r"/m/(\d{1,18})"), "chat.message"),
    (re.compile(r"/attachments/(\d{1,18})"), "chat.attachment"),
)
"""URLs of single rows, as stored in receipts."""
_MARK: Final = re.compile(r"\^(fact|said)-(\d{1,18})\b")
_MARKED: Final = {"fact": "memory.fact", "said": "chat.message"}
"""The table of each kind of line mark (memory/text/fact_lines.py)."""
_UUID: Final = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")


@dataclass(slots=True)
class IdMap:
    """Old ids of rows → new ones, by table; conversations, which have UUIDs, apart."""

    rows: dict[str, dict[int, int]] = field(default_factory=dict)
    conversations: dict[str, str] = field(default_factory=dict)
    new_conversations: frozenset[str] = frozenset()

    def rename_conversations(self, line: str) -> str:
        """The line with the new ids of conversations."""
        return _UUID.sub(lambda found: self.conversations.get(found[0], found[0]), line)

    def new_id(self, label: str, old: Any) -> int | None:
        """The new id of a row; None if the archive has no such row."""
        return self.rows.get(label, {}).get(old) if type(old) is int else None

    def renumber_row(self, table: Table, row: Row) -> Row:
        """The row with all references renumbered, except foreign keys."""
        changed = dict(row)
        for name in table.refs:
            changed[name] = self.renumber_refs(row.get(name))
        for name in table.marks:
            changed[name] = self.renumber_marks(row.get(name))
        if table.label == "memory.fact" and isinstance(row.get("key"), str):
            changed["key"] = upgrade_key(row["key"])
        if table.label == "memory.reviewaction":
            changed["before"] = self.renumber_before(row.get("before"))
            changed["links"] = self.renumber_links(row.get("links"))
        return changed

    def renumber_refs(self, value: Any) -> Any:
        """A JSON value in which every text that is a reference or URL of a row is renumbered."""
        if isinstance(value, dict):
            return {self._ref(name): self.renumber_refs(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.renumber_refs(inner) for inner in value]
        return self._ref(value) if isinstance(value, str) else value

    def renumber_marks(self, text: Any) -> Any:
        """A text with the line marks renumbered."""
        return _MARK.sub(self._mark, text) if isinstance(text, str) else text

    def renumber_before(self, value: Any) -> Row:
        """What a decision changed: {fact: {column: value}}; facts that no longer exist are dropped."""
        columns_by_fact = value if isinstance(value, dict) else {}
        return {
            str(new): self._columns(columns)
            for old, columns in columns_by_fact.items()
            if isinstance(columns, dict) and (new := self.new_id("memory.fact", whole_number(old))) is not None
        }

    def renumber_links(self, value: Any) -> list[Any]:
        """Links between facts: [[from, to, relation, strength], …]."""
        links = [link for link in value if isinstance(link, list) and len(link) == 4] if isinstance(value, list) else []
        moved = [(self.new_id("memory.fact", link[0]), self.new_id("memory.fact", link[1]), link[2:]) for link in links]
        return [[first, second, *rest] for first, second, rest in moved if first is not None and second is not None]

    def _columns(self, columns: Row) -> Row:
        """A fact's previous columns, each validated. Its vector is rebuilt, also after an undo.

        Raises:
            InvalidValueError: a value is not valid.
        """
        kept = {name: self._column(name, value) for name, value in columns.items() if name in KEPT - _REBUILT.keys()}
        return kept | {name: empty for name, empty in _REBUILT.items() if name in columns}

    def _column(self, name: str, value: Any) -> Any:
        if (target := _REFERENCES.get(name)) is not None:
            return None if value is None else self.new_id(target, value)
        from_json(_COLUMNS[name], value)
        return upgrade_key(value) if name == "key" else value

    def _ref(self, text: str) -> str:
        named = _REF.fullmatch(text)
        if named is not None:
            new = self.new_id(KINDS[named[1]], int(named[2]))
            return text if new is None else f"{named[1]}:{new}"
        for address, label in _URLS:
            pointed = address.fullmatch(text)
            if pointed is not None and (new := self.new_id(label, int(pointed[1]))) is not None:
                return text.replace(pointed[1], str(new))
        return text

    def _mark(self, found: re.Match[str]) -> str:
        new = self.new_id(_MARKED[found[1]], int(found[2]))
        return found[0] if new is None else f"^{found[1]}-{new}"


def reference_columns(model: type[models.Model]) -> Mapping[str, str]:
    """Foreign keys and their tables, except to the user."""
    return {
        column.name: str(column.related_model._meta.label_lower)
        for column in model._meta.concrete_fields
        if isinstance(column, models.ForeignKey) and column.related_model._meta.label_lower != "accounts.user"
    }


_COLUMNS: Final = {column.name: column for column in Fact._meta.concrete_fields}
_REBUILT: Final[Mapping[str, Any]] = {"vector": None, "embedded_by": ""}
_REFERENCES: Final = {f"{name}_id": label for name, label in reference_columns(Fact).items()}
