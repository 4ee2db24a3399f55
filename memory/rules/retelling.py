"""How is what the user says of themselves told by somebody else? “I've two cats” → “The user has two cats”.

Only the beginning is turned: who speaks, and the first verb. The rest is the user's own words, with “my” as “their”.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from memory.rules.slots import third_person

MAX_TOLD: Final = 240
"""Characters; a longer sentence is a story, not a fact."""

ADVERBS: Final = (
    "(?:(?:no longer|also|now|still|currently|actually|just|really|recently|mostly|usually"
    "|always|often|never|only|both|already"
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
    ]
)
"""Forms that take no ending; what ends in -ed is one too."""
BASE_IN_ED: Final = frozenset({"need", "feed", "bleed", "seed", "breed", "speed", "embed", "wed", "shed"})
IRREGULAR: Final = {"have": "has", "do": "does", "go": "goes", "be": "is", "am": "is", "are": "is"}
UNCHANGED: Final = frozenset({"can", "could", "will", "would", "must", "may", "might", "should", "shall", "need"})

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
    if verb in PAST or verb in UNCHANGED or (verb.endswith("ed") and verb not in BASE_IN_ED):
        return verb
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if re.search(r"[^aeiou]y$", verb) else f"{verb}s"


def _with_verb(found: re.Match[str]) -> str:
    return f"The user {found['adverbs'].lower()}{conjugated(found['verb'].lower())}"


_BEGINNINGS: Final[tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]] = tuple(
    (re.compile(begins, re.I), told)
    for begins, told in (
        (r"(?:my|our) ", "The user's "),
        (r"(?:one|two|three|four|five|some) of (?:my|our) ", lambda found: found[0].replace("my", "the user's")),
        (
            r"(?:we're|we are) (?=(?:only |both |all )?(?:\d+|two|three|four|five|six|big|avid|huge)\b)",
            "The user and others are ",
        ),
        (r"(?:i'm|i am|im|we're|we are) ", "The user is "),
        (r"(?:i'll|i will|we'll|we will) ", "The user will "),
        (r"(?:i'd|i would|we'd|we would) (?=(?:rather|love|like|hate|prefer)\b)", "The user would "),
        (r"(?:i've|ive|we've) (?=got\b)", "The user has "),
        (r"(?:i've|ive|we've|i have|we have) ", "The user has "),
        (
            rf"(?:i|we) (?P<adverbs>{ADVERBS})(?P<verb>(?:do|can) not|[a-z']+)(?=[ ,]|$)",
            _with_verb,
        ),
    )
)


def retold(sentence: str) -> str | None:
    """The sentence about “the user”, without its full stop; None: it does not begin with the user, or is too long."""
    if len(sentence) > MAX_TOLD:
        return None
    if sentence.startswith("The user"):
        return third_person_after(sentence, len("The user"))
    for begins, told in _BEGINNINGS:
        found = begins.match(sentence)
        if found is not None:
            head = told if isinstance(told, str) else told(found)
            rest = third_person(sentence[found.end() :].strip(" ,"))
            return _smoothed(f"{head}{'' if head.endswith(' ') else ' '}{rest}".strip(" ,"))
    return None


_IS = re.compile(r"^(The user's [\w -]+?)'s (?=\w+ing\b|gone\b|not\b|an?\b|the\b|in\b|on\b)")
_HAS = re.compile(r"^(The user's [\w -]+?)(?:'s| is) (?=got\b|been\b)")


def _smoothed(told: str) -> str:
    """Without what the turned beginning leaves behind: “has got”, “wife's having”, an open bracket."""
    told = _HAS.sub(r"\1 has ", _IS.sub(r"\1 is ", told)).replace("user has got ", "user has ")
    return f"{told})" if told.count("(") > told.count(")") else told


def third_person_after(sentence: str, position: int) -> str:
    """The sentence with all behind `position` in the third person."""
    return f"{sentence[:position]}{third_person(sentence[position:])}"
