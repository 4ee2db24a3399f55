"""What a message takes for granted about the user's life: “Can my 14-year-old cat fly?”

Whoever asks about “my X” has an X. So whole messages are read, questions and requests too. Nothing is taken from what
is supposed, and nothing that the claims of the message have told already.

    my/our X             a relative, an animal, an ailment, a belonging, a course, a job, with what is said of it
    X, which I love      a taste, in passing
    here in X            a place
    two cats (A and B)   animals with names are somebody's: the user's
    he/him               pronouns, where the user speaks of themselves
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from memory.librarian.rules.ailments import AILMENTS, MEDICINE
from memory.librarian.rules.dates import MONTHS, WEEKDAYS
from memory.librarian.rules.open_patterns import KIN, POSSESSIONS, ROLES
from memory.librarian.rules.people import CREATURES, alternatives
from memory.librarian.rules.scenes import STORY_TELLING
from memory.librarian.rules.slots import NATIONALITIES, third_person, told_to_assistant
from memory.librarian.rules.verbs import ADVERBS, conjugated
from memory.models.kinds import Kind

STUDY: Final = (
    r"thesis|dissertation|degree|phd|masters?|master's|bachelor'?s?|bsc|msc|mba|a-?levels|gcses|apprenticeship"
    r"|internship"
    r"|traineeship|module|supervisor|professor|tutor|course|uni|university|college|evening class|night class"
    r"|major|finals"
)
WORK: Final = (
    r"job|shifts?|commute|startup|start-up|company|business|shop|caf[eé]|bakery|practice|team|boss|manager|clients"
    r"|students|pupils|class|contract|studio|salon|farm|allotment|band|choir|club|gym|church|village|town|street"
)
HABIT: Final = (
    r"run|walk|swim|yoga|workout|practice|lesson|lessons|class|commute|ride|call|dinner|lunch|market|quiz|rehearsal"
)
_OFTEN_MOD: Final = (
    r"daily|weekly|monthly|nightly|morning|evening|sunday|saturday|friday|monday|tuesday|wednesday|thursday|weekend"
)
_MOD: Final = (
    r"(?!(?:is|are|was|were|has|have|had|and|or|but|the|an?|my|our|your|to|of|in|on|at|for|with|from|who|that|which|not"
    r"|between|during|without|over|under|through|after|before|into|across|per|while|than|as|by|about"
    r"|am|do|does|did|will|would|can|could|best|favou?rite|next|last|other|current|first|own|whole|dream|ideal"
    r"|future)\b)"
    r"[\w'-]+"
)
_TIMES: Final = (
    rf"{alternatives((*MONTHS, *WEEKDAYS))}|morning|evening|afternoon|night|week|month|year|summer|winter|spring"
    rf"|autumn|time|moment|end|start"
)
_TAIL: Final = (
    rf"(?: (?!\w+ (?:the |this |next |last )?(?:{_TIMES}|\d)\b)(?:in|at|near|on|from|of|about|with) (?:the |an? "
    rf"|my |our )?[\w'-]+"
    r"(?: (?:(?:of|and|de|on) )?(?-i:[A-Z])[\w'-]+){0,2})?"
)
_OWNED: Final = re.compile(
    rf"(?<![\w'-])(?<!not )(?<!n't )(?:my|our) (?P<what>(?P<mods>(?:{_MOD} ){{0,5}}?)"
    rf"(?P<head>{KIN}|{CREATURES}|{AILMENTS}|{MEDICINE}|tablets|pills|inhaler|{POSSESSIONS}|(?:{STUDY}"
    rf"|{WORK})(?:e?s)?)(?P<tail>{_TAIL}))(?![\w'’-])(?! (?:teacher|lesson|class|{KIN}|{POSSESSIONS})s?\b)",
    re.I,
)
_REGULAR: Final = re.compile(
    rf"(?<![\w'-])(?:my|our) (?P<what>(?:{_MOD} ){{0,2}}?(?:{_OFTEN_MOD}) (?:{_MOD} "
    rf"){{0,2}}?(?P<head>{HABIT})(?P<tail>{_TAIL}))(?![\w'-])",
    re.I,
)
_AILING: Final = re.compile(
    rf"(?<![\w'-])(?:my|our) (?P<who>(?:{_MOD} )?(?:{KIN}))'s (?P<head>{AILMENTS})(?![\w'-])", re.I
)
_TASTE: Final = re.compile(
    r"(?<![\w'&-])(?P<what>(?:[\w'&-]++ ){0,4}[\w'&-]++)(?<!\bsay)(?<!\bsaid)(?<!\bthink)(?<!\bsure)(?<!\btrue),?"
    r" (?:which|that|who|whom) (?:i|we) "
    rf"{ADVERBS}(?P<verb>loved?|adored?|liked?|enjoy(?:ed)?|hated?|loathed?|can't stand|play|collect|grow|breed)\b"
    r"(?! (?:to|most|best|about|the most))",
    re.I,
)
_BEFORE_THING: Final = re.compile(
    r"^.*\b(?:like|such as|of|for|about|with|to|from|in|on|at|is|are|was|were|the|an?|than|by|recommend|suggest"
    r"|find|give|me"
    r"|cook|make|and|or|but|similar)\b ",
    re.I,
)
_SERVICES: Final = (
    "linkedin", "github", "google", "instagram", "insta", "facebook", "twitter", "gmail", "outlook", "trello", "excel",
    "word", "netflix", "spotify", "youtube", "amazon", "tiktok", "whatsapp", "discord", "reddit", "airbnb", "etsy",
    "dockerfile", "makefile", "java\\w*", "python", "wifi", "wi-fi", "internet",
)  # fmt: skip
"""“My LinkedIn” says no more than that the user is of our time."""
_NO_MAKE: Final = alternatives(
    (*WEEKDAYS, *MONTHS, *NATIONALITIES, "god", "lord", "cv", "id", "tv", "pc", "phd", *_SERVICES)
)
_MADE_BY: Final = re.compile(
    rf"(?<![\w'-])(?:my|our) (?P<what>(?:(?:old|new|second-hand|vintage|little|trusty|\d{{4}}) )*(?!(?:{_NO_MAKE}"
    rf"|{KIN})\b)"
    r"(?-i:[A-Z][a-z])[\w-]+(?: (?-i:[A-Z0-9])[\w-]*){0,3})(?![\w'’-])",
    re.I,
)
_GOT: Final = re.compile(
    r"(?<![\w'-])(?P<what>(?:an?|the|some|two|three) "
    r"(?![^,.?!]*\b(?:e?mail|letter|message|text|reply|error|idea|answer|question|impression|result|feeling|one"
    r"|time|thing)s?\b)"
    r"(?:[\w'&-]+ ){0,4}[\w'&-]+?) (?:that |which )?(?:i|we) "
    r"(?:just |recently |once )?"
    r"(?P<verb>got|bought|inherited|own|built|adopted|rent|keep|grew|ordered|booked|planted|knitted|baked"
    r"|restored|rescued)\b"
    r"(?P<tail>"
    r"(?! (?:\w+ing|made|gave|helped|meant|changed|wrong|right|to|it|an?|the)\b)[^,.?!:;()\n]{0,60}?)"
    r"(?=[,.?!:;()\n]|$| (?:and|but|so|is|are|was|has|can|should)\b)",
    re.I,
)
_AS_A: Final = re.compile(
    rf"(?:^|(?<=[.?!,\n] ))(?:(?:speaking |posting |asking )?as|being) (?P<what>(?!an ai\b|a (?:bot|language "
    rf"model))an? (?:[\w'-]+ "
    rf"){{0,5}}?(?:{ROLES}|(?-i:[A-Z])\w+er"
    rf"|(?-i:[A-Z])\w+ian|{alternatives(tuple(NATIONALITIES))}))(?![\w'-])",
    re.I,
)
_LIKE_ME: Final = re.compile(
    r"\b(?P<how>for|with) (?P<what>(?:an? )?(?!people|someone|anyone)[\w' -]{3,40}?) like (?:me|myself|us)\b", re.I
)
_WHERE_I_LIVE: Final = re.compile(
    r"\bwhere (?:i|we) live,? (?:\(|in |near )?(?P<place>(?-i:[A-Z])[\w-]+(?: (?-i:[A-Z])[\w-]+)*)", re.I
)
_BACK_HOME: Final = re.compile(r"\b(?i:back home|at home|home) (?i:in) (?P<place>[A-Z][\w'-]+(?: [A-Z][\w'-]+)*)")
_HOME: Final = re.compile(
    r"(?P<place>(?-i:[A-Z])[\w-]+) \((?:home|where (?:i|we) live|my home ?(?:town|city)?)\)", re.I
)
_WHERE: Final = re.compile(
    r"(?P<place>(?-i:[A-Z][a-z]{2,})[\w-]*(?: (?-i:[A-Z])[\w-]+)*),? (?:which is )?where (?P<claim>(?:(?:i|we) "
    r"(?:now |mostly )?"
    r"(?:live|lived|work|worked|study|studied|spend|grew|was|am|stay|rent|teach|train|own|practically)|(?:i'm"
    r"|we're)|(?:my|our) \w+ is)"
    r"(?: [^,.?!:;(\n]{3,60})?)",
    re.I,
)
_GREETS: Final = re.compile(
    r"\b(?i:greetings|hello|hi|hey|cheers|love|writing(?: this| to you)?) (?i:from) (?:(?:an?|the|very|my"
    r"|[a-z]+) ){0,4}"
    r"(?P<place>[A-Z][\w-]+(?: [A-Z][\w-]+)*)"
)
_BEING: Final = re.compile(
    r"(?:^|(?<=[.?!\n] ))being (?P<what>(?!an?\b|(?:out|in|on|at|around|with|there|back) "
    r"|honest|fair|realistic|serious|careful|able|told|so\b|there"
    r"|here)[\w' -]{3,40}), ",
    re.I,
)
_APPOSED: Final = re.compile(r"(?:^|(?<=[.?!\n] ))(?P<what>an? [\w' -]{3,50}), (?=(?:i|i'm|i've|we|my)\b)", re.I)
_AIDS: Final = re.compile(r"wheelchair|hearing aids?|crutches|walker|pacemaker|cane|inhaler|guide dog|prosthe\w+", re.I)
_LIKED: Final = re.compile(
    r"\blike (?P<what>(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z0-9])[\w'-]*)*)(?=\W)[^?\n]{0,80}?\b(?P<verb>loved|adored"
    r"|enjoyed|liked) (?:it|them|that)\b"
)
_HERE: Final = re.compile(
    r"\b(?i:here|over here|near me|around me) (?i:in|near) "
    r"(?P<place>(?-i:[A-Z])[\w'-]+"
    r"(?: (?-i:[A-Z])[\w'-]+)*)"
)
_NAMED_ANIMALS: Final = re.compile(
    rf"(?<![\w'-])(?P<what>(?:{_MOD} ){{0,3}}?(?:{CREATURES})) ?(?:\(|,? called |,? named )"
    r"(?P<names>(?-i:[A-Z])[\w'-]+(?:(?:,| and| &) (?-i:[A-Z])[\w'-]+){1,4})\)?",
    re.I,
)
_WHO: Final = re.compile(
    rf"(?<![\w'-])(?<!not )(?<!n't )(?:my|our) (?P<who>(?:{_MOD} ){{0,2}}?(?:{KIN}"
    rf"|{CREATURES})(?:,? (?-i:[A-Z])[\w-]+)?),? who(?P<claim>"
    r"(?:'s| is| was| has| had| lives| works| starts| started| plays| studies| teaches| loves| hates| likes"
    r"| can't| won't"
    r"| doesn't| isn't| just turned| turns| turned| speaks| runs| owns| keeps| moved| grew up| died)"
    r"(?! (?:going|coming|asking|saying|telling|here|there|very|so|really|always|never|the one|it"
    r"|that)\b) [^,.?!()\n]{3,80}?)"
    r"(?=,|[.?!\n)]|$| (?:and|but|so) )",
    re.I,
)
"""“Our eldest, who starts school in May, …” says that of them, whatever follows."""
_BESIDE_ME: Final = re.compile(
    r"(?<![\w'-])(?P<who>[A-Z][a-z]+(?: [A-Z][a-z]+)?), who (?P<claim>(?:[a-z]+s|lived|shared|taught|raised"
    r"|married|met|worked) "
    r"[^,.?!()\n]{0,60}?\b(?:me|my|us|our)\b[^,.?!()\n]{0,40}?)(?=,|[.?!\n)]|$)"
)
"""“Kofi, who sits next to me at work, …”"""
_PRONOUNS: Final = re.compile(
    r"\b(?:i|me|i'm|im|my)\b[^.?!\n]{0,60}?\b(?P<what>(?:she|he|they|xe|ze)/(?:her|him|them|xem|zir))\b"
    r"|(?<=[A-Z])[a-z]+ \((?P<below>(?:she|he|they)/(?:her|him|them))\)\s*$"
    r"|\b(?P<this>(?:she|he|they|xe|ze)/(?:her|him|them|xem|zir)) (?:for me|please|pronouns,? please|is fine)",
    re.I,
)
_ANY_KIN: Final = re.compile(rf"\b(?:{KIN})\b", re.I)
_ANY_ILLNESS: Final = re.compile(rf"\b(?:{AILMENTS}|{MEDICINE})\b", re.I)
_ANOTHERS: Final = re.compile(r"\b(?:friend|colleague|character|child|kid|son|daughter|partner|student|client)\b", re.I)
_SUPPOSED: Final = re.compile(
    r"\b(?:if|unless|suppose|imagine|assum\w+|pretend|say i|wish|hypothetical\w*|would have)\b", re.I
)


_NO_THING: Final = frozenset(
    ["this", "that", "it", "one", "ones", "things", "something", "way", "people", "everything"]
)
_ANYWHERE: Final = frozenset(["home", "place", "room", "land", "field", "plot", "team", "class", "street", "time"])
_COUNTED: Final = re.compile(r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|several|many)\b", re.I)
_YEARS: Final = re.compile(r"\d+[- ]?(?:year|yr|month|week|day|foot|ft|m\b|inch)|(?:19|20)\d\d\b")
_MANY: Final = re.compile(r"(?<![su])(?<!i)s$|(?:children|people|feet)$")

# What each form says ---------------------------------------------------------------------------------------------


def _is(found: re.Match[str]) -> str:
    return f"The user is {third_person(found['what'])}."


def _is_in(found: re.Match[str]) -> str:
    return f"The user is in {found['place']}."


def _has(found: re.Match[str]) -> str:
    return f"The user has {_with_article(found['what'])}."


def _is_at_home(found: re.Match[str]) -> str:
    return f"The user's home is {found['place']}."


def _owns(found: re.Match[str]) -> str:
    """“My phone”, “my boss”, “my happy place” say nothing by themselves."""
    head, tail = found["head"], found["tail"]
    telling = found["mods"].strip() or tail or _is_ill(found) or _AIDS.fullmatch(head)
    vague = head.lower() in _ANYWHERE and re.search("[A-Z]", tail) is None
    if vague or not telling or tail == " in law":
        return ""
    return f"The user has {found['what']}." if _is_ill(found) else _has(found)


def _ails(found: re.Match[str]) -> str:
    return f"The user's {found['who']} has {found['head']}."


def _does(found: re.Match[str]) -> str:
    return f"The user {conjugated(found['verb'].lower())} {third_person(found['what'] + found['tail'])}."


_NO_NOUN: Final = re.compile(r"^(?:it|that|this|he|she|there|what)(?:'s| is| was)?\b|\bnot$", re.I)
"""“It's not that I love …” names nothing that is loved."""


