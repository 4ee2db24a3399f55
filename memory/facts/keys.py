"""Keys of facts with one value at a time. The scheme is data; anything else is a free fact.

A new value for a key supersedes the old one without asking. So a key exists only where a second value would be a
contradiction: a user has one home, but any number of hobbies.
"""

import re
import unicodedata
from collections.abc import Mapping

from memory.models.kinds import Kind

KEYS: Mapping[str, Kind] = {
    "name": Kind.IDENTITY,  # one full name
    "preferred_name": Kind.IDENTITY,  # what to call them; apart from the name, so that “call me Al” leaves it alone
    "pronouns": Kind.IDENTITY,
    "birthday": Kind.BIOGRAPHY,
    "age": Kind.BIOGRAPHY,  # shown with its date, because it changes; the birthday is the better fact
    "home": Kind.BIOGRAPHY,  # where they live now; a second home is rare and the review shows it
    "origin": Kind.BIOGRAPHY,
    "relationship": Kind.BIOGRAPHY,  # single, married, …
    "employer": Kind.BIOGRAPHY,
    "job": Kind.BIOGRAPHY,
    "studies": Kind.BIOGRAPHY,
    "diet": Kind.CONSTRAINT,  # vegetarian, vegan, halal, …: the newest one holds
    "answer_language": Kind.INSTRUCTION,
    "answer_length": Kind.INSTRUCTION,
    "units": Kind.INSTRUCTION,
}

PREFIXES: Mapping[str, Kind] = {
    "favourite_": Kind.PREFERENCE,  # favourite_colour: a favourite is one by its meaning
    "taste:": Kind.PREFERENCE,  # taste:coffee: liked or disliked, so that a change of mind replaces the old one
    "allergy:": Kind.CONSTRAINT,  # allergy:peanuts: a thing each, so that one allergy never replaces another
    "diet:": Kind.CONSTRAINT,  # diet:pork: a single food that is not eaten
    "condition:": Kind.CONSTRAINT,  # condition:asthma: a condition each
}

MAX_KEY = 120
"""Longest key, in characters: the column's width."""

_GAP = re.compile(r"[\W_]+")


def kind_of(key: str) -> Kind | None:
    """The kind of fact that `key` belongs to; None: the scheme has no such key."""
    if key in KEYS:
        return KEYS[key]
    return next((kind for prefix, kind in PREFIXES.items() if key.startswith(prefix) and key != prefix), None)


def spell(key: str) -> str:
    """One spelling for a key: “Allergy: Tree nuts” → allergy:tree_nuts."""
    head, colon, tail = unicodedata.normalize("NFKC", key).casefold().partition(":")
    words = [_GAP.sub("_", part).strip("_") for part in (head, tail)]
    return f"{words[0]}{colon}{words[1]}"[:MAX_KEY].rstrip("_:")
