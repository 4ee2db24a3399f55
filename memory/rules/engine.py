"""The librarian's rule engine: patterns, no model. Reads English, and proposes nothing for text in other languages.

It knows only what its table holds (`memory/rules/patterns.py`), so that it misses much and invents nothing: each
statement is made of the user's own words, and each quote is a slice of the message.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from itertools import takewhile
from typing import Final

from memory.extraction import Extraction, KnownFact, ProposedFact, Reading, Relation
from memory.keys import kind_of, spell
from memory.kinds import Kind, default_importance
from memory.rules.clauses import Clause, clauses
from memory.rules.dates import FoundDate, find_date
from memory.rules.patterns import PATTERNS, Pattern
from memory.rules.people import ANYONE, FEMALE, MALE, alternatives
from memory.rules.slots import SLOTS, Style, third_person
from memory.sensitive import sensitive
from memory.source import Utterance

VERSION: Final = "rules/1"
LONGEST: Final = timedelta(seconds=30)
"""Milliseconds are usual; this leaves room for the embedding model's first load on a busy machine."""

HEDGED: Final = 0.7
"""Factor on the confidence of “I think …”: .95 becomes .67, which is never kept unasked."""
OUTDATED: Final = timedelta(days=366)
"""A move longer ago than this is no news: “I moved to Porto in 2010” corrects nothing."""
MAX_KEY_WORDS: Final = 4
"""A taste in more words than this has no key: it will hardly be said again in the same words."""
EPHEMERAL: Final = re.compile(r"^(?:today|tonight|this (?:morning|afternoon|evening|week))\b", re.I)
"""Over before it could be recalled."""
SMALL_TALK: Final = re.compile(
    r"^(?:question|feeling|idea|problem|look|lot|few|bit|doubt|chance|sense|hard time|couple|task|bug|deadline for"
    r" this|answer|question)\b",
    re.I,
)
"""“I have a question about next week” is no event."""

COMPILED: Final = tuple((pattern, pattern.compiled()) for pattern in PATTERNS)
TOLD_IN_THE_PAST: Final = frozenset({"past", "life_event"})
"""Topics whose “on Friday” is the last one."""
_ASIDE = re.compile(r" [-–—] .*$|,? and (?:it|that)(?:'s| was| is| were)\b.*$|, (?:it|things|so|but)\b.*$", re.I)
"""What somebody adds on how it was."""
_PREPOSITION = re.compile(r"\b(?:of|for|by|until|till|since|from|before|after|around|about|on|in) $", re.I)
_PERSON_WORD = re.compile(rf"\b(?:user's|their) (?:\w+ )?(?:{alternatives((*FEMALE, *MALE, *ANYONE))})(?!\w)", re.I)
_NAMED_PERSON = re.compile(
    rf"\b(?i:my|our) (?P<relation>(?i:{alternatives((*FEMALE, *MALE, *ANYONE))})) (?P<name>[A-Z][a-z]+(?:"
    rf" [A-Z][a-z]+)?)(?![\w'])"
)
_SINCE = re.compile(r"\b(?:since|in) ((?:\w+ )?(?:19|20)\d\d)\b", re.I)
LASTING: Final = frozenset({"home", "employer", "job", "studies"})
"""Topics whose year says from when they have been true."""


@dataclass(frozen=True, slots=True)
class RuleEngine:
    """Proposes what the table of patterns finds. Stateless: one serves every reading."""

    version: str = VERSION
    longest: timedelta = LONGEST
    languages: tuple[str, ...] = ("en",)

    def extract(self, reading: Reading) -> Extraction:
        """The facts in what the user wrote; never fails."""
        mine = (utterance for utterance in reading.utterances if utterance.speaker == "user")
        return Extraction([fact for utterance in mine for fact in _facts_of(utterance, reading)])


def _facts_of(utterance: Utterance, reading: Reading) -> Iterator[ProposedFact]:
    today = utterance.said_at.astimezone(reading.zone).date()
    scene = _Scene(utterance, reading, today, Style(small=_all_small(utterance.text)))
    told: set[str] = set()
    named: set[str] = set()
    for clause in clauses(utterance.text):
        quote = utterance.text[clause.start : clause.end]
        facts = _facts_in(clause, quote, scene)
        named.update(tag for fact in facts for tag in fact.tags)
        for fact in (*facts, *_people_mentioned(clause, quote, named, scene)):
            named.update(fact.tags)
            if fact.statement not in told:
                told.add(fact.statement)
                yield fact


