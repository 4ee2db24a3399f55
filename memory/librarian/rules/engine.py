"""The librarian's rule engine: patterns, no model. Reads English, and proposes nothing for text in other languages.

It knows only what its table holds (`memory/librarian/rules/patterns.py`), so that it misses much and invents nothing:
each statement is made of the user's own words, and each quote is a slice of the message.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import takewhile
from typing import Final

from memory.facts.keys import kind_of, spell
from memory.librarian.engine import Extraction, ExtractionInput, KnownFact, ProposedFact, Relation
from memory.librarian.rules.ailments import IMPAIRED
from memory.librarian.rules.clauses import Clause, clauses_of, read_by_rules, sentences
from memory.librarian.rules.dates import MONTHS, FoundDate, find_date
from memory.librarian.rules.episodes import episode_in
from memory.librarian.rules.jokes import JOKES
from memory.librarian.rules.language import is_english
from memory.librarian.rules.mentions import mentions
from memory.librarian.rules.open_patterns import (
    ABOUT_A_MACHINE,
    CHAT_TALK,
    NEVER_FIRST,
    OPEN_PATTERNS,
    PASSING_NOW,
    OpenPattern,
)
from memory.librarian.rules.orders import standing_order, stretches
from memory.librarian.rules.patterns import PATTERNS, Pattern
from memory.librarian.rules.people import ANYONE, FEMALE, MALE, alternatives
from memory.librarian.rules.plain import NOBODY, THIS_DAY, plainly_said, says_nothing
from memory.librarian.rules.presupposed import presupposed
from memory.librarian.rules.retelling import retold
from memory.librarian.rules.scenes import is_unreal, plainly_meant
from memory.librarian.rules.slots import SLOTS, Style, third_person, told_to_assistant
from memory.librarian.rules.stories import stories_in
from memory.librarian.rules.verbs import PAST
from memory.models.kinds import Kind, default_importance
from memory.ports.source import Utterance
from memory.text.secrets_filter import sensitive

VERSION: Final = "rules/6"
LONGEST: Final = timedelta(seconds=30)
"""Milliseconds are usual; this leaves room for the embedding model's first load on a busy machine."""

HEDGED: Final = 0.7
"""Factor on the confidence of “I think …”: .95 becomes .67, which is never kept unasked."""
OUTDATED: Final = timedelta(days=366)
"""A move longer ago than this is no news: “I moved to Porto in 2010” corrects nothing."""
MIN_TOLD_WORDS: Final = 3
ASK_FOR_NAME: Final = 0.75
"""A name below a message may be another's."""
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
TOLD_IN_THE_PAST: Final = frozenset({"past", "life_event", "who_died"})
"""Topics whose “on Friday” is the last one."""
_ASIDE = re.compile(r" [-–—] .*$|,? and (?:it|that)(?:'s| was| is| were)\b.*$|, (?:it|things|so|but)\b.*$", re.I)
"""What somebody adds on how it was."""
_PREPOSITION = re.compile(r"\b(?:to|of|for|by|until|till|since|from|before|after|around|about|on|in) $", re.I)
_PERSON_WORD = re.compile(rf"\b(?:user's|their) (?:\w+ )?(?:{alternatives((*FEMALE, *MALE, *ANYONE))})(?!\w)", re.I)
_SINCE = re.compile(r"\b(?:since|in) ((?:\w+ )?(?:19|20)\d\d)\b", re.I)
LASTING: Final = frozenset({"home", "employer", "job", "studies"})
"""Topics whose year says from when they have been true."""


