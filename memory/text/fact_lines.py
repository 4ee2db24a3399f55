"""Fact lines of a document: lines that end in a mark are the librarian's, every other line is the user's own prose.

    - Lives in Lisbon. ^fact-12       states fact 12
    - The beds get morning sun. ^said-7    rests on message 7

The marks are block identifiers, as in Markdown note tools. Pages and prompts hide them. An editor hides them, too: the
lines it saves get the marks of the lines they come from (`with_marks_of`). Pure.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Final

# A run of blanks is only tried from its first: the time stays linear in the text's length.
_MARK: Final = re.compile(r"(?:(?<![ \t])[ \t]+|^)\^(fact|said)-(\d{1,18})[ \t]*$", re.MULTILINE)
BULLET: Final = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?")
_EMPHASIS: Final = re.compile(r"\*\*|__")
_SUBJECTS: Final = ("The user's ", "The user’s ", "The user ")
"""Subjects that a statement starts with; on the user's own page they are redundant."""


class MarkKind(StrEnum):
    """What a mark names."""

    FACT = "fact"
    SAID = "said"


@dataclass(frozen=True, slots=True)
class Line:
    """One parsed line of a text."""

    raw: str
    """The line as it is."""
    words: str
    """The words without bullet, mark and emphasis."""
    mark: MarkKind | None = None
    number: int = 0
    """Number of the fact or message that the mark names."""

    @property
    def fact(self) -> int | None:
        """The fact that the line states; None if it states none."""
        return self.number if self.mark == MarkKind.FACT else None

    @property
    def unmarked(self) -> str:
        """The line without its mark."""
        return without_marks(self.raw)


def lines_of(text: str) -> list[Line]:
    """The lines of the text; none for an empty text."""
    return [line_of(raw) for raw in text.split("\n")] if text else []


def line_of(raw: str) -> Line:
    """Parse one line."""
    found = _MARK.search(raw)
    words = words_of(raw[: found.start()] if found else raw)
    return Line(raw, words, MarkKind(found[1]), int(found[2])) if found else Line(raw, words)


def words_of(raw: str) -> str:
    """The words of a line, whatever its bullet, emphasis and spacing."""
    return " ".join(_EMPHASIS.sub("", BULLET.sub("", raw)).split())


def without_marks(text: str) -> str:
    """The text for pages and prompts."""
    return _MARK.sub("", text)


def without_facts(text: str) -> str:
    """The text for the index: a line that states a fact is found as that fact, and only once."""
    return "\n".join(line.unmarked for line in lines_of(text) if line.fact is None)


def facts_in(text: str) -> list[int]:
    """Ids of the facts that the text's lines state, in order, each once."""
    return list(dict.fromkeys(int(found[2]) for found in _MARK.finditer(text) if found[1] == MarkKind.FACT))


def with_mark(raw: str, kind: MarkKind, number: int) -> str:
    """The line with this mark, which replaces any other."""
    return f"{without_marks(raw).rstrip()} ^{kind}-{number}"


def renamed(text: str, facts: Mapping[int, int]) -> str:
    """The text with the marks of these facts renamed to other facts."""
    return "\n".join(
        with_mark(line.raw, MarkKind.FACT, facts[line.number]) if line.fact in facts else line.raw
        for line in lines_of(text)
    )


# A fact and its line ---------------------------------------------------------------------------------------------


def fact_line(fact_id: int, statement: str) -> str:
    """The line that states a fact."""
    return with_mark(f"- {statement_as_line(statement)}", MarkKind.FACT, fact_id)


def statement_as_line(statement: str) -> str:
    """A statement as a line of the user's own page: “The user lives in Lisbon.” → “Lives in Lisbon.”"""
    words = words_of(without_marks(" ".join(statement.split())))
    for subject in _SUBJECTS:
        if words.startswith(subject) and len(words) > len(subject):
            rest = words[len(subject) :]
            return rest[0].upper() + rest[1:]
    return words


