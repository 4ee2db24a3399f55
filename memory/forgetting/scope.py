"""Scope: which memories a topic in words means, which it means in part, and which only look like it. Pure functions.

whole identifiers   “OPS-12” is neither “OPS-120” nor “OPS-12-b”; “ACME-CORP”, “Acme Corp” and “acme_corp” are one
names, dates        each one that the topic names must be there; “my cat Art” isn't the art class
numbers             only beside the word they are named with: “port 8080”, not “8080 files”
words               those that carry meaning; after “that …” the memory must claim the same, not the opposite
parts               a memory that says more keeps the rest: “lives in Porto and works at Acme” without Acme
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Final

from memory.facts.deduplication import PEOPLE
from memory.text import relations
from memory.text.dates import MONTHS, WEEKDAYS
from memory.text.identifiers import Atom, atoms_of, canonical, script_of
from memory.text.keywords import FILLER, stem
from memory.text.parts import parts_of, sentence_spans


class Verdict(StrEnum):
    """How a memory relates to a topic."""

    MEANT = "meant"
    PART = "part"
    NEIGHBOR = "neighbor"


class Reason(StrEnum):
    """The reason, as the preview states it."""

    NAMED = "names it"
    SAID = "says this"
    PART = "says this among other things; the rest stays"
    IN_ANSWER = "says this among other things"
    """Of an answer: the rest goes too, if it was written from this."""
    LIKELY = "the closest match"
    SIMILAR = "similar in meaning"
    OPPOSITE = "says the opposite"
    OTHER_SUBJECT = "about someone or something else"
    LESS = "shares only some words"


@dataclass(frozen=True, slots=True)
class Ruling:
    """A verdict with its reason."""

    verdict: Verdict
    reason: Reason
    parts: tuple[int, ...] = ()
    """The numbers of the parts that are meant with PART, or of the nearest (`memory/text/parts.py`)."""
    coverage: float = 0.0
    """Share of the topic's words that the memory has, 0–1."""
    has_anchors: bool = False
    """Whether it has all identifiers, names, numbers and dates of the topic, and nothing contradicts it."""
    is_negated: bool = False
    in_longer_name: bool = False
    """The topic's name is only part of a name there: “Acme” in “Acme Labs”."""

    @property
    def is_ticked(self) -> bool:
        """Whether it is clearly meant, in whole or in part."""
        return self.verdict != Verdict.NEIGHBOR


@dataclass(frozen=True, slots=True)
class Identifier:
    """A name, code, address or number of the topic."""

    forms: frozenset[str]
    """The canonical spellings, in other scripts too."""
    is_name: bool
    """Capitalized within the topic, so it doesn't match an ordinary word in lower case."""
    is_weak: bool
    """A number, or a code of two characters: meaningful only beside its word."""
    classifiers: frozenset[str] = frozenset()
    """Stems of the words right before it: “port” in “port 8080”, “brother” in “my brother Sam”."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A parsed topic."""

    text: str
    identifiers: tuple[Identifier, ...]
    dates: frozenset[str]
    words: frozenset[str]
    """Stems of the other meaningful words."""
    is_claim: bool
    """A claim, “that I like coriander”: a memory that denies it isn't meant."""
    is_negated: bool
    is_of_user: bool
    """About the user: “I …”, “my …”."""
    is_all: bool = False
    """“Everything about …”: memories that deny it are meant too."""

    @property
    def is_being(self) -> bool:
        """Whether it is all of one person or animal: “my sister”."""
        return not self.dates and len(self.words) + len(self.identifiers) == 1 and bool(self.words & _BEINGS)

    @property
    def is_empty(self) -> bool:
        """Whether it contains nothing to search for."""
        return not (self.identifiers or self.dates or self.words)