@dataclass(frozen=True, slots=True)
class RuleEngine:
    """Proposes what the table of patterns finds. Stateless: one serves every reading."""

    version: str = VERSION
    max_duration: timedelta = LONGEST
    uses_tokens: bool = False

    def extract(self, reading: ExtractionInput) -> Extraction:
        """The facts in what the user wrote, the episode and the stories; never fails."""
        mine = (utterance for utterance in reading.utterances if utterance.speaker == "user")
        facts = [fact for utterance in mine for fact in _facts_of(utterance, reading)]
        names = sorted({tag for fact in facts for tag in fact.tags if tag[:1].isupper()})
        episode = episode_in(reading.utterances, names)
        return Extraction(facts, episode=episode, stories=stories_in(reading.utterances, reading.zone))


def _facts_of(utterance: Utterance, reading: ExtractionInput) -> Iterator[ProposedFact]:
    today = utterance.said_at.astimezone(reading.zone).date()
    scene = _Scene(utterance, reading, today, Style(small=_all_small(utterance.text)), plainly_meant(utterance.text))
    text, real = read_by_rules(utterance.text, utterance.echoes)
    told: set[str] = set()
    for fact in _all_facts(text, real, scene):
        if fact.statement not in told and fact.confidence > 0:
            told.add(fact.statement)
            yield fact


def _all_facts(text: str, real: int, scene: _Scene) -> Iterator[ProposedFact]:
    """What the clauses say, then whom they name, then what is ordered; `real` ends what is of the user's own world."""
    named: set[str] = set()
    statements: list[str] = []
    ordered = False
    not_so: list[tuple[int, int]] = []
    jest_ends = 0
    for read in clauses_of("" if is_unreal(text) else text):
        clause = replace(read, text=_ADDRESSED.sub("", read.text))
        clause = _before_a_joke(clause)
        in_jest = JOKES.search(clause.text) is not None or _goes_on_in_jest(text, jest_ends, clause.start)
        jest_ends = clause.end if in_jest else jest_ends
        if in_jest or NOBODY.search(clause.text) or _LOADED.search(clause.text):
            not_so.append((clause.start, clause.end))
        quote = scene.utterance.text[clause.start : clause.end]
        if (
            clause.hypothetical
            or in_jest
            or _LOADED.search(clause.text)
            or _names_a_secret(quote)
            or (clause.reported and not _AUTHORITY.search(quote))
        ):
            continue
        known = _facts_in(clause, quote, scene)
        for fact in [*known, *(_told(clause, quote, scene) if _leaves_much(clause, known) else [])]:
            named.update(fact.tags)
            statements.append(fact.statement)
            ordered = ordered or fact.addressed_to_assistant
            yield fact
    if is_english(text) and not is_unreal(text):
        yield from _names_given(text[:real], scene)
        for fact in _people_mentioned(text[:real], named, scene):
            statements.append(fact.statement)
            yield fact
        if scene.plain:
            yield from _taken_for_granted(text[:real], statements, not_so, scene)
    if not ordered:
        yield from _orders(text[:real], scene)


_JOKE_HANGS_ON = re.compile(r",? (?:and|but|so) (?!not\b)", re.I)


def _before_a_joke(clause: Clause) -> Clause:
    """“I'm in my third year, and statistics is killing me”: what stands before the joke is meant."""
    jest = JOKES.search(clause.text)
    cuts = [] if jest is None else [cut for cut in _JOKE_HANGS_ON.finditer(clause.text) if cut.end() <= jest.start()]
    head = clause.text[: cuts[-1].start()] if cuts else ""
    return replace(clause, text=head) if len(head.split()) > MIN_TOLD_WORDS and not JOKES.search(head) else clause


def _goes_on_in_jest(text: str, jest_ends: int, start: int) -> bool:
    """Whether a joke stands before in the same sentence: “I'm the Queen of Sheba and I bathe in milk”."""
    return (
        0 < jest_ends <= start and re.fullmatch(r",? (?:and|but|so) (?:then |now )?", text[jest_ends:start]) is not None
    )


