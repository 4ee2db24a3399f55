"""Facts typed as they are shown (“You live in Lyon.”), in the words that are stored (“The user lives in Lyon.”).

Words that weren't changed keep their stored form. What can't be put in the third person for certain stays as typed.
"""

import re
from difflib import SequenceMatcher
from typing import Final

from memory.librarian.rules.retell import inflected, third_person
from memory.text.second_person import second_person

_SUBJECT: Final = re.compile(r"(you|i)(?P<rest>['’ ].+)", re.I)
_OWNER: Final = re.compile(r"(?:your|my) (?P<rest>.+)", re.I)
_VERB: Final = re.compile(r"\b(and|but|that|because|when|if|where) you (\w+)\b", re.I)
_YOU: Final = re.compile(r"\b(?:you|your|yours|yourself)\b", re.I)
_MINE: Final = {"you": "me", "your": "my", "yours": "mine", "yourself": "myself"}
_THE_USERS: Final = {"you": "the user", "your": "the user's", "yours": "the user's", "yourself": "the user"}
_MY: Final = re.compile(r"\b(?:my|me|myself)\b")
_OF_ME: Final = {"my": "the user's", "me": "the user", "myself": "the user"}

_SHORT: Final = {
    "can't": "can not", "cannot": "can not", "won't": "will not", "n't": " not",
    "'re": " are", "'ve": " have", "'ll": " will",
}  # fmt: skip


def as_stored(typed: str, known: str = "") -> str:
    """The typed statement about “the user”; `known` is the stored one that was edited.

    >>> as_stored("Your sister Mary lives in Madrid.", "The user's sister Mary lives in Lisbon.")
    "The user's sister Mary lives in Madrid."
    """
    if typed == second_person(known):
        return known
    kept = _with_stored_words(typed, known) if known else ""
    if kept and second_person(kept) == typed:
        return kept
    told = _in_third_person(typed)
    is_shown_as_typed = re.match(r"(?:i|my)\b", typed, re.I) or _plain(second_person(told)) == _plain(typed)
    return told if is_shown_as_typed else typed


def _with_stored_words(typed: str, known: str) -> str:
    """The stored statement with the same words replaced; empty if one of them is stored otherwise than it is shown."""
    stored, shown, new = known.split(), second_person(known).split(), typed.split()
    pairs = [(stored[a:b], range(c, d)) for tag, a, b, c, d in _changes(stored, shown) if tag != "equal"]
    first = {places.start: words for words, places in pairs}
    later = {place for _, places in pairs for place in places[1:]}
    told: list[str] = []
    for tag, start, end, a, b in _changes(shown, new):
        touched = any(start < places.stop and end > places.start for _, places in pairs) or start in later
        if tag != "equal" and (touched or _YOU.search(" ".join(new[a:b]))):
            return ""
        for place, word in enumerate(new[a:b], start):
            told += first.get(place, [word]) if tag == "equal" and place not in later else [word] * (tag != "equal")
    return " ".join(told)


def _changes(old: list[str], new: list[str]) -> list[tuple[str, int, int, int, int]]:
    return list(SequenceMatcher(None, old, new, autojunk=False).get_opcodes())


def _in_third_person(typed: str) -> str:
    if found := _SUBJECT.fullmatch(typed):
        predicate = third_person(_YOU.sub(lambda you: _MINE[you[0].lower()], found["rest"]), user=True)
        return f"The user {predicate}" if predicate else typed
    if found := _OWNER.fullmatch(typed):
        return f"The user's {_about(found['rest'])}"
    told = _about(typed)
    return told[:1].upper() + told[1:]


def _about(words: str) -> str:
    """The user inside a sentence about another."""
    words = _VERB.sub(lambda you: f"{you[1]} the user {inflected(you[2])}", words)
    return _YOU.sub(lambda you: _THE_USERS[you[0].lower()], _MY.sub(lambda me: _OF_ME[me[0]], words))


def _plain(words: str) -> str:
    """Without contractions and capitals: “don't” and “do not” are the same."""
    words = words.replace("’", "'").lower()
    for short, long in _SHORT.items():
        words = words.replace(short, long)
    return words
