"""The table of the rule engine: sentences that say something about the user, and the facts they make.

Each row: a pattern that a whole clause must match, and the fact it makes. `<slot>` stands for a piece that
`memory/librarian/rules/slots.py` checks; `{slot}` puts it into the statement, key or value. Rows of one topic are
tried in their order and the first that matches a clause wins, so the special stands above the general.

Confidence says how sure the wording is: .95 where a sentence can hardly mean anything else, below .8 (which is never
kept unasked) where it often does. Importance is the kind's default unless a row says otherwise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import Final

from memory.librarian.rules.slots import SLOTS
from memory.models.kinds import Kind

CERTAIN: Final = 0.95
LIKELY: Final = 0.9
FAIR: Final = 0.85
ASK: Final = 0.75
GUESS: Final = 0.6

LIFE_AND_LIMB: Final = 0.9
"""Importance of what could hurt when forgotten: allergies, conditions."""
PASSING: Final = 0.45
"""Importance of tastes and small things: recalled when they matter, not held in every prompt."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One row of the table."""

    topic: str
    kind: Kind
    statement: str
    says: str
    key: str = ""
    value: str = ""
    confidence: float = LIKELY
    importance: float | None = None
    third_party: bool = False
    health: bool = False
    to_assistant: bool = False
    correction: bool = False
    retracts: str = ""
    """Key whose value this takes back, if that value is the one named."""

    def compiled(self) -> re.Pattern[str]:
        """The pattern with its slots filled in."""
        says = _SLOT.sub(lambda found: _MACROS.get(found[1], found[0]), self.says)
        return re.compile(_SLOT.sub(lambda found: f"(?P<{found[1]}>{SLOTS[found[1]].pattern})", says), re.I)


_SLOT = re.compile(r"(?<!\?P)<(\w+)>")
_OFTEN = "(?: (?:also|now|still|currently|actually|just|really|recently|mostly|usually))?"
_MACROS: Final = {
    "i": f"(?:i|we){_OFTEN}",
    "im": f"(?:i'm|i am|im|we're|we are)(?: both| very)?{_OFTEN}",
    "ive": f"(?:i've|i have|ive|we've|we have|i|we)(?: finally)?{_OFTEN}",
    "my": "(?:my|our)",
    "who": f"(?:my|our) <relation>(?:,? <name>,?)?{_OFTEN}",
    "is": f"(?: is|'s){_OFTEN}",
}

# Who the user is -------------------------------------------------------------------------------------------------

name = partial(Pattern, "name", Kind.IDENTITY, "The user's name is {name}.", key="name", value="{name}")
i_am = partial(Pattern, "name", Kind.IDENTITY, "The user's name is {own_name}.", key="name", value="{own_name}")
called = partial(
    Pattern, "called", Kind.IDENTITY, "The user wants to be called {name}.", key="preferred_name", value="{name}"
)

