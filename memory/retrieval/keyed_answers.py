"""Keyed answers: which fact a question about one attribute asks for, so that it leads the recalled memories.

`mark_answers` is pure. A question asks for a key if it names the key's subject and asks for the attribute.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from memory.retrieval.attribute_words import WORDS
from memory.retrieval.query import Question, words_of
from memory.retrieval.truth import (
    ASKED,
    CURRENT,
    ENDED,
    NOT_STATED,
    QUALIFIER_CHARS,
    SUPERSEDED,
    WAITING,
    CandidateRow,
    FactState,
    waiting,
)
from memory.text.keywords import content, stem
from memory.text.language import alternatives
from memory.text.relations import BREEDS, GROUPS, PEOPLE, PET_GROUPS, PETS, are_of_others

ONE_SITTING: Final = timedelta(minutes=1)
"""What was said closer together than this is of one message: a fact and the words it was learned from."""
PROJECTS: Final[Mapping[str, re.Pattern[str]]] = {
    "deadline": re.compile(r"(?i)\bdeadline\b|\bwhen\b[\w'’ ]{1,40}\bdue\b"),
    "status": re.compile(r"(?i)\bstatus\b"),
    "budget": re.compile(r"(?i)\bbudget\b"),
}
"""How questions ask for an attribute of a project; for those of people and animals see `asked_attribute.py`."""
_ANY_PET: Final = frozenset({"pet", "pets", "animal", "animals"})
LISTED: Final = frozenset({"allergy:", "condition:", "diet:", "pet:", "pastime:"})
"""Families that a question asks for as a whole; of the others only the thing that it names."""
LIST: Final = "list:"
"""Family of the user's lists, each asked for by its name."""
LESS_SURE: Final = 0.9
"""How likely a list is meant that isn't named in full."""
_BOUGHT: Final = re.compile(
    r"\b(?:need|needed|have|want|left) to (?:buy|get|pick up)(?=\W*$| (?:at|from|in) (?:the|a|my)\b"
    r"| for (?:dinner|lunch)\b)"
)
_READ: Final = re.compile(r"\b(?:want|have|need|left) to read\b")
_WATCHED: Final = re.compile(r"\b(?:want|have|need|left) to (?:watch|see)\b")
_WHICH: Final = re.compile(r"\b(?:which|what) (?:other |more )?(\w+s)\b")
_ASKED_BY_USE: Final[Mapping[str, re.Pattern[str]]] = {
    "shopping": _BOUGHT,
    "grocery": _BOUGHT,
    "shop": _BOUGHT,
    "store": _BOUGHT,
    "read": _READ,
    "reading": _READ,
    "book": _READ,
    "watch": _WATCHED,
    "film": _WATCHED,
    "movie": _WATCHED,
    "packing": re.compile(
        r"\b(?:need|want|have|going|supposed|down) to (?:pack|bring|take)\b|\b(?:do|did|should) i pack\b"
    ),
    "do": re.compile(r"\bwhat\b.*\b(?:have|need|got|left) to do(?=\W*$| (?:today|this week|still)\b)"),
}
"""How a list is asked for by what it is for, by the last word of its name."""
_DOWN: Final = re.compile(r"\b(?:got|have|had|put|noted|written|wrote|listed) (?:\w+ )?down\b|\bleft for\b")
"""“What have I got down for the festival?”, “What's left for the handyman to do?”"""
_ANY_LIST: Final = re.compile(r"\b(?:on|of|from) (?:my|our|the) list\b")
BY_SOMEONE: Final = ("partner", "relationship", "pet:")
"""Starts of attributes of the user that are asked for by naming someone else: “who is my wife”."""
USER: Final = "user"
"""The subject of the user's own keys."""
NAMED: Final = 0.2
"""Factor for a value that the question names itself."""
WHERE: Final = frozenset({"home", "employer", "studies"})
"""Attributes whose value, if the question names it, is where something else is asked for."""
_ASKS_WHICH: Final = re.compile(r"(?i)\W*(?:what|which|where|how|who)\b")
_BEFORE: Final = re.compile(r"(?i)\bbefore\b.*\w")
_FIRST_PERSON: Final = re.compile(r"(?i)\b(?:i|we|my|mine|our|ours|im|ive)\b|\b(?:for|about|to|on|with) me\b")
_SOMEONE: Final = alternatives(PEOPLE | GROUPS | PETS | PET_GROUPS)
_OF_SOMEONE: Final = re.compile(
    rf"(?i)\b(?:my|our)\s+(?:[\w-]+['’]s\b|[\w-]+s['’]|(?:[\w-]+\s+){{0,2}}(?:{_SOMEONE})\b)"
)
"""“My sister's name” and “my big sister” ask about the sister."""


