"""Markdown while it is written: a finished block is rendered once, and only the open one is rendered again.

A block is finished when nothing that may still come can change it: it ends itself, or another one follows it. Of a
list its items are finished one by one, of a table its rows. They come out as appendices to the HTML so far: a page
replaces nothing that is finished, and an answer costs as much as its blocks, however long it gets. Joined, the
appendices are what `render` makes of the whole text, except where a link comes before the definition of its address, or
a limit is reached.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, NamedTuple

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it.token import Token

from recall.rendering import markdown
from recall.rendering.math import OPENINGS, UNDECIDED

LISTS: Final = frozenset({"bullet_list_open", "ordered_list_open"})
LIST, TABLE = "list", "table"
ENDED: Final = frozenset({"heading_open", "hr"})
"""Blocks that end with their last line."""
DEPTH: Final = {LIST: 1, TABLE: 3}
"""Of a list's items and a table's rows below the text, in elements."""
LINE_END: Final = re.compile(r"\r\n?")
UNCLEAR: Final = re.compile(r"\s*(?:[`~]{3}.*|\|.*|[^\w<\"'(“‘&]{0,80}|\d{1,9}[.)]?\s*)")
"""An incomplete last line that may become a fence, a row, a marker or a rule: it isn't shown before that is clear."""

ITALIC_CHARS: Final = 80
OPEN_ITALIC: Final = re.compile(rf"(?:^|(?<=[\s(\"“]))([*_])(?:(?=[^\s*_])[^*_\n]{{0,{ITALIC_CHARS}}})?$")
"""A single mark before a word, and what follows. Further from the end it is most likely none of emphasis."""


class Appendix(NamedTuple):
    """HTML for the end of the last element `depth` levels down: 0 is the text itself, 1 its last block."""

    depth: int
    html: str


class Cut(NamedTuple):
    """A line before which all is finished, and what is open there: a list, a table, or nothing."""

    line: int
    inside: str = ""


@dataclass(frozen=True, slots=True)
class Container:
    """An open list or table."""

    kind: str
    closing: str
    header: str = ""
    """The lines without which a row is no row."""


