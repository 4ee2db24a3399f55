"""Older words that newer ones deny: recalled with the qualifier that says so, and what was said instead. Pure.

Facts have their own state (`truth.py`). This covers what no fact was learned from, or whose facts still wait: “we
called off the Iceland trip” qualifies last month's “I'm planning a trip to Iceland”.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memory.retrieval.truth import CURRENT, OF_OTHERS, OF_THE_USER, QUALIFIER_CHARS, WAITING, CandidateRow
from memory.text.denials import (
    OF_DATES,
    Denial,
    find_phrase,
    find_value,
    kind_of_phrase,
    phrase_stems,
    read_denials,
    read_shifts,
)
from memory.text.keywords import content, stem, words

MAX_READ: Final = 24
"""Messages whose denials are read: the newest of those found."""
MAX_CHARS: Final = 600
"""Of a message that is read: a longer one is a paste or an essay."""
MAX_REMEMBERED: Final = 20_000
"""Messages that are known to deny nothing: 92% of them, and the next question mostly finds the same ones."""
_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?\n]*")
_deny_nothing: set[int] = set()
"""Hashes of their texts: a forgotten text doesn't stay in memory."""


@dataclass(frozen=True, slots=True)
class _Said:
    """A message of the user that denies something."""

    ref: str
    text: str
    when: datetime
    denials: Sequence[Denial]
    shifts: Sequence[tuple[frozenset[str], str]]
    """Of what it gives another date or number: its words, and the new value."""
    is_of_user: bool
    content: frozenset[str]
    needed: Sequence[Collection[str]]
    """Beginnings of words: a text that has none of these groups states nothing of what it denies and shifts."""


def qualify_denied(rows: Sequence[CandidateRow]) -> None:
    """Qualify every row that states what a newer message of the user denies."""
    said = [found for row in _newest(rows) if (found := _read(row)) is not None]
    for row in rows if said else ():
        if not row.qualifier.startswith((CURRENT, WAITING)) or row.said_by == "assistant":
            continue
        text, low = row.candidate.text, row.candidate.text.casefold()
        later = (one for one in said if one.when > row.candidate.when)
        likely = (one for one in later if any(all(begun in low for begun in group) for group in one.needed))
        newer = next((one for one in likely if _is_denied(text, one)), None)
        if newer is not None:
            row.qualifier = f"superseded by {newer.ref} ({newer.text[:QUALIFIER_CHARS]})"


def _newest(rows: Iterable[CandidateRow]) -> list[CandidateRow]:
    own = [row for row in rows if row.candidate.source == "message" and row.said_by == "user"]
    own = [row for row in own if len(row.candidate.text) <= MAX_CHARS]
    return sorted(own, key=lambda row: row.candidate.when, reverse=True)[:MAX_READ]


def _read(row: CandidateRow) -> _Said | None:
    """What the message denies; None: nothing. It takes 0.16 ms, or nothing if that is known."""
    text = " ".join(row.candidate.text.split())
    if hash(text) in _deny_nothing:
        return None
    denials = [denial for denial in read_denials(text) if denial.new or not denial.is_mistake or denial.verbs]
    shifts = [(frozenset(content(what) - OF_DATES), new) for what, new, *_ in read_shifts(text)]
    if not denials and not shifts:
        if len(_deny_nothing) >= MAX_REMEMBERED:
            _deny_nothing.clear()
        _deny_nothing.add(hash(text))
        return None
    needed = [stems for denial in denials for stems in phrase_stems(denial.old)]
    # Only what `content` leaves as it is written: “three” is 3 there, and “O’Brien” has another apostrophe.
    needed += [[word for word in what if word.isascii() and word.isalpha()] for what, _ in shifts if what]
    ref, when = row.candidate.ref, row.candidate.when
    return _Said(ref, text, when, denials, shifts, _is_of_user(text), frozenset(content(text)), needed)


def _is_of_user(text: str) -> bool:
    """Whether it speaks of the user, as far as its pronouns say: a note without any does, too."""
    said = set(words(text))
    return not said.isdisjoint(OF_THE_USER) or said.isdisjoint(OF_OTHERS)


def _is_denied(text: str, newer: _Said) -> bool:
    """Whether a sentence states what the newer message denies, of the same subject, and does not itself deny it."""
    if any(what and what <= content(text) and find_value(text, kind_of_phrase(new)) for what, new in newer.shifts):
        return True
    return any(
        denial.old and (place := find_phrase(text, denial.old)) is not None and _is_same(text, place, denial, newer)
        for denial in newer.denials
    )


def _is_same(text: str, place: tuple[int, int], denial: Denial, newer: _Said) -> bool:
    sentence = next((one[0] for one in _SENTENCE.finditer(text) if one.start() <= place[0] < one.end()), text)
    said = content(sentence)
    shared = (said & newer.content) - content(denial.old)
    if not shared and not (
        denial.old[0].isupper() and newer.is_of_user and not OF_THE_USER.isdisjoint(words(sentence))
    ):
        return False
    if denial.verbs and not {stem(verb) for verb in denial.verbs} & said:
        return False
    return not any(find_phrase(one.old, denial.old) for one in read_denials(sentence))