IDENTITY: Final = (
    name("<my> name (?:is not|isn't) .{1,40}?(?: but|,)(?: it's| it is)? <name>", correction=True),
    name("<my> name is <name>,? not .{1,40}", correction=True),
    name("(?:it's|it is) <name>,? not .{1,40}", correction=True, confidence=GUESS),
    name("<my> (?:full |real |first )?name(?:'s| is) (?:really )?<name>", confidence=CERTAIN),
    name("i changed <my> name to <name>", correction=True, confidence=CERTAIN),
    i_am("<im> <own_name>(?:, .{1,60})?", confidence=ASK),  # “I'm Batman”
    i_am("<im> <own_name>,? from .{1,60}", confidence=ASK),
    name("<my> name(?:'s| is) <name>,? (?:but|and|though|although) .{1,80}", confidence=CERTAIN),
    name("<im> (?:listed|known|registered|credited|published) as <name>(?: (?:there|here|in|on|by|at)"
        " .{1,60}| there| here)?"),
    name("it'?s <name>,? not .{1,40}", correction=True, confidence=ASK),
    name("it's <name>,? (?:[a-z]-){2,20}[a-z]", correction=True),
    name("(?:the )?name(?:'s|:) <name>(?:,? .{1,80})?"),
    name("<my> (?:full|real|legal|birth) name is <name>,? .{1,80}"),
    i_am("it's <own_name> (?:here|again|from)(?:,? .{1,80})?"),
    name("<im> called <name>(?:,? .{1,80})?"),
    name("<im> (?:better |also |otherwise )?known as <name>(?:,? .{1,80})?"),
    Pattern("surname", Kind.IDENTITY, "The user's {which} name is {name}.",
        "<my> (?P<which>first|last|middle|maiden|married|family|pen|stage) name(?:'s| is) (?:now"
        " )?<name>(?:,? .{1,80})?"),
    Pattern("surname", Kind.IDENTITY, "The user's surname is {name}.",
        "(?:<my>|the) surname(?:'s| is) (?:now )?<name>(?:,? .{1,80})?"),
    called("(?:please )?(?:address|refer to) me as <name>(?:,? .{1,80})?"),
    called("i go by <name>,? .{1,80}"),
    i_am("it'?s <own_name>(?: btw| by the way| again| here)(?:,? .{1,80})?"),
    i_am("<own_name> again(?:[^\\w'].*)?", confidence=ASK),
    i_am("(?:it's|that's) <own_name>,? (?:with an? \\w+|spel(?:t|led) .{1,40}|like the .{1,40})", confidence=ASK),
    i_am("(?:it's|its) <own_name>", confidence=ASK),
    name("(?:the|<my>) name on (?:<my>|the) (?:passport|id|birth certificate|badge|documents?|ticket|booking)"
        " (?:is|has to be|must be|should"
        " be) <name>(?:,? .{1,80})?"),
    called("(?:people|most people|my friends|friends|colleagues|they|some) knows? me as <name>(?:,? .{1,80})?"),
    called("(?:please |just |you can |you may )?call me <name>,? or .{1,40}"),
    Pattern(
        "pronouns", Kind.IDENTITY, "The user's pronouns are {pronouns}.",
        "(?:please |pls )?use (?P<pronouns>(?:she|he|they|xe|ze)/\\w{2,5})(?: pronouns)? for me(?:[ ,].{1,80})?",
        key="pronouns", value="{pronouns}",
    ),
    i_am("this is <own_name> (?:again|here|speaking)(?:,? .{1,100})?"),
    i_am("<own_name> here(?:(?: ?[^\\w' ]| (?:from|again|btw)\\b).*)?"),
    i_am("<own_name> here (?:in|for|with|asking|wondering|looking|trying|and)\\b.*", confidence=ASK),
    Pattern(
        "full_name", Kind.IDENTITY, "The user's full name is {name}.",
        "(?:it's |that's |which is |it is )?short for <name>(?:,? (?:but|and|though) .{1,80})?",
    ),
    called("(?:.{1,60} (?:but|and|though) )?(?:everyone|everybody|people|most people|my friends|friends"
        "|they all|the kids|<my> \\w+) (?:just |all )?calls? me <name>(?:,.{1,80})?"),
    called("(?:you can|please|just|feel free to) (?:say|use|go with|call me) <name>(?:,? (?:if|for"
        " short|since|as|because) .{1,60}| for short|, .{1,60})?"),
    Pattern(
        "pronouns", Kind.IDENTITY, "The user's pronouns are {pronouns}.",
        "(?:i go by|i use|<my> pronouns(?: are| is|:)?|pronouns:?) (?P<pronouns>(?:she|he|they"
            "|xe|ze|it)/\\w{2,5}(?:/\\w+)?)(?:[ ,].{1,80})?",
        key="pronouns", value="{pronouns}", confidence=CERTAIN,
    ),
    called("(?:please |just |you can |you may )?call me <name>"),
    called("(?:everyone|everybody|people|my friends|friends) calls? me <name>"),
    called("nobody (?:ever )?(?:calls|has called|called) me anything (?:but|except|other than) <name>"
        "(?: (?:since|but|and)\\b.{1,60})?"),
    name("(?:please |just |you can )*sign (?:it|that|this|me|off|it off)(?: off)?(?: as| with)?:? <name>"
        "(?:,.{1,80})?", confidence=ASK),
    i_am("<own_name> speaking(?:,? .{1,80})?"),
    called("i sign (?:off )?as <name>(?: (?:in|at|on|for) .{1,60})?"),
    called("i go by <my> (?:middle|second|first|maiden) name,? <name>"),
    called("i (?:go by|prefer to be called|like to be called) <name>(?:,? not .{1,40})?"),
    called("<my> nickname is <name>"),
    Pattern(
        "pronouns", Kind.IDENTITY, "The user's pronouns are {thing}.", "<my> pronouns are <thing>",
        key="pronouns", value="{thing}", confidence=CERTAIN,
    ),
)  # fmt: skip

