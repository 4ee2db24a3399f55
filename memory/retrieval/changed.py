"""Older words that a newer message changes are recalled with a qualifier that names it. Pure.

Facts have their own state (`truth.py`). This covers messages, and what repeats them; the librarian has found which
change others (`memory/librarian/changed_messages.py`). The qualifier has no words of the newer message: it is stored in
receipts, and a message may be forgotten or left out.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from memory.retrieval.truth import CURRENT, WAITING, CandidateRow
from memory.text.keywords import words

REPEATED: Final = range(5, 13)
"""First words of a message, at least and at most, by which a summary or a document is known to repeat it."""

type Newer = tuple[int, str]
"""Id and time (ISO 8601) of a message that changes another."""


def qualify_changed(rows: Sequence[CandidateRow]) -> None:
    """Qualify every row whose message a newer one has changed, and what repeats that message."""
    changed = [(_opening(row.candidate.text), row.changed_by) for row in rows if row.changed_by is not None]
    if not changed:
        return
    openings = {row.message_id: _opening(row.candidate.text) for row in rows if row.candidate.source == "message"}
    for row in rows:
        if not row.qualifier.startswith((CURRENT, WAITING)) or row.said_by == "assistant":
            continue
        newer = row.changed_by or _find_repeated(row, changed)
        if newer is not None and not (row.changed_by is None and _repeats(row, openings.get(newer[0], ""))):
            row.qualifier = f"perhaps changed by message:{newer[0]}"


def _opening(text: str) -> str:
    """The first words of a message; empty if they are too few to know it by."""
    opening = words(text)[: REPEATED.stop - 1]
    return f" {' '.join(opening)} " if len(opening) in REPEATED else ""


def _repeats(row: CandidateRow, opening: str) -> bool:
    return bool(opening) and opening in f" {' '.join(words(row.candidate.text))} "


def _find_repeated(row: CandidateRow, changed: Iterable[tuple[str, Newer | None]]) -> Newer | None:
    """What changed a message that an older summary or document repeats; None: it repeats none."""
    if row.candidate.source in ("message", "fact"):
        return None
    for opening, newer in changed:
        if newer is not None and row.candidate.when < datetime.fromisoformat(newer[1]) and _repeats(row, opening):
            return newer
    return None