def mark_answers(rows: Sequence[CandidateRow], question: Question, attributes: Mapping[str, float]) -> None:
    """Mark what has the key the question asks for: facts, and below them messages whose fact waits in Review.

    `attributes`: what the question may ask for, as `asked_attributes` says. Messages that contradict the current fact
    get that in their qualifier.
    """
    asks = _AskedAttribute(question, attributes)
    asked: list[tuple[_Closeness, FactState, CandidateRow]] = []
    for row in rows:
        is_fact = row.candidate.source == "fact"
        if row.candidate.source in ("fact", "message"):
            keyed = (fact for fact in row.facts if fact.key and (is_fact or _waits(fact, row.candidate.text)))
            told = [(asks.closeness(fact), fact, row) for fact in keyed]
            is_other = bool(attributes and told) and all(close == _FAR for close, _, _ in told)
            row.candidate.seldom_leads |= is_other
            row.candidate.never_leads = row.qualifier.startswith(SUPERSEDED) and not question.asks_past
            asked += told
        elif row.candidate.source == "document" and row.conversation_id:
            row.candidate.sums_up = row.candidate.never_leads = True
        row.candidate.is_over = row.qualifier.startswith((SUPERSEDED, ENDED, "until"))
        row.candidate.seldom_leads |= row.qualifier in (ASKED, NOT_STATED)
    best = max((closeness for closeness, _, _ in asked), default=_FAR)
    leading: dict[int, tuple[CandidateRow, list[FactState]]] = {}
    for closeness, fact, row in asked:
        if closeness == best != _FAR:
            leading.setdefault(id(row), (row, []))[1].append(fact)
    _drop_replaced(leading, asks_past=question.asks_past)
    for row, values in leading.values():
        is_wanted = row.candidate.source == "fact" and (row.qualifier == CURRENT) != question.asks_past
        row.candidate.keyed_answer = 1.0 if is_wanted else 0.9
        row.answers = values[0].attribute
        if row.candidate.source == "message":  # whatever became of the rest that it says
            row.qualifier = waiting(fact.statement for fact in values)
    answers = [row for row, _ in leading.values()]
    facts = [row for row in answers if row.candidate.source == "fact"]
    for row in rows:
        answer = next((lead.facts[0] for lead in facts if row.qualifier != CURRENT and _contradicts(row, lead)), None)
        if answer is not None:
            row.qualifier += f", contradicts fact:{answer.pk}"
    _qualify_older(rows, answers)


def _drop_replaced(leading: dict[int, tuple[CandidateRow, list[FactState]]], *, asks_past: bool) -> None:
    """Drop and qualify what waits with a value of a key that has one at a time, if a later one waits: a boyfriend of
    February, and one of October. Not for a question about the past."""
    if asks_past:
        return
    waits = [
        (row, fact)
        for row, values in leading.values()
        for fact in values
        if fact.status == "proposed" and row.message_id and ":" not in fact.attribute
    ]
    waits.sort(key=lambda one: one[0].candidate.when)
    for row, fact in waits:
        for newer, other in reversed(waits):
            if _is_other_value(other, fact) and newer.candidate.when > row.candidate.when + ONE_SITTING:
                row.qualifier = f"perhaps changed by message:{newer.message_id}"
                leading.pop(id(row), None)
                break


def list_orders(rows: Sequence[CandidateRow]) -> list[CandidateRow]:
    """The messages that only changed the list which answers: “take milk off”. What is on it now tells the list."""
    if not any(row.answers.startswith(LIST) and row.candidate.source == "fact" for row in rows):
        return []
    said = (row for row in rows if row.candidate.source == "message" and row.facts)
    return [
        row
        for row in said
        if all(fact.attribute.startswith(LIST) and fact.status != "proposed" for fact in row.facts)  # it may wait
    ]


def _qualify_older(rows: Sequence[CandidateRow], answers: Sequence[CandidateRow]) -> None:
    """Qualify messages that are older than the answer and don't have its value: they tell how it was, if anything."""
    current = [row for row in answers if row.qualifier.startswith((CURRENT, WAITING))]
    newest = max(current, key=lambda row: row.candidate.when, default=None)
    if newest is None:
        return
    fact = next(fact for fact in newest.facts if fact.key)
    for row in rows:
        is_older = row.candidate.source == "message" and row.candidate.when < newest.candidate.when - ONE_SITTING
        if (
            is_older
            and row.qualifier == CURRENT
            and row.said_by == "user"
            and not fact.value_stems <= content(row.candidate.text)
        ):
            row.qualifier = f"before fact:{fact.pk} ({fact.statement[:QUALIFIER_CHARS]})"


def _waits(fact: FactState, text: str) -> bool:
    return fact.status == "proposed" and fact.is_quoted_in(text)


_RELATED: Final = re.compile(
    r"The user's (?P<relation>[a-z][\w -]*?) (?P<name>[^\W\d_a-z][\w'’ -]*?)(?= [a-z]|['’]s\b)"
)
"""Of “The user's boss Henrike is from Rostock” a question about the boss names the subject, too."""


type _Closeness = tuple[int, float]
"""How much of the key's subject a question names, then how likely it asks for the attribute; _FAR: not at all."""
_FAR: Final = (0, 0.0)