# Where from, where to --------------------------------------------------------------------------------------------

lives = partial(Pattern, "home", Kind.BIOGRAPHY, "The user lives in {place}.", key="home", value="{place}")
lived = partial(Pattern, "home", Kind.BIOGRAPHY, importance=PASSING)
origin = partial(Pattern, "origin", Kind.BIOGRAPHY, "The user is from {place}.", key="origin", value="{place}")

PLACES: Final = (
    Pattern(
        "home", Kind.BIOGRAPHY, "The user does not live in {place}.",
        "<i> (?:no longer|don't|do not) live in <place>", retracts="home", value="{place}",
    ),
    Pattern(
        "home", Kind.BIOGRAPHY, "The user lives {where} {place}.", "<i> live <where> <place>",
        key="home", value="{place}", confidence=CERTAIN,
    ),
    lives("<im> (?:living|based|located) in <place>"),
    lives("<ive> (?:been living|lived) in <place> (?:since|all my life|my whole life).{0,30}"),
    lives("<my> home is in <place>"),
    lives("i call <place> home"),
    lives("<ive> (?:moved|relocated|emigrated)(?: back| over| out)?(?: from .{1,40}?)? to <place>", correction=True),
    lived("The user used to live in {place}.", "i used to live in <place>"),
    lived("The user lived in {place}.", "i lived in <place>"),
    Pattern("moving", Kind.EVENT, "The user is moving to {place}.", "<im> moving (?:back )?to <place>"),
    origin("<im> (?:originally )?from <place>"),
    origin("<im> <own_name>,? from <place>", confidence=ASK),
    origin("i (?:originally )?come from <place>"),
    origin("<my> hometown is <place>"),
    Pattern("born", Kind.BIOGRAPHY, "The user was born in {place}.", "i was born(?: and raised)? in <place>"),
    Pattern("grew_up", Kind.BIOGRAPHY, "The user grew up in {place}.", "i (?:grew up|was raised) in <place>"),
    Pattern("nationality", Kind.BIOGRAPHY, "The user is {nationality}.", "<im> <nationality>"),
)  # fmt: skip

# Work and study --------------------------------------------------------------------------------------------------

works_at = partial(
    Pattern, "employer", Kind.BIOGRAPHY, "The user works at {employer}.", key="employer", value="{employer}"
)
left = partial(
    Pattern, "employer", Kind.BIOGRAPHY, "The user does not work at {employer}.",
    retracts="employer", value="{employer}",
)  # fmt: skip
left_job = partial(
    Pattern, "employer", Kind.BIOGRAPHY, "The user left their job at {employer}.",
    retracts="employer", value="{employer}", correction=True, confidence=ASK,
)  # fmt: skip
job = partial(Pattern, "job", Kind.BIOGRAPHY, key="job")
studies = partial(
    Pattern, "studies", Kind.BIOGRAPHY, "The user studies {thing}.", key="studies", value="{thing}", confidence=FAIR
)

WORK: Final = (
    left("<i> (?:no longer|don't|do not) work (?:at|for) <employer>"),
    left_job("<i> (?:quit|left|resigned from) my job (?:at|with) <employer>"),
    left_job(
        "<i> (?:quit|left|resigned from) (?!(?:\\w+ing|coffee|sugar|meat|alcohol|caffeine|bread|school|uni|college|home"
        "|town|work|early|the (?:house|party|room|gym|country|city|group|band|church|chat)|my|it|him|her|them|an?)\\b)"
        "<employer>"
    ),
    works_at("<i> work (?:at|for) <employer>", confidence=CERTAIN),
    works_at("<im> (?:working|employed) (?:at|for|by) <employer>"),
    works_at("<im> an? <short_job> (?:at|for) <employer>"),
    works_at("<i> work as .{1,60}? (?:at|for) <employer>"),
    works_at("<i> got a (?:new )?job (?:at|with) <employer>", correction=True),
    works_at("<ive> (?:started|begun|began)(?: working| a new job| my new job)? at <employer>", correction=True),
    job("The user is {state}.", "<im> (?P<state>retired|unemployed|self-employed|between jobs)", value="{state}"),
    job("The user is {article} {job}.", "<im> <article> <job>", value="{job}"),
    job(
        "The user works as {article} {said_job}.",
        "<i> (?:work|make a living)(?: (?:at|for) .{1,60}?)? as <article> <said_job>",
        value="{said_job}", confidence=CERTAIN,
    ),
    job(
        "The user's job is {said_job}.", "<my> (?:job|profession|occupation) is <said_job>", value="{said_job}",
        confidence=ASK,
    ),
    studies("<i> study <thing>"),
    studies("<im> studying <thing>", confidence=ASK),  # at university, or just now
    studies("<my> major is <thing>"),
)  # fmt: skip

