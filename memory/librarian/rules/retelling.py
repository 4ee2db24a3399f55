"""Turns first-person sentences into the third person: “I've two cats” → “The user has two cats”.

Only the beginning is turned: who speaks, and the first verb. The rest is the user's own words, with “my” as “their”.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from memory.librarian.rules.slots import third_person
from memory.librarian.rules.verbs import ADVERBS, conjugated

MAX_TOLD: Final = 240
"""Characters; a longer sentence is a story, not a fact."""


_BASE: Final = (
    "sleep|live|work|eat|drink|go|get|take|have|do|play|run|swim|cook|bake|read|write|walk|cycle|drive|study"
    "|teach|own|love|hate|like"
    "|need|want|prefer|speak|sing|smoke|wake|fall|keep|make|rent|share|start|am|don't|can't|stay|commute|volunteer"
)
_SECOND: Final = re.compile(
    rf"(?P<before>(?:,| and| but)(?: then| also| still| never| always| usually)? )(?P<verb>{_BASE})\b(?!')(?<!, like)"
)
_NOT_ITS_OWN: Final = re.compile(
    r"\b(?:to|can|can't|cannot|will|would|should|could|must|may|might|let|help|make|not|who|that|which|they"
    r"|people|we|kids|friends)\b"
)


def _agreeing_twice(told: str) -> str:
    """The second verb as the first: “works in The Hague but sleep in Delft” → “… but sleeps in Delft”."""
    second = _SECOND.search(told)
    if second is None or _NOT_ITS_OWN.search(told, 0, second.start()):
        return told
    return f"{told[: second.start('verb')]}{conjugated(second['verb'].lower())}{told[second.end() :]}"


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
        (
            r"(?:we're|we are) an? (?=(?:\w+ )?(?:team|family|couple|group|household|band|crew|party|pair)\b)",
            "The user is part of a ",
        ),
        (r"(?:i'm|i am|im|we're|we are) ", "The user is "),
        (r"(?:i'll|i will|we'll|we will) ", "The user will "),
        (
            r"(?:i'd|we'd) (?=(?:\w+ly |just |never |always |already )?(?:been|had|gone|got|\w{2,}ed)\b)",
            "The user had ",
        ),
        (r"(?:i'd|i would|we'd|we would) ", "The user would "),
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
            whole = _smoothed(f"{head}{'' if head.endswith(' ') else ' '}{rest}".strip(" ,"))
            return _agreeing_twice(whole) if _PRESENT.match(whole) else whole
    return None


_PRESENT = re.compile(r"The user (?:is|[\w ]*?\w+s)\b")
_IS = re.compile(
    r"^(The user's [\w -]+?)'s (?=\w+ing\b(?! (?:is|was|are|were|has|makes|drives|keeps|wakes)\b)"
    r"|gone\b|not\b|an?\b|the\b|in\b|on\b|from\b|due\b|allergic\b|called\b|\d"
    r"|[A-Z]\w+(?:ish|an|ese|ch)\b)"
)
_HAS = re.compile(r"^(The user's [\w -]+?)(?:'s| is) (?=got\b|been\b)")


def _smoothed(told: str) -> str:
    """Without what the turned beginning leaves behind: “has got”, “wife's having”, an open bracket."""
    told = _HAS.sub(r"\1 has ", _IS.sub(r"\1 is ", told)).replace("user has got ", "user has ")
    return f"{told})" if told.count("(") > told.count(")") else told


def third_person_after(sentence: str, position: int) -> str:
    """The sentence with all behind `position` in the third person."""
    return f"{sentence[:position]}{third_person(sentence[position:])}"
