"""Identifiers in text: one canonical spelling for “ACME-CORP”, “Acme Corp” and “acme_corp”, and where a name ends."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

_JOINERS: Final = "-_./@:'’+&－‐‑．＠"
_PIECE: Final = re.compile(r"[\u4e00-\u9fff]+|[\u30a0-\u30ff]+|[\u3040-\u309f]+|[^\W_\u3040-\u30ff\u4e00-\u9fff]+")
_CONTRACTED: Final = frozenset({"s", "t", "m", "re", "ve", "ll", "d"})
_COMBINING: Final = re.compile(r"[\u0300-\u036f]")


@dataclass(frozen=True, slots=True)
class Atom:
    """A run of letters and digits in a text."""

    text: str
    normalized: str
    start: int
    end: int
    is_glued: bool
    """Joined to the previous one by a character such as - _ . @, without a space."""
    is_next: bool
    """Separated from the previous one only by a space."""
    is_possessive: bool

    @property
    def is_capitalized(self) -> bool:
        """Starts with a capital letter."""
        return self.text[:1].isupper()

    @property
    def has_digit(self) -> bool:
        """Contains a digit."""
        return any(char.isdigit() for char in self.text)


def fold(text: str) -> str:
    """The text without case, accents and width."""
    normalized = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", _COMBINING.sub("", normalized))


def canonical(text: str) -> str:
    """The canonical form of all spellings of an identifier."""
    return "".join(atom.normalized for atom in atoms_of(text))


def atoms_of(text: str) -> list[Atom]:
    """The atoms of a text; “'s” and other contracted endings belong to the word before."""
    found: list[Atom] = []
    for match in _PIECE.finditer(text):
        gap = text[found[-1].end if found else 0 : match.start()]
        if found and gap in ("'", "’") and match[0].casefold() in _CONTRACTED:
            before = found.pop()
            owns = match[0].casefold() == "s"
            found.append(
                Atom(before.text, before.normalized, before.start, match.end(), before.is_glued, before.is_next, owns)
            )
            continue
        glued = bool(found) and (
            (len(gap) == 1 and gap in _JOINERS) or (not gap and not _is_hiragana(found[-1], match[0]))
        )
        point = gap if glued and gap in (".", ":") and match[0][0].isdigit() and found[-1].text[-1].isdigit() else ""
        normalized = point + fold(match[0])  # 2.1 isn't 21
        found.append(Atom(match[0], normalized, *match.span(), glued, bool(found) and gap == " ", False))
    return found


def _is_hiragana(before: Atom, piece: str) -> bool:
    """Whether one of the two is an ending or particle, which belongs to no name."""
    return any("\u3040" <= char <= "\u309f" for char in (before.text[-1], piece[0]))


def script_of(text: str) -> str:
    """The script of the first letter, as Unicode names it: LATIN, CYRILLIC, CJK, …; digits and signs are LATIN."""
    letter = next((char for char in text if char.isalpha()), "a")
    return unicodedata.name(letter, "LATIN").replace("FULLWIDTH ", "").partition(" ")[0]
