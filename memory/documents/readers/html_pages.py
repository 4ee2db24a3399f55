"""HTML reader: the visible text as Markdown; no scripts, styles or hidden elements."""

from __future__ import annotations

import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from memory.documents.readers.text_files import clean, decode

UNREAD: Final = frozenset(
    """audio canvas dialog embed form head iframe map math nav noscript object script style svg template
    video""".split()  # noqa: SIM905 - a list of words is read more easily so
)
"""Elements whose content isn't text of the page."""
BLOCKS: Final = frozenset(
    """address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer
    h1 h2 h3 h4 h5 h6 header hr li main ol p pre section summary table tbody tfoot thead tr ul""".split()  # noqa: SIM905
)
"""Elements that start and end a line."""
HEADINGS: Final = {f"h{level}": "#" * level + " " for level in range(1, 7)}
DEEPEST_LIST: Final = 6
"""Maximum list levels that are indented."""

_DECLARED: Final = re.compile(rb"""<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*["']?([\w-]{1,40})""", re.I)
_HIDDEN_STYLE: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0", re.I)
_MARKDOWN_AT_START: Final = re.compile(r"^(\d{0,9})(?=#{1,6}\s|>|[-+*]\s|(?<=\d)[.)]\s|```|~~~)")
"""Characters at the start of a line that Markdown would read as a heading, list or quotation."""


def read(content: bytes) -> str:
    """The page as Markdown.

    Raises:
        NotReadableError: it isn't text.
    """
    declared = _DECLARED.search(content[:2048])
    return to_markdown(decode(content, declared[1].decode() if declared else ""))


def to_markdown(html: str) -> str:
    """The visible text of `html`, below its title if the page has no top-level heading."""
    page = LexborHTMLParser(html)
    title = page.css_first("head > title")
    writer = _Writer()
    if title is not None and page.css_first("h1") is None:
        writer.open("h1")
        writer.say(title.text())
        writer.close("h1")
    if page.body is not None:
        _walk(page.body, writer)
    return clean(writer.text())


def _walk(top: LexborNode, writer: _Writer) -> None:
    """Every visible node in order, without recursion: a hostile page may be nested a million levels deep."""
    node = _enter(top, writer)
    open_elements = [top] if node is not None else []
    while node is not None:
        below = _enter(node, writer)
        if below is not None:
            open_elements.append(node)
            node = below
            continue
        node = node.next
        while node is None and open_elements:
            closed = open_elements.pop()
            writer.close(closed.tag or "")
            node = closed.next if open_elements else None


def _enter(node: LexborNode, writer: _Writer) -> LexborNode | None:
    """Write the node's own text; return the first node below it, if there is one to visit."""
    if node.is_text_node:
        writer.say(node.text_content or "")
        return None
    if not node.is_element_node or node.tag in UNREAD or _is_hidden(node):
        return None
    writer.open(node.tag or "")
    below = node.first_child
    if below is None:
        writer.close(node.tag or "")
    return below


def _is_hidden(node: LexborNode) -> bool:
    """Whether the node is hidden. Hidden text is how a page speaks to a model behind its reader's back."""
    attributes = node.attributes
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    return bool(_HIDDEN_STYLE.search(attributes.get("style") or ""))


class _Writer:
    """Markdown under construction: finished blocks, and the current line."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._line: list[str] = []
        self._lists: list[str] = []
        self._mark = ""
        self._quotes = self._code = self._tables = 0
        self._cells: list[str] = []
        self._rows = 0

    def text(self) -> str:
        self._end_line()
        return "".join(self._blocks).strip()

    def say(self, text: str) -> None:
        self._line.append(text if self._code else re.sub(r"\s+", " ", text))

    def open(self, tag: str) -> None:
        if self._tables and tag not in ("table", "tr", "td", "th"):
            if tag in BLOCKS or tag == "br":
                self._line.append(" ")
            return
        if tag in BLOCKS:
            self._end_line()
        self._begin(tag)

    def close(self, tag: str) -> None:
        if self._tables and tag not in ("table", "tr", "td", "th"):
            return
        if tag in ("td", "th") and self._tables:
            self._cells.append(_one_line(self._line).replace("|", "\\|"))
            self._line = []
        elif tag == "tr" and self._tables:
            self._end_row()
        elif tag in BLOCKS:
            self._end_line()
        self._end(tag)

    def _begin(self, tag: str) -> None:
        match tag:
            case "ul" | "ol":
                self._lists.append("- " if tag == "ul" else "1. ")
            case "li":
                depth = min(len(self._lists), DEEPEST_LIST)
                self._mark = "  " * (depth - 1) + (self._lists[-1] if self._lists else "- ")
            case "blockquote":
                self._quotes += 1
            case "pre":
                self._code += 1
            case "table":
                self._tables += 1
                self._rows = 0
                self._blocks.append("\n\n")
            case "br":
                self._line.append("\n")
            case _ if tag in HEADINGS:
                self._mark = HEADINGS[tag]

    def _end(self, tag: str) -> None:
        match tag:
            case "ul" | "ol" if self._lists:
                self._lists.pop()
            case "blockquote":
                self._quotes -= 1
            case "pre":
                self._code -= 1
            case "table" if self._tables:
                self._tables -= 1
            case _:
                pass
        if tag in HEADINGS or tag == "li":
            self._mark = ""

    def _end_row(self) -> None:
        if any(self._cells):
            self._blocks.append("| " + " | ".join(self._cells) + " |\n")
            if self._rows == 0:
                self._blocks.append("|" + " --- |" * len(self._cells) + "\n")
            self._rows += 1
        self._cells = []

    def _end_line(self) -> None:
        if self._code and "".join(self._line).strip():
            fence = "~~~" if any("```" in part for part in self._line) else "```"
            self._blocks.append(f"\n\n{fence}\n{''.join(self._line).strip('\n')}\n{fence}")
        elif line := _one_line(self._line):
            self._blocks.append(self._before() + self._marked(line))
            self._mark = "" if self._mark.startswith("#") else " " * len(self._mark)
        self._line = []

    def _before(self) -> str:
        """A blank line, except between list items."""
        return "\n" if self._lists and self._mark.strip() else "\n\n"

    def _marked(self, line: str) -> str:
        is_heading = self._mark.startswith("#")
        line = line.replace("\n", " ") if is_heading else _MARKDOWN_AT_START.sub(r"\1\\", line)
        first = "> " * self._quotes + self._mark
        rest = "> " * self._quotes + " " * len(self._mark)
        return first + line.replace("\n", f"\n{rest}")


def _one_line(parts: list[str]) -> str:
    """One paragraph with single blanks, and line breaks where the page has them."""
    return "\n".join(filter(None, (" ".join(line.split()) for line in "".join(parts).split("\n"))))