_LOADED = re.compile(r"\b(?:battery|phone|laptop|tablet|watch) (?:is|was|'s) (?:at|on) \d+ ?(?:%|per ?cent)", re.I)
"""A row of the first table would keep it as what the user's phone is like."""
_SECRET = re.compile(
    r"\b(?:pw|pwd|pass ?words?|passwd|passcode|pass ?phrase|pin code|my pin|log-?ins?|logg(?:ing|ed) in"
    r"|login code|security code"
    r"|seed phrase|recovery (?:phrase|code|words)|cash machine|(?:door|gate|alarm|entry|key ?safe"
    r"|locker) code|safe combination)\b",
    re.I,
)


def _names_a_secret(quote: str) -> bool:
    """Whether the words speak of a secret of no known shape; what has one is proposed, dropped and counted."""
    return _SECRET.search(quote) is not None and not sensitive(quote)


MUCH: Final = 2
_CONTENT = re.compile(r"\b(?:[^\W\d_][\w'-]{3,}|\d+)\b")
_NAMED = re.compile(rf"(?<=[\w,] )(?!I\b|(?i:{alternatives(MONTHS)})\b)[A-Z][\w-]{{3,}}|\b(?!(?:19|20)\d\d\b)\d\d+\b")
"""A name or a number that no fact tells weighs more; a month or a year says since when."""
_SMALL_TALK = frozenset(
    {
        "that",
        "this",
        "with",
        "from",
        "have",
        "been",
        "just",
        "also",
        "really",
        "years",
        "still",
        "very",
        "since",
        "last",
        "year",
        "month",
        "week",
        "lived",
        "live",
        "moved",
        "work",
        "works",
        "born",
        "called",
        "name",
        "there",
        "because",
        "about",
    }
)


def _leaves_much(clause: Clause, known: Sequence[ProposedFact]) -> bool:
    """Whether the clause says more than the facts made of it: then it is told whole as well."""
    if any(fact.addressed_to_assistant or fact.statement == _UNTOLD for fact in known):
        return False
    told = {word.lower()[:4] for fact in known for word in _CONTENT.findall(f"{fact.statement} {fact.value}")}
    said = {word.lower()[:4] for word in _CONTENT.findall(clause.text) if word.lower() not in _SMALL_TALK}
    left = said - told
    named = any(found[0][:4].lower() in left for found in _NAMED.finditer(clause.text))
    return not known or len(left) > MUCH or (named and len(left) == MUCH)


@dataclass(frozen=True, slots=True)
class _Scene:
    """What a clause is read against."""

    utterance: Utterance
    reading: ExtractionInput
    today: date
    style: Style
    plain: bool = True
    """What fits no row may be taken at its word."""


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
    facts = _by_table(clause, clause.text, quote, scene)
    if not facts and (shorter := _SIDE_CUT.search(clause.text, MIN_HEAD)):
        facts = _by_table(clause, clause.text[: shorter.start()].rstrip(" ,-–—"), quote, scene)
    return facts


MIN_HEAD: Final = 6
"""Characters; a shorter beginning (“I'm in”) says nothing."""
_SIDE_CUT = re.compile(
    r",(?! (?:and|or|nor)\b)|;| \(| [-–—] |,? (?:so|but|because|since|although|though|which|while|hence|therefore|btw"
    r"|by the way|if that|until|unless|even|anyway)\b",
    re.I,
)
"""Where a clause goes on with something else; read only where the whole of it is in no row."""


def _by_table(clause: Clause, words: str, quote: str, scene: _Scene) -> list[ProposedFact]:
    """What the rows of the first table make of these words."""
    facts: list[ProposedFact] = []
    topics: set[str] = set()
    for pattern, compiled in COMPILED:
        if pattern.kind is Kind.PREFERENCE and THIS_DAY.search(words):
            continue  # another day, another mood
        if pattern.topic in topics or (found := compiled.fullmatch(words)) is None:
            continue
        match = _checked(pattern, found, scene)
        if match is not None:
            topics.add(pattern.topic)
            facts += [_fact(match, item, clause, quote, scene) for item in match.items]
    return facts