def _likes(found: re.Match[str]) -> str:
    thing = _BEFORE_THING.sub("", found["what"])
    no_thing = thing.lower() in _NO_THING or _NO_NOUN.search(thing)
    return "" if no_thing else f"The user {conjugated(found['verb'].lower())} {third_person(thing)}."


def _is_like_that(found: re.Match[str]) -> str:
    verb = "is" if found["how"].lower() == "for" else "has"
    return f"The user {verb} {third_person(found['what'])}." if re.match("an? ", found["what"], re.I) else ""


def _is_where(found: re.Match[str]) -> str:
    claim = re.sub(r"\bwe\b", "i", re.sub(r"\bour\b", "my", found["claim"]))
    return f"{found['place']} is where {told_to_assistant(claim)}."


def _has_animals(found: re.Match[str]) -> str:
    return f"The user has {third_person(found['what'])}, {found['names']}."


def _is_said_of(found: re.Match[str]) -> str:
    who, claim = found["who"], found["claim"].strip()
    claim = re.sub(r"^'s\b", "is", claim)
    return f"The user's {who} {told_to_assistant(claim)}."


def _is_to_the_user(found: re.Match[str]) -> str:
    return f"{found['who']} {told_to_assistant(found['claim'])}."


def _has_pronouns(found: re.Match[str]) -> str:
    pronouns = found["what"] or found["this"] or found["below"]
    return "" if _ANOTHERS.search(found[0]) else f"The user's pronouns are {pronouns}."


