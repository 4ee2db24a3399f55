"""What does somebody look for? The words of a search box, for PostgreSQL to look up and for a page to mark.

Words that all must stand there, “phrases in quotation marks”, `or` between two, `-` before what must not stand there.
The last word may be unfinished, as one looks while one types.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

MOST_CHARS: Final = 300
"""Of a search: beyond, it is a text and no search."""
SNIPPET_CHARS: Final = 220
"""Of a hit, as it is shown: two to three lines."""
LEAD_CHARS: Final = 60
"""Of it before the first word that was found."""

_PART: Final = re.compile(r'(-?)"([^"]*)"|(\S+)')
_UNFINISHED: Final = re.compile(r'(?:^|\s)([^\s"-][^\s"]*)$')


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A search, taken apart."""

    text: str
    words: str
    """What stands there whole, as `websearch_to_tsquery` reads it."""
    beginning: str
    """The last word, of which only the beginning may be typed yet; empty: it ended with a space or a quotation mark."""
    joined_by_or: bool
    """The beginning is one of two choices, and not wanted besides."""
    terms: tuple[str, ...]
    """Words and phrases that are to be marked, and looked for in titles."""
    unwanted: tuple[str, ...]
    any_will_do: bool
    """One of the terms is enough."""

    @property
    def prefix_query(self) -> str:
        """The beginning as `to_tsquery` reads it; quoted, so that nothing in it is an operator."""
        quoted = self.beginning.replace("\\", "\\\\").replace("'", "''")
        return f"'{quoted}':*" if self.beginning else ""


def parse_query(typed: str) -> SearchQuery:
    """A search as it was typed."""
    text = " ".join(typed.replace("\x00", "").split())[:MOST_CHARS]
    beginning = "" if typed[-1:].isspace() or text.count('"') % 2 else _beginning(text)
    words = text.removesuffix(beginning).rstrip()
    by_or = bool(beginning) and words.casefold().endswith(" or")
    found = [(sign == "-" or word.startswith("-"), phrase or word) for sign, phrase, word in _PART.findall(text)]
    parts = [(no, part.strip('-" ')) for no, part in found if part.casefold() != "or"]
    return SearchQuery(
        text=text,
        words=words[:-3] if by_or else words,
        beginning=beginning,
        joined_by_or=by_or,
        terms=tuple(dict.fromkeys(part for no, part in parts if part and not no)),
        unwanted=tuple(part for no, part in parts if part and no),
        any_will_do=" or " in text.casefold(),
    )


def _beginning(text: str) -> str:
    found = _UNFINISHED.search(text)
    return found[1] if found else ""


# Marking -----------------------------------------------------------------------------------------------------------


def snippet(text: str, asked: SearchQuery) -> SafeString:
    """A piece of the text around the first words that were found, escaped, with what was looked for marked."""
    pattern = _pattern(asked)
    flat = " ".join(text.split())
    first = pattern.search(flat) if pattern else None
    start = _word_start(flat, first.start() - LEAD_CHARS) if first else 0
    piece = flat[start : start + SNIPPET_CHARS]
    if start + SNIPPET_CHARS < len(flat):
        piece = piece.rsplit(" ", 1)[0]
    shown = highlight(piece, asked)
    more = "…" if start + len(piece) < len(flat) else ""
    return mark_safe(f"{'…' if start else ''}{shown}{more}")  # noqa: S308 - `marked` has escaped it


def highlight(text: str, asked: SearchQuery) -> SafeString:
    """The text, escaped piece by piece, with what was looked for in `<mark>`."""
    pattern = _pattern(asked)
    pieces: list[str] = []
    done = 0
    for found in pattern.finditer(text) if pattern else ():
        pieces += [escape(text[done : found.start()]), f"<mark>{escape(found[0])}</mark>"]
        done = found.end()
    return mark_safe("".join([*pieces, escape(text[done:])]))  # noqa: S308 - put together from escaped pieces


def _word_start(text: str, near: int) -> int:
    """The beginning of the word at or after `near`."""
    if near <= 0:
        return 0
    space = text.find(" ", near)
    return space + 1 if 0 <= space < near + LEAD_CHARS else near


def _pattern(asked: SearchQuery) -> re.Pattern[str] | None:
    """What is marked: whole words and phrases, and the beginning with the rest of its word."""
    # longest first, so that a phrase is marked whole
    alternatives = [_of_term(term, asked.beginning) for term in sorted(asked.terms, key=len, reverse=True)]
    told = [one for one in alternatives if one]
    return re.compile(rf"(?<!\w)(?:{'|'.join(told)})", re.IGNORECASE) if told else None


def _of_term(term: str, beginning: str) -> str:
    words = re.findall(r"\w+", term)
    joined = r"\W{1,3}".join(re.escape(word) for word in words)
    return f"{joined}\\w*" if words and term == beginning else f"{joined}(?!\\w)" if words else ""
