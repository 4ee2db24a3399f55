"""The words of a Markdown text, for results that show an excerpt: no heading, list, emphasis, code or link marks."""

import re
from typing import Final

_LINK: Final = re.compile(r"!?\[([^\]\n]{0,200})\]\([^)\s]{0,2000}\)")
_LINE_MARK: Final = re.compile(
    r"^[ \t]*+(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?|(?:```|~~~).*$|(?=[ :|-]*+$).*-{3}.*$)", re.M
)
_EMPHASIS: Final = re.compile(r"(?<![\w*`])(\*{1,3}|`++|_(?!_))(?=\S)([^*`\n]{1,500}?)(?<=\S)\1(?![\w*])")


def plain_words(text: str) -> str:
    """The text without its Markdown marks; its lines stay.

    >>> plain_words("## Soup\\n- **two** onions")
    'Soup\\ntwo onions'
    """
    bare = _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", _LINE_MARK.sub("", text)))
    return "\n".join(_without_bars(line) if line.count("|") > 1 else line for line in bare.split("\n"))


def _without_bars(row: str) -> str:
    return " · ".join(cell.strip(" \t") for cell in row.strip().strip("|").strip().split("|"))