# Life ------------------------------------------------------------------------------------------------------------

age = partial(
    Pattern, "age", Kind.BIOGRAPHY, "The user was {age} years old in {month}.", key="age", value="{age}"
)  # fmt: skip
birthday = partial(Pattern, "birthday", Kind.BIOGRAPHY, key="birthday", value="{birthdate}", confidence=CERTAIN)
biography = partial(Pattern, kind=Kind.BIOGRAPHY)
thing = partial(Pattern, kind=Kind.FACT)

LIFE: Final = (
    age("<im> <age>(?: years old| years of age| yo| y/o)?"),
    age("<i> turned <age>(?: today| yesterday| last .{3,10}| this .{3,10})?"),
    birthday("The user's birthday is {birthdate}.", "<my> birthday(?:'s| is)(?: on)? <birthdate>"),
    birthday("The user was born on {birthdate}.", "i was born(?: on)? <birthdate>(?: in .{1,40})?"),
    biography("born", statement="The user was born in {year}.", says="i was born in (?P<year>(?:19|20)\\d\\d)"),
    biography(
        "relationship", statement="The user is {state}.", key="relationship", value="{state}",
        says="<im> (?:happily )?(?P<state>married|single|divorced|engaged|widowed|separated)(?: (?:to|with|for|since)"
        " .{1,60})?",
    ),
    biography("languages", statement="The user speaks {languages}.", says="<i> speak <languages>"),
    biography("languages", statement="The user speaks {languages}.", says="<im> (?:fluent|bilingual) in <languages>"),
    biography(
        "languages", statement="The user's native language is {languages}.",
        says="<my> (?:native|first|mother) (?:language|tongue) is <languages>",
    ),
    thing(
        "belongings", statement="The user's {subject} is {thing}.", confidence=FAIR,
        says="<my> (?P<subject>car|bike|motorbike|phone|laptop|computer|camera|shoe size|height|star sign|time ?zone"
        "|operating system"
        "|editor|instrument|religion|school|university|alma mater|company|startup|thesis|band|website|blog|budget"
        "|middle name"
        "|last name|surname)(?:'s| is) (?:called |named |about )?<thing>",
    ),
    thing("play", statement="The user plays {thing}.", says="<i> play <thing>", confidence=FAIR),
    thing("collect", statement="The user collects {thing}.", says="<i> collect <thing>", confidence=FAIR),
    thing("drive", statement="The user drives a {thing}.", says="<i> drive an? <thing>", confidence=FAIR),
)  # fmt: skip

# People and animals ----------------------------------------------------------------------------------------------


def who(topic: str, tells: str, says: str, confidence: float = LIKELY, *, health: bool = False) -> Pattern:
    """A row about somebody the user knows; `tells` follows on “The user's sister Mary”."""
    statement = f"The user's {{who}} {tells}"
    return Pattern(topic, Kind.PERSON, statement, says, confidence=confidence, third_party=True, health=health)


named = partial(Pattern, "who_named", Kind.PERSON, "The user's {relation} is called {name}.", third_party=True)
family = partial(Pattern, "family", Kind.PERSON, "The user has {count} {kin}{rest}.")
_COUNTED_KIN: Final = (
    "<ive> (?P<count>1?\\d|one|two|three|four|five|six|seven|no) (?P<kin>(?:\\w+ )?(?:kids|children|sons|daughters"
    "|brothers|sisters"
    "|siblings|grandchildren|cats|dogs|horses|child|daughter|son|sister|brother|cat|dog))"
)
pet = partial(Pattern, "pet", Kind.ENTITY, "The user has a {animal} called {name}.")
pet_named = partial(
    Pattern, "pet", Kind.ENTITY, "The user has a {animal} called {own_name}.", confidence=FAIR
)  # fmt: skip

