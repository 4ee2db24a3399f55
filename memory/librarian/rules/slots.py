"""Values: how far a place, a firm, an occupation, a list reaches in the words behind it, and what is none.

Each reader looks only at the beginning of its text and goes through it once. It gives the value, spelled as it is
stored, and what is left of the text; or nothing, if no such value begins there.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from memory.librarian.rules.retell import NAME, clean_name, is_occupation
from memory.librarian.rules.words import THIRD, as_set

type Value = tuple[str, str]
"""The value, and the rest of the text."""
type Reader = Callable[[str], Value | None]

_CAP: Final = r"[A-ZÀ-ÞŁŚŽČŞİ][\w'&-]*(?:\.(?=\w)[\w.]*)?"
_LINK: Final = r"(?: (?:de|da|do|dos|la|le|las|los|of|the|upon|am|an|and|sur|del|di|St\.|&)(?: (?:la|der|the))?)?"
_PLACE: Final = re.compile(
    r"(?:(?:the|a (?:small )?(?:town|village|suburb|city) (?:near|outside|called)|downtown|central|upstate|rural"
    rf"|(?:north|south|east|west)(?:ern)?) )?{_CAP}(?:{_LINK}[ -]{_CAP}){{0,3}}(?:, {_CAP}(?: {_CAP})?(?= "
    r"|,|$))?(?![\w'])"
)
_NO_PLACE: Final = as_set(
    "i i'm a an the my our their this that it one two fear peace hope debt pain love with and monday tuesday wednesday"
    " thursday friday saturday sunday january february march april june july august september october november december"
    " english german french spanish bed town here there same another different new"
)
_STOPS: Final = as_set(
    "and but or so because since as while when where which who that if for at with from until till although though"
    " unless by after before than then now these right currently whose during via per despite"
)
_PLACE_STOPS: Final = _STOPS | as_set(
    "in on to near currently again last this next about i atm too also is was all not years a the rn"
)
_ORG_STOPS: Final = _STOPS - {"and", "for"} | as_set("in on doing making part full full-time part-time a")
_JOB_STOPS: Final = _STOPS | as_set("in on working living here specialising specializing based doing running to not")
_THING_STOPS: Final = _STOPS - as_set("and or with from for by than at per that as before after")
_NO_THING: Final = as_set("here there who which where why it that this them how what you your when if")
_SPLIT: Final = re.compile(r"\s*(?:,\s*(?:and|or|&)?|\s(?:and|or|&|nor)\s)\s*")
_NO_WORK: Final = as_set(
    "home night nights day days weekends weekend week the moment school sea height it this that them a an my our their"
    " myself themselves least present times once full part both him her you me us"
)
_TIMES: Final = as_set("years year months month weeks week days day hours hour minutes")
_AGE: Final = re.compile(
    r"(\d{1,2}|1[01]\d|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|twenty|thirty|forty|fifty|sixty|seventy"
    r"|eighty|ninety)(?=$|,| (?:years?|yo|and|now|this|last|in|today|on|but|male|female|so)\b|-)"
)


def place(text: str) -> Value | None:
    """“Lisbon, Portugal with my …” → Lisbon, Portugal. In a text without capitals one or two words."""
    found = _PLACE.match(text)
    if found:
        first = found[0].split()[0].lower().strip(",.")
        return (found[0].rstrip(","), text[found.end() :]) if first == "the" or first not in _NO_PLACE else None
    if text[:1].isupper() or re.search(r"\b[A-Z][a-z]", text):
        return None
    taken = _take(text, _PLACE_STOPS, 2)
    words = taken[0].split() if taken else []
    if taken is None or words[0] in _NO_PLACE or not all(word.isalpha() for word in words):
        return None
    return (taken[0].title(), taken[1]) if len(words) == 1 or not taken[1] or taken[1][1:2].isalpha() else None


def organisation(text: str) -> Value | None:
    """“Google as a data scientist” → Google; “a bank in Leeds” → a bank; no times and no “home”."""
    taken = _take(text, _ORG_STOPS, 6)
    if taken is None:
        return None
    value, rest = taken
    if " and " in value and not re.search(r" and [A-Z]", value):
        value, _, more = value.partition(" and ")
        rest = f" and {more}{rest}"
    words = value.lower().split()
    has_article = words[0] in {"a", "an", "the", "my", "our", "their"} and len(words) > 1
    if words[has_article] in _NO_WORK or words[-1] in _TIMES or not value[0].isalnum():
        return None
    small = not has_article and value[0].islower() and len(words) <= 2
    return " ".join(word.capitalize() for word in words) if small else value, rest


def job(text: str) -> Value | None:
    """“software engineer at Google” → software engineer, if the last word is an occupation; or “head of …”."""
    taken = _take(text, _JOB_STOPS, 5)
    words = taken[0].split() if taken else []
    if words and words[0].lower() in {"a", "an", "the"}:
        words = words[1:]
    is_job = words and (is_occupation(words[-1]) or ("of" in words and any(map(is_occupation, words))))
    return (" ".join(words), taken[1]) if taken and is_job else None


def person(text: str) -> Value | None:
    """“Mary Ann and she …” → Mary Ann."""
    if re.fullmatch(r"[a-z][a-z'-]{1,15}", text) and clean_name(text.title()):
        return text.title(), ""
    found = re.match(NAME, text)
    words = found[0].split() if found else []
    while words and not clean_name(" ".join(words)):
        words.pop()
    name = " ".join(words)
    return (name, text[len(name) :]) if name and not text[len(name) : len(name) + 1].isalnum() else None


def thing(text: str) -> Value | None:
    """A few words, up to where something else begins."""
    taken = _take(text, _THING_STOPS, 9)
    return taken if taken and taken[0].split()[0].lower() not in _NO_THING else None


def one_thing(text: str) -> Value | None:
    """A thing that is one, named or with an article: “a 2009 Honda, is it …” → a 2009 Honda."""
    taken = thing(text.partition(",")[0])
    return taken if taken and (taken[0][0].isupper() or re.match(r"(?:an?|the|my|\d)\b", taken[0])) else None


def short_thing(text: str) -> Value | None:
    """The same in at most six words: what may be a list of keys."""
    taken = thing(text)
    return taken if taken and len(taken[0].split()) <= 6 else None


def age(text: str) -> Value | None:
    """“34 years old and …” → 34; no “34 minutes late”."""
    found = _AGE.match(text)
    return (found[1], text[found.end() :]) if found else None


def pronouns(text: str) -> Value | None:
    """“she/her” → she/her."""
    found = re.match(r"(?:she|he|they|xe|ze|it)/\w{2,5}(?:/\w+)?", text, re.I)
    return (found[0].lower(), text[found.end() :]) if found else None


def items(value: str) -> Iterator[str]:
    """The parts of “peanuts, shellfish and penicillin”."""
    yield from (part for part in _SPLIT.split(value) if part.strip())


def _take(text: str, stops: frozenset[str], most: int) -> Value | None:
    """Words up to a stop word or the end of a phrase."""
    words = text.split(" ")
    taken: list[str] = []
    for word in words:
        stops_here = word.lower().strip(",") in stops and taken
        if stops_here or word.startswith("(") or len(taken) == most or word in {"-", "–", "—"}:
            break
        taken.append(word)
        following = words[len(taken)].lower() if len(words) > len(taken) else ""
        if (word.endswith((".", ";", ":", "!", "?")) and len(word) > 4) or (word[-1:] == "," and following in THIRD):
            break
    value = " ".join(taken).strip(" ,.;:!?")
    rest = " ".join(words[len(taken) :])
    return (value, f" {rest}" if rest else "") if value else None
