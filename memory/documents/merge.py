"""Merges the user's and the librarian's changes of a document line by line; the user's changes win."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from memory.text.fact_lines import line_of, without_marks, words_of

type Version = tuple[bool, str]
"""A text, and whether the user wrote it."""


@dataclass(frozen=True, slots=True)
class _Changes:
    """What one side did with the lines of the base."""

    kept: Sequence[bool]
    """Whether each line of the base was kept."""
    reworded: Sequence[bool]
    """Whether each line was replaced."""
    added: Sequence[Sequence[str]]
    """Lines added before each line and after the last."""
    instead_of: Sequence[range]
    """Lines of the base that each addition replaces; empty if none."""


def three_way_merge(base: str, person: str, librarian: str) -> str:
    """Apply both sides' changes to `base`; contains every line that the user added, in order.

    A line that either side removed is gone. If both changed the same line, only the user's version is kept.
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
    """The librarian's additions that are kept next to the user's."""
    replaced = other.instead_of[place]
    if not any(ours.reworded[at] for at in replaced):
        return other.added[place]
    named = {line_of(line).fact for added in ours.added for line in added} - {None}
    if named & {line_of(old[at]).fact for at in replaced}:
        return ()
    known = {line_of(line).fact for line in old}  # the user had not seen the new line
    return [line for line in other.added[place] if line_of(line).fact not in known | {None}]


def taken_out(versions: Iterable[Version]) -> frozenset[str]:
    """The words of lines that the user removed or changed and no one restored; versions oldest first."""
    gone: set[str] = set()
    before: set[str] = set()
    for by_person, text in versions:
        now = _words_of_lines(text)
        gone = (gone | (before - now) if by_person else gone) - now
        before = now
    return frozenset(gone)


def rebase_generated(versions: Sequence[Version], new: str) -> str:
    """The librarian's regenerated text with all of the user's changes so far.

    Librarian lines of the latest version are replaced by those of `new`; the user's stay.
    """
    if not versions:
        return new
    latest = versions[-1][1]
    by_librarian = _by_librarian(versions)
    base = [line for line in _split(latest) if words_of(without_marks(line)) in by_librarian or not line.strip()]
    return three_way_merge("\n".join(base), latest, without(new, taken_out(versions)))


def _by_librarian(versions: Iterable[Version]) -> set[str]:
    """The words of lines that the librarian wrote first."""
    lines: set[str] = set()
    before: set[str] = set()
    for by_person, text in versions:
        now = _words_of_lines(text)
        lines = lines - (now - before) if by_person else lines | (now - before)
        before = now
    return lines


def _words_of_lines(text: str) -> set[str]:
    return {words_of(without_marks(line)) for line in _split(text)} - {""}


def without(text: str, gone: Collection[str]) -> str:
    """The text without lines with these words."""
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