PEOPLE: Final = (
    who("who_lives", "does not live in {place}.", "<who> (?:no longer lives|doesn't live|does not live) in <place>"),
    who("who_lives", "lives {where} {place}.", "<who> lives? <where> <place>", CERTAIN),
    who("who_lives", "lives in {place}.", "<who><is> (?:living|based) in <place>"),
    who("who_lives", "lives in {place}.", "<who> (?:has )?(?:just |recently )?moved to <place>"),
    who("who_from", "is from {place}.", "<who>(?:<is>| comes) (?:originally )?from <place>"),
    who("who_works", "works at {employer}.", "<who> works (?:at|for) <employer>"),
    who("who_works", "works at {employer}.", "<who><is> an? <short_job> (?:at|for) <employer>"),
    who("who_job", "works as {article} {said_job}.", "<who> works(?: (?:at|for) .{1,60}?)? as <article> <said_job>"),
    who("who_job", "is {article} {job}.", "<who><is> <article> <job>"),
    who("who_job", "is {state}.", "<who><is> (?P<state>retired|unemployed|self-employed)"),
    who("who_studies", "studies {thing}.", "<who> (?:studies|is studying) <thing>"),
    named(
        confidence=CERTAIN,
        says="<my> <relation>(?:'s name is|'s called| is called| is named|,? (?:who is )?called|,? named) <name>"
        "(?:,? not .{1,30})?",
    ),
    named(
        confidence=CERTAIN,
        says="<ive> an? <relation>,? (?:named|called|whose name is) <name>(?: (?:who|that|from|in|at) .{1,80})?",
    ),
    named("<name><is> <my> <relation>"),
    Pattern("who_couple", Kind.PERSON, "The user is married to {name}.", "<im> married to <name>", third_party=True),
    who("who_age", "was {age} years old in {month}.", "<who><is> <age>(?: years old)?"),
    who("who_age", "was {age} years old in {month}.", "<who> (?:just )?turned <age>(?: .{3,20})?"),
    who(
        "who_birthday", "has their birthday on {birthdate}.",
        "<my> <relation>(?: <name>)?'s birthday is(?: on)? <birthdate>",
    ),
    who("who_likes", "{verb} {thing}.", "<who> (?P<verb>likes|loves|enjoys|hates|dislikes) <thing>", FAIR),
    who("who_likes", "does not like {thing}.", "<who> (?:doesn't|does not) like <thing>", FAIR),
    who("who_died", "{verb}{rest}.", "<who> (?:has )?(?P<verb>died|passed away)(?P<rest>(?: .{1,60})?)", CERTAIN),
    who(
        "who_family", "has {count} {kin}.",
        says="<who> has (?P<count>\\d{1,2}|an?|one|two|three|four|five|six) (?P<kin>kids?|children|child"
        "|sons?|daughters?|dogs?|cats?|baby)",
    ),
    who("who_allergy", "is allergic to {allergen}.", "<who><is> (?:\\w+ )?allergic to <allergen>", health=True),
    who("who_diet", "is {diet}.", "<who><is> (?:a )?<diet>"),
    who("who_health", "has {condition}.", "<who> has (?:been diagnosed with )?<condition>", health=True),
    who("who_health", "has {condition}.", "<who> (?:was|got) diagnosed with <condition>", health=True),
    family(f"{_COUNTED_KIN}(?P<rest>(?:,? (?:named|called)|,|:) .{{1,80}})", third_party=True),
    family(f"{_COUNTED_KIN}(?P<rest>)"),
    pet("<ive> an? <animal>,? (?:named|called|whose name is) <name>", confidence=CERTAIN),
    pet("<my> <animal>(?:'s name is| is called| is named|,? called|,? named) <name>", confidence=CERTAIN),
    pet("<name><is> <my> <animal>"),
    pet("<my> <animal>,? <name> (?:is|was|has|loves|likes|hates|eats|needs|keeps|just|always) .{1,80}",
        confidence=FAIR),
    pet("<my> <animal>, <name>", confidence=FAIR),
    pet_named("<my> <animal> <own_name>"),  # “my cat blinks slowly” names nobody
    Pattern("pet", Kind.ENTITY, "The user has a {animal}.", "<ive> an? <animal>", confidence=FAIR),
)  # fmt: skip

