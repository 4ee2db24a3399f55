"""Older words that a newer message changes are recalled with a qualifier that shows it. Pure.

Facts have their own state (`truth.py`). This covers messages, and what repeats them; the librarian has found which
change others (`memory/librarian/changed_messages.py`).
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from memory.retrieval.truth import CURRENT, QUALIFIER_CHARS, WAITING, CandidateRow
from memory.text.keywords import words

REPEATED: Final = range(5, 13)
"""First words of a message, at least and at most, by which a summary or a document is known to repeat it."""

type Newer = tuple[int, str, str]
"""Id, text and time (ISO 8601) of a message that changes another."""


def qualify_changed(rows: Sequence[CandidateRow]) -> None:
    """Qualify every row whose message a newer one has changed, and what repeats that message."""
    changed = [(_opening(row.candidate.text), row.changed_by) for row in rows if row.changed_by is not None]
    for row in rows if changed else ():
        if not row.qualifier.startswith((CURRENT, WAITING)) or row.said_by == "assistant":
            continue
        newer = row.changed_by or _find_repeated(row, changed)
        if newer is not None:
            row.qualifier = f"perhaps changed by message:{newer[0]} ({' '.join(newer[1].split())[:QUALIFIER_CHARS]})"


def _opening(text: str) -> str:
    """The first words of a message; empty if they are too few to know it by."""
    opening = words(text)[: REPEATED.stop - 1]
    return f" {' '.join(opening)} " if len(opening) in REPEATED else ""


def _find_repeated(row: CandidateRow, changed: Iterable[tuple[str, Newer | None]]) -> Newer | None:
    """What changed the message that an older summary or document repeats.

    None: it repeats none, or the newer one as well.
    """
    if row.candidate.source in ("message", "fact"):
        return None
    text = f" {' '.join(words(row.candidate.text))} "
    for opening, newer in changed:
        if newer is not None and opening and opening in text and row.candidate.when < datetime.fromisoformat(newer[2]):
            later = _opening(newer[1])
            return None if later and later in text else newer
    return None
