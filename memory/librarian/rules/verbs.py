"""Verb forms after “the user”: “I have” → “the user has”, “I don't” → “the user does not”."""

from __future__ import annotations

import re
from typing import Final

ADVERBS: Final = (
    "(?:(?:no longer|also|now|still|currently|actually|just|really|recently|mostly|usually"
    "|always|often|never|only|both|already|last|almost|nearly"
    "|finally|honestly|literally|basically|absolutely|generally|normally|typically|sometimes|obviously|regularly"
    "|definitely|kind of|sort of|all|truly|simply|even|once|first|then|sadly|ever|rarely|barely|hardly|totally|quite"
    "|personally|mainly|both|super|so|very|pretty|extremely|a bit|a little|kinda|severely|mildly|deathly|terribly"
    "|highly|rather|fairly|always been|just so) ){0,3}"
)
PAST: Final = frozenset(
    [
        "went",
        "got",
        "had",
        "did",
        "was",
        "were",
        "made",
        "took",
        "gave",
        "came",
        "became",
        "began",
        "broke",
        "bought",
        "brought",
        "built",
        "caught",
        "chose",
        "drove",
        "fell",
        "felt",
        "found",
        "flew",
        "forgot",
        "fought",
        "heard",
        "held",
        "kept",
        "knew",
        "left",
        "lent",
        "lost",
        "met",
        "paid",
        "ran",
        "rode",
        "said",
        "saw",
        "sold",
        "sent",
        "slept",
        "spoke",
        "spent",
        "stood",
        "stole",
        "swam",
        "taught",
        "told",
        "thought",
        "threw",
        "understood",
        "woke",
        "won",
        "wore",
        "wrote",
        "grew",
        "drew",
        "ate",
        "drank",
        "quit",
        "dealt",
        "dreamt",
        "learnt",
        "burnt",
        "led",
        "hung",
        "used",
        "set",
        "sat",
        "sang",
        "hid",
        "shook",
        "froze",
        "swore",
        "tore",
        "struck",
        "stuck",
        "blew",
        "rang",
        "sank",
        "meant",
        "sought",
        "bent",
        "sunk",
        "dug",
        "fed",
        "shot",
        "spun",
        "wound",
        "lit",
    ]
)
"""Forms that take no ending; what ends in -ed is one too."""
NOT_PAST_ALONE: Final = frozenset(
    {"set", "hung", "stuck", "said", "thought", "understood", "meant", "used", "felt", "found", "did", "bent", "was"}
)
"""Of these the ones that begin a sentence without “I” as an order, a state or a word of the talk."""
BASE_IN_ED: Final = frozenset({"need", "feed", "bleed", "seed", "breed", "speed", "embed", "wed", "shed"})
IRREGULAR: Final = {"have": "has", "do": "does", "go": "goes", "be": "is", "am": "is", "are": "is"}
UNCHANGED: Final = frozenset({"can", "could", "will", "would", "must", "may", "might", "should", "shall"})

_PREFIX = re.compile(r"^(?:re|over|under|out|mis|un|with)(?=\w{3})")
_NOT = {
    "don't": "does not", "dont": "does not", "do not": "does not", "can't": "cannot", "cant": "cannot",
    "cannot": "cannot", "can not": "cannot", "won't": "will not", "wont": "will not", "didn't": "did not",
    "didnt": "did not", "haven't": "has not", "havent": "has not", "wasn't": "was not", "couldn't": "could not",
    "wouldn't": "would not", "shouldn't": "should not", "hadn't": "had not", "weren't": "was not", "were": "was",
    "aren't": "is not",
}  # fmt: skip


def conjugated(verb: str) -> str:
    """The form a verb takes behind “the user”: “study” → “studies”; a past form stays."""
    if verb in _NOT:
        return _NOT[verb]
    if verb in IRREGULAR:
        return IRREGULAR[verb]
    if (
        verb in PAST
        or verb in UNCHANGED
        or _PREFIX.sub("", verb) in PAST
        or (verb.endswith("ed") and verb not in BASE_IN_ED)
    ):
        return verb
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if re.search(r"[^aeiou]y$", verb) else f"{verb}s"
