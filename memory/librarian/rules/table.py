"""The table: what a predicate in the third person says of its subject, with the value and its key.

A row has the words before the value, the reader of the value (`slots.py`) and the statement. The first row that fits a
predicate wins. The rows are the grammar of ordinary claims, for the user, people and animals alike; which subjects an
attribute may have a key for is decided by `memory/facts/keys.py`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from memory.librarian.rules import slots
from memory.librarian.rules import words as lists
from memory.librarian.rules.slots import Reader
from memory.librarian.rules.words import alternatives
from memory.models.kinds import Kind


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
    """It tells of the past: no key."""


_life = partial(Row, Kind.BIOGRAPHY)
_body = partial(Row, Kind.CONSTRAINT, health=True)
_food = partial(Row, Kind.CONSTRAINT)
_taste = partial(Row, Kind.PREFERENCE, "taste:{slug}")
_EVER: Final = (
    r"(?:(?:also|now|currently|still|just|recently|originally|actually|really|only|always|finally|both) ){0,2}"
)
_VERY: Final = (
    r"(?:(?:severely|mildly|badly|very|slightly|quite|highly|a bit|rather|red-green|completely|partially) ){0,2}"
)
_HOURS: Final = r"(?:full[- ]time |part[- ]time |remotely |nights |shifts )?"
_STATES: Final = r"single|divorced|widowed|separated|engaged|married"

ROWS: Final = (
    # Where they live and come from.
    _life("home", "lives in {v}.", rf"lives {_EVER}(?:alone |together |over |out |up |down )?in ", slots.place),
    _life("home", "lives {where} {v}.",
        rf"lives {_EVER}(?P<where>near|(?:just )?outside|close to|on the outskirts of|(?:north|south|east"
        r"|west) of) ", slots.place),
    _life("home", "lives in {v}.", rf"is {_EVER}(?:living|based|located|settled|residing) {_EVER}(?:out of|in|near) ",
        slots.place),
    _life("home", "lives in {v}.",
        rf"(?:has )?{_EVER}(?:moved|relocated|emigrated) {_EVER}(?:back |over |out |house |away )?"
        r"(?:from [\w' ]{2,30} )?to ", slots.place, correction=True),
    _life("home", "lives in {v}.",
        rf"has {_EVER}(?:been living|lived|been) {_EVER}(?:here )?in |calls (?=[\w -]+ home\b)", slots.place),
    _life("origin", "is from {v}.", rf"(?:is|{_EVER}comes|{_EVER}hails) {_EVER}from ", slots.place),
    _life("", "was born in {v}.", r"was (?:born|born and raised|born and bred|raised) in ", slots.place),
    _life("", "grew up in {v}.",
        rf"{_EVER}(?:grew up|was raised|was brought up) {_EVER}(?:mostly )?(?:in|near|outside) ", slots.place),
    _life("", "used to live in {v}.", r"(?:used to live|lived) (?:for [\w ]{2,12} )?in ", slots.place, past=True),
    # Work and study.
    _life("job", "works as {a} {v}.", rf"(?:works|is {_EVER}(?:working|employed)) {_EVER}{_HOURS}as (?:an? |the )?",
        slots.job),
    _life("employer", "works at {v}.",
        rf"(?:works|is {_EVER}(?:working|employed)) {_EVER}{_HOURS}(?:at|for|with|by) ", slots.organisation),
    _life("employer", "works at {v}.",
        rf"(?:has )?{_EVER}(?:joined|started (?:work(?:ing)? )?at|got (?:a|the) (?:new )?job (?:at|with)) "
        r"|has (?:a|the) new job (?:at|with) ", slots.organisation, correction=True),
    _life("job", "is {a} {v}.", rf"is {_EVER}(?:an? |the )(?:only |proud |professional |full-time |part-time )?",
        slots.job),
    _life("", "used to be {a} {v}.", r"used to be (?:an? |the )|was (?:an? |the )(?=.{2,30} (?:until|before|for|at))",
        slots.job, past=True),
    _life("job", "is {state}.",
        rf"(?:is|has) {_EVER}(?P<state>retired|self-employed|unemployed|between jobs|freelance)(?![\w-])",
        value="{state}"),
    _life("studies", "{verb} {v}.", rf"(?P<verb>studies|is {_EVER}(?:studying|majoring in)) ", slots.thing),
    _life("studies", "is doing {what} in {v}.",
        rf"is {_EVER}doing (?P<what>an? (?:[\w-]+ )?(?:degree|phd|doctorate|master's|masters|ma|msc|bsc|ba"
        r"|mba|postdoc|apprenticeship|course)) (?:in|on) ", slots.thing),
    # Age and relationship.
    _life("age", "was {v} years old in {now}.", rf"is {_EVER}|(?:has )?{_EVER}turned ", slots.age),
    _life("relationship", "is {state}.",
        rf"(?:is|got|has been|has) {_EVER}(?:happily |newly )?(?P<state>{_STATES})(?: now)?"
        r"(?![\w-]| to\b| from\b| with\b| life)", value="{state}"),
    Row(Kind.PERSON, "partner", "is {state} to {v}.",
        r"(?:is|got|has been|has got) (?:\w+ )?(?P<state>married|engaged) to ", slots.person),
    Row(Kind.PERSON, "partner", "is in a relationship with {v}.",
        r"is (?:now )?(?:dating|going out with|in a relationship with) ", slots.person),
    # Food and health.
    _food("diet", "is {diet}.", rf"(?:is|has been|has gone|went|became) {_EVER}(?:an? )?(?:strict |lifelong )?"
        rf"(?P<diet>{alternatives(lists.DIETS)})(?![\w-])", value="{diet}"),
    _food("diet", "is on {a} {diet} diet.", r"(?:is|has been) (?:on )?an? (?P<diet>[\w-]+) diet", value="{diet}"),
    _body("allergy:{slug}", "is allergic to {v}.", rf"is {_VERY}allergic to ", slots.thing, value="yes", each=True),
    _body(
        "allergy:{slug}", "is not allergic to {v}.", r"is not allergic to (?!any)", slots.thing, value="no", each=True),
    _body("allergy:{what}", "is allergic to {what}.", r"has (?:an? )?(?:\w+ )?(?P<what>[a-z-]+) allergy(?! test)",
        value="yes"),
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
        r"(?:does not|cannot|never|will not)(?: ever)? (?:eats?|haves?|tolerate|drinks?) "
        r"(?!.*\b(?:time|money|idea|breakfast|lunch|dinner|any ?more)\b)", slots.short_thing, value="no", each=True),
    # Languages and tastes.
    _life("", "speaks {v}.", r"speaks ", slots.thing),
    _taste("{verb} {v}.", rf"{_EVER}(?:absolutely )?(?P<verb>loves|likes|enjoys|adores) (?!to\b)", slots.thing,
        value="likes"),
    _taste("likes {v}.",
        r"is (?:\w+ )?(?:into|fond of|obsessed with|crazy about|mad about|keen on|an? (?:\w+ )?(?:fan|lover)"
        r" of) ", slots.thing, value="likes"),
    _taste("dislikes {v}.",
        rf"{_EVER}(?:absolutely )?(?:hates|dislikes|loathes|detests|cannot (?:stand|bear|abide)|does not"
        r" (?:really )?(?:like|enjoy)" r"|is not (?:really |very |a big )?(?:into|fond of|keen on|a fan of)) ",
        slots.thing, value="dislikes"),
    # Names and things.
    Row(Kind.PERSON, "name", "is called {v}.", r"(?:is|was) (?:called|named) ", slots.person),
    Row(Kind.IDENTITY, "preferred_name", "wants to be called {v}.",
        r"(?:goes by|(?:prefers|likes|wants) to (?:be called|go by)) ", slots.person),
    Row(Kind.IDENTITY, "pronouns", "uses the pronouns {what}.",
        r"(?:goes by|uses) (?P<what>(?:she|he|they|xe|ze|it)/\w{2,5}(?:/\w+)?)", value="{what}"),
    Row(Kind.ENTITY, "car", "drives {a} {v}.", r"drives (?:an? )(?=[A-Z])", slots.thing),
    Row(Kind.ENTITY, "", "has a {what} called {v}.",
        rf"has (?:an? )(?P<what>(?:[\w-]+ ){{0,3}}(?:{alternatives(lists.PETS)}))" r"(?: called| named|,| \() ?",
        slots.person),
)  # fmt: skip
"""In this order; the special stands above the general."""
COMPILED: Final = tuple((row, re.compile(row.lead, re.I)) for row in ROWS)

ATTRIBUTES_OF: Final[Mapping[str, tuple[str, str, Kind, Reader | None]]] = {
    **dict.fromkeys(("name", "full name", "real name"), ("name", "'s name is {v}.", Kind.IDENTITY, slots.person)),
    "first name": ("name", "'s first name is {v}.", Kind.IDENTITY, slots.person),
    "nickname": ("preferred_name", "'s nickname is {v}.", Kind.IDENTITY, slots.person),
    **dict.fromkeys(("surname", "last name"), ("", "'s surname is {v}.", Kind.IDENTITY, slots.person)),
    "pronouns": ("pronouns", "'s pronouns are {v}.", Kind.IDENTITY, slots.pronouns),
    "birthday": ("birthday", "'s birthday is {v}.", Kind.BIOGRAPHY, None),
    "age": ("age", " was {v} years old in {now}.", Kind.BIOGRAPHY, slots.age),
    **dict.fromkeys(("hometown", "home town"), ("origin", "'s hometown is {v}.", Kind.BIOGRAPHY, slots.place)),
    "home": ("home", " lives in {v}.", Kind.BIOGRAPHY, slots.place),
    "job": ("job", " works as {a} {v}.", Kind.BIOGRAPHY, slots.job),
    "employer": ("employer", " works at {v}.", Kind.BIOGRAPHY, slots.organisation),
    "diet": ("diet", "'s diet is {v}.", Kind.CONSTRAINT, slots.thing),
    "car": ("car", "'s car is {v}.", Kind.ENTITY, slots.one_thing),
    "phone": ("phone", "'s phone is {v}.", Kind.ENTITY, slots.one_thing),
    **{what: ("", f"'s {what} is {{v}}.", Kind.GOAL, slots.thing) for what in ("goal", "dream", "aim")},
    **{
        what: ("", f"'s {what} is {{v}}.", Kind.BIOGRAPHY, slots.thing) for what in ("native language", "mother tongue")
    },
}
"""“My birthday is …”, “my sister's name is …”: attribute, statement, kind, reader. A birthday is read as a date."""
