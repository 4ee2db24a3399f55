"""Keywords for comparing sentences: stems of content words, names and numbers."""

import re
import unicodedata
from functools import lru_cache
from typing import Final

NUMBERS: Final = {
    word: str(number)
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
}
_FILLER = """
    the a an user users user's s i am me my mine myself we our you your he she it its they them their his her this that
    these those is are was were be been being m re ve ll d t has have had having do does did will would can could shall
    should may might must of to in at on for with by from as than then and or but so if not no nor about into over up
    out who whom which what where when there there's here very also just too really called named name some any all one
"""
FILLER: Final = frozenset(_FILLER.split())
"""Function words, and the librarian's “the user”."""
MAX_STEMS: Final = 20_000
"""Words whose stem is remembered: retrieval compares thousands a query, mostly the same ones."""
_WORD: Final = re.compile(r"\w+(?:['’]\w+)?")
_NAME: Final = re.compile(r"(?<![.!?…] )(?<!^)\b[^\W\d_a-z][\w’'-]+")
_DATED: Final = re.compile(
    r"\b\d{4}-\d{2}(?:-\d{2})?\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    r"|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b",
    re.I,
)
_ENDINGS: Final = (
    "ations",
    "ation",
    "ingly",
    "ings",
    "ing",
    "edly",
    "ies",
    "ied",
    "ers",
    "er",
    "es",
    "ed",
    "ly",
    "s",
    "e",
)


def words(text: str) -> list[str]:
    """The words of a text in lower case, with one form of apostrophe."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).replace("’", "'").casefold())


@lru_cache(maxsize=MAX_STEMS)
def stem(word: str) -> str:
    """A word without its usual English endings, so that “allergies” matches “allergy”; crude, and only for
    comparison."""
    word = word.removesuffix("'s")
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    return word[:-1] if len(word) > 3 and (word[-1] in "eyi" or word[-1] == word[-2]) else word


def content(text: str) -> set[str]:
    """Stems of the words that carry meaning; numbers as digits."""
    found = (NUMBERS.get(word, word) for word in words(text) if word not in FILLER)
    return {stem(word) for word in found if len(word) > 1 or word.isdigit()}


_ORDINAL: Final = re.compile(r"(?<=\d)(?:st|nd|rd|th)$")


def numbers(text: str) -> set[str]:
    """The numbers in a text, in words or digits."""
    return {
        _ORDINAL.sub("", NUMBERS.get(word, word).removesuffix("'s"))
        for word in words(text)
        if word[0].isdigit() or (word in NUMBERS and word != "one")
    }


def names(text: str) -> set[str]:
    """Capitalized words inside a sentence, lowercased; days and months excluded."""
    found = {name.casefold().replace("’", "'").removesuffix("'s") for name in _NAME.findall(without_dates(text))}
    return found - {"i"}


def dates(text: str) -> set[str]:
    """The ISO dates, days of the week and months that a text names."""
    return {found.casefold() for found in _DATED.findall(text)}


def without_dates(text: str) -> str:
    """A text without ISO dates, days of the week and months: relative dates are resolved in statements."""
    return _DATED.sub(" ", text)
