"""The table: what a predicate says of its subject, how far its value reaches, and what a labeled note says.

A row has the words before the value, the reader of the value and the statement. The first row that fits a predicate
wins; which subjects an attribute may have a key for is decided by `memory/facts/keys.py`. A reader goes through its
text once and gives the value, spelled as it is stored, and what is left; or nothing, if no such value begins there.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Final

from memory.librarian.rules import words as lists
from memory.librarian.rules.retell import NAME, clean_name, is_occupation
from memory.librarian.rules.words import THIRD
from memory.models.kinds import Kind
from memory.text.language import alternatives, as_set

type Value = tuple[str, str]
"""The value, and the rest of the text."""
type Reader = Callable[[str], Value | None]

_CAP: Final = r"[A-ZÀ-ÞĀ-Ž][\w'&-]*(?:\.(?=\w)[\w.]*)?"
_LINK: Final = r"(?: (?:de|da|do|dos|la|le|las|los|of|the|upon|am|an|and|sur|del|di|St\.|&)(?: (?:la|der|the))?)?"
_PLACE: Final = re.compile(
    r"(?:(?:the|a (?:small )?(?:town|village|suburb|city) (?:near|outside|called)|downtown|central|upstate|rural"
    rf"|(?:north|south|east|west)(?:ern)?) )?{_CAP}(?:{_LINK}[ -]{_CAP}){{0,3}}(?:, {_CAP}(?: {_CAP})?(?= "
    r"|,|$))?(?![\w'])"
)
_DWELLING: Final = re.compile(rf"^an? (?:[\w-]+ ){{1,4}}?in (?={_CAP})")
_NO_PLACE: Final = as_set(
    "i i'm a an the my our their this that it one two fear peace hope debt pain love with and monday tuesday wednesday"
    " thursday friday saturday sunday january february march april june july august september october november december"
    " english german french spanish bed town here there same another different new winter summer spring autumn fall"
)
_STOPS: Final = as_set(
    "and but or so because since as while when where which who that if for at with from until till although though"
    " unless by after before than then now these right currently whose during via per despite anymore"
)
_PLACE_STOPS: Final = _STOPS | as_set(
    "in on to near currently again last this next about i atm too also is was all not years a the rn"
)
_ORG_STOPS: Final = _STOPS - {"and", "for"} | as_set("in on doing making part full full-time part-time a")
_JOB_STOPS: Final = _STOPS | as_set(
    "in on working living here specialising specializing based doing running to not they"
)
_THING_STOPS: Final = _STOPS - as_set("and or with from for by than at per that as before after")
_NO_THING: Final = as_set("here there who which where why it that this them how what you your when if")
_SPLIT: Final = re.compile(r"(?![^()]{0,60}\))\s*(?:,\s*(?:and|or|&)?|\s(?:and|or|&|\+|nor)\s)\s*")
_NO_WORK: Final = as_set(
    "job living home same night nights day days weekends weekend week the moment school sea height it this that them a"
    " an my our their myself themselves least last all present times once full part both him her you me us"
)
_TIMES: Final = as_set("years year months month weeks week days day hours hour minutes")
_AGE: Final = re.compile(
    r"(\d{1,2}|1[01]\d|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six"
    r"|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"(?:-(?:one|two|three|four|five|six|seven|eight|nine))?)"
    r"(?=$|,| (?:years?(?! (?:in|with|at|on|into|of|sober|clean|married|here|now)\b)|yo|and|n|now|this|last|in|today"
    r"|yesterday|on|but|male|female|so)\b|-)"
)


_ADVERBIAL: Final = re.compile(
    r"(?i)(?: (?:at all|any ?more|any longer|these days|for now|at the moment|so far|after all|a lot|(?:very|too|so)"
    r" much|again|anyway|either|already|themselves|himself|herself|poor \w+|bless (?:him|her|them)))+$"
)
"""What may follow a value and is no part of it."""


def place(text: str) -> Value | None:
    """“Lisbon, Portugal with my …” → Lisbon, Portugal; “a flat in Leeds” → Leeds. In a text without capitals one or
    two words."""
    text = _DWELLING.sub("", text)
    found = _PLACE.match(text)
    if found:
        first = found[0].split()[0].lower().strip(",.")
        return (found[0].rstrip(","), text[found.end() :]) if first == "the" or first not in _NO_PLACE else None
    if text[:1].isupper() or re.search(r"\b[A-ZÀ-ÞĀ-Ž][a-z]", text):
        return None
    head, comma, more = text.partition(",")
    taken = _take(head, _PLACE_STOPS, 2)
    words = taken[0].split() if taken else []
    if taken is None or words[0] in _NO_PLACE or not all(word.isalpha() for word in words):
        return None
    is_whole = len(words) == 1 or not taken[1] or taken[1][1:2].isalpha()
    return (taken[0].title(), f"{taken[1]}{comma}{more}") if is_whole else None


def organisation(text: str) -> Value | None:
    """“Google as a data scientist” → Google; “a bank in Leeds” → a bank; no times and no “home”."""
    named = re.split(r",(?! (?:Inc|Ltd|LLC)\b)", text, maxsplit=1)[0]
    taken = _take(named, _ORG_STOPS, 6)
    if taken is None:
        return None
    value, rest = taken[0], taken[1] + text[len(named) :]
    if " and " in value and not re.search(r" and [A-ZÀ-ÞĀ-Ž]", value):
        value, _, more = value.partition(" and ")
        rest = f" and {more}{rest}"
    words = value.lower().split()
    has_article = words[0] in {"a", "an", "the", "my", "our", "their"} and len(words) > 1
    if words[has_article] in _NO_WORK or words[-1] in _TIMES | lists.NO_EMPLOYER or not value[0].isalnum():
        return None
    small = not has_article and value[0].islower() and len(words) <= 2
    return " ".join(word.capitalize() for word in words) if small else value, rest


SCHOOL: Final = re.compile(r"(?i)\b(?:school|high|primary|academy|nursery|kindergarten|preschool|elementary|grammar)$")
"""How the name of a school ends."""


def school(text: str) -> Value | None:
    """“St Mark's primary and …” → St Mark's primary."""
    found = organisation(text)
    is_named = found is not None and found[0][0].isupper() and SCHOOL.search(found[0])
    return found if is_named else None


def job(text: str) -> Value | None:
    """“software engineer at Google” → software engineer, if the last word is an occupation; or “head of …”."""
    named, comma, more = text.partition(",")
    head = re.split(r"(?<! of)(?<! for) the ", named, maxsplit=1)[0]  # “a data analyst the rest of the week”
    named, more = head, named[len(head) :] + comma + more
    taken = _take(named, _JOB_STOPS, 5)
    words = taken[0].split() if taken else []
    if words and words[0].lower() in {"a", "an", "the"}:
        words = words[1:]
    if words and words[0] == "user's":  # “is my daughter's teacher”: that is who they are
        return None
    is_job = words and (is_occupation(words[-1]) or ("of" in words and any(map(is_occupation, words))))
    return (" ".join(words), taken[1] + more) if taken and is_job else None


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


def address(text: str) -> Value | None:
    """“14 Mill Lane, Ludlow” → the same: a number and what follows it with capital letters, or “Calle Sorolla 14”."""
    found = re.match(
        r"(?:(?:has )?(?:changed|moved) to )?((?:\d{1,5}[a-z]? [A-ZÀ-ÞĀ-Ž][\w' -]{2,40}"
        r"|(?:[A-ZÀ-ÞĀ-Ž][\w'.-]{1,20} ){1,4}\d{1,4}\b)"
        r"(?:, [A-ZÀ-ÞĀ-Ž][\w' -]{1,30}){0,2})",
        text,
    )
    return (found[1].strip(), text[found.end() :]) if found else None


def short_thing(text: str) -> Value | None:
    """The same in at most six words: what may be a list of keys."""
    taken = thing(text)
    return taken if taken and len(taken[0].split()) <= 6 else None


def age(text: str) -> Value | None:
    """“34 years old and …” → 34; no “34 minutes late”."""
    found = _AGE.match(text)
    return (found[1], text[found.end() :]) if found else None


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
    value = _ADVERBIAL.sub("", " ".join(taken).strip(" ,.;:!?")).rstrip(",")
    rest = " ".join(words[len(taken) :])
    return (value, f" {rest}" if rest else "") if value else None


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of claim."""

    kind: Kind
    attribute: str
    """Empty if it has many values. {slug} is the value as a name of an attribute."""
    says: str
    """The statement's predicate: {v} is the value, {a} its article, {name} a group of `lead`, {now} the month."""
    lead: str
    """A pattern of the predicate's beginning; bounded, without nesting."""
    reads: Reader | None = None
    value: str = "{v}"
    correction: bool = False
    """It is news: a change."""
    health: bool = False
    each: bool = False
    """A list gives one fact for each item."""
    past: bool = False
    """It tells of the past: it has a key only if it says until when."""
    asks: bool = False
    """It is always asked about."""


