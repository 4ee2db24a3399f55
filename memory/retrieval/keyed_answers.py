"""Keyed answers: which fact a question about one attribute asks for, so that it leads the recalled memories.

`mark_answers` is pure. A question asks for a key if it names the key's subject and asks for the attribute (ASKS_FOR).
"""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from memory.retrieval.query import Question, words_of
from memory.retrieval.truth import CURRENT, QUALIFIER_CHARS, WAITING, CandidateRow, FactState
from memory.text.keywords import content

ONE_SITTING: Final = timedelta(minutes=1)
"""What was said closer together than this is of one message: a fact and the words it was learned from."""
_WHO: Final = r"(?:[\w'’]+\s+){0,4}?"
"""Words of the subject, between the verbs of a question."""


def _pattern(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


ASKS_FOR: Final[Mapping[str, re.Pattern[str]]] = {
    "home": _pattern(
        rf"\bwhere\b\W+{_WHO}(?:liv(?:e|es|ed|ing)|based|resid(?:e|es|ing)|home|house|flat)\b",
        rf"\b(?:what|which) (?:city|town|country|village|place)\b\W+{_WHO}(?:liv(?:e|es|ed|ing)|based|in|home)\b",
        r"\b(?:home ?town|home address|address)\b",
    ),
    "employer": _pattern(
        rf"\b(?:where|who(?:m)?)\b\W+{_WHO}(?:work(?:s|ed|ing)?|employed)\b",
        rf"\b(?:what|which) (?:company|firm)\b\W+{_WHO}work",
        r"\bemployer\b",
    ),
    "job": _pattern(
        rf"\bwhat (?:do|does|did) {_WHO}do(?: for (?:a living|work))?\s*(?:now|these days|today)?\W*$",
        r"\bwhat(?:['’]s| is| was) [\w'’ ]{1,40}\b(?:job|occupation|profession)\b",
        rf"\bwhat (?:do|does|did) {_WHO}work as\b",
    ),
    "name": _pattern(
        r"\bwhat(?:['’]s| is| was|s)\b[\w'’ ]{1,50}\b(?:name|called|named)\b", r"\bname of\b", r"\bwho am i\b"
    ),
    "partner": _pattern(
        r"\bwho(?:['’]s| is| was)\b[\w'’ ]{1,30}\b(?:partner|wife|husband|girlfriend|boyfriend|fianc[eé]e?|spouse)\b",
        r"\b(?:partner|wife|husband|girlfriend|boyfriend|fianc[eé]e?|spouse)['’]?s? (?:name|called)\b",
        rf"\bwho\b\W+{_WHO}(?:married to|dating|engaged to|together with|seeing)\b",
        r"\bwho am i with\b",
    ),
    "relationship": _pattern(
        r"\b(?:am|is|are)\b[\w'’ ]{1,30}\b(?:married|single|divorced|engaged|seeing anyone)\b",
        r"\b(?:marital|relationship) status\b",
    ),
    "age": _pattern(r"\bhow old\b", r"\bwhat(?:['’]s| is)\b[\w'’ ]{1,30}\bage\b"),
    "birthday": _pattern(r"\bbirthday\b", r"\bdate of birth\b", rf"\bwhen\b\W+{_WHO}born\b"),
    "origin": _pattern(rf"\bwhere\b\W+{_WHO}(?:from|born|grow up|grew up)\b"),
    "studies": _pattern(rf"\bwhat\b\W+{_WHO}(?:study|studies|studying|majoring)\b"),
    "school": _pattern(rf"\b(?:where|which school|what school)\b\W+{_WHO}(?:school|study)\b"),
    "diet": _pattern(
        r"\bdiet\b", r"\b(?:am|is|are)\b[\w'’ ]{1,30}\b(?:vegetarian|vegan)\b", rf"\b(?:do|does) {_WHO}eat meat\b"
    ),
    "car": _pattern(r"\bwh(?:at|ich) (?:kind of |sort of |make of )?(?:car|vehicle)\b", rf"\bwhat\b\W+{_WHO}drive\b"),
    "phone": _pattern(r"\bwh(?:at|ich) (?:kind of |sort of )?phone\b"),
    "species": _pattern(r"\bwhat (?:kind|sort|species) of (?:animal|pet)\b"),
    "breed": _pattern(r"\bbreed\b", r"\bwhat (?:kind|sort) of (?:dog|cat|horse)\b"),
    "deadline": _pattern(r"\bdeadline\b", r"\bwhen\b[\w'’ ]{1,40}\bdue\b"),
    "status": _pattern(r"\bstatus\b"),
    "budget": _pattern(r"\bbudget\b"),
    "surname": _pattern(r"\b(?:surname|last name|family name)\b"),
    "address": _pattern(r"\baddress\b"),
    "preferred_name": _pattern(r"\b(?:call me|be called|go by|called by you)\b", r"\bwhat(?:['’]s| is) my name\b"),
    "time_zone": _pattern(r"\btime ?zone\b"),
    "pronouns": _pattern(r"\bpronouns\b"),
}
"""How questions ask for an attribute's value. Words alone would not do: “what to eat when moving house” asks none."""
FAMILIES: Final[Mapping[str, re.Pattern[str]]] = {
    "favourite_": _pattern(r"\bfavou?rite\b"),
    "taste:": _pattern(r"\b(?:do|does|did)\b[\w'’ ]{1,30}\b(?:like|love|hate|dislike|prefer|enjoy)\b"),
    "diet:": _pattern(rf"\b(?:do|does|can|may) {_WHO}(?:eat|drink|have)\b"),
}
"""The same for one attribute per thing: the question must also name the thing."""
_USER: Final = frozenset({"i", "me", "we", "myself", "us"})
_NOT_OWN: Final = re.compile(r"\b(?:my|our)\s+[\w-]+['’]s\b|\b(?:my|our)\s+[\w-]+s['’]", re.IGNORECASE)
"""“My sister's name” asks about the sister."""


def mark_answers(rows: Sequence[CandidateRow], question: Question) -> None:
    """Mark what has the key the question asks for: facts, and below them messages whose fact waits in Review.

    Messages that contradict the current fact get that in their qualifier.
    """
    words = frozenset(words_of(question.text))
    asked: list[tuple[int, CandidateRow]] = []
    for row in rows:
        is_fact = row.candidate.source == "fact"
        keys = [fact.key for fact in row.facts if fact.key and (is_fact or _waits(fact, row.candidate.text))]
        if keys and row.candidate.source in ("fact", "message"):
            strength = max(_asks_for(key, question.text, words) for key in keys)
            if strength:
                asked.append((strength, row))
    best = max((strength for strength, _ in asked), default=0)
    leading = [row for strength, row in asked if strength == best]
    for row in leading:
        is_wanted = row.candidate.source == "fact" and (row.qualifier == CURRENT) != question.asks_past
        row.candidate.keyed_answer = 1.0 if is_wanted else 0.9
    leading = [row for row in leading if row.candidate.source == "fact"]
    for row in rows:
        answer = next((lead.facts[0] for lead in leading if row.qualifier != CURRENT and _contradicts(row, lead)), None)
        if answer is not None:
            row.qualifier += f", contradicts fact:{answer.pk}"
    _qualify_older(rows, asked, best)


def _qualify_older(rows: Sequence[CandidateRow], asked: Sequence[tuple[int, CandidateRow]], best: int) -> None:
    """Qualify messages that are older than the answer and don't have its value: they tell how it was, if anything."""
    current = [row for strength, row in asked if strength == best and row.qualifier.startswith((CURRENT, WAITING))]
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


def _asks_for(key: str, text: str, words: frozenset[str]) -> int:
    """How closely a question asks for a key: 0 not at all, else more the more of its subject it names."""
    subject, _, attribute = key.rpartition("/")
    pattern = ASKS_FOR.get(attribute) or next(
        (
            asks
            for start, asks in FAMILIES.items()
            if attribute.startswith(start) and _names_thing(attribute, start, words)
        ),
        None,
    )
    if pattern is None or not pattern.search(text):
        return 0
    if subject == "user":
        return 1 if words & _USER or ("my" in words and not _NOT_OWN.search(text)) else 0
    named = frozenset(re.split(r"[/_:]", subject)) - {"user", "project", ""}
    return 1 + len(named) if named and named <= words else 0


def _names_thing(attribute: str, start: str, words: frozenset[str]) -> bool:
    thing = frozenset(re.split(r"[_\W]+", attribute.removeprefix(start)))
    spelled = thing | {word.replace("colour", "color") for word in thing}
    return any(word in words or word.removesuffix("s") in words or f"{word}s" in words for word in spelled)


def _contradicts(row: CandidateRow, lead: CandidateRow) -> bool:
    """Whether a message waits with another value for the key that the current fact answers."""
    if row.candidate.source != "message" or lead.qualifier != CURRENT:
        return False
    return any(_is_other_value(fact, lead.facts[0]) for fact in row.facts)


def _is_other_value(fact: FactState, answer: FactState) -> bool:
    return fact.key == answer.key and fact.status == "proposed" and fact.value.casefold() != answer.value.casefold()