# The body: allergies, conditions, diets --------------------------------------------------------------------------

allergy = partial(
    Pattern, "allergy", Kind.CONSTRAINT, "The user is allergic to {allergen}.",
    key="allergy:{allergen}", value="yes", importance=LIFE_AND_LIMB, health=True,
)  # fmt: skip
condition = partial(
    Pattern, "condition", Kind.CONSTRAINT, "The user has {condition}.",
    key="condition:{condition}", value="yes", importance=LIFE_AND_LIMB, health=True,
)  # fmt: skip
is_ill = partial(Pattern, "condition", Kind.CONSTRAINT, value="yes", importance=LIFE_AND_LIMB, health=True)
diet = partial(Pattern, "diet", Kind.CONSTRAINT, key="diet", importance=0.7)

BODY: Final = (
    Pattern(
        "allergy", Kind.CONSTRAINT, "The user is not allergic to {allergen}.",
        "<im> (?:not|no longer) (?:really )?allergic to <allergen>",
        key="allergy:{allergen}", value="no", importance=LIFE_AND_LIMB, health=True,
    ),
    allergy(
        "<im> (?:(?:severely|deathly|highly|mildly|terribly|extremely|slightly|so|quite|seriously) )?allergic to"
        " <allergen>",
        confidence=CERTAIN,
    ),
    allergy("<ive> an? (?:\\w+ )?allergy to <allergen>", confidence=CERTAIN),
    allergy("<ive> an? (?:(?:severe|bad|mild|serious) )?(?P<allergen>\\w+) allergy"),
    is_ill(
        "The user is {what} intolerant.", "<im> (?P<what>lactose|gluten|fructose|histamine)[- ]intolerant",
        key="condition:{what}_intolerance", confidence=CERTAIN,
    ),
    condition("<i> suffer from <condition>"),
    condition("(?:i've been|i was|i have been|i got) (?:recently )?diagnosed with <condition>"),
    condition("<ive> (?:got )?<condition>"),
    is_ill(
        "The user is {what}.",
        "<im> (?:a )?(?P<what>diabetic|asthmatic|epileptic|pregnant|autistic|dyslexic|deaf|blind|colou?r-?blind"
        "|anaemic|anemic|hard of hearing)",
        key="condition:{what}",
    ),
    diet(
        "The user is not {diet} any more.", "<im> no longer (?:a )?<diet>", value="not {diet}", correction=True,
    ),
    diet("The user is not {diet}.", "<im> not (?:a )?<diet>", value="not {diet}", correction=True),
    diet("The user is {diet}.", "<im> (?:a |on a )?<diet>", value="{diet}", confidence=CERTAIN),
    diet(
        "The user is {diet}.", "<i> (?:went|became|have become|turned) (?:a )?<diet>", value="{diet}", correction=True,
    ),
    diet(
        "The user's diet is {short_diet}.", "<i> (?:follow|keep|eat) (?:an? )?<short_diet>(?: diet)?",
        value="{short_diet}",
    ),
    diet("The user's diet is {short_diet}.", "<im> on an? <short_diet> diet", value="{short_diet}"),
    Pattern(
        "no_food", Kind.CONSTRAINT, "The user does not eat or drink {food}.",
        "<i> (?:don't|do not|never|can't|cannot) (?:eat|drink) <food>", key="diet:{food}", value="no",
    ),
)  # fmt: skip

# Tastes ----------------------------------------------------------------------------------------------------------

favourite = partial(
    Pattern, "favourite", Kind.PREFERENCE, "The user's favourite {subject} is {thing}.",
    key="favourite_{subject}", value="{thing}", confidence=CERTAIN,
)  # fmt: skip
likes = partial(
    Pattern, "taste", Kind.PREFERENCE, "The user likes {thing}.",
    key="taste:{thing}", value="likes", importance=PASSING, confidence=FAIR,
)  # fmt: skip
loves = partial(
    Pattern, "taste", Kind.PREFERENCE, "The user loves {thing}.",
    key="taste:{thing}", value="likes", importance=PASSING, confidence=FAIR,
)  # fmt: skip
dislikes = partial(
    Pattern, "taste", Kind.PREFERENCE, "The user dislikes {thing}.",
    key="taste:{thing}", value="dislikes", importance=PASSING, confidence=FAIR,
)  # fmt: skip