def _is_ill(found: re.Match[str]) -> bool:
    return re.fullmatch(rf"{AILMENTS}|{MEDICINE}", found["head"], re.I) is not None


def _with_article(what: str) -> str:
    """“14-year-old cat” → “a 14-year-old cat”; what is many stays as it is."""
    words = third_person(what)
    head = re.split(r" (?:in|at|near|on|from|of|about|with) ", words)[0]
    if _MANY.search(head) or (_COUNTED.match(words) and not _YEARS.match(words)):
        return words
    return f"{'an' if words[0].lower() in 'aeio' or words.startswith(('8', '11 ', '18')) else 'a'} {words}"


@dataclass(frozen=True, slots=True)
class _Form:
    """Words that take something for granted, and what it is; “”: nothing after all."""

    kind: Kind
    says: re.Pattern[str]
    tells: Callable[[re.Match[str]], str]


_FORMS: Final = (
    _Form(Kind.PERSON, _WHO, _is_said_of),
    _Form(Kind.PERSON, _BESIDE_ME, _is_to_the_user),
    _Form(Kind.ENTITY, _OWNED, _owns),
    _Form(Kind.PROCEDURE, _REGULAR, _has),
    _Form(Kind.PERSON, _AILING, _ails),
    _Form(Kind.PREFERENCE, _TASTE, _likes),
    _Form(Kind.PREFERENCE, _LIKED, _likes),
    _Form(Kind.ENTITY, _MADE_BY, _has),
    _Form(Kind.ENTITY, _GOT, _does),
    _Form(Kind.BIOGRAPHY, _AS_A, _is),
    _Form(Kind.BIOGRAPHY, _BEING, _is),
    _Form(Kind.BIOGRAPHY, _APPOSED, _is),
    _Form(Kind.BIOGRAPHY, _LIKE_ME, _is_like_that),
    _Form(Kind.BIOGRAPHY, _WHERE_I_LIVE, _is_at_home),
    _Form(Kind.BIOGRAPHY, _HOME, _is_at_home),
    _Form(Kind.BIOGRAPHY, _BACK_HOME, _is_at_home),
    _Form(Kind.BIOGRAPHY, _HERE, _is_in),
    _Form(Kind.BIOGRAPHY, _GREETS, _is_in),
    _Form(Kind.BIOGRAPHY, _WHERE, _is_where),
    _Form(Kind.ENTITY, _NAMED_ANIMALS, _has_animals),
    _Form(Kind.IDENTITY, _PRONOUNS, _has_pronouns),
)