_BEINGS: Final = frozenset(map(stem, relations.PEOPLE | relations.PETS))
SYNONYMS: Final = tuple(
    frozenset(map(stem, line.split()))
    for line in (
        "live home reside move address house flat",
        "work job employer employed profession office career",
        "trip travel went visit flew journey holiday vacation",
        "drive car vehicle",
        "old age birthday born aged",
        "partner wife husband spouse married girlfriend boyfriend",
        "like love enjoy fond prefer favorite favourite",
        "hate dislike detest loathe stand",
        "illness disease condition diagnosis health",
        "operation surgery",
        "salary pay earn income wage",
        "eat diet food",
    )
)
"""Words for the same attribute, and for stating it: “my job”, “works as”. Few, because each can widen a topic."""
_VALUES: Final = {
    "salary": r"\d[\d.,]{0,11}k? ?(?:[€$£]|euros?|dollars?|pounds?)? ?(?:an?|per|/) ?(?:year|annum|month|hour)(?!\w)",
    "weight": r"(?:['’]m|am|is|was) (?:\w{1,9} )?\d[\d.,]{0,5} ?(?:kg|kilos?|stone|lbs?)(?!\w)",
    "height": r"(?:['’]m|am|is|was) (?:\w{1,9} )?\d[.,]?\d{0,2} ?(?:m|met(?:er|re)s?|cm|ft|foot|feet)(?!\w)",
    "address": r"\d{1,4}[a-d]?,? (?!(?:minutes?|mins?|hours?|hrs?|k?m|miles?|days?|weeks?|years?) )"
    r"(?:[A-ZÀ-ÞĀ-Ž][\w'’-]{1,20} ){1,3}?(?:Street|St|Road|Rd|Row|Lane|Avenue|Ave|Drive|Close|Court|Way"
    r"|Place|Terrace|Crescent|Square|Gardens|Grove|Hill|Mews|Parade|Quay|Walk|Boulevard|Blvd)(?!\w)",
    "email": r"\w@\w",
    "phone": r"\d[\d ()/-]{7,20}\d",
}
"""How a value tells its attribute: “I was offered 34,500 a year” is a salary. Patterns of Python and PostgreSQL."""
_OTHER_VALUE: Final = re.compile(
    r"\b(?:rent|costs?|fees?|mortgage|loan|bills?|insurance|subscription|spend|pays? for)\b", re.IGNORECASE
)
_META: Final = """
    forget delete remove erase everything anything something thing stuff bit part all about regarding concerning
    fact memory memories note notes message messages info information detail details data said told mention
    mentioned know known how long much many please dr mr mrs ms prof don doesn didn isn not n't never fact still
    again ever
"""
_TITLES: Final = frozenset(["dr", "mr", "mrs", "ms", "prof"])
"""Part of no name: “Quist” is “Dr. Quist”."""
_EMPTY: Final = FILLER | frozenset(_META.split())
"""Words of a topic that don't say what is meant."""
_LEAD: Final = re.compile(
    r"^(?:(?:please|can you|could you|i want you to|you should)\s+)*(?:(?:forget|delete|remove|erase|purge|drop)\s+)?"
    r"(?:(?:the fact|the part)\s+)?",
    re.I,
)
_ALL: Final = re.compile(r"\b(?:everything|anything|all|whatever|what i (?:said|told))\b", re.I)
_CLAIM: Final = re.compile(
    r"^that\s+(?=(?:i|we|you|he|she|they|it|my|our|his|her|their|the|there|this)\b|[A-ZÀ-ÞĀ-Ž]"
    r"|\S+\s+(?:is|are|was|were|has)\b)"
    r"|^(?:i|we|he|she|they|the user)\s+|^(?-i:(?!(?:his|its|this)\b)[a-z]{2,}(?<![su])s)\s+(?=\S)"
    r"|^(?=[a-z]{2,}ing\s+(?:at|in|on|for|with|to|the|my|an?)\b)",
    re.I,
)
_NOT: Final = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|stopped|quit)\b|n['’]t\b"
    r"|\b(?:hate|dislike|detest|loathe)[sd]?\b",
    re.I,
)
_OF_USER: Final = re.compile(r"\b(?:i|i'm|my|me|mine|we|our|the user)\b", re.I)
_VERB_FIRST: Final = re.compile(r"[a-z]+(?:ing|s)\s")
"""A predicate about the user: “likes olives”, “working at Acme”."""
_USERS_RELATION: Final = re.compile(r"^(?:the user['’]s|my|our|his|her|their|\w+['’]s)\s+(?:\w+\s+){0,2}?(\w+)", re.I)
FUNCTION_WORDS: Final = frozenset(["is", "was", "the", "a"])
_BETWEEN: Final = FUNCTION_WORDS | frozenset(["number", "no", "nr", "name", "called", "named"])
"""Words that may separate a code from the word it is named with."""
_INSIDE: Final = "_.@:"
"""Characters that join the pieces of an identifier and aren't words."""
MIN_PREFIX: Final = 5
"""Minimum letters that two forms of a word share, such as “allergy” and “allergic”."""
WEAK_LENGTH: Final = 3
"""Maximum length of a code that means nothing without its word."""
ENOUGH_WORDS: Final = 0.5
"""Share of a topic's other words required of a memory that has all its names and dates; without those, all words are
required."""