TASTES: Final = (
    favourite("<my> (?:(?:all-time|absolute|current|new) )?favou?rite (?!part|line|bit|section|moment|scene)<subject>"
        " (?:is|are|has to be) <thing>"),
    favourite("(?P<thing>\\S.{0,60}?) (?:is|are) <my> (?:(?:all-time|absolute|current|new) )?favou?rite <subject>"),
    dislikes("<i> (?:(?:absolutely|truly) )?(?:hate|dislike|detest|loathe|(?:can't|cannot) stand"
    "(?! (?:up|for|on|in|still)\\b)|can't bear) <thing>"),
    dislikes("<i> (?:don't|do not|never|no longer)(?: really| particularly)? (?:like|liked|enjoy|love|care for)"
    " <thing>"),
    dislikes("<im> not (?:really |much of )?(?:a (?:big |huge )?fan of|into|fond of|keen on) <thing>"),
    loves("<i> (?:(?:absolutely|quite|truly|always|both|so) )?(?:love|adore) <thing>"),
    likes("<i> (?:(?:absolutely|quite|truly|always|both) )?(?:like|enjoy) <thing>"),
    likes("<im> (?:a (?:big |huge |great )?fan of|(?:so )?(?:into|fond of|keen on|obsessed with|passionate about))"
    " <thing>"),
    Pattern(
        "prefers", Kind.PREFERENCE, "The user prefers {thing}.",
        "<i> (?:much |always )?prefer (?!.{1,60} (?:answers|replies|responses|explanations)$)<thing>", confidence=FAIR,
    ),
    Pattern(
        "hobby", Kind.PREFERENCE, "The user's hobby is {thing}.", "<my> (?:main )?hobb(?:y|ies)(?: is| are) <thing>",
        importance=PASSING,
    ),
)  # fmt: skip

# Goals and decisions ---------------------------------------------------------------------------------------------

goal = partial(Pattern, "goal", Kind.GOAL)
decision = partial(Pattern, "decision", Kind.DECISION)

INTENTIONS: Final = (
    goal(
        "The user's goal is {activity}.",
        "<my> (?:(?:main|biggest|long-term|ultimate|big|new year's|personal|career) )?(?:goal|dream|aim|ambition"
        "|resolution)"
        "(?: (?:for|this|next) .{1,30}?)? is <activity>",
        confidence=CERTAIN,
    ),
    goal("The user wants to {goal}.", "<i> (?:want|hope|plan|intend|aim) to <goal>", confidence=FAIR),
    goal("The user would like to {goal}.", "i(?:'d| would) (?:really )?(?:love|like) to <goal>", confidence=ASK),
    goal(
        "The user wants to {goal}.", "<im> (?:trying|hoping|planning|aiming|working hard|determined) to <goal>",
        confidence=FAIR,
    ),
    goal("The user is training for {thing}.", "<im> training for <thing>"),
    goal("The user is saving for {thing}.", "<im> saving (?:up )?(?:money )?for <thing>"),
    goal("The user is learning {skill}.", "<im> learning <skill>", confidence=FAIR),
    decision("The user decided {verb} {activity}.", "<ive> decided (?P<verb>to|on|against|not to|that) <activity>"),
    decision("The user chose {thing}.", "<ive> (?:chosen|chose|picked|settled on|opted for) <thing>", confidence=ASK),
    decision("The user chose {thing}.", "<im> going with <thing>", confidence=ASK),
)  # fmt: skip

# What the assistant is told --------------------------------------------------------------------------------------

order = partial(Pattern, "order", Kind.INSTRUCTION, to_assistant=True)
do = partial(order, "The user wants the assistant to {order}.")
do_not = partial(order, "The user wants the assistant not to {order}.")
never = partial(order, "The user wants the assistant never to {order}.")
in_language = partial(
    order, "The user wants answers in {language}.", key="answer_language", value="{language}", confidence=CERTAIN
)
units = partial(order, "The user wants {units} units.", key="units", value="{units}")
length = partial(order, "The user wants {size} answers.", key="answer_length", value="{size}")