@dataclass(slots=True)
class MarkdownStream:
    """An answer that grows."""

    rest: str = ""
    """The source that isn't finished."""
    _env: dict[str, Any] = field(default_factory=dict)
    """What earlier blocks mean for later ones: link definitions, the first heading's level, limits used up."""
    _taken: int = 0
    _html: list[str] = field(default_factory=list)
    _open: Container | None = None
    _looked_at: int = 0
    """Characters of `rest` in which nothing is finished, by the last look."""
    _is_plain: bool = False

    @property
    def html(self) -> SafeString:
        """Everything finished so far."""
        closing = self._open.closing if self._open else ""
        return mark_safe("".join([*self._html, closing]))  # noqa: S308 (made of parts that the cleaner let through)

    def feed(self, text: str) -> list[Appendix]:
        """Add text; returns what it finished."""
        self.rest += text
        finished = [] if self._is_plain else list(self._take_finished())
        if not self._is_plain and self._is_too_long():
            finished.append(self._go_plain())
        return [*finished, *self._take_plain()] if self._is_plain else finished

    def finish(self) -> list[Appendix]:
        """The text is complete: finish what is open."""
        return self._take(len(self.rest), "") if self.rest.strip() else []

    def open_part(self) -> list[Appendix]:
        """What isn't finished, as far as it is clear what it is."""
        header, source = self._header, _clear_part(LINE_END.sub("\n", self.rest))
        env = _copy(self._env)
        if any(opening in source for opening in OPENINGS):
            markdown.parse_blocks(header + source, env)
        if UNDECIDED in env:  # half a formula isn't shown
            source = "\n".join((header + source).split("\n")[: env[UNDECIDED]]).removeprefix(header.rstrip("\n"))
        if not source.strip():
            return []
        return self._render(header + _with_closed_marks(source), _copy(self._env) | {"is_open": True})

    # Finding --------

    @property
    def _header(self) -> str:
        return self._open.header if self._open else ""

    def _take_finished(self) -> Iterator[Appendix]:
        while (complete := self.rest.rfind("\n") + 1) > self._looked_at:
            source = LINE_END.sub("\n", self.rest[:complete])
            self.rest, self._looked_at = source + self.rest[complete:], len(source)
            lines = (self._header + source).split("\n")
            cut = self._find_cut(lines)
            taken = sum(len(line) + 1 for line in lines[: cut.line]) - len(self._header)
            if taken <= 0:
                return
            yield from self._take(taken, cut.inside)

    def _find_cut(self, lines: Sequence[str]) -> Cut:
        env = _copy(self._env)
        tokens = markdown.parse_blocks("\n".join(lines), env)
        limit = env.get(UNDECIDED, len(lines))
        return next((cut for cut in _cuts(tokens, lines) if cut.line <= limit), Cut(0))

    # Taking --------

    def _take(self, length: int, inside: str) -> list[Appendix]:
        """Finish so many characters; what follows them is inside a list or table, or is a new block."""
        source = self._header + self.rest[:length]
        self.rest, self._looked_at, self._taken = self.rest[length:], 0, self._taken + length
        parts = self._render(source, self._env)
        for part in parts:
            self._append(part)
        if not inside:
            self._close()
        elif self._open is None:
            self._hold_open(inside, source)
        return parts

    def _append(self, part: Appendix) -> None:
        if part.depth == 0:
            self._close()
        self._html.append(part.html)

    def _close(self) -> None:
        if self._open is not None:
            self._html.append(self._open.closing)
            self._open = None

    def _hold_open(self, kind: str, source: str) -> None:
        """The last block continues: what closes it is held back."""
        html = self._html.pop()
        _, end = _inside(html, kind)
        self._html.append(html[:end])
        header = "".join(_table_header(source)) if kind == TABLE else ""
        self._open = Container(kind, html[end:], header)

    def _render(self, source: str, env: dict[str, Any]) -> list[Appendix]:
        """The blocks of the source; the first one continues the open list or table, if there is one."""
        blocks = _blocks(markdown.parse(source, env))
        parts: list[Appendix] = []
        if self._open is not None and blocks:
            first = blocks.pop(0)
            html = markdown.clean(first if self._open.kind == LIST else _without_header(first), env)
            start, end = _inside(html, self._open.kind)
            parts.append(Appendix(DEPTH[self._open.kind], html[start:end]))
        parts += [Appendix(0, markdown.clean(block, env)) for block in blocks]
        return [part for part in parts if part.html]

    # Limits --------

    def _is_too_long(self) -> bool:
        return self._taken + len(self.rest) > markdown.MAX_CHARS or len(self.rest) > markdown.MAX_BLOCK_CHARS

    def _go_plain(self) -> Appendix:
        """From here on, text is shown as it is."""
        self._is_plain = True
        self._close()
        self._html.append('<div class="plain">')
        self._open = Container(LIST, "</div>")
        return Appendix(0, '<div class="plain"></div>')

    def _take_plain(self) -> list[Appendix]:
        text, self.rest, self._taken = self.rest, "", self._taken + len(self.rest)
        self._html.append(escape(text))
        return [Appendix(DEPTH[LIST], escape(text))] if text else []


def _copy(env: dict[str, Any]) -> dict[str, Any]:
    return {**env, "references": dict(env.get("references", {}))}


# Cuts --------------------------------------------------------------------------------------------------------------