# In the user's own words ----------------------------------------------------------------------------------------

_AUTHORITY = re.compile(
    r"\b(?:doctor|gp|dentist|physio\w*|therapist|consultant|specialist|nurse|midwife|vet|allergist|surgeon|pharmacist"
    r"|optician|dietitian|psychiatrist|cardiologist)(?: \w+)? (?:says?|said|told|tells|thinks"
    r"|confirmed|advised|insists|believes)\b",
    re.I,
)
"""Whose claims about the user are worth a question: “my doctor says I'm allergic to penicillin”."""


def _told(clause: Clause, quote: str, scene: _Scene) -> list[ProposedFact]:
    """The clause itself, told in the third person, if a row of the second table says that it is worth keeping."""
    told = _told_whole(clause, quote, scene)
    cut = None if told else _HEAD_ENDS.search(clause.text, MIN_HEAD)
    if cut is None:
        return told
    return _told_whole(replace(clause, text=clause.text[: cut.start()].rstrip(" ,-–—")), quote, scene)


_ADDRESSED = re.compile(
    r",(?: and| but)? (?:you|you're|you've|u|that (?:was|is|isn't)|that's|said no one)\b.*$"
    r"|,? so (?:forget|ignore|please|pls|can|could|what|how|where|which|why|help|tell|give)\b.*$",
    re.I,
)
"""What somebody adds for the one they talk to: “I have no sister, you're confusing me with someone”."""
_HEAD_ENDS = re.compile(
    r"(?:,|;| [-–—])? (?:so|but|and|because|since|though|although|bc) (?:maybe |perhaps |then |now )?(?:you|u|it"
    r"|they|he"
    r"|she|that|this|there|the \w+|not|always|please|can|could)\b|, (?:which|more|it|they|he|she|so|but|hence"
    r"|maybe|please|pls)\b"
    r"|; | [-–—] | \(",
    re.I,
)
"""Where a clause goes on with something else; what stands before is told where the whole says too much."""


OF_THE_ASSISTANT: Final = re.compile(
    r"\byours\b|\byour (?:\w+ )?(?:answers?|repl(?:y|ies)|response|responses|suggestions?|explanations?|list|ideas?"
    r"|plan|version|draft|examples?|work|code|poem|story|biggest fan|opinion|advice)\b",
    re.I,
)
"""“A fan of yours”, “my favourite part of your answer”: said of the talk."""


def _told_whole(clause: Clause, quote: str, scene: _Scene) -> list[ProposedFact]:
    words = clause.text
    vague = (
        CHAT_TALK.match(words)
        or JOKES.search(words)
        or NEVER_FIRST.match(words)
        or _ENDS_OPEN.search(words)
        or _GAPS.search(words)
        or says_nothing(words)
        or OF_THE_ASSISTANT.search(words)
    )
    if vague or (len(words.split()) < MIN_TOLD_WORDS and not _ONE_WORD_TELLS.fullmatch(words)):
        return []
    machine = ABOUT_A_MACHINE.match(words) is not None
    first = words[:2].lower()
    starts = "my" if first in {"my", "ou"} else "i" if first[:1] in {"i", "w"} else "?"
    for pattern in OPEN_PATTERNS:
        if (machine and not pattern.machine) or (pattern.starts and pattern.starts != starts):
            continue
        if pattern.says.match(words) is None:
            continue
        if not pattern.passing and not pattern.dated and PASSING_NOW.search(words):
            continue
        found = _date_in(words, pattern, scene.today)
        if pattern.dated and found is None and _LOOSE_DATE.search(words) is None:
            continue
        if pattern.dated and found is not None and EPHEMERAL.match(words[found.start :]) and not pattern.passing:
            continue
        fact = _told_fact(pattern, clause, found, quote, scene)
        return [] if "the assistant" in fact.statement else [fact]
    plain = plainly_said(words) if scene.plain else None
    if plain is not None:
        fact = _told_fact(plain, clause, _date_in(words, plain, scene.today), quote, scene)
        return [] if "the assistant" in fact.statement else [fact]
    return []