# Reading the topic -------------------------------------------------------------------------------------------------


def read_topic(words: str) -> Topic:
    """Parse a topic in the user's words: “the code raven-42”, “everything about my ex Tom”, “that I like coriander”."""
    text = _LEAD.sub("", " ".join(words.split()).rstrip(" .!?"))
    is_claim = _CLAIM.match(text) is not None
    atoms = atoms_of(re.sub(r"^that\s+", "", text) if is_claim else text)
    identifiers: list[Identifier] = []
    dates, plain = set[str](), list[str]()
    named_with: list[str] = []
    for run in _runs([atom for atom in atoms if atom.normalized not in _TITLES]):
        first, normalized = run[0], run[0].normalized
        if len(run) == 1 and (date := _date_of(first)):
            dates.add(date)
        elif _is_identifier(run):
            joined = "".join(atom.normalized for atom in run)
            is_weak = (joined.isdigit() and len(joined) < 7) or (len(joined) <= WEAK_LENGTH and not joined.isalpha())
            is_name = first.is_capitalized and first.start > 0 and joined.isalpha()
            classifiers = frozenset() if is_claim else frozenset(named_with)
            identifiers.append(Identifier(frozenset({joined}), is_name, is_weak, classifiers))
            plain = plain if is_claim else [word for word in plain if word not in named_with]
        elif normalized in _BETWEEN - FUNCTION_WORDS:
            continue
        elif normalized not in _EMPTY and (len(normalized) > 1 or normalized.isdigit()):
            plain.append(stem(normalized))
            named_with.append(stem(normalized))
            continue
        named_with = []
    return Topic(
        text,
        tuple(identifiers),
        frozenset(dates),
        frozenset(plain),
        is_claim,
        _NOT.search(text) is not None,
        _OF_USER.search(text) is not None or (is_claim and _VERB_FIRST.match(text) is not None),
        _ALL.search(words) is not None,
    )


def _runs(atoms: Sequence[Atom]) -> Iterator[list[Atom]]:
    """Atoms that form one identifier: of one token, or adjacent capitalized words."""
    run: list[Atom] = []
    for atom in atoms:
        if run and not (atom.is_glued or _goes_on(run[-1], atom)):
            yield run
            run = []
        run.append(atom)
    if run:
        yield run


def _goes_on(before: Atom, atom: Atom) -> bool:
    """Whether both belong to one name or code: “Acme Corp”, “AB12 CDE”, “020 7946”."""
    if not atom.is_next or before.is_possessive:
        return False
    digits = before.has_digit or atom.has_digit
    capitals = before.is_capitalized and atom.is_capitalized
    return (
        (capitals and not _date_of(atom))
        or (digits and before.has_digit and atom.has_digit)
        or (before.has_digit and atom.text.isupper())
    )


def _is_identifier(run: Sequence[Atom]) -> bool:
    if len(run) > 1:
        return True
    (atom,) = run
    return atom.has_digit or (atom.is_capitalized and atom.normalized not in _EMPTY) or script_of(atom.text) != "LATIN"


def _date_of(atom: Atom) -> str:
    """The year, month or day of the week; empty if it is none."""
    word = atom.normalized
    if re.fullmatch(r"(?:19|20)\d\d", word):
        return word
    day = word.removesuffix("s")
    return word if word in MONTHS and atom.is_capitalized else day if day in WEEKDAYS else ""


