"""The last check: a statement is one well-formed sentence that ends where it ends, or it is nothing."""

import re
from dataclasses import dataclass
from typing import Final

from memory.facts.keys import USER
from memory.librarian.rules.words import NEVER_LAST
from memory.models.kinds import Kind

MAX_WORDS: Final = 45
_TAIL: Final = re.compile(
    r"(?i)(?:[\s,;:\-–—(/&'\"]|\b(?:at all|any ?more|now|these days|though|actually|really|either|too))+$"
)
_WISH: Final = re.compile(
    r",? so (?:nothing|no|any|something|anything|maybe|please|ideas?|tips?|only|just|gimme|give|make|keep|be"
    r"|should|must|could|can|careful|needs?|has to)\b.*$",
    re.I,
)
"""What a request adds to what is so: “I teach year 6 so nothing babyish”."""
_ASIDE: Final = re.compile(r"(?: (?:themselves|myself))?, (?:tastes|smells|looks|sounds|feels) (?:of|like) .*$")
"""Why something is disliked, without a subject: “coriander myself, tastes of soap”."""
_RUNS_ON: Final = re.compile(
    r"(?:(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bProf)\. [a-z].*|,? (?:and|but) the user|, (?:them|they)"
    r"| (?:what|how|where|which|who|why) (?:do|does|should|can|could|would|to) .*)$"
)
"""Another sentence, or the start of one: “in May. the user is …”, “is on 3 March what do the user get him”."""
_UNFINISHED: Final = re.compile(
    r" (?:when|because|while|although) (?:(?:my|the|their|his|her) \w+|(?-i:[A-ZÀ-ÞĀ-Ž])\w+)$", re.I
)
"""A subordinate clause that has a subject and no verb: “moved down from London when Gareth”."""
_CONTRAST: Final = re.compile(
    r"(?<= )(?:(\d\S*?),? (?:and )?not \d\S*|([A-ZÀ-ÞĀ-Ž][\w'-]+),? (?:and )?not [A-ZÀ-ÞĀ-Ž][\w'-]+)$"
)
"""A number or name with the wrong one behind it: “shoe size is 43 not 42”."""
_ODD: Final = re.compile(
    r"(?i)[?!=]|https?:|[{}<>|\\]|\.\.|,,|\s[,.]|[,;:-]\.$|\b(?:lol|pls|plz|btw|haha)\b|[\U0001F000-\U0001FFFF]"
)
_SAYS_NOTHING: Final = re.compile(
    r".*\binstead(?! of\b)|The user's (?:(?!\w+(?:s|d|ew)\b)[\w-]+ ){1,3}(?:s?he|they|we) (?!(?:and|or)\b)"
    r"|The user's ([\w' -]{2,60}?)(?: [A-ZÀ-ÞĀ-Ž]\S*){0,3} is (?:the|an?) (?:user's )?\1\Z"
    r"|The user's [\w-]+ (?:\w+\.? )?(\w+) is \w+\.? \2\Z"
    r"|The user's ([\w -]+?) is not the user's \3(?!\w)"
    r"|The user mentions (?:the user\b|(?:the|an?) \w+\Z|\w+(?:, [A-ZÀ-ÞĀ-Ž]\w+)+(?: and [A-ZÀ-ÞĀ-Ž]\w+)?\Z"
    r"|[A-ZÀ-ÞĀ-Ž]\w+(?: and [A-ZÀ-ÞĀ-Ž]\w+)?\Z)"
)
"""What is said “instead” of something unnamed, “my operation he drove”, “it isn't my sister”, a bare name or thing."""
_FIRST_PERSON: Final = re.compile(r"(?<![\w'])(?:I|I'm|I've|me|my|myself|our|us)(?![\w'])")


@dataclass(frozen=True, slots=True)
class Note:
    """A statement that was read, with its key and how it was read."""

    kind: Kind
    statement: str
    attribute: str = ""
    value: str = ""
    subject: str = USER
    form: str = "note"
    health: bool = False
    confidence: float = 0.95
    tags: tuple[str, ...] = ()
    quote: str = ""
    """Its words, if not the whole place it was read at."""


def finished(statement: str) -> str:
    """The statement with one full stop and no loose end; empty if it is not one well-formed sentence."""
    text = " ".join(statement.split())
    text = re.sub(r"^(The user) also ", r"\1 ", text)
    text = re.sub(r"[\U0001F000-\U0001FFFF\u2600-\u27BF\uFE0F]", "", text)
    body = text.removesuffix(".")
    for pattern in (_RUNS_ON, _WISH, _ASIDE, _TAIL, _UNFINISHED):
        body = pattern.sub("", body)
    body = _CONTRAST.sub(r"\1\2", body)
    body = _unbracketed(body)
    words = body.split()
    while words and words[-1].strip(",") in NEVER_LAST:  # with a capital, it is part of a name: “Hoi An”
        words = _TAIL.sub("", " ".join(words[:-1])).split()
    body = _TAIL.sub("", " ".join(words))
    if (
        not 4 <= len(words) <= MAX_WORDS
        or not body[0].isupper()
        or _ODD.search(f"{body}.")
        or _SAYS_NOTHING.match(body)
        or _FIRST_PERSON.search(body)
    ):
        return ""
    return f"{body}." if body.count('"') % 2 == 0 and body.count("“") == body.count("”") else ""


def _unbracketed(body: str) -> str:
    """Without a bracket that does not close."""
    opens = body.rfind("(")
    if opens > body.rfind(")"):
        body = body[:opens]
    return body if body.count("(") == body.count(")") else body.replace("(", "").replace(")", "")