_ONE_WORD_TELLS = re.compile(rf"(?:i'm|i am|im) (?:{IMPAIRED})", re.I)
"""Too short to tell anything else."""
_LOOSE_DATE = re.compile(
    r"\b(?:(?:this|next|last|in|over|at|during|until|by|since|early|mid|late|end of|before"
    r"|after)[ -](?:the )?(?:summer|winter|spring"
    r"|autumn|fall|christmas|xmas|easter|new year\w*|half[- ]term|ramadan|holidays|weekend"
    r"|january|february|march|april|may|june|july"
    r"|august|september|october|november|december)|(?:two|three|four|a few|\d+) (?:summers|winters|springs) ago)\b",
    re.I,
)
"""A time of the year that is no day."""


def _date_in(words: str, pattern: OpenPattern, today: date) -> FoundDate | None:
    """The day a clause names, read as past or to come by its verb."""
    found = find_date(words, today)
    past = found is not None and (pattern.past or _TELLS_OF_THE_PAST.search(words[: found.start]) is not None)
    return (
        find_date(words, today, past=True)
        if past and not _COMING.search(words[: found.start] if found else "")
        else found
    )


_DECIDED: Final = frozenset({"chose", "told", "said", "thought", "knew", "felt", "heard", "meant", "understood", "set"})
"""Done in the past, of what may be to come: “I chose the March event”."""
_TELLS_OF_THE_PAST = re.compile(rf"\b(?:(?:re)?(?:{alternatives(tuple(PAST - _DECIDED))})|\w{{2,}}ed)\b", re.I)
_COMING = re.compile(
    r"\b(?:pushed back|moved to|postponed|rescheduled|brought forward|booked|scheduled|planned|delayed|put (?:off"
    r"|back)|is|are|am|i'm|we're|im|will|i'll|we'll|going|getting)\b",
    re.I,
)


def _told_fact(
    pattern: OpenPattern, clause: Clause, found: FoundDate | None, quote: str, scene: _Scene
) -> ProposedFact:
    found = None if found is not None and _HABITUAL.search(clause.text) else found
    words = clause.text if found is None else _with_day(clause.text, found)
    statement = retold(words) or _about_others(words)
    certainty = min(pattern.confidence, 0.7) if found is not None and not found.plain else pattern.confidence
    third_party = pattern.third_party or _PERSON_WORD.search(statement) is not None
    return ProposedFact(
        statement=f"{statement.rstrip(' .,;:-–—')}.",
        kind=pattern.kind,
        value=_day_value(found),
        quote=quote,
        number=scene.utterance.number,
        confidence=round(certainty * HEDGED, 2) if clause.hedged else certainty,
        importance=default_importance(pattern.kind) if pattern.importance is None else pattern.importance,
        about_third_party=third_party,
        reported=clause.reported,
        health=pattern.health,
        correction=clause.correction,
    )


_ONE: Final = {"us": "me", "our": "my", "we": "i", "ours": "mine", "we've": "i've", "we're": "i'm"}
_AS_ONE = re.compile(rf"(?<![\w'])(?<!\bof )(?:{alternatives(tuple(_ONE))})(?![\w'])", re.I)
"""Whoever else “we” are, the user is one of them."""


def _about_others(words: str) -> str:
    """A sentence whose subject is not the user, where “them” would be nobody: “a friend invited the user”."""
    told = told_to_assistant(_AS_ONE.sub(lambda found: _ONE[found[0].lower()], words))
    return f"{told[:1].upper()}{told[1:]}"