@dataclass(frozen=True, slots=True)
class _Scene:
    """What a clause is read against."""

    utterance: Utterance
    reading: Reading
    today: date
    style: Style


@dataclass(slots=True)
class _Match:
    """A pattern that matched a clause: what its slots hold, and the date it names."""

    pattern: Pattern
    values: dict[str, str] = field(default_factory=dict)
    items: list[str] = field(default_factory=lambda: [""])
    list_slot: str = ""
    date: FoundDate | None = None


def _facts_in(clause: Clause, quote: str, scene: _Scene) -> list[ProposedFact]:
    if sensitive(quote):
        # Proposed without a word of it, so that the decision drops and counts it: the quote says why.
        return [_secret(quote, scene.utterance)]
    facts: list[ProposedFact] = []
    topics: set[str] = set()
    for pattern, compiled in COMPILED:
        if pattern.topic in topics or (found := compiled.fullmatch(clause.text)) is None:
            continue
        match = _checked(pattern, found, scene)
        if match is not None:
            topics.add(pattern.topic)
            facts += [_fact(match, item, clause, quote, scene) for item in match.items]
    return facts


# Slots -----------------------------------------------------------------------------------------------------------


def _checked(pattern: Pattern, found: re.Match[str], scene: _Scene) -> _Match | None:
    """The match with every slot checked and told in the third person; None: one of them is not what it must be."""
    match = _Match(pattern, {"month": f"{scene.today:%B %Y}"})
    for slot, text in found.groupdict().items():
        if slot in {"date", "dated"}:
            told = _dated(text or "", slot, match, scene.today)
        elif slot in SLOTS and SLOTS[slot].is_list:
            told = _listed(text or "", slot, match, scene.style)
        elif slot in SLOTS and text is not None:
            told = SLOTS[slot].check(text, scene.style)
        else:
            told = third_person(text or "")
        if told is None:
            return None
        match.values[slot] = told
    match.values["who"] = " ".join(filter(None, (match.values.get("relation"), match.values.get("name"))))
    if "rest" in match.values:
        match.values["rest"] = _with_date_told(match.values["rest"], match, scene.today)
    return match


def _listed(text: str, slot: str, match: _Match, style: Style) -> str | None:
    """The things of a list, each of them a fact of its own, as far as they are things; None: the first is none."""
    cut = re.sub(r",? (?:because|since|so|but|although|though|which|when|if|while|except)\b.*$", "", text, flags=re.I)
    parts = [part for part in re.split(r",? (?:and|or|nor|&) (?:also )?|, |/", cut) if part.strip()]
    things = [thing for thing in takewhile(bool, (SLOTS[slot].check(part, style) for part in parts)) if thing]
    if not things:
        return None
    match.items, match.list_slot = things, slot
    return things[0]


def _dated(text: str, slot: str, match: _Match, today: date) -> str | None:
    """A text with its date told in full; None: it names none, or one too near to be worth keeping."""
    found = find_date(text, today)
    if found is None or EPHEMERAL.match(text[found.start : found.end]) or SMALL_TALK.match(text):
        return None
    if slot == "date" and (found.start > 0 or len(text) - found.end > 20):
        return None
    if SLOTS["activity"].check(text, Style(small=False)) is None:
        return None
    return _with_date_told(text, match, today)


def _with_date_told(text: str, match: _Match, today: date) -> str:
    """“next Friday” as the day it means, and the user's words in the third person."""
    text = _ASIDE.sub("", text)
    found = find_date(text, today, past=match.pattern.topic in TOLD_IN_THE_PAST)
    if found is not None:
        match.date = found
        before = text[: found.start]
        words = found.words.partition(" ")[2] if _PREPOSITION.search(before) else found.words
        text = f"{before}{words}{text[found.end :]}"
    return third_person(text)


# Facts -----------------------------------------------------------------------------------------------------------