# Reading ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Presupposed:
    """A statement that a message takes for granted, and where it stands."""

    statement: str
    kind: Kind
    start: int
    end: int
    third_party: bool
    health: bool


def presupposed(text: str, told: Iterable[str]) -> Iterator[Presupposed]:
    """What `text`, a message's own words, takes for granted and none of `told` says."""
    known = " ".join(told).lower()
    for form in _FORMS:
        for found in form.says.finditer(text):
            statement = form.tells(found)
            if statement and not _is_supposed(text, found.start()) and _last_word(found) not in known:
                known += f" {statement.lower()}"
                yield _of(form, found, statement)


def _of(form: _Form, found: re.Match[str], statement: str) -> Presupposed:
    kin = _ANY_KIN.search(statement) is not None
    ill = _ANY_ILLNESS.search(statement) is not None
    kind = form.kind
    if form.says is _OWNED:
        kind = Kind.PERSON if kin else Kind.CONSTRAINT if ill else kind
    end = found.start() + len(found[0].rstrip(" ,"))
    return Presupposed(statement, kind, found.start(), end, third_party=kin, health=ill)


def _last_word(found: re.Match[str]) -> str:
    """By which a claim is known that tells the same."""
    return re.split(r"[\s(]+", found[0].lower().rstrip(" ,)"))[-1]


def _is_supposed(text: str, position: int) -> bool:
    before = text[max(text.rfind(mark, 0, position) for mark in ".?!\n") + 1 : position]
    return _SUPPOSED.search(before) is not None or STORY_TELLING.match(before.strip()) is not None