def with_aliases(topic: Topic, texts: Iterable[str]) -> Topic:
    """The topic with other spellings of its names that the texts give: “Владимир (Vladimir)”, “X, also written Y”."""
    pairs = [pair for text in texts for pair in _stated_aliases(text)]
    known = [set(identifier.forms) for identifier in topic.identifiers]
    for forms in known:
        for one, other in pairs:
            if one in forms or other in forms:
                forms |= {one, other}
    identifiers = (
        replace(one, forms=frozenset(forms), is_name=one.is_name and forms == one.forms)
        for one, forms in zip(topic.identifiers, known, strict=True)
    )
    return replace(topic, identifiers=tuple(identifiers))


_IN_BRACKETS: Final = re.compile(r"((?:[^\s(),;:]+ ){0,2}[^\s(),;:]+) ?[(（]([^()（）]{2,40})[)）]")
_ALSO: Final = re.compile(
    r"((?:[^\s(),;:]+ ){0,2}[^\s(),;:]+),? (?:also (?:written|spelled|spelt|known as|called)|a\.?k\.?a\.?|alias)"
    r" ((?:[^\s(),;:.]+ ?){1,3})",
    re.I,
)


def _stated_aliases(text: str) -> Iterator[tuple[str, str]]:
    for pattern, is_bracket in ((_IN_BRACKETS, True), (_ALSO, False)):
        for match in pattern.finditer(text):
            left, right = match[1].split(), match[2].split()
            for count in range(1, len(left) + 1):
                if count > 1 and left[-count].islower():
                    break
                one = " ".join(left[-count:])
                for width in range(len(right), 0, -1):
                    other = " ".join(right[:width])
                    if not is_bracket or (width == len(right) and script_of(one) != script_of(other)):
                        yield canonical(one), canonical(other)


# Judging a memory --------------------------------------------------------------------------------------------------


def decide(topic: Topic, text: str, known_as: str = "") -> Ruling:
    """The ruling on a memory with this text. `known_as`: words that a fact's key and value add to it."""
    whole = _judge(topic, text, known_as)
    if whole.reason == Reason.LESS and not whole.has_anchors:
        return whole  # no part has what the whole lacks
    parts = parts_of(text)
    if len(parts) < 2:
        return whole
    rulings = [_judge(topic, part.in_context) for part in parts]
    meant = tuple(number for number, ruling in enumerate(rulings) if ruling.verdict == Verdict.MEANT)
    if len(meant) == len(parts):
        return whole if whole.verdict == Verdict.MEANT else rulings[0]
    if meant:
        first = rulings[meant[0]]
        return replace(first, verdict=Verdict.PART, reason=Reason.PART, parts=meant)
    number, best = max(enumerate(rulings), key=lambda one: (one[1].has_anchors, one[1].coverage))
    if len({part.sentence for part in parts}) == 1:
        return replace(whole, parts=(number,)) if best.coverage == whole.coverage > 0 else whole
    return replace(best, parts=(number,))


def _judge(topic: Topic, text: str, known_as: str = "") -> Ruling:
    """The ruling on one statement as a whole."""
    atoms = atoms_of(text)
    found_words = [*_plain_words(text, atoms), *atoms_of(known_as)]
    stems = {stem(one.normalized): one.is_capitalized for one in found_words}
    coverage = _coverage(topic.words, stems | dict.fromkeys(_attributes_of_values(text), False))
    windows = [_windows(identifier, atoms) for identifier in topic.identifiers]
    dates = {_date_of(atom) for atom in atoms}
    if not all(windows) or not topic.dates <= dates:
        share = (sum(map(bool, windows)) + len(topic.dates & dates) + coverage * len(topic.words)) / max(
            1, len(windows) + len(topic.dates) + len(topic.words)
        )
        return Ruling(Verdict.NEIGHBOR, Reason.LESS, coverage=share)
    if _is_of_another(topic, text, atoms, windows):
        return Ruling(Verdict.NEIGHBOR, Reason.OTHER_SUBJECT, coverage=coverage)
    negated = _NOT.search(text) is not None
    if (topic.is_claim or topic.is_negated) and topic.is_negated != negated:
        return Ruling(Verdict.NEIGHBOR, Reason.OPPOSITE, coverage=coverage)
    anchored = bool(windows or topic.dates)
    longer = any(places and all(_is_in_longer_name(atoms, end) for _, end in places) for places in windows)
    if anchored and not topic.words:
        return Ruling(Verdict.MEANT, Reason.NAMED, (), 1.0, True, negated, longer)
    if topic.words and coverage >= (ENOUGH_WORDS if anchored else 1.0):
        return Ruling(Verdict.MEANT, Reason.SAID, (), coverage, True, negated, longer)
    return Ruling(Verdict.NEIGHBOR, Reason.LESS, coverage=coverage, has_anchors=anchored or coverage >= ENOUGH_WORDS)


