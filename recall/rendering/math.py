"""LaTeX formulas as MathML: found by their delimiters, converted, and written out through an allow-list.

`$…$`, `$$…$$`, `\\(…\\)`, `\\[…\\]` and amsmath's environments. The converter knows commands for URLs, styles and
classes, and doesn't escape text, so its tree is written out here, with only the tags and attributes below. A
formula that is too long or can't be parsed is shown as code.

The rule for inline dollars comes from mdit-py-plugins. Its block rules search from each opening to the end of the text,
which takes seconds for a text made of openings; those here search no further than a formula may be long.
"""

import html
import re
from collections.abc import Iterator
from typing import Final
from xml.etree.ElementTree import Element

from django.utils.html import escape
from latex2mathml import exceptions
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.dollarmath.index import math_inline_dollar

MAX_CHARS: Final = 2_000
"""Characters of one formula: the longest in 400 answers about mathematics had 600. The converter takes 0.1 s for this
much."""
EACH: Final = 20
MAX_TOGETHER: Final = 12_000
"""Characters of all formulas of a text, plus EACH for every one; any more are shown as code."""
MAX_LINES: Final = 60
UNDECIDED: Final = "undecided"
"""In the parser's `env`: the first line with an opening whose end isn't in the text yet."""
OPENINGS: Final = ("$$", "\\[", "\\begin{")
"""What the first line of a formula in lines of its own starts with."""
MAX_UNCLOSED: Final = 50
"""Unclosed openings after which the search for blocks stops."""

_TAGS: Final = """
    math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow mspace msqrt mstyle msub
    msubsup msup mtable mtd mtext mtr munder munderover none
"""
TAGS: Final = frozenset(_TAGS.split())
_WORD = r"[a-z]{1,32}(?:-[a-z]{1,32}){0,3}"
_WORDS = rf"{_WORD}(?: {_WORD}){{0,19}}"
_LENGTH = r"[+-]?(?:\d{1,2}(?:\.\d{1,3})?|\.\d{1,3})(?:em|ex|px|pt|%|width)?"
_LENGTHS = rf"{_LENGTH}(?: {_LENGTH}){{0,39}}"
_NAMES: Final = """
    accent columnalign columnlines display displaystyle fence form mathvariant movablelimits notation rowlines separator
    stretchy
"""
_SIZES: Final = """
    columnspacing depth height linethickness lspace maxsize minsize rowspacing rspace voffset width
"""
VALUES: Final[dict[str, re.Pattern[str]]] = {
    **dict.fromkeys(_NAMES.split(), re.compile(_WORDS)),
    **dict.fromkeys(_SIZES.split(), re.compile(_LENGTHS)),
    "scriptlevel": re.compile(r"[0-3]"),
}
"""Allowed attributes and values. No colors (they are the reader's), URLs, styles or ids."""

_ALIGNED: Final = re.compile(
    r"\\(begin|end)\{(?:align|aligned|alignedat|alignat|eqnarray|flalign|gather|gathered|multline)\*?\}(?:\{\d\})?"
)
"""Environments that the converter doesn't know, or whose lines it would number, as in `align`."""
_EQUATION: Final = re.compile(r"\\(?:begin|end)\{equation\*?\}")
_UNREAD: Final = re.compile(r"\\[A-Za-z]")
"""A command that the converter doesn't know, which it leaves in the result's text."""
_CANNOT_READ: Final[tuple[type[Exception], ...]] = (
    *(fault for fault in vars(exceptions).values() if isinstance(fault, type) and issubclass(fault, Exception)),
    # errors on texts that aren't LaTeX, found by trying
    *(AttributeError, IndexError, KeyError, RecursionError, RuntimeError, StopIteration, TypeError, ValueError),
)


def mathml(latex: str, *, is_block: bool) -> str | None:
    """The formula as MathML; None if it can't be parsed."""
    if len(latex) > MAX_CHARS:
        return None
    from latex2mathml.converter import convert_to_element  # imported late: few texts have formulas, and it takes 3 MB

    try:
        tree = convert_to_element(
            _ALIGNED.sub(r"\\\1{align*}", _EQUATION.sub("", latex)), display="block" if is_block else "inline"
        )
        written = "".join(_written(tree))
    except _CANNOT_READ:
        return None
    return None if _UNREAD.search(written) else written


def _written(element: Element) -> Iterator[str]:
    tag = element.tag if element.tag in TAGS else "mrow"
    yield f"<{tag}{''.join(_attributes(element))}>{_text(element)}"
    for child in element:
        yield from _written(child)
    yield f"</{tag}>"


def _attributes(element: Element) -> Iterator[str]:
    for name, value in element.attrib.items():
        if name in VALUES and VALUES[name].fullmatch(value):
            yield f' {name}="{value}"'