WITH_THE: Final = re.compile(
    r"(?i)the (?:netherlands|philippines|bahamas|gambia|maldives|seychelles|congo|caribbean|hague|bronx|highlands"
    r"|hebrides|algarve|ardennes|alps|midlands|cotswolds|(?:u\.?[sk]|usa|uae)\b|(?:[a-z]+ )?(?:states|kingdom|republic"
    r"|emirates|islands?|district|valley|coast))"
)
"""Places that are no part of a town, though they have an article."""


def place_of_its_own(text: str) -> Value | None:
    """The same as `place`, but no part of a town: “the Südvorstadt” takes the place of no home in Leipzig."""
    is_part = re.match(r"[Tt]he [A-ZÀ-ÞĀ-Ž]", text) is not None and WITH_THE.match(text) is None
    return None if is_part else place(text)


_life = partial(Row, Kind.BIOGRAPHY)
_body = partial(Row, Kind.CONSTRAINT, health=True)
_food = partial(Row, Kind.CONSTRAINT)
_taste = partial(Row, Kind.PREFERENCE, "taste:{slug}")
_EVER: Final = (
    r"(?:(?:also|now|currently|still|just|recently|originally|actually|really|only|always|finally|both"
    r"|(?!nearly|hardly|barely|rarely)[a-z]{3,9}ly) ){0,2}"
)
_VERY: Final = (
    r"(?:(?:severely|mildly|badly|very|slightly|quite|highly|a bit|rather|red-green|completely|partially) ){0,2}"
)
_FOLLOWS: Final = rf"(?:is|has been|has gone|went|became) {_EVER}(?:an? )?(?:strict |lifelong )?"
FREE_OF: Final = r"(?P<what>gluten|dairy|lactose|sugar|nut|egg|soy)[- ]free"
"""No diet that excludes another: who is vegetarian may be gluten-free as well."""
_HOURS: Final = r"(?:full[- ]time |part[- ]time |remotely |nights |shifts )?"
_STATES: Final = (
    r"single(?! (?:parent|mum|mom|mother|dad|father|room|bed)\b)|divorced|widowed|separated|engaged|married"
)

