"""A name that a message mends: it opens with the right one in the place of one just said wrong. Pure, English only.

“Adelaide, I mean.”                     Adelaide, in the place of Auckland
“ah autocorrect. Matija is his name”    Matija, in the place of Matej
“*Bram”                                 Bram, in the place of Brian
"""

import re
from difflib import SequenceMatcher
from typing import Final

from memory.text.dates import MONTHS, WEEKDAYS
from memory.text.language import alternatives, as_set

SURELY: Final = r"no|nope|w?hoops|oops|wait|a+r*gh|ugh|gah|bah|doh|damn|crap|my bad|hang on|autocorrect|typo|correction"
OOPS: Final = rf"{SURELY}|sorry|actually"
"""Opens what mends the words just said."""
ALIKE: Final = 0.5
"""Least similarity, by `SequenceMatcher.ratio`, of two names with one first letter of which one was said for the other:
Auckland and Adelaide have .50, Matej and Matija .73, Leeds and London .36."""
_MENDED: Final = re.compile(
    rf"(?P<star>\*)?\W*(?:(?i:{OOPS}|oh|ah|it['’]?s|that['’]?s|i meant?)\W{{1,3}}){{0,5}}(?P<name>[A-ZÀ-ÞĀ-Ž][\w'-]+)"
    r"(?=,? (?i:i meant?)\b| is (?:his|her|its|their|the) name\b|(?P<alone>[.,;!](?:\s|$)|$))"
)
_CALLED_OUT: Final = re.compile(r"\W*(?:(?:Dr|Mrs?|Ms|Prof)\.? )?(?P<name>[A-ZÀ-ÞĀ-Ž][\w'-]{2,})!+(?=\s|$)")
"""“Halloran!! Mrs Halloran.”: opens with a name that is called out."""
_CUE_LAST: Final = re.compile(
    rf"(?i)(?!(?:{OOPS}|i meant?|seriously|honestly|really|obviously|literally|basically|clearly|frankly|hopefully)\b)"
    r"(?:(?P<said>[^,.;!?\n]{1,40}?)[.,]? (?:i meant?|typo|autocorrect)"
    r"|(?P<number>(?=[^,.;!?\n]*\d)[^,.;!?\n]{1,40}?)[.,]? (?:sorry|my bad))\W*"
)
_SURE: Final = re.compile(rf"(?i)\W*(?:(?:oh|ah)\W{{1,3}})?(?:{SURELY}|i meant?)\b")
_NO_NAME: Final = as_set("the my our we he she it they you and but so in on at") | {*WEEKDAYS, *MONTHS}
_NAME: Final = re.compile(rf"\b(?!(?i:{alternatives(_NO_NAME)})\b)[A-ZÀ-ÞĀ-Ž][\w-]+")


def with_cue_first(text: str) -> str:
    """A message whose cue comes last as one that opens with a cue, any other as it is: “5 March, sorry”."""
    found = _CUE_LAST.fullmatch(text.strip())
    return f"no, I meant {found['said'] or found['number']}" if found else text


def find_mended_name(text: str) -> re.Match[str] | None:
    """The right name that a message opens with, as group `name`; None: it mends none."""
    mended = _MENDED.match(text)
    if mended is None or (mended["alone"] is not None and not mended["star"] and not _SURE.match(text)):
        return _CALLED_OUT.match(text)
    return mended


def name_like(name: str, text: str) -> str:
    """The only name in a text for which this one may have been meant; empty if there is none, or several."""
    alike = {other for other in _NAME.findall(text) if other != name and _are_alike(other, name)}
    return alike.pop() if len(alike) == 1 else ""


def _are_alike(one: str, other: str) -> bool:
    one, other = one.casefold(), other.casefold()
    return one[0] == other[0] and SequenceMatcher(None, one, other).ratio() >= ALIKE
