"""Which words of a sentence name a known fact: its value, its subject. Pure; corrections are read with it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from memory.facts.deduplication import relations_differ
from memory.facts.keys import USER, split_key
from memory.librarian.decision import normal
from memory.librarian.engine import KnownFact
from memory.librarian.rules.retell import is_occupation
from memory.text.dates import MONTHS, WEEKDAYS
from memory.text.keywords import stem
from memory.text.keywords import words as plain_words
from memory.text.language import alternatives
from memory.text.parts import parts_of
from memory.text.relations import PARTNERS

TOKEN = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
OF_THE_USER: Final = frozenset({"i", "i'm", "i've", "i'd", "my", "we", "our", "we're", "we've", "me", "mine", "us"})

_SMALL_WORDS: Final = "a an the my our your his her their its some that this in at to from with for of on"
DETERMINERS: Final = frozenset(_SMALL_WORDS.split())


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a sentence, and its place."""

    text: str
    low: str
    """In lower case, with straight quotes."""
    start: int
    end: int


def words_of(text: str) -> list[Word]:
    return [Word(t[0], t[0].casefold().replace("’", "'"), t.start(), t.end()) for t in TOKEN.finditer(text)]


_NO_NAMES: Final = frozenset({"the", "i", "one", "a", "an", *WEEKDAYS, *MONTHS})


def names_in(text: str) -> set[str]:
    """The words of a statement that have a capital letter, but for “The user” and such, days and months."""
    words = (word for word in words_of(text) if word.text[0].isupper() and word.low not in _NO_NAMES)
    return {_unowned(word) for word in words}


def names_said_of(facts: Iterable[KnownFact], quote: str) -> set[str]:
    """The names in these facts that a message says, too."""
    said = {_unowned(word) for word in words_of(quote)}
    return {name for fact in facts for name in names_in(fact.statement)} & said


def _unowned(word: Word) -> str:
    """“Lolo” of “Lolo's”."""
    return word.text.removesuffix("'s").removesuffix("’s")


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


_LINKS: Final = frozenset(
    ["is", "are", "called", "named", "it's", "he's", "she's", "a", "an", "the", "at", "with", "from"]
)


def name_after(text: str, words: Sequence[Word], place: int) -> str:
    """The name behind a word, as it is written: “a new dentist, *Dr. Amari*, much gentler”."""
    at = place + 1
    while at < len(words) and words[at].low in _LINKS:
        at += 1
    end = at
    while end < len(words) and (words[end].text[0].isupper() or words[end].text[0].isdigit()):
        end += 1
        if text[words[end - 1].end :][:1] == ",":
            break
    while end > at and words[end - 1].low in OF_THE_USER:
        end -= 1
    return text[words[at].start : words[end - 1].end] if end > at else ""


_STATED: Final = {
    "home": re.compile(
        r"(?:stays|is staying|rents|is renting|ended up renting|(?:is |has )?settled|is house sitting|has moved|moved"
        r"|is (?:just )?(?:outside|near)|is based|has an? (?:[\w-]+ )?"
        r"(?:room|flat|place|house|apartment|studio))(?: \w+){0,3}? "
        r"(?:in|at|near|outside|to) (?=[A-ZÀ-ÞĀ-Ž])|is (?:just )?(?:outside|near) (?=[A-ZÀ-ÞĀ-Ž])"
    ),
    "job": re.compile(
        r"(?:works|teaches|manages|runs an?|runs the|nurses|practises|practices|freelances)\b|.* for a living\b"
        r"|(?:is|has been) (?:an? |the )(?P<job>[\w -]{3,40})"
    ),
}
"""How a statement without a key gives someone's home or job."""
_OF_THE_PARTNER: Final = re.compile(rf"The user's (?:{alternatives(PARTNERS)}) [A-ZÀ-ÞĀ-Ž]")


def states_attribute(statement: str, key: str) -> bool:
    """Whether a statement without a key gives the attribute of this key, of the same subject."""
    subject, attribute = split_key(key)
    if (subject, attribute) == (USER, "partner"):  # what was said of the one before
        return _OF_THE_PARTNER.match(statement) is not None
    pattern = _STATED.get(attribute)
    if pattern is None:
        return False
    whose = (
        r"The user"
        if subject == USER
        else rf"(?:The user's (?:[\w-]+ ){{1,2}})?{re.escape(subject.rpartition('/')[2])}"
    )
    found = re.match(rf"{whose} (?:(?:\w+ly|now|still|just|also) )?", statement, re.IGNORECASE)
    matched = pattern.match(statement, found.end()) if found else None
    if matched is None or "job" not in matched.groupdict() or not matched["job"]:
        return matched is not None
    return any(is_occupation(word) for word in matched["job"].split())


_DOES_MORE: Final = re.compile(
    r"(?:also |now |still |often )?(?:is|has|was|had|does|can|will|went|got|[a-z]{2,}(?:(?<![su])s|ed)) "
)
"""A part of a statement with a verb of its own: “and works at Initech”."""


_DWELLING: Final = (
    "(?:flat|apartment|house|home|place|room|studio|rental|cottage|bungalow|bedsit|condo|loft|garden|kitchen|landlord)"
)


def repeats(statement: str, key: str, value: str) -> bool:
    """Whether a statement without a key, of the same message as a fact with one, says the same and no more: “The user
    lives in a tiny flat in Brno”, beside “The user lives in Brno”."""
    subject, attribute = split_key(key)
    whose = "The user " if subject == USER else f"The user's {subject.removeprefix('user/')} "
    lived = rf"(?i)\b(?:the user's {_DWELLING}|here) (?:in|at|on) {re.escape(value)}\b"
    if attribute == "home" and re.search(lived, statement):
        return True  # “The user's flat in Brno is freezing”, “The stove here in Brno smokes”
    is_theirs = statement.startswith(whose) or (
        subject != USER and re.search(rf"(?i)\b{re.escape(subject)}\b", statement)
    )
    others = [part for part in parts_of(statement) if normal(value) not in normal(statement[part.start : part.end])]
    says_more = any(_DOES_MORE.match(statement, part.start) for part in others)
    return bool(is_theirs) and normal(value) in normal(statement) and not says_more