ROWS: Final = (
    # Where they live and come from.
    _life("home", "lives in {v}.",
        rf"lives {_EVER}(?:alone |together |over |out |up |down |with (?:[\w'-]+ ){{1,4}})?in ", place_of_its_own),
    _life("home", "lives {where} {v}.",
        rf"(?:lives|is {_EVER}(?:living|based)) {_EVER}"
        r"(?P<where>near|(?:just )?outside|close to|on the outskirts of|(?:north|south|east|west) of) ", place),
    _life("home", "lives in {v}.", rf"is {_EVER}(?:back )?(?:living|based|located|settled|residing|renting) {_EVER}"
        r"(?:out of|in) ", place),
    _life("home", "lives in {v}.",
        rf"(?:has )?{_EVER}(?:moved|relocated|shifted|emigrated) {_EVER}(?:back |over |out |house |away )?"
        r"(?:from [\w' ]{2,30} )?to ", place, correction=True),
    _life("home", "lives in {v}.",
        rf"(?:has )?{_EVER}moved in with (?:[\w'-]+ ){{1,4}}?(?:over |here |down |up )?in (?=[A-ZÀ-ÞĀ-Ž])", place,
        correction=True),
    _life("home", "lives in {v}.",
        rf"has {_EVER}(?:been living|lived|been) {_EVER}(?:here )?in |calls (?=[\w -]+ home\b)", place),
    _life("home", "used to live in {v}.", r"(?:used to live|lived) (?:for [\w ]{2,12} )?in ", place, past=True),
    # Work and study.
    _life("job", "works as {a} {v}.", rf"(?:works|is {_EVER}(?:working|employed)) {_EVER}{_HOURS}as (?:an? |the )?",
        job),
    _life("job", "works as {a} {v}.",
        r"(?:has )?(?:just |recently )?(?:started|begun|began|found|got)(?: work(?:ing)?| a (?:new )?job)? as"
        r" (?:an? |the )?", job, correction=True),
    _life("job", "is training as {a} {v}.",
        r"(?:has )?(?:just |recently )?(?:started|begun|began) (?:re)?training (?:as|to be(?:come)?) (?:an? )?", job,
        value="trainee {v}", correction=True, asks=True),
    _life("employer", "works at {v}.",
        r"(?:has )?(?:just |recently |now )?started (?:work(?:ing)? )?at (?=an? |the |[A-ZÀ-ÞĀ-Ž])", organisation,
        correction=True),
    _life("employer", "works at {v}.",
        rf"(?:has )?{_EVER}(?:got|gotten|landed|found|taken|took|started) (?:an?|the|my|this) (?:[\w-]+ ){{0,2}}?"
        r"(?:job|role|position|post|gig) (?:at|with|for) (?=an? |the |[A-ZÀ-ÞĀ-Ž])", organisation, correction=True),
    _life("employer", "works at {v}.",
        rf"(?:works|is {_EVER}(?:working|employed)) {_EVER}{_HOURS}(?:at|for|with|by) ", organisation),
    _life("school", "goes to {v}.",
        rf"(?:(?:goes|is {_EVER}going) {_EVER}to|attends) (?=[A-ZÀ-ÞĀ-Ž])", school),
    _life("job", "is {a} {v}.",
        rf"(?:is|has been) {_EVER}(?:an? |the )(?:only |proud |professional |full-time |part-time )?", job),
    _life("", "belongs to a {v}.", r"is a (?=(?:[a-z-]+ )?(?:family|household|couple|team|group) of )",
        lambda text: thing(text.partition(",")[0])),
    _life("job", "used to be {a} {v}.",
        r"used to be (?:an? |the )|was (?:an? |the )(?=.{2,30} (?:until|before|for|at))", job, past=True),
    _life("job", "is {state}.",
        rf"(?:is|has) {_EVER}(?P<state>retired|self-employed|unemployed|between jobs|freelance)(?![\w-])",
        value="{state}"),
    _life("studies", "{verb} {v}.", rf"(?P<verb>studies|is {_EVER}(?:studying(?: for)?|majoring in)) ",
        lambda text: thing(re.split(r",| by ", text)[0])),
    _life("studies", "is doing {what} in {v}.",
        rf"is {_EVER}doing (?P<what>an? (?:[\w-]+ )?(?:degree|phd|doctorate|master's|masters|ma|msc|bsc|ba"
        r"|mba|postdoc|apprenticeship|course)) (?:in|on) ", thing),
    _life("", "lives with the user.", r"lives with the user(?![\w'])"),
    # Age and relationship.
    _life("age", "was {v} years old in {now}.", rf"is {_EVER}|(?:has )?{_EVER}turned |has (?:just )?become ", age,
        correction=True),
    _life("relationship", "is {state}.",
        rf"(?:is|got|has been|has) {_EVER}(?:happily |newly )?(?P<state>{_STATES})(?: now)?"
        r"(?=$|[,.;:!)]| (?:and|but|again|since|at|for|so|these|this|because|after|as)\b)", value="{state}"),
    Row(Kind.PERSON, "partner", "is {state} to {v}.",
        r"(?:is|got|has been|has got) (?:\w+ )?(?P<state>married|engaged) to ", person),
    Row(Kind.PERSON, "partner", "is in a relationship with {v}.",
        r"is (?:now )?(?:dating|going out with|in a relationship with) ", person),
    Row(Kind.PERSON, "partner", "is in a relationship with {v}.", r"is with (?=(?-i:[A-ZÀ-ÞĀ-Ž][a-z]+) now\b)", person,
        asks=True),
    # Food and health.
    _food("diet:{what}", "is {what}-free.", rf"{_FOLLOWS}{FREE_OF}(?![\w-])", value="no"),
    _food("diet", "is {diet}.", rf"{_FOLLOWS}(?P<diet>{alternatives(lists.DIETS)})(?![\w-])", value="{diet}"),
    _food("diet", "used to be {diet}.", rf"(?:was|used to be) (?:an? )?(?P<diet>{alternatives(lists.DIETS)})(?![\w-])",
        value="{diet}", past=True),
    _body("allergy:{slug}", "is allergic to {v}.", rf"is {_VERY}allergic to ", thing, value="yes", each=True),
    _body("allergy:{what}", "is allergic to {what}.",
        r"has (?:an? )?(?:(?:very )?(?:bad|severe|mild|slight|serious|terrible|strong) )?"
        r"(?P<what>(?!(?:food|skin|seasonal|contact|drug|no)\b)[a-z-]{3,20}(?: (?!and\b|or\b)[a-z]{3,15})?)"
        r" allergy\b(?! and\b)",
        value="yes"),
    _body(
        "allergy:{slug}", "is not allergic to {v}.", r"is not allergic to (?!any)", thing, value="no", each=True),
    _body("condition:{what} intolerance", "is {what} intolerant.",
        rf"is {_VERY}(?P<what>lactose|gluten|fructose|histamine)[- ]intolerant", value="yes"),
    _body("condition:{what}", "is {what}.",
        rf"(?:is|was born) {_VERY}(?P<what>{alternatives(lists.AFFLICTED)})(?![\w-])", value="yes"),
    _body("condition:{what}", "has {what}.",
        r"(?:has|suffers from|lives with|gets|(?:was|has been) (?:\w+ )?diagnosed with) (?:\w+ )?"
        r"(?P<what>(?:(?:type|stage) \d |chronic |severe |mild |seasonal |social"
        rf" )?(?:{alternatives(lists.CONDITIONS)})(?: disease| disorder)?)(?![\w-])", value="yes"),
    _body("", "takes {what}.", r"(?:takes|is on|started|has been put on) (?:[\w-]+"
        rf" )?(?P<what>{alternatives(lists.MEDICINES)})(?![\w-])"),
    _food("diet:{slug}", "does not eat or drink {v}.",
        r"(?:(?:does not|cannot|never|will not)(?: ever)? (?:eats?|tolerate|drinks?)|(?:cannot|never|will not) have) "
        r"(?!.*\b(?:time|money|idea|breakfast|lunch|dinner|any ?more|a lot|much"
        r"|enough)\b)", short_thing, value="no", each=True),
    # Languages and tastes.
    _life("", "speaks {v}.", r"speaks ", thing),
    _taste("{verb} {v}.", rf"{_EVER}(?:absolutely )?(?P<verb>loves|likes|enjoys|adores) (?!to\b)", thing,
        value="likes"),
    _taste("likes {v}.",
        r"is (?:\w+ )?(?:into|fond of|obsessed with|crazy about|mad about|keen on|an? (?:\w+ )?(?:fan|lover)"
        r" of) ", thing, value="likes"),
    _taste("dislikes {v}.",
        rf"{_EVER}(?:absolutely )?(?:hates|dislikes|loathes|detests|cannot (?:stand|bear|abide)|does not"
        r" (?:really )?(?:like|enjoy)" r"|is not (?:really |very |a big )?(?:into|fond of|keen on|a fan of)) ",
        thing, value="dislikes"),
    # Names and things.
    Row(Kind.PERSON, "name", "is called {v}.",
        r"(?:is|was) (?:(?:now |an? (?:[\w-]+ )?)(?:guy|man|woman|lady|girl|boy|bloke|chap|lad) )?(?:called|named) ",
        person),
    Row(Kind.IDENTITY, "preferred_name", "wants to be called {v}.",
        r"(?:goes by|(?:prefers|likes|wants) to (?:be called|go by)) ", person),
)  # fmt: skip
"""In this order; the special stands above the general."""


