"""The words of a Markdown text, for results that show an excerpt: no heading, list, emphasis, code or link marks."""

import re
from collections.abc import Iterator
from typing import Final

from recall.text import with_links_by_their_words

_LINK: Final = re.compile(r"!?\[([^\]\n]{0,200})\]\([^)\s]{0,2000}\)")
_LINE_MARK: Final = re.compile(
    r"^[ \t]*+(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?|(?:```|~~~).*$|(?=[ :|-]*+$).*-{3}.*$)", re.M
)
_EMPHASIS: Final = re.compile(r"(?<![\w*`])(\*{1,3}|`++|_(?!_))(?=\S)([^*`\n]{1,500}?)(?<=\S)\1(?![\w*])")
_FENCE: Final = re.compile(r"[ \t>]*+(?:```[^`]*$|~~~)")
_HEADING: Final = re.compile(r"(?m)^[ \t]*#{1,6}[ \t]+([^\n]*[^\s.!?:…])[ \t]*\n(?=\s*\S)")


def plain_words(text: str) -> str:
    """The text without its Markdown marks; its lines stay.

    >>> plain_words("## Soup\\n- **two** onions")
    'Soup\\ntwo onions'
    """
    bare = _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", _LINE_MARK.sub("", text)))
    return "\n".join(_table_words(text.split("\n"), bare.split("\n")))


def _table_words(written: list[str], bare: list[str]) -> Iterator[str]:
    """The lines, with the bars of table rows as dots. Bars of code stay."""
    is_code = False
    for source, line in zip(written, bare, strict=True):
        is_code ^= _FENCE.match(source) is not None
        is_row = line.count("|") > 1 and (source.lstrip().startswith("|") or "`" not in source)
        yield _without_bars(line) if is_row and not is_code else line


def _without_bars(row: str) -> str:
    return " · ".join(cell.strip(" \t") for cell in row.strip().strip("|").strip().split("|"))


def in_a_line(text: str, chars: int) -> str:
    """The start of a Markdown text as one plain line: “Boats: a red one” for a heading and what follows."""
    bare = plain_words(_HEADING.sub(r"\1:\n", with_links_by_their_words(text[: 2 * chars])))
    return " ".join(bare.split())[:chars]
