"""Which words of a sentence name a known fact: its value, its subject. Pure; corrections are read with it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from memory.facts.deduplication import PEOPLE, relations_differ
from memory.facts.keys import USER, split_key
from memory.librarian.engine import KnownFact
from memory.text.keywords import stem
from memory.text.keywords import words as plain_words

TOKEN = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
OF_THE_USER: Final = frozenset({"i", "i'm", "i've", "i'd", "my", "we", "our", "we're", "we've", "me", "mine", "us"})

_SMALL_WORDS: Final = "a an the my our your his her their its some that this in at to from with for of on"
DETERMINERS: Final = frozenset(_SMALL_WORDS.split())
_NO_VALUE = """
    i i'm i've it it's its is am are was were be been no not sorry actually well oh and but so really live living work
    working actual correct right wrong called named mean meant meaning you he she they we now just here there
"""
NOT_A_VALUE = DETERMINERS | frozenset(_NO_VALUE.split())


_DAYS: Final = (
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august"
    " september october november december christmas easter"
)
DAYS: Final = frozenset(_DAYS.split())
"""Capitalized words that name no one."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a sentence, and its place."""

    text: str
    low: str
    """In lower case, with straight quotes."""
    start: int
    end: int


def words_of(text: str) -> list[Word]:
    """The words of a text."""
    return [Word(t[0], t[0].casefold().replace("’", "'"), t.start(), t.end()) for t in TOKEN.finditer(text)]


def find_words(words: Sequence[Word], phrases: Iterable[str]) -> tuple[int, int] | None:
    """The first and last place of the first phrase found, in the order of `phrases`."""
    lows = [word.low for word in words]
    for phrase in phrases:
        parts = phrase.split()
        for at in range(len(lows) - len(parts) + 1):
            if lows[at : at + len(parts)] == parts:
                return at, at + len(parts) - 1
    return None


def find_value_of(fact: KnownFact, words: Sequence[Word]) -> tuple[int, int] | None:
    """The first and last word that name the fact's value, or the thing of its attribute."""
    _, attribute = split_key(fact.key)
    thing = attribute.partition(":")[2].replace("_", " ")
    value = thing.removesuffix(" intolerance").removesuffix(" allergy") or fact.value
    wanted = [stem(word[0].casefold()) for word in TOKEN.finditer(value)]
    wanted = [word for word in wanted if word not in DETERMINERS] or wanted
    if not wanted or len(wanted) > len(words):
        return None
    have = [stem(word.low.removesuffix("'s")) for word in words]
    for at in range(len(have) - len(wanted) + 1):
        if have[at : at + len(wanted)] == wanted:
            return at, at + len(wanted) - 1
    return None


def value_in(words: Sequence[Word], *, from_end: bool = False) -> str:
    """The value among these words: a run of names if there is one, else the words without function words."""
    runs: list[list[Word]] = [[]]
    for word in words:
        if word.text[:1].isupper() and word.low not in NOT_A_VALUE:
            runs[-1].append(word)
        elif runs[-1]:
            runs.append([])
    named = [run for run in runs if run]
    if named:
        return " ".join(word.text for word in (named[-1] if from_end else named[0]))
    plain: list[Word] = []
    for word in reversed(words) if from_end else words:
        if word.low in NOT_A_VALUE:
            if plain:
                break
            continue
        plain.append(word)
        if len(plain) == 3:
            break
    return " ".join(word.text for word in (reversed(plain) if from_end else plain))


def is_subject(subject: str, before: Sequence[Word]) -> bool:
    """Whether the words before a verb name the subject, and no other person after it."""
    lows = [word.low.removesuffix("'s") for word in before]
    name = subject.rpartition("/")[2].split("_")
    if subject == USER:
        named = [at for at, low in enumerate(lows) if low in ("i", "we", "i've", "we've", "i'm", "me", "they")]
    else:
        named = [at for at, low in enumerate(lows) if low in name]
    known = OF_THE_USER | DAYS
    others = [at for at, word in enumerate(before) if at and word.text[0].isupper() and word.low not in known]
    roles = [at for at, low in enumerate(lows) if stem(low) in PEOPLE and low not in name]
    return bool(named) and not any(at > named[-1] for at in (*others, *roles)) and not (subject == USER and roles)


def is_about(fact: KnownFact, words: Sequence[Word]) -> bool:
    """Whether the sentence can be about the fact's subject: the user speaks of themselves, or names the other."""
    subject = split_key(fact.key)[0].partition("/")[0]
    lows = [word.low.removesuffix("'s") for word in words]
    named = [at for at, low in enumerate(lows) if subject and subject != USER and low in subject.split("_")]
    if named:  # “Leo's allergy is gone, the doctor says”; but “my colleague Leo” isn't the user's son
        before = " ".join(lows[max(0, named[0] - 2) : named[0]])
        return not relations_differ(fact.statement, before)
    if relations_differ(fact.statement, " ".join(word.text for word in words)):
        return False
    if not subject or subject == USER:
        others = {"he", "she", "they", "his", "her", "their"}
        return not (others & set(lows)) or not OF_THE_USER.isdisjoint(word.low for word in words)
    return OF_THE_USER.isdisjoint(word.low for word in words)


def is_negative(fact: KnownFact) -> bool:
    """Whether the fact itself denies something; denying it again confirms it."""
    return fact.value in ("no", "dislikes") or bool(
        {"not", "no", "never", "dislikes"} & set(fact.statement.casefold().split())
    )


def stems_of(text: str) -> set[str]:
    """The stems of its words."""
    return {stem(word) for word in plain_words(text)}
