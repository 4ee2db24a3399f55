"""Keys of facts that have one value at a time: subject + attribute. The scheme is data; anything else is a free fact.

A new value for a key supersedes the old one without asking. So an attribute is listed only if a second value would be
a contradiction: a user has one home, but any number of hobbies, friends and languages.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from memory.models.kinds import Kind

USER: Final = "user"
MAX_KEY = 120
"""Longest key, in characters: the column's width."""


class SubjectType(StrEnum):
    """What a subject is, which decides the attributes it can have and the kind of its facts."""

    USER = "user"
    PERSON = "person"
    PET = "pet"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class Attribute:
    """A single-valued attribute: the kind of its facts about the user, and the subjects that can have it."""

    kind: Kind
    reason: str
    """Why it has one value at a time."""
    of: frozenset[SubjectType]


_U, _P, _T, _J = SubjectType.USER, SubjectType.PERSON, SubjectType.PET, SubjectType.PROJECT
_PEOPLE, _BEINGS = frozenset({_U, _P}), frozenset({_U, _P, _T})

ATTRIBUTES: Final[Mapping[str, Attribute]] = {
    "name": Attribute(Kind.IDENTITY, "one full name; a pet and a project have one too", frozenset({_U, _P, _T, _J})),
    "preferred_name": Attribute(Kind.IDENTITY, "what to call them; “call me Al” leaves the name alone", _PEOPLE),
    "surname": Attribute(Kind.IDENTITY, "one family name at a time; a marriage may change it", _PEOPLE),
    "pronouns": Attribute(Kind.IDENTITY, "one set is used", _PEOPLE),
    "birthday": Attribute(Kind.BIOGRAPHY, "a date of birth never changes", _BEINGS),
    "age": Attribute(Kind.BIOGRAPHY, "changes every year; the birthday is the better fact", _BEINGS),
    "home": Attribute(Kind.BIOGRAPHY, "where they live now; a second home is rare, and review shows it", _BEINGS),
    "address": Attribute(Kind.BIOGRAPHY, "the street and number of the home", _PEOPLE),
    "origin": Attribute(Kind.BIOGRAPHY, "where they come from never changes", _BEINGS),
    "time_zone": Attribute(Kind.BIOGRAPHY, "the zone of the place where they are", _PEOPLE),
    "relationship": Attribute(Kind.BIOGRAPHY, "single, married, …: one status", _PEOPLE),
    "partner": Attribute(Kind.PERSON, "one partner at a time, by far the usual case", _PEOPLE),
    "employer": Attribute(Kind.BIOGRAPHY, "a main employer; a side job is worded as such", _PEOPLE),
    "job": Attribute(Kind.BIOGRAPHY, "a main occupation", _PEOPLE),
    "housing": Attribute(Kind.BIOGRAPHY, "rents, owns, lives with parents: one way at a time", _PEOPLE),
    "school": Attribute(Kind.BIOGRAPHY, "one school at a time", _PEOPLE),
    "school_year": Attribute(Kind.BIOGRAPHY, "goes up every year", _PEOPLE),
    "studies": Attribute(Kind.BIOGRAPHY, "a course of study at a time", _PEOPLE),
    "diet": Attribute(Kind.CONSTRAINT, "vegetarian, vegan, halal, …: the newest one holds", _PEOPLE),
    "car": Attribute(Kind.ENTITY, "the car they drive", _PEOPLE),
    "phone": Attribute(Kind.ENTITY, "the model of the phone they use", _PEOPLE),
    "species": Attribute(Kind.ENTITY, "an animal is of one species", frozenset({_T})),
    "breed": Attribute(Kind.ENTITY, "and of one breed", frozenset({_T})),
    "deadline": Attribute(Kind.EVENT, "a project's date; a new one replaces it", frozenset({_J})),
    "status": Attribute(Kind.FACT, "the state a project is in", frozenset({_J})),
    "budget": Attribute(Kind.FACT, "the money a project has", frozenset({_J})),
    "answer_language": Attribute(Kind.INSTRUCTION, "answers are in one language", frozenset({_U})),
    "answer_length": Attribute(Kind.INSTRUCTION, "and of one length", frozenset({_U})),
    "answer_format": Attribute(
        Kind.INSTRUCTION, "paragraphs, bullet points, tables: one form by default", frozenset({_U})
    ),
    "units": Attribute(Kind.INSTRUCTION, "metric or imperial", frozenset({_U})),
}

LIST: Final = "list:"
"""Family of the user's lists, each asked for by its name: `list:shopping`."""