def _cuts(tokens: Sequence[Token], lines: Sequence[str]) -> Iterator[Cut]:
    """Where finished text may end, the latest first."""
    starts = [at for at, token in enumerate(tokens) if token.level == 0 and token.nesting >= 0]
    if not starts:
        return
    if _is_closed(last := tokens[starts[-1]], lines):
        yield Cut((last.map or [0, 0])[1])
    yield from _cuts_inside(tokens[starts[-1] :])
    for before, at in reversed([*zip([None, *starts], starts, strict=False)]):
        line = _first_line(tokens[at])
        is_adjacent = before is not None and (tokens[before].map or [0, 0])[1] == line
        # Between two paragraphs without an empty line there is a link definition, whose title may still come.
        if is_adjacent or not lines[line - 1].strip():
            yield Cut(line)


def _is_closed(block: Token, lines: Sequence[str]) -> bool:
    """Whether the block ends itself: a heading, a rule, or code with its closing fence."""
    if block.type == "fence" and block.map:
        closing = rf" {{0,3}}{block.markup[0]}{{{len(block.markup)},}}[ \t]*"
        return block.map[1] > block.map[0] + 1 and re.fullmatch(closing, lines[block.map[1] - 1]) is not None
    return block.type in ENDED


def _cuts_inside(block: Sequence[Token]) -> Iterator[Cut]:
    """Before each item of the list, or after the last row of the table, if it is one."""
    if block[0].type in LISTS:
        items = [_first_line(token) for token in block if token.type == "list_item_open" and token.level == 1]
        yield from (Cut(line, LIST) for line in reversed(items[1:]))
    elif block[0].type == "table_open":
        rows = [_first_line(token) for token in block if token.type == "tr_open"]
        if len(rows) > 1:
            yield Cut(rows[-1] + 1, TABLE)


def _first_line(token: Token) -> int:
    return token.map[0] if token.map else 0


def _blocks(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    starts = [at for at, token in enumerate(tokens) if token.level == 0 and token.nesting >= 0]
    return [tokens[start:end] for start, end in pairwise([*starts, len(tokens)])]


def _inside(html: str, kind: str) -> tuple[int, int]:
    """Where the items of a list or the rows of a table start and end in its HTML."""
    if kind == LIST:
        return html.index(">\n") + 2, html.rindex("</")
    start = html.find("<tbody>\n")
    return (start + len("<tbody>\n"), html.rindex("</tbody>")) if start >= 0 else (0, 0)


def _table_header(source: str) -> tuple[str, str]:
    """The two lines that start the last table of the source."""
    tokens = [token for token in markdown.parse_blocks(source, {}) if token.type == "table_open" and token.level == 0]
    first = _first_line(tokens[-1])
    lines = source.split("\n")
    return f"{lines[first]}\n", f"{lines[first + 1]}\n"


def _without_header(table: Sequence[Token]) -> Sequence[Token]:
    end = next(at for at, token in enumerate(table) if token.type == "thead_close")
    return [table[0], *table[end + 1 :]]


# The open part -----------------------------------------------------------------------------------------------------


def _clear_part(source: str) -> str:
    """Without an unclear last line, and without the first line of what looks like a table."""
    whole, _, last = source.rpartition("\n")
    if UNCLEAR.fullmatch(last):
        source = f"{whole}\n" if whole else ""
    *before, last = ["", *source.rstrip("\n").split("\n")]
    is_lone_row = last.lstrip().startswith("|") and not before[-1].lstrip().startswith("|")
    return "\n".join(before[1:]) if is_lone_row else source


def _with_closed_marks(source: str) -> str:
    """Bold, italics and code that are being written are shown as such, and not with their opening mark."""
    if "```" in source or "~~~" in source:
        return source
    for mark in ("`", "**"):
        if source.count(mark) % 2:
            return _close(source, mark)
    italic = OPEN_ITALIC.search(source, max(0, len(source) - ITALIC_CHARS - 2))
    return _close(source, italic[1]) if italic else source


def _close(source: str, mark: str) -> str:
    begun = source.rstrip()
    return begun.removesuffix(mark) if begun.endswith(mark) else begun + mark