@cache
def compiled_rows() -> tuple[tuple[Row, re.Pattern[str]], ...]:
    """The rows with their patterns: made at the first reading, as they take a quarter second."""
    return tuple((row, re.compile(row.lead, re.I)) for row in ROWS)


@dataclass(frozen=True, slots=True)
class Label:
    """What people write before a colon, or after “my”, and what a value behind it says of someone."""

    words: str
    kind: Kind
    says: str
    attribute: str = ""
    value: str = "{v}"
    reads: Reader | None = None
    """None takes the whole value, and only in notes."""
    each: bool = False
    health: bool = False


_about = partial(Label, kind=Kind.BIOGRAPHY)
_health = partial(Label, kind=Kind.CONSTRAINT, value="yes", each=True, health=True)
_likes = partial(Label, kind=Kind.PREFERENCE, attribute="taste:{slug}", each=True)
_name = partial(Label, kind=Kind.IDENTITY, reads=person)
LABELS: Final = (
    _health("allergies|allergy|allergic|allergic to", says=" is allergic to {v}", attribute="allergy:{slug}",
            reads=thing),
    _health("conditions|condition|health|medical|diagnosis", says=" has {v}", attribute="condition:{slug}"),
    _health("meds|medication|medications|medicine", says=" takes {v}"),
    Label("diet", Kind.CONSTRAINT, " follows this diet: {v}", "diet", reads=thing),
    _about("job|work|occupation|profession", says=" works as {a} {v}", attribute="job", reads=job),
    _about("employer|company", says=" works at {v}", attribute="employer", reads=organisation),
    _about("home|lives in|live in|living in|based|based in|location|city", says=" lives in {v}", attribute="home",
           reads=place),
    _about("place|flat|apartment|house|new place|new flat|new apartment|new house", says=" lives in {v}",
           attribute="home", reads=lambda text: place(text[3:]) if text.startswith("in ") else None),
    _about("hometown|home town|native place|originally from",
           says="'s hometown is {v}", attribute="origin", reads=place),
    _name("name|my name|full name|real name|full legal name", says="'s name is {v}", attribute="name"),
    _name("first name", says="'s first name is {v}", attribute="name"),
    _name("nickname", says="'s nickname is {v}", attribute="preferred_name"),
    _name("surname|last name|family name", says="'s surname is {v}", attribute="surname"),
    _about("address|home address|postal address", says="'s address is {v}", attribute="address", reads=address),
    _about("age", says=" was {v} years old in {now}", attribute="age", reads=age),
    _about("birthday|bday", says="'s birthday is {v}", attribute="birthday"),
    _about("dob|born", says=" was born on {v}", attribute="birthday"),
    _about("native language|mother tongue", says="'s native language is {v}", reads=thing),
    _about("languages|language|speaks|i speak", says=" speaks {v}", each=True),
    _about("studies|studying|degree|major", says=" studies {v}", attribute="studies"),
    _likes("likes|loves|favorites|favourites|favorites so far|i like|into|hobbies|hobby|interests",
           says=" likes {v}", value="likes"),
    _likes("dislikes|hates|i hate|i dislike", says=" dislikes {v}", value="dislikes"),
    Label("goal|goals|dream|aim", Kind.GOAL, " has this goal: {v}", reads=thing),
    Label("car", Kind.ENTITY, "'s car is {v}", "car", reads=one_thing),
    Label("phone", Kind.ENTITY, "'s phone is {v}", "phone", reads=one_thing),
)  # fmt: skip
LABEL_OF: Final[Mapping[str, Label]] = {word: label for label in LABELS for word in label.words.split("|")}