_ENDS_OPEN = re.compile(
    r"\b(?:is|are|was|were|to one|of one|any of|not|very|so|than|would|could|can|and|or|but|to|of|the|an?|with|like"
    r"|like this|as follows|following|see|my|our|on|which|because)$",
    re.I,
)
"""Cut too early to be understood."""
_GAPS = re.compile(r"\b(?:for|to|of|with|an?|the|than|about),", re.I)
"""Something was cut out of its middle."""
_HABITUAL = re.compile(r"\b(?:always|usually|even) .*\bin \w+$|\bevery \w+ in \w+\b", re.I)
"""“I always sleep with the window open, even in January” means each January."""
_BEFORE_A_NOUN = re.compile(r"\b(?:an?|the|my|our|this|their) $", re.I)


def _with_day(words: str, found: FoundDate) -> str:
    """The date told in full, without a second preposition before it."""
    before = words[: found.start]
    told = found.words.partition(" ")[2] if _PREPOSITION.search(before) else found.words
    if _BEFORE_A_NOUN.search(before):
        told = f"{found.first.day} {found.first:%B %Y}" if found.first == found.last else words[found.start : found.end]
    return f"{before}{told}{words[found.end :]}"


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
        if told is None or (OF_THE_ASSISTANT.search(text or "") and not pattern.to_assistant):
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
    ).normalized()


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


def _people_mentioned(text: str, named: Container[str], scene: _Scene) -> Iterator[ProposedFact]:
    """Somebody named in passing (“dinner with my friend Tom”), where no other fact names them."""
    for mention in mentions(text):
        quote = scene.utterance.text[mention.start : mention.end]
        if mention.name.removeprefix("Dr ") in named or sensitive(quote):
            continue
        yield ProposedFact(
            statement=mention.statement,
            kind=Kind.ENTITY if mention.is_animal else Kind.PERSON,
            quote=quote,
            number=scene.utterance.number,
            confidence=0.9,
            importance=default_importance(Kind.PERSON),
            tags=tuple(filter(None, (mention.name, mention.relation))),
            about_third_party=not mention.is_animal,
        )


def _taken_for_granted(
    text: str, told: Sequence[str], not_so: Sequence[tuple[int, int]], scene: _Scene
) -> Iterator[ProposedFact]:
    """What is no claim of its own, but must be so for the message to make sense; nothing within what is not so."""
    for one in presupposed(text, told):
        if any(start <= one.start < end for start, end in not_so):
            continue
        quote = scene.utterance.text[one.start : one.end]
        if not sensitive(quote) and not _names_a_secret(quote):
            yield ProposedFact(
                statement=one.statement,
                kind=one.kind,
                quote=quote,
                number=scene.utterance.number,
                confidence=0.7,
                importance=default_importance(one.kind),
                about_third_party=one.third_party,
                health=one.health,
            )


def _orders(text: str, scene: _Scene) -> Iterator[ProposedFact]:
    """Standing orders to the assistant, each from a whole sentence."""
    for start, end, mark in stretches(text, list(sentences(text))):
        order = standing_order(text[start:end], mark)
        lead = len(text[start:end]) - len(text[start:end].lstrip(" ,.:;!"))
        quote = scene.utterance.text[start + lead : end].rstrip()
        if order is None or sensitive(quote):
            continue
        yield ProposedFact(
            statement=f"The user tells the assistant: {order.rstrip(' .,')}.",
            kind=Kind.INSTRUCTION,
            quote=quote,
            number=scene.utterance.number,
            confidence=0.85,
            importance=default_importance(Kind.INSTRUCTION),
            addressed_to_assistant=True,
        )