def _fact(match: _Match, item: str, clause: Clause, quote: str, scene: _Scene) -> ProposedFact:
    pattern, values = match.pattern, dict(match.values)
    if match.list_slot:
        values[match.list_slot] = item
    statement = pattern.statement.format_map(values)
    value = pattern.value.format_map(values) or _day_value(match.date)
    key = _key(pattern, values)
    since = _since(clause.text, scene) if pattern.topic in LASTING else None
    old = since is not None and scene.utterance.said_at - since > OUTDATED
    relation, related_to = Relation.NONE, None
    if pattern.retracts:
        known = _known(scene.reading.known, pattern.retracts, value)
        key, value = (pattern.retracts, "") if known else ("", "")
        relation, related_to = (Relation.UPDATES, known.number) if known else (relation, related_to)
    return ProposedFact(
        statement=statement,
        kind=pattern.kind,
        key=key,
        value=value,
        quote=quote,
        number=scene.utterance.number,
        confidence=_confidence(match, clause, old=old and pattern.correction),
        importance=default_importance(pattern.kind) if pattern.importance is None else pattern.importance,
        valid_from=since,
        tags=tuple(dict.fromkeys(filter(None, (values.get("name"), values.get("relation") or values.get("animal"))))),
        relation=relation,
        related_to=related_to,
        hypothetical=clause.hypothetical,
        reported=clause.reported,
        about_third_party=pattern.third_party or _PERSON_WORD.search(statement) is not None,
        addressed_to_assistant=pattern.to_assistant,
        health=pattern.health,
        correction=(pattern.correction or clause.correction) and not old,
    ).by_scheme()


def _key(pattern: Pattern, values: Mapping[str, str]) -> str:
    key = spell(pattern.key.format_map(values)) if pattern.key else ""
    _, _, thing = key.partition(":")
    return "" if thing.count("_") >= MAX_KEY_WORDS or kind_of(key) is None else key


def _confidence(match: _Match, clause: Clause, *, old: bool) -> float:
    certainty = match.pattern.confidence
    if old:
        certainty = min(certainty, 0.7)  # they may have moved on since
    if match.date is not None and not match.date.plain:
        certainty = min(certainty, 0.7)  # people differ about “next Friday”
    return round(certainty * HEDGED, 2) if clause.hedged else certainty


def _day_value(found: FoundDate | None) -> str:
    """A day, or a stretch of days, in ISO form."""
    if found is None:
        return ""
    return found.first.isoformat() if found.first == found.last else f"{found.first}/{found.last}"


def _since(text: str, scene: _Scene) -> datetime | None:
    """From when it has been true: “since March 2019”."""
    named = _SINCE.search(text)
    found = find_date(f"in {named[1]}", scene.today) if named else None
    return datetime.combine(found.first, time(), scene.reading.zone).astimezone(UTC) if found else None


def _known(known: Iterable[KnownFact], key: str, value: str) -> KnownFact | None:
    """The known fact that holds `value` under `key`."""
    return next((f for f in known if f.key == key and f.value.casefold() == value.casefold()), None)


def _people_mentioned(clause: Clause, quote: str, named: Container[str], scene: _Scene) -> list[ProposedFact]:
    """Somebody named in passing (“dinner with my friend Tom”), where no other fact names them."""
    if sensitive(quote):
        return []
    return [
        ProposedFact(
            statement=f"The user's {found['relation'].lower()} is called {found['name']}.",
            kind=Kind.PERSON,
            quote=quote,
            number=scene.utterance.number,
            confidence=round(0.9 * (HEDGED if clause.hedged else 1), 2),
            importance=default_importance(Kind.PERSON),
            tags=(found["name"], found["relation"].lower()),
            hypothetical=clause.hypothetical,
            reported=clause.reported,
            about_third_party=True,
        )
        for found in _NAMED_PERSON.finditer(clause.text)
        if found["name"] not in named and SLOTS["name"].check(found["name"], scene.style)
    ]


def _secret(quote: str, utterance: Utterance) -> ProposedFact:
    return ProposedFact(
        statement="The user told something that is never stored.",
        kind=Kind.FACT,
        quote=quote,
        number=utterance.number,
        confidence=1.0,
        importance=1.0,
    )


def _all_small(text: str) -> bool:
    """Whether the message is written without capitals (but for “I”), so that they say nothing."""
    return not any(char.isupper() for char in re.sub(r"\bI\b", "", text))
