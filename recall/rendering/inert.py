"""Markdown source that loads nothing where it is opened: images and HTML become text, all else stays as written.

A manipulated model can put what it knows into the address of an image, which a viewer loads without asking.
"""

import re
from collections.abc import Iterator
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER: Final = MarkdownIt("commonmark")
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])")
MAX_ROUNDS: Final = 3
"""An escaped tag may end an HTML block, so that the next line is parsed as Markdown."""


def as_part(text: str) -> str:
    """The text as one of several in a file: nothing of it is live there, whatever comes before it."""
    return without_live_parts(close_fence(text))


def close_fence(text: str) -> str:
    """Close a block of code that the text leaves open, so that it doesn't swallow what follows."""
    if "```" not in text and "~~~" not in text:
        return text
    tokens: list[Token] = []
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    _PARSER.block.parse(f"{lines}\n# After it", _PARSER, {}, tokens)
    return f"{text}\n{tokens[-1].markup}" if tokens[-1].type == "fence" else text


def without_live_parts(text: str) -> str:
    """The text with images and HTML escaped, in the blocks that hold any; code blocks stay."""
    for _ in range(MAX_ROUNDS):
        if not ("![" in text or _TAG.search(text)):
            return text
        live = {number for block in _live_blocks(text) for number in range(*block)}
        if not live:
            return text
        lines = text.split("\n")
        text = "\n".join(_escape(line) if number in live else line for number, line in enumerate(lines))
    return text if not any(_live_blocks(text)) else _escape(text)


def _live_blocks(text: str) -> Iterator[tuple[int, int]]:
    """First line and the one after the last of each block with an image or HTML."""
    for token in _PARSER.parse(text):
        if token.map and _is_live(token):
            yield token.map[0], token.map[1]


def _is_live(token: Token) -> bool:
    if token.type == "html_block":
        return True
    children = token.children or []
    in_code = sum(part.content.count("![") for part in children if part.type == "code_inline")
    # An image by reference is text as long as no other part of the file defines the reference.
    may_be_image = token.type == "inline" and token.content.count("![") > in_code
    return may_be_image or any(part.type in ("image", "html_inline") for part in children)


def _escape(text: str) -> str:
    """Escape with character references, which are never syntax; a backslash may be escaped itself."""
    return _TAG.sub("&lt;", text.replace("![", "!&#91;"))