_ALWAYS: Final = (
    "(?:always |from now on,? (?:please )?(?:always )?|in (?:the )?future,? (?:please )?|going forward,? (?:please )?)"
)
_SPEAK: Final = "(?:answer|reply|respond|write|speak|talk)(?: to me| me| back| with me)?(?: only)? in <language>"
_SIZE: Final = "(?P<size>short|brief|concise|to the point|detailed|long|simple)"

ORDERS: Final = (
    in_language(f"(?:please )?{_ALWAYS}{_SPEAK}"),
    in_language(f"(?:please )?{_SPEAK} from now on"),
    in_language(f"(?:please )?{_SPEAK}", confidence=GUESS),  # perhaps meant for one answer only
    units(f"(?:please )?(?:{_ALWAYS})?use (?P<units>metric|imperial)(?: units| measurements| system)?"),
    length(f"(?:please )?(?:{_ALWAYS})?keep (?:your |the )?(?:answers|replies|responses) {_SIZE}"),
    length(f"i (?:prefer|like|want) {_SIZE} (?:answers|replies|responses|explanations)"),
    never("(?:please )?(?:from now on,? )?never (?:ever )?<order>"),
    never("i(?:'d like| want| need| would like) you to never <order>"),
    do_not(f"(?:please )?{_ALWAYS}(?:don't|do not) <order>"),
    do(f"(?:please )?{_ALWAYS}<order>"),
    do("<order> from now on"),
    do("i(?:'d like| want| need| would like) you to always <order>"),
    do_not("(?:please )?(?:don't|do not) (?:ever )?<order> (?:again|ever)"),
    do_not(
        confidence=ASK,
        says="(?:please )?(?:don't|do not) (?P<order>(?:call me|use emojis?|apologi[sz]e)(?: .{1,60})?)",
    ),
)  # fmt: skip

# What happens when -----------------------------------------------------------------------------------------------

event = partial(Pattern, kind=Kind.EVENT)

EVENTS: Final = (
    event(
        "plan", statement="The user is {verb} {dated}.", confidence=FAIR,
        says="<im> (?P<verb>going|flying|travelling|traveling|moving|driving|heading|starting|getting|having|running"
        "|taking|meeting"
        "|visiting|seeing|graduating|retiring|leaving|giving|hosting|defending|turning|expecting|due) <dated>",
    ),
    event(
        "plan", statement="The user has {article} {dated}.",
        says="(?:i've|i have|ive|we've|we have)(?: also| still| just)? (?:got )?(?P<article>an?|my"
            "|another) <dated>",
        confidence=FAIR,
    ),
    event(
        "plan", statement="The user will {verb} {dated}.", confidence=FAIR,
        says="i(?:'ll| will) (?P<verb>be in|visit|fly to|travel to|move to|start|turn|run|have|meet) <dated>",
    ),
    event(
        "plan", statement="The user's {shorter} {verb} {date}.",
        says="<my> (?![^.]{0,60}birthday)<shorter> (?P<verb>is|starts|begins|takes place|ends) <date>",
    ),
    event(
        "life_event", statement="The user {verb}{rest}.",
        says="<ive> (?P<verb>got married|got engaged|got divorced|graduated|retired|had a baby|was promoted|got"
        " promoted|got laid off"
        "|lost my job|broke up|became a (?:father|mother|parent|grandparent)|adopted|bought a (?:house|flat|car|home))"
        "(?P<rest>(?: .{1,100})?)",
    ),
    event(
        "past", statement="The user {verb} {dated}.", confidence=FAIR, importance=PASSING,
        says="<ive> (?P<verb>went to|visited|flew to|travelled to|traveled to|attended|ran|finished|started|bought"
        "|sold|saw|met"
        "|climbed|won|celebrated|joined|signed up for|gave) <dated>",
    ),
)  # fmt: skip

PATTERNS: Final[tuple[Pattern, ...]] = (
    *IDENTITY,
    *PLACES,
    *WORK,
    *LIFE,
    *PEOPLE,
    *BODY,
    *TASTES,
    *INTENTIONS,
    *ORDERS,
    *EVENTS,
)