def _plain_words(text: str, atoms: Sequence[Atom]) -> list[Atom]:
    """The words that aren't pieces of an identifier: “nightowl_dev” isn't the word nightowl."""
    joined = [atom.is_glued and text[before.end] in _INSIDE for before, atom in pairwise(atoms)]
    inside = zip(atoms, [False, *joined], [*joined, False], strict=False)  # a text of signs has no atoms
    return [atom for atom, before, after in inside if not (before or after)]


def _attributes_of_values(text: str) -> list[str]:
    """Stems of attributes that the text has a value of, without their names."""
    own = "\n".join(text[slice(*span)] for span in sentence_spans(text) if not _OTHER_VALUE.search(text, *span))
    return [stem(name) for name, value in _VALUES.items() if re.search(value, own, re.IGNORECASE)]


def patterns_of_values(topic: Topic) -> list[str]:
    """How values of the topic's attributes are written."""
    return [value for name, value in _VALUES.items() if any(_is_alike(stem(name), word) for word in topic.words)]


def settle(topic: Topic, rulings: Sequence[Ruling]) -> list[Ruling]:
    """The rulings on all memories together: if one is clearly meant, the more distant ones aren't."""
    ticked = [ruling for ruling in rulings if ruling.is_ticked]
    best = max((one.coverage for one in ticked), default=0.0)
    by_name = any(not one.in_longer_name for one in ticked)
    affirmed = not topic.is_all and len(topic.words) + len(topic.identifiers) > 1
    affirmed = affirmed and any(not one.is_negated for one in ticked)
    return [_settled(ruling, best, by_name=by_name, affirmed=affirmed) for ruling in rulings]


def _settled(ruling: Ruling, best: float, *, by_name: bool, affirmed: bool) -> Ruling:
    if ruling.is_ticked and ruling.coverage < best:
        return replace(ruling, verdict=Verdict.NEIGHBOR, reason=Reason.LESS)
    if ruling.is_ticked and by_name and ruling.in_longer_name:
        return replace(ruling, verdict=Verdict.NEIGHBOR, reason=Reason.OTHER_SUBJECT)
    if ruling.is_ticked and affirmed and ruling.is_negated:
        return replace(ruling, verdict=Verdict.NEIGHBOR, reason=Reason.OPPOSITE)
    return ruling


def _coverage(words: AbstractSet[str], found: Mapping[str, bool]) -> float:
    """The share of the words that are found. `found`: stem → whether it is capitalized, as names are."""
    if not words:
        return 0.0
    return sum(any(_is_alike(word, one, is_name=name) for one, name in found.items()) for word in words) / len(words)


def _is_alike(word: str, other: str, *, is_name: bool = False) -> bool:
    """Whether two stems are forms of one word, or name the same attribute; a name has no other forms."""
    if word == other or any(word in group and other in group for group in SYNONYMS):
        return True
    least = max(least_prefix(word), least_prefix(other))
    return not is_name and len(word) >= least and word[:least] == other[:least]


def least_prefix(word: str) -> int:
    """How many letters another form of the word must share with it, at least: “pregnant” with “pregnancy”."""
    return max(MIN_PREFIX, math.ceil(0.7 * len(word)))