_SIGNED = re.compile(
    r"(?:\n\s*\n?|[.!?)] [-–—~] ?|\b(?:cheers|thanks|bye|signing off|good ?night|regards|cheerio"
    r"|ta)\b[^.?!\n]{0,30} [-–—~] ?|\b(?:cheers|regards|thanks|best|love|ta), (?!Claude|Chat|Recall"
    r"|Siri|Alexa|Bot|AI))(?:(?:best|cheers|thanks|thank you|regards|kind regards|best wishes"
    r"|love|yours),?\s*\n\s*)?"
    r"(?P<name>[A-Z][^\W\d_]{1,20}(?: [A-Z][^\W\d_]{1,20})?)(?: \((?:he/him|she/her|they/them)\))?\s*$"
)
_INTRODUCED = re.compile(
    r"\s*(?i:hi|hello|hey|good (?:morning|evening|afternoon))(?i: there| all| everyone)?[,.!]? (?i:this is|it's) "
    r"(?P<name>[A-Z][^\W\d_]{1,20}(?: [A-Z][^\W\d_]{1,20})?)(?= \(|[,.!]|$| (?i:from|at|again|here)\b)"
)
"""“Hi, this is Bronagh.”"""
_ASKED_NAME = re.compile(
    r"\b(?:what (?:should|can|may|shall|do) i call you|what(?:'s| is) your name|your name\?)", re.I
)
_NAME_GIVEN = re.compile(
    r"^(?:it's |i'm |my name is |just )?(?P<name>[A-Z][^\W\d_]{1,20}(?: [A-Z][^\W\d_]{1,20})?)"
    r"(?=[,.!]|$)(?:, (?:but|or) (?P<called>[A-Z][^\W\d_]{1,20}) (?:is|works|will do))?"
)


def _names_given(text: str, scene: _Scene) -> Iterator[ProposedFact]:
    """The user's name, signed below a message or answered to the assistant's question."""
    before = _said_before(scene)
    signed = _SIGNED.search(text)
    if signed is not None and len(text[: signed.start()].split()) > 2:
        yield _name_fact("The user's name is {}.", "name", signed["name"], signed.span("name"), scene)
    introduced = _INTRODUCED.match(text)
    if introduced is not None:
        yield _name_fact("The user's name is {}.", "name", introduced["name"], introduced.span("name"), scene)
    given = _NAME_GIVEN.match(text) if _ASKED_NAME.search(before) else None
    if given is not None:
        yield _name_fact("The user's name is {}.", "name", given["name"], given.span("name"), scene)
        if given["called"]:
            span = (given.start("called"), given.end())
            yield _name_fact("The user wants to be called {}.", "preferred_name", given["called"], span, scene)


def _said_before(scene: _Scene) -> str:
    """What the assistant said right before the message."""
    earlier = [one for one in scene.reading.utterances if one.number < scene.utterance.number]
    return earlier[-1].text if earlier and earlier[-1].speaker == "assistant" else ""


def _name_fact(statement: str, key: str, name: str, span: tuple[int, int], scene: _Scene) -> ProposedFact:
    checked_name = SLOTS["name"].check(name, Style(small=False))
    return ProposedFact(
        statement=statement.format(name),
        kind=Kind.IDENTITY,
        key=key,
        value=name,
        quote=scene.utterance.text[span[0] : span[1]],
        number=scene.utterance.number,
        confidence=ASK_FOR_NAME if checked_name else 0.0,
        importance=default_importance(Kind.IDENTITY),
    )


_UNTOLD: Final = "The user told something that is never stored."


def _secret(quote: str, utterance: Utterance) -> ProposedFact:
    return ProposedFact(
        statement=_UNTOLD,
        kind=Kind.FACT,
        quote=quote,
        number=utterance.number,
        confidence=1.0,
        importance=1.0,
    )


def _all_small(text: str) -> bool:
    """Whether the message is written without capitals (but for “I”), so that they say nothing."""
    if not any(char.isupper() for char in re.sub(r"\bI\b", "", text)):
        return True
    return _SMALL_I.search(text) is not None and _LARGE_I.search(text) is None


_SMALL_I = re.compile(r"(?<![\w.'’-])(?:i|im|ive|i['’]m|i['’]ve|i['’]d|i['’]ll)(?![\w.])")
_LARGE_I = re.compile(r"\bI(?:['’](?:m|ve|d|ll))?\b")
"""Who writes “i” small writes names small, too, at least sometimes."""
