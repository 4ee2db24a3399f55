"""Parses the search box into words for PostgreSQL, and highlights matches on pages.

All words must match; “phrases in quotation marks”, `or` between alternatives, `-` before an excluded word. The last
word may be unfinished, because results appear while typing.
"""

import re
from dataclasses import dataclass
from typing import Final

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from memory.text.plain_words import plain_words

MAX_QUERY_CHARS: Final = 300
"""Longer input is a text, not a search."""
SNIPPET_CHARS: Final = 220
"""Characters of a hit as shown: two to three lines."""
LEAD_CHARS: Final = 60
"""Characters of a snippet before the first match."""

_PART: Final = re.compile(r'(-?)"([^"]*)"|(\S+)')
_UNFINISHED: Final = re.compile(r'(?:^|\s)([^\s"-][^\s"]*)$')


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A parsed search."""

    text: str
    words: str
    """Complete words, as `websearch_to_tsquery` reads them."""
    beginning: str
    """The last word, possibly unfinished; empty if it ended with a space or a quotation mark."""
    joined_by_or: bool
    """Whether the unfinished word is an alternative to the others, not an addition."""
    terms: tuple[str, ...]
    """Words and phrases to highlight, and to find in titles."""
    unwanted: tuple[str, ...]
    any_will_do: bool
    """Whether one matching term is enough."""

    @property
    def prefix_query(self) -> str:
        """The unfinished word as `to_tsquery` reads it; quoted, so that it contains no operators."""
        quoted = self.beginning.replace("\\", "\\\\").replace("'", "''")
        return f"'{quoted}':*" if self.beginning else ""


def parse_query(typed: str) -> SearchQuery:
    text = " ".join(typed.replace("\x00", "").split())[:MAX_QUERY_CHARS]
    beginning = "" if typed[-1:].isspace() or text.count('"') % 2 else _beginning(text)
    words = text.removesuffix(beginning).rstrip()
    by_or = bool(beginning) and words.casefold().endswith(" or")
    tokens = [(sign == "-" or word.startswith("-"), phrase or word) for sign, phrase, word in _PART.findall(text)]
    parts = [(is_excluded, part.strip('-" ')) for is_excluded, part in tokens if part.casefold() != "or"]
    return SearchQuery(
        text=text,
        words=words[:-3] if by_or else words,
        beginning=beginning,
        joined_by_or=by_or,
        terms=tuple(dict.fromkeys(part for is_excluded, part in parts if part and not is_excluded)),
        unwanted=tuple(part for is_excluded, part in parts if part and is_excluded),
        any_will_do=" or " in text.casefold(),
    )


def _beginning(text: str) -> str:
    found = _UNFINISHED.search(text)
    return found[1] if found else ""


# Highlighting ----------------------------------------------------------------------------------------------------


def snippet(text: str, query: SearchQuery) -> SafeString:
    """Part of the text around the first match, without Markdown, escaped, with matches highlighted."""
    pattern = _pattern(query)
    flat = " ".join(plain_words(text).split())
    first = pattern.search(flat) if pattern else None
    start = _word_start(flat, first.start() - LEAD_CHARS) if first else 0
    piece = flat[start : start + SNIPPET_CHARS]
    if start + SNIPPET_CHARS < len(flat):
        piece = piece.rsplit(" ", 1)[0]
    shown = highlight(piece, query)
    more = "…" if start + len(piece) < len(flat) else ""
    return mark_safe(f"{'…' if start else ''}{shown}{more}")  # noqa: S308 - `highlight` has escaped it


def highlight(text: str, query: SearchQuery) -> SafeString:
    """The text, escaped piece by piece, with matches in `<mark>`."""
    pattern = _pattern(query)
    pieces: list[str] = []
    done = 0
    for found in pattern.finditer(text) if pattern else ():
        pieces += [escape(text[done : found.start()]), f"<mark>{escape(found[0])}</mark>"]
        done = found.end()
    return mark_safe("".join([*pieces, escape(text[done:])]))  # noqa: S308 - made of escaped pieces


def _word_start(text: str, near: int) -> int:
    """Start of the word at or after `near`."""
    if near <= 0:
        return 0
    space = text.find(" ", near)
    return space + 1 if 0 <= space < near + LEAD_CHARS else near


def _pattern(query: SearchQuery) -> re.Pattern[str] | None:
    """The pattern to highlight: whole words and phrases, and any word that starts with the unfinished one."""
    # longest first, so that a phrase is highlighted as a whole
    alternatives = [_term_pattern(term, query.beginning) for term in sorted(query.terms, key=len, reverse=True)]
    patterns = [pattern for pattern in alternatives if pattern]
    return re.compile(rf"(?<!\w)(?:{'|'.join(patterns)})", re.IGNORECASE) if patterns else None


def _term_pattern(term: str, beginning: str) -> str:
    words = re.findall(r"\w+", term)
    joined = r"\W{1,3}".join(re.escape(word) for word in words)
    return f"{joined}\\w*" if words and term == beginning else f"{joined}(?!\\w)" if words else ""