def statement_of(words: str, before: str) -> str:
    """The statement of an edited line, given its previous statement.

    A line that still starts with the same word keeps the subject; any other is taken as written.
    """
    was = statement_as_line(before)
    subject = next((one for one in _SUBJECTS if before.startswith(one)), "")
    same_beginning = words.split(None, 1)[:1] == was.split(None, 1)[:1]
    if not subject or not same_beginning:
        return words
    first = before[len(subject)]
    return f"{subject}{first}{words[1:]}"


def value_of(words: str, before: str, value: str) -> str:
    """A key's value in a reworded line, if only the value differs; else empty."""
    start = statement_as_line(before).find(value) if value else -1
    if start < 0:
        return ""
    head, tail = statement_as_line(before)[:start], statement_as_line(before)[start + len(value) :]
    fits = words.startswith(head) and words.endswith(tail) and len(words) > len(head) + len(tail)
    return words[len(head) : len(words) - len(tail)].strip() if fits else ""


# What the librarian writes ---------------------------------------------------------------------------------------


def sync_fact_lines(text: str, holds: Mapping[int, str], heirs: Mapping[int, int]) -> str:
    """The text with exactly one line for each fact of `holds` (id → statement), and none for any other.

    A fact of `heirs` (id → its successor) leaves its place to the successor. Lines without a fact's mark stay unchanged
    in place.
    """
    lines = lines_of(text)
    stated = {line.fact for line in lines} & holds.keys()
    done: set[int] = set()
    kept: list[str] = []
    for line in lines:
        if line.fact is None:
            kept.append(line.raw)
            continue
        fact = line.fact if line.fact in stated else heirs.get(line.fact, line.fact)
        if fact in holds and fact not in done and (fact == line.fact or fact not in stated):
            done.add(fact)
            kept.append(_as_it_holds(line, fact, holds[fact]))
    return "\n".join(_with_more(kept, [fact_line(fact, holds[fact]) for fact in holds if fact not in done]))


def _as_it_holds(line: Line, fact: int, statement: str) -> str:
    """The existing line if it still states the fact; else a new line for it."""
    return line.raw if (line.fact, line.words) == (fact, statement_as_line(statement)) else fact_line(fact, statement)


def _with_more(lines: list[str], more: list[str]) -> list[str]:
    """Add lines after the last one of their kind; if there is none, at the end, after a blank line."""
    if not more or not any(line.strip() for line in lines):
        return more if more else lines
    kinds = {line_of(raw).mark for raw in more}
    same = [place for place, raw in enumerate(lines) if line_of(raw).mark in kinds]
    if same:
        return [*lines[: same[-1] + 1], *more, *lines[same[-1] + 1 :]]
    tail = [""] if not lines[-1].strip() else []
    body = lines[: len(lines) - len(tail)]
    return [*body, *([""] if body[-1].strip() else []), *more, *tail]


def with_lines(text: str, more: Iterable[str]) -> str:
    """The text with further librarian lines."""
    return "\n".join(_with_more(text.split("\n") if text else [], list(more)))


# Editing without marks -------------------------------------------------------------------------------------------

SAME_LINE: Final = 0.6
"""Share of letters in common from which a new line in the place of an old one is that line, reworded."""
MAX_COMPARED: Final = 10_000
"""Pairs of lines compared in one place. Beyond, none counts as reworded."""


def with_marks_of(before: str, after: str) -> str:
    """`after`, an edit of `before` without its marks, with the marks of the lines that it keeps or rewords.

    Other new lines are the user's own. Lines that have a mark keep it.
    """
    was, lines = lines_of(before), lines_of(after)
    given = {(line.mark, line.number) for line in lines if line.mark}
    raw = [line.raw for line in lines]
    for old, new in _pair_lines(was, lines) if _MARK.search(before) else ():
        line = was[old]
        if line.mark and not lines[new].mark and (line.mark, line.number) not in given:
            is_same = raw[new].rstrip() == line.unmarked.rstrip()
            raw[new] = line.raw if is_same else with_mark(raw[new], line.mark, line.number)
    return "\n".join(raw)