def _windows(wanted: Identifier, atoms: Sequence[Atom]) -> list[tuple[int, int]]:
    """Where the identifier occurs in the text, as ranges of atoms, each a whole identifier."""
    found = []
    longest = max(map(len, wanted.forms))
    for start in range(len(atoms)):
        joined = ""
        for end in range(start, min(len(atoms), start + 8)):
            if end > start and not (atoms[end].is_glued or atoms[end].is_next):
                break
            joined += atoms[end].normalized
            if joined in wanted.forms and _is_whole(wanted, atoms, start, end):
                found.append((start, end))
            if len(joined) >= longest:
                break
    return found


def _is_whole(wanted: Identifier, atoms: Sequence[Atom], start: int, end: int) -> bool:
    """Whether it isn't part of a longer identifier, an ordinary word or a bare number."""
    after = atoms[end + 1] if end + 1 < len(atoms) else None
    if atoms[start].is_glued or (after is not None and after.is_glued):
        return False
    if wanted.is_name and atoms[start].text.islower() and any(atom.text[:1].isupper() for atom in atoms):
        return False
    if wanted.is_weak and wanted.classifiers:
        return _has_beside(wanted.classifiers, atoms, start, end)
    if after is not None and after.has_digit and after.is_next and not _date_of(after) and not wanted.is_weak:
        return not atoms[end].has_digit
    return True


def _has_beside(classifiers: AbstractSet[str], atoms: Sequence[Atom], start: int, end: int) -> bool:
    for places in (range(start - 1, -1, -1), range(end + 1, len(atoms))):
        for place in places:
            if any(_is_alike(classifier, stem(atoms[place].normalized)) for classifier in classifiers):
                return True
            if atoms[place].normalized not in _BETWEEN:
                break
    return False


def _is_of_another(
    topic: Topic, text: str, atoms: Sequence[Atom], windows: Sequence[Sequence[tuple[int, int]]]
) -> bool:
    """Whether the same words are about someone or something else."""
    stems = {stem(atom.normalized) for atom in atoms}
    for wanted, places in zip(topic.identifiers, windows, strict=True):
        people = wanted.classifiers & PEOPLE
        if (
            wanted.classifiers
            and not wanted.classifiers & stems
            and all(
                _is_in_longer_name(atoms, end) or (people and _other_relation(people, atoms, start))
                for start, end in places
            )
        ):
            return True
        if topic.is_claim and all(_owns_someone(atoms, end) for _, end in places):
            return True
    relation = _USERS_RELATION.match(text)
    named = topic.words.union(*(identifier.classifiers for identifier in topic.identifiers))
    if topic.is_of_user and relation is not None and stem(relation[1].casefold()) in PEOPLE - named:
        return True
    return topic.is_of_user and topic.is_claim and _starts_with_a_name(text, atoms, topic)


def _is_in_longer_name(atoms: Sequence[Atom], end: int) -> bool:
    """Whether the name continues: “Sam's Club”, “Max Planck”."""
    if end + 1 >= len(atoms) or not atoms[end + 1].is_next or not atoms[end].is_capitalized:
        return False
    return atoms[end + 1].is_capitalized and not _date_of(atoms[end + 1])


def _other_relation(people: AbstractSet[str], atoms: Sequence[Atom], start: int) -> bool:
    """Whether another relation is named: “sister Sam” isn't “brother Sam”."""
    return start > 0 and stem(atoms[start - 1].normalized) in PEOPLE - people


def _owns_someone(atoms: Sequence[Atom], end: int) -> bool:
    """Whether someone else is meant: “Nora's husband” isn't Nora."""
    return atoms[end].is_possessive and end + 1 < len(atoms) and stem(atoms[end + 1].normalized) in PEOPLE


def _starts_with_a_name(text: str, atoms: Sequence[Atom], topic: Topic) -> bool:
    if len(atoms) < 2 or not atoms[0].is_capitalized or atoms[0].normalized in FILLER:
        return False
    is_named = any(atoms[0].normalized in form for identifier in topic.identifiers for form in identifier.forms)
    is_word = any(_is_alike(stem(atoms[0].normalized), word) for word in topic.words)
    return not is_named and not is_word and re.fullmatch(r"[a-z]+(?:s|ed)", atoms[1].text) is not None
