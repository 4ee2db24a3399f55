"""Facts as shown to the user they are about: “The user lives in Lyon.” is stored, “You live in Lyon.” is shown.

Rules on the surface of English. A sentence that isn't about “the user” is left as it is.
"""

import re
from collections.abc import Callable
from typing import Final

from memory.text.fact_lines import BULLET, Line, lines_of

_AUXILIARIES: Final = {
    "is": "are", "was": "were", "has": "have", "does": "do", "goes": "go",
    "isn't": "aren't", "wasn't": "weren't", "hasn't": "haven't", "doesn't": "don't",
}  # fmt: skip
_ADVERB: Final = r"(?:also|still|now|no longer|often|usually|sometimes|really|always|never|\w+ly)"
_SUBJECT: Final = re.compile(
    r"(?P<start>^|[,;:] |\b(?:and|but|that|because|when(?:ever)?|if|where) )(?:the )?user "
    rf"(?P<adverb>{_ADVERB} )?(?P<verb>[\w'’]+)",
    re.I,
)
_JOINED: Final = re.compile(
    rf"\b(?P<and>and|but|or) (?P<adverb>{_ADVERB} )?(?P<verb>is|isn't|was|has|does|doesn't|goes|lives|works|likes|"
    r"loves|enjoys|plays|prefers|wants|needs|studies|speaks|teaches|owns|hates|eats|drinks|runs|uses|keeps)\b"
)
"""Verbs changed after a conjunction, where another word in -s could just as well be a noun."""
_OWNER: Final = re.compile(r"\b(?:the )user['’]s\b|^user['’]s\b", re.I)
_OWNS: Final = re.compile(r"\bthe user['’]s(?= ?(?:[,.;:!?)]|$))", re.I)
_ELSEWHERE: Final = re.compile(r"\bthe user\b", re.I)
_REFLEXIVE: Final = re.compile(r"\b(?:themsel(?:f|ves)|himself|herself)\b")
_THEIR: Final = re.compile(r"\btheir\b")
_ORDER: Final = re.compile(r"(?:(?:Whenever|If) [^,]+, t|T)he user wants (?:the assistant|it)\b")
_ADDRESSED: Final = re.compile(
    r"\b(answer|address|ask|call|correct|give|help|let|remind|send|show|teach|tell|warn|about|for|of|to|with) them\b"
)
"""The user, in what they want of the assistant: “to answer them in short paragraphs”."""
_QUOTED: Final = re.compile(r"“(?:[^“”]|“[^“”]*”)*+”?|\"[^\"\n]*\"")
_QUOTE: Final = "“”"
"""In the place of quoted words."""
_NEXT: Final = re.compile(r"(?<=[.!?”]) (?=The user\b)")
_WROTE: Final = re.compile(r"\bThe user wrote: (?=“)")


def second_person(text: str) -> str:
    """The text as said to the user; what it quotes stays.

    >>> second_person("The user's sister lives in Lisbon.")
    'Your sister lives in Lisbon.'
    """
    if "user" not in text.lower():
        return text
    quotes = iter(_QUOTED.findall(text))
    said = " ".join(map(_to_user, _NEXT.split(_QUOTED.sub(_QUOTE, text))))
    return re.sub(_QUOTE, lambda _: next(quotes), said)


def document_to_user(text: str) -> str:
    """A document as its user reads it: without marks, and what Recall learned said to them. Their own lines stay."""
    return "\n".join(map(_line_to_user, lines_of(text)))


def _line_to_user(line: Line) -> str:
    if line.mark is None:
        return line.raw
    bullet = BULLET.match(line.unmarked)
    start = bullet.end() if bullet else 0
    return line.unmarked[:start] + second_person(line.unmarked[start:])


def _to_user(sentence: str) -> str:
    text = sentence
    if _ORDER.match(text):
        text = _THEIR.sub("your", _ADDRESSED.sub(r"\1 you", text.replace("the assistant", "Recall")))
    if _SUBJECT.match(text):
        text = _REFLEXIVE.sub("yourself", _THEIR.sub("your", _JOINED.sub(_joined, text)))
    text = _OWNS.sub("yours", text)
    text = _OWNER.sub(_capital("your"), _SUBJECT.sub(_subject, text))
    text = _ELSEWHERE.sub(_capital("you"), text)
    return text if text == sentence else text[:1].upper() + text[1:]


def you_wrote(text: str) -> str:
    """A summary of the user's own words, as said to the user."""
    return _WROTE.sub("You wrote: ", text)


def _capital(word: str) -> Callable[[re.Match[str]], str]:
    """`word`, capitalized where “The” was: at the start of a later sentence."""
    return lambda found: word.capitalize() if found[0].startswith("The") else word


def _subject(found: re.Match[str]) -> str:
    return f"{found['start']}you {found['adverb'] or ''}{_verb(found['verb'])}"


def _joined(found: re.Match[str]) -> str:
    return f"{found['and']} {found['adverb'] or ''}{_verb(found['verb'])}"


def _verb(verb: str) -> str:
    """lives → live, studies → study, watches → watch, is → are; other words stay."""
    verb = verb.replace("’", "'")
    if verb in _AUXILIARIES:
        return _AUXILIARIES[verb]
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    if verb.endswith(("ches", "shes", "sses", "xes", "zzes")):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb
