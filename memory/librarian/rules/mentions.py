"""People named in passing: “Dinner with my friend Tom” says that a friend of the user is called Tom.

What is presupposed holds in a question too: “a trip for me and my wife Ana?” So whole messages are read, not clauses.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memory.librarian.rules.people import ANYONE, CREATURES, FEMALE, MALE, alternatives
from memory.librarian.rules.slots import NO_NAME

_TITLE: Final = r"(?:(?:Dr|Mr|Mrs|Ms|Miss|Prof|Sir|Father|Rabbi|Coach)\.? )"
_NAME: Final = rf"(?!I'|I\b){_TITLE}?[A-Z][a-zà-žß']+(?:-[A-Z][a-zà-ž]+)?(?: (?:Mc|O')?[A-Z][a-zà-ž]+)?"
_RELATION: Final = rf"(?P<relation>(?i:{alternatives((*FEMALE, *MALE, *ANYONE))}))"
_ADJECTIVE: Final = r"(?:(?!(?i:mine|is|was|and|with)\b)[a-z-]+ ){0,2}?"
_NEXT_DOOR: Final = (
    r"(?P<relation>(?i:neighbou?r|guy|man|woman|lady|bloke|girl)) (?i:upstairs|downstairs|next door|opposite"
    r"|across the (?:street|hall|road))"
)
"""Whoever lives there is the user's neighbour."""
_ANYBODY: Final = frozenset({"guy", "man", "woman", "lady", "bloke", "girl"})
_FORMS: Final = tuple(
    re.compile(form)
    for form in (
        rf"(?<![\w'])(?i:my|our) {_ADJECTIVE}{_RELATION}s? (?P<name>{_NAME})(?![\w’]|'(?!s))",
        rf"(?<![\w'])(?:(?i:my|our|an?|the) {_ADJECTIVE})?{_RELATION}(?: since \w+)? \((?:[a-z -]+, "
        rf")?(?P<name>{_NAME})(?:,[^()]*)?\)",
        rf"(?<![\w'])(?i:my|our|an?|the) {_ADJECTIVE}{_RELATION}, (?P<name>{_NAME})(?=,|\.|$| and\b| who\b)",
        rf"(?<![\w'])(?i:my|our) {_ADJECTIVE}{_RELATION} is (?:called )?(?P<name>{_TITLE}{_NAME})",
        rf"(?<![\w'])(?<!\bnear )(?<!\bin )(?<!\bat )(?<!\bfrom )(?<!\bto )(?<!\bof )(?<!\boutside )(?<!\baround )"
        rf"(?P<name>{_NAME})(?:, | is |, who(?:'s| is) )(?i:my|our) {_ADJECTIVE}{_RELATION}(?![\w-])",
        rf"(?<![\w'])(?i:my|our|the) {_NEXT_DOOR},? (?P<name>{_TITLE}?{_NAME})(?=,|\.|$| and\b| who\b)",
        r"(?:^|(?<=[.?!,;:\n] )|(?<=\bof )|(?<=\bfor )|(?<=\bmy )|(?<=\band ))(?P<relation>Granny|Grandma"
        r"|Grandpa|Grandad|Granddad"
        r"|Gran|Nan|Nana|Auntie|Aunty|Aunt|Uncle) (?!Sam\b|Ben's\b|Jemima\b|Bob's\b"
        r"|Tom Cobley)(?P<name>[A-Z][a-zà-ž]+)(?![\w'’])",
        rf"(?<![\w'])(?i:an?|my|our) {_ADJECTIVE}{_RELATION}(?: of mine)?,? (?:called|named) (?P<name>{_NAME})",
    )
)
_PETS: Final = tuple(
    re.compile(form)
    for form in (
        rf"(?<![\w'])(?i:my|our) {_ADJECTIVE}(?P<animal>(?i:{CREATURES})),? (?P<name>[A-Z][a-zà-ž]+)(?![\w’])",
        rf"(?<![\w'])(?P<name>[A-Z][a-zà-ž]+), (?i:my|our) {_ADJECTIVE}(?P<animal>(?i:{CREATURES}))(?=,|\.|$"
        rf"| (?:is|has|was)\b)",
        rf"(?<![\w'])(?i:my|our|an?|the) {_ADJECTIVE}(?P<animal>(?i:{CREATURES}))(?: called| named"
        rf"|,| is called| \(called| \() ?(?P<name>[A-Z][a-zà-ž]+)(?=[,.)?!]|$| \w)",
    )
)
_AGES = re.compile(
    rf"(?<![\w'])(?i:my|our|the|two|three) {_ADJECTIVE}(?P<who>(?i:{alternatives((*FEMALE, *MALE))}|kids|children|sons"
    rf"|daughters|boys|girls|twins|toddler|baby)(?: {_NAME})?) \((?P<ages>\d{{1,2}}(?:(?:,| and|"
    rf" &) \d{{1,2}})*)(?=[),])"
)
_TURNS = re.compile(
    rf"(?<![\w'])(?:(?i:my|our) )?(?P<who>(?i:{alternatives((*FEMALE, *MALE))}))'s"
    rf" (?P<age>\d{{1,2}})(?:st|nd|rd|th)\b(?! is)",
)


@dataclass(frozen=True, slots=True)
class Mention:
    """Somebody who is named, or whose age is, and where."""

    statement: str
    relation: str
    name: str
    start: int
    end: int
    is_animal: bool = False


def mentions(text: str) -> Iterator[Mention]:
    """The people named in `text`, a message's own words, in no order."""
    for form in _FORMS:
        for found in form.finditer(text):
            relation, name = found["relation"].lower(), found["name"].removesuffix("'s")
            relation = "neighbour" if relation in _ANYBODY else relation
            if relation in {"parents", "grandparents", "in-laws", "in laws"}:
                continue  # the name is of one of them
            if NO_NAME.search(name):
                continue
            told = f"The user's {relation} is called {name}."
            yield Mention(told, relation, name, found.start(), found.end())
    for form in _PETS:
        for found in form.finditer(text):
            if found["animal"].endswith("s"):
                continue  # two of them: the sentence tells both names
            told = f"The user has a {found['animal'].lower()} called {found['name']}."
            yield Mention(told, found["animal"].lower(), found["name"], found.start(), found.end(), is_animal=True)
    for found in _AGES.finditer(text):
        plural = " and " in found["ages"] or "," in found["ages"] or found["who"].endswith("s")
        told = f"The user's {found['who']} {'are' if plural else 'is'} {found['ages']} years old."
        yield Mention(told, found["who"], "", found.start(), found.end())
    for found in _TURNS.finditer(text):
        told = f"The user's {found['who'].lower()} turns {found['age']}."
        yield Mention(told, found["who"].lower(), "", found.start(), found.end())