def _pair_lines(was: Sequence[Line], lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Places of lines before and after an edit that are the same line: unchanged, reworded in their place, or moved."""
    words = [line.words for line in was], [line.words for line in lines]
    left, new_ones = dict.fromkeys(range(len(was))), dict.fromkeys(range(len(lines)))
    for old, new in _pair_in_place(*words):
        del left[old], new_ones[new]
        yield old, new
    moved = {words[0][old]: old for old in reversed(left) if words[0][old]}
    yield from ((moved.pop(words[1][new]), new) for new in new_ones if words[1][new] in moved)


def _pair_in_place(was: Sequence[str], words: Sequence[str]) -> Iterator[tuple[int, int]]:
    for kind, start, end, new_start, new_end in SequenceMatcher(lambda line: not line, was, words).get_opcodes():
        old, new = range(start, end), range(new_start, new_end)
        if kind == "equal":
            yield from zip(old, new, strict=True)
        elif kind == "replace" and len(old) * len(new) <= MAX_COMPARED:
            yield from _most_alike(old, new, was, words)


def _most_alike(
    old: Iterable[int], new: Sequence[int], was: Sequence[str], words: Sequence[str]
) -> Iterator[tuple[int, int]]:
    """The pairs of lines that are alike enough, the most alike first, each line once."""
    alike = [(SequenceMatcher(None, was[one], words[two]).ratio(), one, two) for one in old for two in new]
    paired: tuple[set[int], set[int]] = set(), set()
    for share, one, two in sorted(alike, key=lambda found: -found[0]):
        if share >= SAME_LINE and one not in paired[0] and two not in paired[1]:
            paired[0].add(one)
            paired[1].add(two)
            yield one, two


# What a user changed --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Edit:
    """What an edited text changes in the facts of its lines."""

    text: str
    """The text to store, without marks that belong to no line of this text."""
    reworded: Mapping[int, str]
    """Fact → its line's new words."""
    removed: frozenset[int]
    """Facts whose lines are gone."""


def diff_fact_lines(before: str, after: str, heirs: Mapping[int, int]) -> Edit:
    """Compare two versions. `heirs`: which facts replaced those of the first version that the second may still name."""
    was = {line.number: line.words for line in reversed(lines_of(before)) if line.fact is not None}
    lines = _with_lost_marks(before, list(_named_as_today(lines_of(after), was, heirs)), was)
    chosen = _one_line_each(lines, was)
    kept = []
    for place, line in enumerate(lines):
        if line.fact is None or chosen.get(line.fact) == place:
            kept.append(line.raw)
        elif line.words:
            kept.append(line.unmarked)
    reworded = {fact: lines[place].words for fact, place in chosen.items() if lines[place].words != was[fact]}
    return Edit("\n".join(kept), reworded, frozenset(was.keys() - chosen.keys()))


def _named_as_today(lines: Iterable[Line], was: Mapping[int, str], heirs: Mapping[int, int]) -> Iterator[Line]:
    """Let lines from an older copy, which name superseded facts, name the current ones."""
    for line in lines:
        heir = heirs.get(line.number) if line.fact is not None and line.fact not in was else None
        yield line_of(with_mark(line.raw, MarkKind.FACT, heir)) if heir in was and heir is not None else line


def _with_lost_marks(before: str, lines: list[Line], was: Mapping[int, str]) -> list[Line]:
    """Restore the mark of lines that lost their mark but no word."""
    prose = {line.words for line in lines_of(before) if line.fact is None}
    there = {line.fact for line in lines}
    lost = {words: fact for fact, words in was.items() if fact not in there and words not in prose}
    return [
        line_of(with_mark(line.raw, MarkKind.FACT, lost.pop(line.words)))
        if line.mark is None and line.words in lost
        else line
        for line in lines
    ]


def _one_line_each(lines: Iterable[Line], was: Mapping[int, str]) -> dict[int, int]:
    """Fact → the place of its line: the one with its previous words, else the first that isn't empty."""
    chosen: dict[int, int] = {}
    exact: set[int] = set()
    for place, line in enumerate(lines):
        if line.fact not in was or line.fact is None or not line.words:
            continue
        is_exact = line.words == was[line.fact]
        if line.fact not in chosen or (is_exact and line.fact not in exact):
            chosen[line.fact] = place
        if is_exact:
            exact.add(line.fact)
    return chosen