PREFIXES: Final[Mapping[str, Attribute]] = {
    "favourite_": Attribute(Kind.PREFERENCE, "favourite_colour: a favorite is one by its meaning", _PEOPLE),
    "taste:": Attribute(Kind.PREFERENCE, "taste:coffee: liked or disliked; a change of mind replaces it", _PEOPLE),
    "allergy:": Attribute(Kind.CONSTRAINT, "allergy:peanuts: one each, so none replaces another", _PEOPLE),
    "diet:": Attribute(Kind.CONSTRAINT, "diet:pork: a single food that is not eaten", _PEOPLE),
    "pet:": Attribute(Kind.ENTITY, "pet:cat: a kind of animal they have; its own facts are of user/cat", _PEOPLE),
    "pastime:": Attribute(Kind.BIOGRAPHY, "pastime:chess: one each, so none replaces another", _PEOPLE),
    LIST: Attribute(
        Kind.FACT, "list:shopping: all that is on a list; adding to it replaces the whole", frozenset({_U})
    ),
    "units:": Attribute(Kind.INSTRUCTION, "units:weight: one unit for each quantity", frozenset({_U})),
    "condition:": Attribute(Kind.CONSTRAINT, "condition:asthma: a condition each", _BEINGS),
}
"""Families of attributes: one attribute for each thing."""

_PETS: Final = "pet dog puppy cat kitten rabbit hamster horse pony parrot bird budgie fish tortoise turtle snake lizard"
PETS: Final = frozenset(_PETS.split())
"""Relations of `user/dog` that make a subject a pet."""
PROJECT: Final = "project:"
"""Start of a project's subject: `project:atlas`."""
_OTHERS_KIND: Final = {
    SubjectType.PERSON: Kind.PERSON,
    SubjectType.PET: Kind.ENTITY,
    SubjectType.PROJECT: Kind.ENTITY,
}
_GAP = re.compile(r"[\W_]+")
_THE_USER = re.compile(r"^(?:the )?users?(?:['’]s?)?\b[ /]*", re.I)


def make_key(subject: str, attribute: str) -> str:
    """The key of an attribute, such as `user/home` or `user/dog/name`; empty if it can have many values, or the key is
    too long."""
    subject, attribute = spell_subject(subject), spell_attribute(attribute)
    found = find_attribute(attribute)
    if not subject or found is None or subject_type(subject) not in found.of:
        return ""
    key = f"{subject}/{attribute}"
    return key if len(key) <= MAX_KEY else ""


def split_key(key: str) -> tuple[str, str]:
    """Subject and attribute of a key; two empty texts if it is empty."""
    subject, _, attribute = key.rpartition("/")
    return subject, attribute


def kind_of(key: str) -> Kind | None:
    """The kind of the facts with this key; None if the scheme has no such key."""
    subject, attribute = split_key(key)
    found = find_attribute(attribute)
    if found is None or not subject:
        return None
    whose = subject_type(subject)
    return None if whose not in found.of else _OTHERS_KIND.get(whose, found.kind)


def find_attribute(attribute: str) -> Attribute | None:
    """The attribute of this spelling, or the family it belongs to."""
    if attribute in ATTRIBUTES:
        return ATTRIBUTES[attribute]
    return next(
        (family for start, family in PREFIXES.items() if attribute.startswith(start) and attribute != start), None
    )


def subject_type(subject: str) -> SubjectType:
    """The type of a spelled subject."""
    if subject == USER:
        return SubjectType.USER
    if subject.startswith(PROJECT):
        return SubjectType.PROJECT
    return SubjectType.PET if subject.rpartition("/")[2] in PETS else SubjectType.PERSON


def spell_subject(name: str) -> str:
    """The canonical spelling of a subject: “Mary Ann” → mary_ann, “user's sister” → user/sister, “the user” → user."""
    named = unicodedata.normalize("NFKC", name).strip()
    rest = _THE_USER.sub("", named)
    parts = [USER, *rest.split("/")] if rest != named else named.split("/")
    spelled = [_spell(part) for part in parts]
    return "/".join(part for part in spelled if part)


def spell_attribute(attribute: str) -> str:
    """The canonical spelling of an attribute: “Allergy: Tree nuts” → allergy:tree_nuts."""
    return _spell(attribute.replace("/", " "))


def upgrade_key(key: str) -> str:
    """A key from before 2026-11, which had no subject, in its current form."""
    return f"{USER}/{key}" if key and "/" not in key else key


def _spell(text: str) -> str:
    head, colon, tail = unicodedata.normalize("NFKC", text).casefold().partition(":")
    words = [_GAP.sub("_", part).strip("_") for part in (head, tail)]
    return f"{words[0]}{colon}{words[1]}"
