"""What becomes of two people's changes to one text? Line by line, and what the person wrote or took out stands."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from memory.text.fact_lines import line_of, without_marks, words_of

type Version = tuple[bool, str]
"""Whether a person wrote it, and the text."""


@dataclass(frozen=True, slots=True)
class _Changes:
    """What one side did to the base's lines."""

    kept: Sequence[bool]
    """Of each line of the base."""
    reworded: Sequence[bool]
    """Of each: it gave way to other lines."""
    added: Sequence[Sequence[str]]
    """Before each line, and behind the last."""
    instead_of: Sequence[range]
    """Of each addition: the lines of the base in whose place it stands; empty: between two."""


def three_way_merge(base: str, person: str, librarian: str) -> str:
    """The text with both sides' changes to `base`. Every line of the person's that is not of `base` is in it, in order.

    A line that either took out is gone. Where both reworded the same line, the person's words stand alone.
    """
    old, mine, theirs = (_split(text) for text in (base, person, librarian))
    ours, other = _changes(old, mine), _changes(old, theirs)
    found: list[str] = []
    for place in range(len(old) + 1):
        found += ours.added[place]
        found += [
            line for line in _beside(ours, other, place, old) if not line.strip() or line not in ours.added[place]
        ]
        if place < len(old) and ours.kept[place] and other.kept[place]:
            found.append(old[place])
    return "\n".join(found)


def _beside(ours: _Changes, other: _Changes, place: int, old: Sequence[str]) -> Sequence[str]:
    """What of the librarian's additions stands beside the person's own."""
    replaced = other.instead_of[place]
    if not any(ours.reworded[at] for at in replaced):
        return other.added[place]
    named = {line_of(line).fact for added in ours.added for line in added} - {None}
    if named & {line_of(old[at]).fact for at in replaced}:
        return ()
    known = {line_of(line).fact for line in old}  # who replaced a line had not seen what stands there now
    return [line for line in other.added[place] if line_of(line).fact not in known | {None}]


def taken_out(versions: Iterable[Version]) -> frozenset[str]:
    """What the lines said that a person took out, or changed, and nobody put back; versions from the first on."""
    gone: set[str] = set()
    before: set[str] = set()
    for by_person, text in versions:
        now = _said(text)
        gone = (gone | (before - now) if by_person else gone) - now
        before = now
    return frozenset(gone)


def rebase_generated(versions: Sequence[Version], new: str) -> str:
    """A text of the librarian's, written anew, with all that a person changed in the versions so far.

    Of the latest version, the lines that the librarian wrote give way to those of `new`; the person's stay.
    """
    if not versions:
        return new
    latest = versions[-1][1]
    own = _by_librarian(versions)
    base = [line for line in _split(latest) if words_of(without_marks(line)) in own or not line.strip()]
    return three_way_merge("\n".join(base), latest, without(new, taken_out(versions)))


def _by_librarian(versions: Iterable[Version]) -> set[str]:
    """What the lines say that the librarian was the first to write."""
    own: set[str] = set()
    before: set[str] = set()
    for by_person, text in versions:
        now = _said(text)
        own = own - (now - before) if by_person else own | (now - before)
        before = now
    return own


def _said(text: str) -> set[str]:
    return {words_of(without_marks(line)) for line in _split(text)} - {""}


def without(text: str, gone: Collection[str]) -> str:
    """The text without lines that say one of these."""
    return "\n".join(line for line in _split(text) if words_of(without_marks(line)) not in gone)


def _split(text: str) -> list[str]:
    return text.split("\n") if text else []


def _changes(base: Sequence[str], text: Sequence[str]) -> _Changes:
    kept, reworded = [False] * len(base), [False] * len(base)
    added: list[list[str]] = [[] for _ in range(len(base) + 1)]
    instead_of = [range(0)] * (len(base) + 1)
    for what, start, end, new_start, new_end in SequenceMatcher(None, base, text, autojunk=False).get_opcodes():
        if what == "equal":
            kept[start:end] = [True] * (end - start)
            continue
        added[start] += text[new_start:new_end]
        if what == "replace":
            reworded[start:end] = [True] * (end - start)
            instead_of[start] = range(start, end)
    return _Changes(kept, reworded, added, instead_of)
