"""Deduplication: whether two statements mean the same. Their vectors make it likely, and their words must not differ.

A small embedding model puts “likes” and “dislikes”, Lisbon and Porto, 1 May and 2 May closer together than many a
paraphrase. So cosine alone never counts: numbers, names, negation, subject and verb must not differ.
"""

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from memory.text import relations
from memory.text.keywords import dates, names, numbers, stem, words
from recall.environment import setting

SAME_MEANING_COSINE: Final = setting("librarian_same_meaning", 0.94)
"""Cosine from which a proposal counts as known, if no word contradicts it. High: losing a fact is worse than keeping it
twice. See the pairs in `tests/memory/facts/test_deduplication.py`."""
REJECTED_TOO: Final = 0.88
"""Cosine from which a proposal counts as a rejected fact; lower, because a rejection must hold in other words too. Of
65 paraphrases 35 are recognized, and none of 80 different facts is taken for the rejected one; of the 35 of these
written before the tables below had been seen to fail, it was 5 (left- and right-handed, is and wants to be, …).
"""

GROUPS: Final[tuple[frozenset[str], ...]] = tuple(
    frozenset(map(stem, group.split()))
    for group in (
        "live home reside based",
        "work job employed profession office",
        "cook",
        "like enjoy love fond fan favourite favorite",
        "dislike hate loathe detest",
        "play player piano guitar",
        "learn study lesson lessons",
        "teach teacher",
        "speak speaks",
        "have own owns",
        "keep keeper",
        "sell sold",
        "buy bought",
        "read reading",
        "write writing wrote novelist",
        "left",
        "right",
        "well",
        "badly bad poorly trouble",
        "up",
        "down",
        "want goal hope plan aim wish",
        "run complete",
        "watch",
        "stop quit",
        "start begin",
        "move moved",
        "married spouse",
        "divorced separated",
        "vegan",
        "vegetarian",
        "short brief concise",
        "long detailed",
        "few",
    )
)
"""Groups of words with the same role in a statement. Two statements that each have a group the other lacks say
different things."""
PEOPLE: Final = frozenset(map(stem, relations.PEOPLE - {"carer", "student"} | {"parents", "dog", "cat"}))
"""Subjects other than the user. The stems of “carer” and “student” are those of a car and of what is studied."""
_SAME_RELATION: Final = {
    stem(word): stem(same)
    for word, same in {
        "mum": "mother",
        "mom": "mother",
        "dad": "father",
        "coworker": "colleague",
        "neighbour": "neighbor",
        "roommate": "flatmate",
        "grandma": "grandmother",
        "grandpa": "grandfather",
    }.items()
}
_NOT: Final = re.compile(r"\b(?:not|no|never|none|nothing|neither|nor|without|cannot|anymore)\b|n['’]t\b", re.I)
_PAST: Final = re.compile(
    r"\b(?:was|were|had|did|used to|kept|sold|left|went|ran|grew|taught|met)\b"
    r"|(?<!\bis )(?<!\bare )(?<!\bgot )(?<!\bbeen )\b(?!(?:called|named|need|married|based|divorced)\b)\w{2,}ed\b",
    re.I,
)
_WISHED: Final = re.compile(r"\b(?:want|hope|plan|aim|wish|intend|goal|would like|train|learn)", re.I)
_ORDERED: Final = re.compile(r"\b(?:prefer\w*|than|rather|instead|over|from)\b", re.I)


def relations_differ(one: str, other: str) -> bool:
    """Whether two texts call people by different relations: “my brother Sam”, “my colleague Sam”."""
    first, second = _relations(one), _relations(other)
    return bool(first and second) and not first & second


def relation_of(text: str) -> str:
    """The first relation that a text names; empty: none."""
    return next((word for word in words(text) if stem(word.removesuffix("'s")) in PEOPLE), "").removesuffix("'s")


def _relations(text: str) -> set[str]:
    return {_SAME_RELATION.get(word, word) for word in map(stem, words(text)) if word in PEOPLE}


def is_same_statement(one: str, other: str, cosine: float, least: float = SAME_MEANING_COSINE) -> bool:
    """Whether two statements with this cosine (−1 to 1) say the same."""
    return cosine >= least and not have_conflicting_words(one, other)


def have_conflicting_words(one: str, other: str) -> bool:
    """Whether the words of two statements show that they differ, however close their vectors are."""
    first, second = _read(one), _read(other)
    return (
        first.numbers != second.numbers
        or (first.negated, first.past) != (second.negated, second.past)
        or _each_has_its_own(first.names, second.names)
        or first.people != second.people
        or _each_has_its_own(first.groups, second.groups)
        or first.wished != second.wished
        or _turned_round(one, other)
    )


@dataclass(frozen=True, slots=True)
class _Read:
    """The parts of a statement that distinguish it from others."""

    numbers: AbstractSet[str]
    names: AbstractSet[str]
    people: AbstractSet[str]
    groups: AbstractSet[int]
    negated: bool
    past: bool
    wished: bool


@lru_cache(maxsize=4_096)
def _read(statement: str) -> _Read:
    stems = {stem(word) for word in words(statement)}
    return _Read(
        numbers=numbers(statement) | dates(statement),
        names=names(statement),
        people=stems & PEOPLE,
        groups={number for number, group in enumerate(GROUPS) if stems & group},
        negated=_NOT.search(statement) is not None,
        past=_PAST.search(statement) is not None,
        wished=_WISHED.search(statement) is not None,
    )


def _each_has_its_own[T](first: AbstractSet[T], second: AbstractSet[T]) -> bool:
    return bool(first - second) and bool(second - first)


def _turned_round(one: str, other: str) -> bool:
    """Whether the same words are in reverse order: “tea to coffee” and “coffee to tea”."""
    if not (_ORDERED.search(one) and _ORDERED.search(other)):
        return False
    first, second = ([stem(word) for word in words(text)] for text in (one, other))
    return first != second and sorted(first) == sorted(second)