class _AskedAttribute:
    """What a question asks for: an attribute of the user, or of someone it names."""

    def __init__(self, question: Question, attributes: Mapping[str, float]) -> None:
        self._text = text = question.text
        self._asks_past = question.asks_past
        words = frozenset(words_of(text))
        spoken = WORDS.get(question.cues.language)
        breeds = frozenset(breed for breed, animal in BREEDS.items() if animal in words)
        self._words = words | (spoken.relations_in(text) if spoken else breeds)
        self._stems = frozenset(content(text))
        self._attributes = attributes
        self._is_own = (spoken.of_user if spoken else _FIRST_PERSON).search(text) is not None
        self._of_someone = (spoken.of_someone if spoken else _OF_SOMEONE).search(text) is not None

    def closeness(self, fact: FactState) -> _Closeness:
        """How closely the question asks for a fact's key."""
        subject, _, attribute = fact.key.rpartition("/")
        chance = self._chance(attribute)
        if (not chance and not (attribute == "name" and self._asks_pet(subject))) or self._asks_of_another(fact):
            return _FAR
        is_over = fact.status in ("superseded", "expired")
        is_named = ":" not in attribute and not fact.value_stems.isdisjoint(self._stems)
        if is_named and not (self._asks_past and is_over):  # “Until when did I live in Tbilisi?” asks for that home
            if (attribute in WHERE and _ASKS_WHICH.match(self._text)) or _BEFORE.search(self._text):
                return _FAR  # “Which part of Tbilisi do I live in?”, “What did I drive before the Dacia?”
            chance *= NAMED  # “my role at Acme” hardly asks for the employer
        if attribute.startswith(LIST):
            return (1, chance)  # “what's on the packing list?”
        if attribute == "name" and self._asks_pet(subject):
            return (1, self._attributes["pet:"])  # “which pet do I have?”: the cat that is called Pixel
        if subject == USER:
            asks_user = self._is_own and (attribute.startswith(BY_SOMEONE) or not self._of_someone)
            return (1, chance) if asks_user else _FAR
        named = frozenset(re.split(r"[/_:]", subject)) - {USER, "project", ""}
        if found := _RELATED.match(fact.statement):
            is_theirs = named <= frozenset(words_of(found["name"]))
            named = frozenset(words_of(found["relation"])) if is_theirs and not named <= self._words else named
        return (1 + len(named), chance) if named and named <= self._words else _FAR

    def _asks_of_another(self, fact: FactState) -> bool:
        """Whether the question is about another of that name: “Amina from work”, of the sister Amina."""
        return are_of_others(self._text, fact.statement)

    def _asks_pet(self, subject: str) -> bool:
        """Whether the question asks which animals the user has, and this is one."""
        asks = "pet:" in self._attributes and self._is_own and not self._words.isdisjoint(_ANY_PET)
        return asks and subject.removeprefix(f"{USER}/") in PETS

    def _chance(self, attribute: str) -> float:
        """How likely the question asks for an attribute, 0 to 1."""
        if attribute.startswith(LIST):
            return self._asks_list(attribute.removeprefix(LIST).split("_"))
        if attribute in PROJECTS:
            return float(PROJECTS[attribute].search(self._text) is not None)
        if attribute in self._attributes:
            return self._attributes[attribute]
        families = (family for family in self._attributes if family.endswith(("_", ":")))
        return max(
            (
                self._attributes[family]
                for family in families
                if attribute.startswith(family) and self._names(attribute, family)
            ),
            default=0.0,
        )

    def _asks_list(self, name: list[str]) -> float:
        """“What's on my holiday baking list?”, “my packing list for Oslo”; less surely “my list”, “what do I need to
        buy?”."""
        asked = re.sub(r"(?<=watch)list\b|(?<=wish)list\b", " list", self._text.lower().replace("-", " "))
        words = set(words_of(asked))
        if "list" in words and set(name) <= words:
            return 1.0
        by_use = _ASKED_BY_USE.get(name[-1])
        which = _WHICH.search(asked)  # “which films do I still have to watch?”
        is_named = f"{name[-1]} list" in asked or (which is not None and stem(which[1]) == stem(name[-1]))
        is_named = is_named or (_DOWN.search(asked) is not None and not words.isdisjoint(name))
        is_meant = is_named or _ANY_LIST.search(asked) or (by_use and by_use.search(asked))
        return LESS_SURE if is_meant else 0.0

    def _names(self, attribute: str, family: str) -> bool:
        """Whether the question names the thing that an attribute of a family is about, or asks for all of them."""
        thing = frozenset(re.split(r"[_\W]+", attribute.removeprefix(family)))
        spelled = thing | {word.replace("colour", "color") for word in thing}
        return family in LISTED or any(
            word in self._words or word.removesuffix("s") in self._words or f"{word}s" in self._words
            for word in spelled
        )


def _contradicts(row: CandidateRow, lead: CandidateRow) -> bool:
    """Whether a message waits with another value for the key that the current fact answers."""
    if row.candidate.source != "message" or lead.qualifier != CURRENT:
        return False
    return any(_is_other_value(fact, lead.facts[0]) for fact in row.facts)


def _is_other_value(fact: FactState, answer: FactState) -> bool:
    return fact.key == answer.key and fact.status == "proposed" and fact.value.casefold() != answer.value.casefold()