def _text(element: Element) -> str:
    """Decode the character references that the converter writes into texts."""
    return escape(html.unescape(element.text or ""))


# Finding them -----------------------------------------------------------------------------------------------------


def find_formulas(parser: MarkdownIt) -> None:
    """Make the parser emit tokens `math_inline` and `math_block` with the LaTeX as content."""
    parser.inline.ruler.before("escape", "math_inline", _within_a_line)
    parser.block.ruler.before("fence", "math_block", _block, {"alt": ["paragraph", "reference", "blockquote", "list"]})


_dollars = math_inline_dollar(allow_space=False, allow_digits=False, allow_double=True)
_BRACKETS: Final = {"\\(": "\\)", "\\[": "\\]"}


def _within_a_line(state: StateInline, silent: bool) -> bool:
    if state.src.startswith(tuple(_BRACKETS), state.pos):
        return _brackets(state, silent)
    if state.src[state.pos] != "$":
        return False
    begin = state.pos
    if not _dollars(state, True) or not is_formula(state.src[begin : state.pos].strip("$")):
        state.pos = begin
        return False
    if not silent:
        state.pos = begin
        _dollars(state, False)
        state.tokens[-1].meta["is_block"] = state.tokens[-1].type == "math_inline_double"
        state.tokens[-1].type = "math_inline"
    return True


def _brackets(state: StateInline, silent: bool) -> bool:
    opening = state.src[state.pos : state.pos + 2]
    begin = state.pos + 2
    end = state.src.find(_BRACKETS[opening], begin, begin + MAX_CHARS)
    if end < 0 or not state.src[begin:end].strip():
        return False
    if not silent:
        token = state.push("math_inline", "math", 0)
        token.content, token.meta = state.src[begin:end], {"is_block": opening == "\\["}
    state.pos = end + 2
    return True


_WORD_OF_A_SENTENCE: Final = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}")
_TEXT: Final = re.compile(r"\\[A-Za-z]+\*?(?:\{[^{}]*\})?")
"""A command and its argument in braces."""


def is_formula(between: str) -> bool:
    """Whether the text between two dollar signs is a formula, not the text between two prices or shell variables.

    Words are no formula, unless they have a sign that only formulas have."""
    bare = _TEXT.sub("", between)
    if between[:1].isdigit() and re.search(r"\s[A-Za-z]{2,}", bare):
        return False
    return _WORD_OF_A_SENTENCE.search(bare) is None or re.search(r"[\\^_=]", between) is not None


_ENVIRONMENT: Final = re.compile(
    r"\\begin\{((?:equation|multline|gather|align|alignat|flalign|eqnarray|[pbBvV]?matrix|cases)\*?)\}"
)


def _block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Parse a formula that starts at the start of a line and ends at the end of one."""
    if state.is_code_block(first):
        return False
    line = state.src[state.bMarks[first] + state.tShift[first] : state.eMarks[first]]
    opening, closing, whole = _ends(line)
    if not opening or state.env.get("unclosed", 0) > MAX_UNCLOSED:
        return False
    text, after = _up_to(state, first, last, line[len(opening) :], closing)
    if after is None or not text.strip():
        state.env["unclosed"] = state.env.get("unclosed", 0) + 1
        return False
    if not silent:
        token = state.push("math_block", "math", 0)
        token.block, token.map = True, [first, after]
        token.content = f"{opening}{text}{closing}" if whole else text
    state.line = after
    return True


def _ends(line: str) -> tuple[str, str, bool]:
    """The delimiters of a formula, and whether they belong to it."""
    for opening, closing in (("$$", "$$"), ("\\[", "\\]")):
        if line.startswith(opening):
            return opening, closing, False
    found = _ENVIRONMENT.match(line)
    return (found[0], f"\\end{{{found[1]}}}", True) if found else ("", "", False)


def _up_to(state: StateBlock, first: int, last: int, text: str, closing: str) -> tuple[str, int | None]:
    """The text up to the closing delimiter, and the next line; None if it isn't closed at the end of a line."""
    for line in range(first + 1, min(last, first + MAX_LINES) + 1):
        end = text.find(closing)
        if end >= 0:
            is_alone = text[end + len(closing) :].strip() in ("", ".", ",", ";")
            return text[:end], line if is_alone else None
        if line == state.lineMax and len(text) <= MAX_CHARS:
            state.env[UNDECIDED] = min(first, state.env.get(UNDECIDED, first))
        if line == last or len(text) > MAX_CHARS or state.isEmpty(line) or state.sCount[line] < state.blkIndent:
            break
        text += "\n" + state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
    return "", None
