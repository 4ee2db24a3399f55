"""Corrections of known facts that have a form of their own: contrasts, new dates, spellings, tastes, returns, deaths.

“not Friday, Thursday”, “*John, with an h”, “I've gone off coffee”, “back in Porto”, “Rex died”.
They start from the known facts. What is said in other words, the updates network reads (`learned.py`). Pure and linear
in the length of the text: every pattern is a list of words, searched once per sentence.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Final

from memory.facts.deduplication import GROUPS, PEOPLE, relations_differ
from memory.facts.keys import LIST, USER, spell_subject, split_key
from memory.librarian.changes.fact_words import (
    DETERMINERS,
    TOKEN,
    Word,
    find_value_of,
    find_words,
    is_about,
    is_negative,
    name_after,
    names_in,
    names_said_of,
    stems_of,
    words_of,
)
from memory.librarian.engine import KnownFact
from memory.librarian.rules.clauses import is_past
from memory.librarian.rules.words import OPENERS, THIRD
from memory.ports.source import Utterance
from memory.text.dates import MONTHS, WEEKDAYS, find_date
from memory.text.denials import (
    OF_DATES,
    SUPPOSED,
    Denial,
    find_phrase,
    find_value,
    kind_of_phrase,
    read_denials,
    read_shifts,
)
from memory.text.keywords import FILLER, content, stem
from memory.text.keywords import words as plain_words
from memory.text.language import alternatives, as_set
from memory.text.mended_names import OOPS, SURELY, find_mended_name, name_like, with_cue_first
from memory.text.relations import FEMALE, MALE, PARTNERS, PETS
from memory.text.relations import PEOPLE as PEOPLE_AROUND
from memory.text.replaced_statement import DATED, ORDINAL, replaced_statement, without_part
from memory.text.user_text import mask_foreign_text

MAX_SENTENCE: Final = 400
"""Characters. A longer sentence is a list or a paste, in which a cue and a value rarely belong together."""
SHORT: Final = 6
"""Maximum words of a sentence that is about nothing else: “not with Acme any more”."""


class Change(StrEnum):
    """What happens to a known fact."""

    END = "end"  # it was true and has stopped
    RETRACT = "retract"  # it was never true, or the user takes it back
    REPLACE = "replace"  # another value holds instead
    REVIVE = "revive"  # what was so before holds again
    ASK = "ask"  # unclear: review asks whether it is still true


@dataclass(frozen=True, slots=True)
class Correction:
    """A known fact that a message changes, and the words that say so."""

    fact: KnownFact
    change: Change
    quote: str
    number: int
    value: str = ""
    """The new value of a replacement."""
    when: datetime | None = None
    """When it stopped, if the sentence says so."""
    old: str = ""
    """The words of the statement that are replaced; empty: the fact's value."""
    is_denied: bool = False
    """Whether the words deny the fact, so that it has ended even while what is so instead waits."""


DISLIKING: Final = next(group for group in GROUPS if stem("hate") in group)
LIKING: Final = next(group for group in GROUPS if stem("like") in group)
_GONE_OFF: Final = (
    "gone off|went off|gone right off|went right off|fed up with|tired of|bored of|sick of|can't stand|cannot stand"
    "|over my love of|fallen out of love with"
)
NOT: Final = frozenset({"not", "isn't", "wasn't", "aren't", "never"})
GONE_OFF: Final = tuple(_GONE_OFF.split("|"))
"""What says that a liking is over, before what was liked."""
_GROWN_ON: Final = (
    "come round to|come around to|came round to|came around to|grown to love|grown to like|grown on me|warmed to"
    "|warmed up to|learned to love|learnt to love|learned to like|acquired a taste for|converted me"
)
GROWN_ON: Final = tuple(_GROWN_ON.split("|"))
"""What says that a dislike is over: “I've come round to olives”."""
WEAK: Final = as_set("do doing have has having be been being go going get getting am is are was want")
"""Verbs that a denial shares with many facts."""
_GOES_TOO = re.compile(r",| (?:in|on|at|from|since|until|till|for|near|outside|called)\b")
"""What follows an old value and is no longer known to hold with the new one: where, when, since when."""
_ADVERBIAL = re.compile(
    r" (?:(?:on|in|at|since|until|for) (?:the )?[\w' ]+|every [\w' ]+|once [\w' ]+|twice [\w' ]+|\w+ times [\w' ]+"
    r"|daily|weekly|a (?:day|week|month)|a lot|most days)\.?$"
)
"""When and how often something is done, at the end of a statement."""
_MISSPELLED = re.compile(
    r"\*\w|\w\*|\b(?:typo|auto-?correct|spelled|spelt|misspel\w+|i meant|write myself|an? \w in (?:my|his|her|the) name"
    r"|with (?:an?|one|two|double|no) \w\b|(?:an?|one|two|double|no) (?-i:[A-ZÀ-ÞĀ-Ž]s?)\b)",
    re.I,
)
_SLIP = re.compile(r"(?i)\b(typo|auto-?correct)[.!]")
"""“Sorry, autocorrect. It's the Holden brewery”: the next sentence has the right letters."""
_IS_SPELLED = re.compile(
    r"spel|write myself|in (?:my|his|her|the) name|with [a-z]+ \w\b|\b(?:an?|[Oo]ne|[Tt]wo|[Dd]ouble"
    r"|[Nn]o) [A-ZÀ-ÞĀ-Ž]s?\b"
)
"""What says that a correction is about letters: “Llanberis: double L and one R”."""
_SPELLED_AS = re.compile(r"\bspel(?:t|led) (?:as |like )?([A-ZÀ-ÞĀ-Ž][\w-]+)")
_KNOW = re.compile(r"^\W*(?:do|did) you know,? (?=I\b|I'|we\b|my\b)", re.I)
"""Opens a statement that is no question: “Do you know, I've gone right off it.”"""
ALIKE: Final = 0.8
"""Minimum similarity of two spellings of one name, by `SequenceMatcher.ratio`: Jon and John have .86, Lyon and Leon
.75."""
SPELLED: Final = 0.7
"""The same, if the message says that it is about spelling."""
SPELLED_NAME: Final = 0.5
"""The same, if it says so of a name, and the first letter is the same: “her name's spelled Aimee”, not Amy; or of
what was said just before: “it's spelled Kathryn”, not Catherine."""
_SENTENCE = re.compile(r"(?:\b(?:Dr|Mrs?|Ms|Prof|St)\.|[^.!?;\n])+[.!?;\n]*")
_SMILEY = re.compile(r"[:;]-?[)(DPp](?!\w)")
_THEN_ASKS = re.compile(
    r"[,;:–—](?=\s+(?:(?:so|and|but|any)\s+)*(?:what|where|which|who|how|when|why|can|could|should|any|is|are|do|does"
    r"|will|would|got|ideas?|tips|recommend)\b[^.!?\n,;:–—]*\?)",
    re.I,
)
"""Where a sentence turns into a question: “got a new bike, any tips?”."""
_ASKING = re.compile(
    r"^\W*(?:what|where|who|when|why|how|which|do|does|did|is|are|was|were|can|could|should|would|will|have"
    r"|has)(?!['’])\b",
    re.I,
)
_WHEN = re.compile(
    rf"\b(?:in|since|until|till|last|this) (?:(?:early|late|mid) )?({'|'.join(MONTHS)})?,? ?((?:19|20)\d\d)?\b", re.I
)
BACK: Final = [
    "back in",
    "back at",
    "back to",
    "back with",
    "back on",
    "returned to",
    "rejoined",
    "rejoining",
    "gone back to",
    "back using",
]
_GOING: Final = frozenset(map(stem, ["go", "goes", "going"]))
_SMALL: Final = frozenset(map(stem, DETERMINERS)) | as_set("user really even currently like lov enjoy eat drink")


JUST_BEFORE: Final = timedelta(hours=1)
"""Age of what a message without a subject may mend."""
_LOOKED_UP: Final = r"(?:i(?:['’]ve)? )?(?:just )?(?:looked|checked|read|re-?read|misread|found)\b[^.!?:,\n]{0,50}"
"""How one knows better: “wait, just looked at the email again. 27 May.”"""
_MENDS: Final = re.compile(
    rf"(?=.{{0,60}}\b(?:{SURELY}|i meant?|make (?:it|that)|should be|wrong|mixed up)\b)"
    rf"\W*(?:(?:{OOPS}|oh|typo)\W{{1,3}}){{1,4}}"
    rf"(?:{_LOOKED_UP}[.:,]\W{{1,3}})?"
    r"(?:(?:i (?:mean|meant|mistyped)|it(?:'?s| is)|that(?:'?s| is)|make (?:it|that)|should be|on|the|no"
    r"|wait)\W{1,3}){0,4}"
    r"(?P<rest>\S+?(?: \S+?){0,4}?)(?:[,.;!?](?:\s|$)| not | instead|$)",
    re.IGNORECASE,
)


_DIED: Final = re.compile(
    r"\b(?:(?:just|sadly|suddenly|finally|peacefully|has|have|had|recently) ){0,2}"
    r"(?:died|passed(?: (?:away|on|peacefully))?(?= (?:last|on|in|this|at|after|yesterday|today|a)\b|\W*$)|passed away"
    r"|was put (?:down|to sleep))\b|\b(?:put|have|had|having) (?P<object>[\w' ]{2,40}?) (?:put )?(?:to sleep|down)\b"
    r"|['’]s (?:funeral|burial|cremation|ashes)\b"
    r"|\b(?:buried|cremated) (?P<buried>[\w' ]{2,40}?)"
    r"(?= (?:(?:up )?(?:on|in|at|under|beneath|behind|by|beside|next|near)|this|last|yesterday|today)\b|[,.;!]|$)",
    re.IGNORECASE,
)
"""What says that the one named before it has died, or the one in a group."""
_ONE_OF_THE_USERS: Final = (
    rf"(?:[a-z-]+ )??(?P<relation>{alternatives(PEOPLE_AROUND | PETS)}),?(?: (?P<name>[A-ZÀ-ÞĀ-Ž][\w'-]*))?"
)
_WHO_DIED: Final = re.compile(rf"(?:\b(?:[Mm]y|[Oo]ur) {_ONE_OF_THE_USERS}|(?P<alone>[A-ZÀ-ÞĀ-Ž][\w'-]*))\W*$")
_OF_SOMEONE: Final = re.compile(
    rf"(?:The user's {_ONE_OF_THE_USERS}|(?P<alone>(?!The user\b)[A-ZÀ-ÞĀ-Ž][\w'-]*)) (?P<verb>[\w']+)"
    r"(?![\w']| (?:called|named)\b)"
)
"""What a fact says of someone around the user, or of an animal of theirs."""
_HAS_PET: Final = re.compile(
    rf"The user (?P<verb>has) an? (?:[a-z-]+ ){{0,2}}?(?P<relation>{alternatives(PETS)})\b"
    r"(?:,?(?: called| named)? (?P<name>[A-ZÀ-ÞĀ-Ž][\w'-]*))?(?P<alone>)"
)
_PET_NAME: Final = re.compile(
    rf"The user's (?:[a-z-]+ )??(?P<relation>{alternatives(PETS)}) (?P<verb>is) called (?P<name>[A-ZÀ-ÞĀ-Ž][\w'-]*)"
    r"(?P<alone>)"
)
"""It is had no more, either."""
_OF_ONE: Final = (_OF_SOMEONE, _HAS_PET, _PET_NAME)


_MEAT: Final = "meat|chicken|beef|pork|lamb|bacon|ham|turkey|steak|sausages?|burgers?"
_FISH: Final = "fish|seafood|salmon|tuna|prawns|shrimps?"
_EXCLUDED: Final[Mapping[str, str]] = {
    "pescatarian": _MEAT,
    "vegetarian": f"{_MEAT}|{_FISH}",
    "vegan": f"{_MEAT}|{_FISH}|dairy|milk|cheese|eggs?|butter|yogh?urt|honey",
}
"""What is not eaten by who follows a diet."""
_INSTEAD: Final = re.compile(
    r"\b(?:I|[Ww]e)(?:['’](?:m|re)| am| are) (?P<doing>[a-z]+ing(?: [a-z]+)?) "
    r"(?P<new>[A-ZÀ-ÞĀ-Ž][\w'-]+(?: [A-ZÀ-ÞĀ-Ž][\w'-]+)*) instead\b"
)
_INSTEAD_OF: Final = re.compile(
    r"\b(?:I|[Ww]e)(?:['’](?:m|re|ve)| am| are| have)? (?P<doing>[a-z]+)(?: on)?"
    r" (?P<new>[\w'-]+(?: (?!now\b|instead\b)[\w'-]+)?)"
    r"(?: now| these days| every \w+)? instead of (?P<old>[\w'-]+(?: [\w'-]+)?)"
)
"""“I take rosuvastatin now instead of simvastatin”."""
_EATS_AGAIN: Final = re.compile(
    r"(?i)(?:^|\b(?:i|we|and|but)\b|['’](?:ve|m))(?: (?:do|have|am|just|now|actually|recently|also)){0,2}\W{0,2}"
    r"(?:(?:eat|eating|have|having) (?P<again>[^.!?;,]{2,40}) (?:again|now|these days|after all)\b"
    r"|(?:started|began|(?:went |gone |am )?back (?:to|on))(?: to)?(?: eat(?:ing)?)? (?P<back>[^.!?;,]{2,40}))"
)
"""“I eat meat again”, “I've started eating fish”."""


def find_corrections(utterance: Utterance, known: Sequence[KnownFact]) -> list[Correction]:
    """The known facts that a message of the user corrects, in the order said; each fact at most once."""
    found: dict[int, Correction] = {}
    user_text = _SMILEY.sub(
        lambda found: f".{' ' * (len(found[0]) - 1)}", mask_foreign_text(utterance.text, utterance.echoes)
    )
    user_text = _SLIP.sub(r"\1,", _THEN_ASKS.sub(".", user_text))
    open_facts = [
        fact
        for fact in known
        if fact.status in ("active", "proposed")
        and fact.said_at <= utterance.said_at
        and fact.message_id != utterance.message_id  # read again, a message doesn't end what was learned from it
        and not is_doubt(fact)
        and not fact.key.startswith(f"{USER}/{LIST}")  # what is on a list changes by orders alone
    ]
    for reader in _READERS:
        for correction in reader(user_text, utterance, open_facts):
            found.setdefault(correction.fact.fact_id, correction)
    for sentence in _SENTENCE.finditer(user_text):
        text = _KNOW.sub(lambda found: " " * len(found[0]), sentence[0])
        if not text.strip() or len(text) > MAX_SENTENCE or _asks(text) or _ASKING.match(text) or SUPPOSED.search(text):
            continue
        quote = utterance.text[sentence.start() : sentence.end()].strip()
        for correction in _read(text, quote, utterance, open_facts, known):
            found.setdefault(correction.fact.fact_id, correction)
    return [one for one in found.values() if not _is_of_another_person(one)]


def _is_of_another_person(correction: Correction) -> bool:
    """Whether a relation would be replaced by what is none: “not my sister, this is another Anna”."""
    new = correction.value.casefold().split()
    return correction.old.casefold() in PEOPLE_AROUND and bool(new) and PEOPLE_AROUND.isdisjoint(new)


def _asks(text: str) -> bool:
    return "?" in text and re.match(r"\W*guess (?:who|what)\b", text, re.I) is None


def replaced_key(fact: KnownFact, correction: Correction) -> tuple[str, str, str]:
    """Subject, attribute and value of the fact with its new value; of an attribute per thing, the new thing's."""
    subject, attribute = split_key(fact.key)
    if correction.old and spell_subject(correction.old) == subject:  # another spelling of the name
        return spell_subject(correction.value), attribute, fact.value
    family, colon, thing = attribute.partition(":")
    if family == "taste" and correction.value in ("likes", "dislikes"):
        return subject, attribute, correction.value
    if colon and normal_thing(thing) in normal_thing(correction.old or thing):
        value = correction.value if normal_thing(fact.value) == normal_thing(thing) else fact.value
        return subject, f"{family}:{correction.value}", value
    if not correction.old or not fact.value:
        return subject, attribute, correction.value
    is_part = correction.old in fact.value
    return (
        subject,
        attribute,
        fact.value.replace(correction.old, correction.value)
        if is_part
        else (correction.value if fact.value in correction.old else fact.value),
    )


def normal_thing(text: str) -> str:
    """A thing as keys spell it, for comparing."""
    return " ".join(stem(word) for word in plain_words(text.replace("_", " ")))


_CHANGING: Final = content("moved left changed switched swapped started stopped new got has gone broke ended over")
"""Words that only say that something changed."""


def retells(statement: str, correction: Correction) -> bool:
    """Whether a statement without a key says no more than the correction: “The user has dropped law.”"""
    fact = correction.fact
    if correction.change == Change.ASK:
        return False
    old = correction.old or fact.value
    if old and find_phrase(statement, old.partition(",")[0]) is not None:
        return True
    if (gone := read_denials(statement)) and find_phrase(fact.statement, gone[0].old) is not None:
        return True
    new = replaced_statement(fact.statement, old, correction.value) or f"{fact.statement} {split_key(fact.key)[1]}"
    return content(statement) - _CHANGING <= content(new)


DOUBTED: Final = "It is no longer true that "


def doubted_statement(fact: KnownFact) -> str:
    """What review asks about a fact that may have ended."""
    statement = fact.statement.strip().rstrip(".")
    return f"{DOUBTED}{statement[:1].lower()}{statement[1:]}."


def is_doubt(fact: KnownFact) -> bool:
    """Whether a waiting proposal only asks whether another fact still holds: no news changes a question."""
    return fact.statement.startswith(DOUBTED)


# One sentence -----------------------------------------------------------------------------------------------------


def _read(
    text: str, quote: str, utterance: Utterance, facts: Sequence[KnownFact], known: Sequence[KnownFact]
) -> Iterator[Correction]:
    words = words_of(text)
    when = when_ended(text, utterance.said_at)
    for fact, old, new in _find_spellings(text, words, facts, utterance.said_at):
        yield Correction(fact, Change.REPLACE, quote, utterance.number, new, when, old)
    for fact, old, new in _find_tastes(words, facts):
        yield Correction(fact, Change.REPLACE, quote, utterance.number, new, when, old)
    returned = _find_return(text, words, known) or _find_after_all(text, words, known)
    if returned is None:
        return
    if returned.status != "active":
        yield Correction(returned, Change.REVIVE, quote, utterance.number, when=when)
        return
    for fact in facts:
        if fact.status == "proposed" and fact.key and fact.key == returned.key:
            yield Correction(fact, Change.END, quote, utterance.number, when=when)


def _find_gone_off(user_text: str, utterance: Utterance, facts: Sequence[KnownFact]) -> Iterator[Correction]:
    """Known likings that are over, with all that is said of what was liked: “I've gone off coffee”."""
    for sentence in _SENTENCE.finditer(user_text):
        words = words_of(sentence[0])
        place = None if "?" in sentence[0] else find_words(words, GONE_OFF)
        for fact in _by_object(words[place[1] + 1 : place[1] + 1 + SHORT], facts, LIKING) if place else ():
            quote = utterance.text[sentence.start() : sentence.end()].strip()
            yield Correction(fact, Change.END, quote, utterance.number)


def _find_denied(user_text: str, utterance: Utterance, facts: Sequence[KnownFact]) -> Iterator[Correction]:
    """Known facts that say what the message denies, with what holds instead."""
    for denial in read_denials(user_text):
        quote = utterance.text[denial.start : denial.end].strip()
        words = words_of(quote)
        thing = denial.old.removesuffix(" allergy").removesuffix(" intolerance")
        denied = [fact for fact in facts if find_phrase(fact.statement, thing)]
        of_one, of_several = _of_who_is_named(denied, denial, quote)
        yield from (Correction(fact, Change.ASK, quote, utterance.number) for fact in of_several)
        for fact in of_one:
            place = find_phrase(fact.statement, thing)
            if place is None or not is_about(fact, words) or not _says_so(fact, denial):
                continue
            is_of_the_gone = not denial.is_mistake and _is_said_of(fact, place)
            if not denial.is_mistake and _is_kept_by_kin(fact, denial):
                continue
            if is_negative(fact) and not is_of_the_gone:
                continue
            when = when_ended(quote, utterance.said_at)
            new = denial.new or (_said_instead(fact, place, quote) if denial.is_mistake else "")
            rest = "" if fact.key or denial.is_mistake or denial.new else without_part(fact.statement, *place)
            if rest and rest != fact.statement:
                old, new = _changed_part(fact.statement, rest)
                yield Correction(fact, Change.REPLACE, quote, utterance.number, new, when, old)
            elif is_of_the_gone or (not denial.is_mistake and _is_verb(fact, place)):
                yield Correction(fact, Change.END, quote, utterance.number, when=when)
            elif (
                new
                and not (_is_verb_phrase(new) or is_done(new, user_text))
                and (denial.is_mistake or _can_take(fact, new))
            ):
                is_whole = not denial.is_mistake or (" " in new and fact.statement[slice(*place)] in fact.value)
                old = _replaced(fact, place) if is_whole else fact.statement[slice(*place)]
                yield Correction(fact, Change.REPLACE, quote, utterance.number, new, when, old, is_denied=True)
            elif (
                thing != denial.old
                or ((not denial.is_mistake or denial.verbs) and _is_clear(fact, denial, place, quote))
                or _is_all_of_a_plan(fact, place)
            ):
                yield Correction(fact, Change.END, quote, utterance.number, when=when)


_KEPT: Final = frozenset({"name", "surname", "age", "birthday", "origin", "condition", "allergy", "taste"})
_RELATIVES: Final = (FEMALE | MALE) - PARTNERS - as_set("landlord landlady")
_OF_KIN: Final = re.compile(rf"The user's (?:[\w-]+ )?(?:{alternatives(_RELATIVES)})\b")


def _is_kept_by_kin(fact: KnownFact, denial: Denial) -> bool:
    """Whether a fact of a relative stays true when they have gone: “Beatriz left”, of a mother-in-law."""
    subject, attribute = split_key(fact.key)
    is_named = spell_subject(denial.old) in (subject, spell_subject(fact.value))
    is_kept = is_named and not denial.new and attribute.partition(":")[0] in _KEPT
    return is_kept and _OF_KIN.match(fact.statement) is not None


_TWO_NAMES: Final = re.compile(r"\b(?=([A-ZÀ-ÞĀ-Ž][\w'-]*)(?:,? and |, )([A-ZÀ-ÞĀ-Ž][\w'-]*))")


def _of_who_is_named(
    facts: Sequence[KnownFact], denial: Denial, quote: str
) -> tuple[Sequence[KnownFact], Sequence[KnownFact]]:
    """Of facts that have the words denied, those that the words are about, and those that they are about in part.

    “Lolo is a canary, not a parrot” is not of Kiki; of “two parrots, Kiki and Lolo” it is in part.
    """
    named = names_said_of(facts, quote) - names_in(denial.old)
    whole = [fact for fact in facts if not named or named & names_in(fact.statement)]
    partly = [fact for fact in whole if any(len({*two} & named) == 1 for two in _TWO_NAMES.findall(fact.statement))]
    return [fact for fact in whole if fact not in partly], partly


_I_DO: Final = re.compile(r"\b(?:I|[Ww]e) (?P<does>[a-z]+) (?P<new>[\w'-]+(?: [\w'-]+)?)(?=[.,;!?]|\s*$)")


def _said_instead(fact: KnownFact, place: tuple[int, int], quote: str) -> str:
    """What is said with the fact's own verb instead: “not chemistry, I teach physics”; empty: nothing."""
    before = fact.statement[: place[0]].split()
    said = (found for found in _I_DO.finditer(quote) if before and stem(found["does"]) == stem(before[-1]))
    return next((found["new"] for found in said), "")


def _find_shifted(user_text: str, utterance: Utterance, facts: Sequence[KnownFact]) -> Iterator[Correction]:
    """Known facts that the message gives another date or number."""
    for subject, new, start, end in read_shifts(user_text):
        about, quote = content(subject) - OF_DATES, utterance.text[start:end].strip()
        for fact in facts:
            is_day = ORDINAL.fullmatch(new) is not None  # of the month that is known
            kind = "date" if is_day else kind_of_phrase(new)
            old = find_value(fact.statement, kind)
            if old and about and about <= content(fact.statement):
                value = new
                if not is_day:
                    value = in_full(new, old, utterance.said_at) if kind == "date" else find_value(new, kind) or new
                yield Correction(fact, Change.REPLACE, quote, utterance.number, value, old=old)


_WEEKDAY: Final = rf"(?:{'|'.join(WEEKDAYS)})"
_WEEKDAYS: Final = re.compile(rf"\b{_WEEKDAY}(?:s?(?:, | & |,? and ){_WEEKDAY})*(?=s?\b)", re.I)
"""“Monday”, “mondays and thursdays”: without the last “s”."""
_PLURAL, _NOT_LAST = re.compile(r"days\b"), re.compile(r"day(?=\W)")
_NOW: Final = re.compile(r"\b(?:now|these days|from now on|instead)\b", re.I)


def _find_other_weekday(user_text: str, utterance: Utterance, facts: Sequence[KnownFact]) -> Iterator[Correction]:
    """What is done on other weekdays now: “we play padel on Thursdays now” and “plays padel every Sunday”."""
    for sentence, quote in _statements(user_text, utterance):
        days = {_PLURAL.sub("day", days.title().replace(" And ", " and ")) for days in _WEEKDAYS.findall(sentence)}
        if len(days) != 1 or not _NOW.search(sentence) or read_denials(sentence):
            continue
        (new,), about = days, content(_WEEKDAYS.sub(" ", sentence)) - OF_DATES - _CHANGING
        for fact in facts:
            known = _WEEKDAYS.findall(fact.statement)
            is_weekly = len(known) == 1 and known[0].casefold() != new.casefold() and not DATED.search(fact.statement)
            if is_weekly and is_about(fact, words_of(quote)) and about & content(_WEEKDAYS.sub(" ", fact.statement)):
                is_plural = f"{known[0]}s" in fact.statement
                value = _NOT_LAST.sub("days", new) if is_plural else new
                yield Correction(fact, Change.REPLACE, quote, utterance.number, value, old=known[0])


def _find_mended(user_text: str, utterance: Utterance, facts: Sequence[KnownFact]) -> Iterator[Correction]:
    """What was said just before with a date that the message mends: “oops no, 9th of June”."""
    mended = _MENDS.match(with_cue_first(user_text))
    day = find_date(mended["rest"], utterance.said_at.date()) if mended else None
    if mended is None or day is None or day.first != day.last:
        return
    is_weekday = mended["rest"].split()[-1].rstrip("s").casefold() in WEEKDAYS
    said = _just_said(utterance, facts)
    nth = _NTH if ORDINAL.fullmatch(mended["rest"]) else None
    dated = [(fact, old) for fact in said if (old := _day_in(fact.statement, nth))]
    alike = [(fact, old) for fact, old in dated if is_weekday == (old.rstrip("s").casefold() in WEEKDAYS)]
    if len({found.first for _, old in alike if (found := find_date(old, utterance.said_at.date()))}) > 1:
        return  # there and back: which of the two is meant isn't said
    for fact, old in alike:
        new = re.sub(r"^(?:on|in) ", "", day.words) if DATED.match(old) else f"{day.first.day} {day.first:%B}"
        new = mended["rest"] if ORDINAL.fullmatch(mended["rest"]) else new  # of the month that is known
        quote, value = _quote_of(utterance, mended, "rest"), f"{day.first:%A}" if is_weekday else new
        yield Correction(fact, Change.REPLACE, quote, utterance.number, value, old=old)


_NTH: Final = re.compile(r"\b\d{1,2}(?:st|nd|rd|th)\b")


def _day_in(statement: str, nth: re.Pattern[str] | None) -> str:
    """The day that a statement names, before its weekday if another is named so: “Thursday the *12th*”."""
    found = nth.search(statement) if nth else None
    return found[0] if found else find_value(statement, "date")


def _quote_of(utterance: Utterance, mended: re.Match[str], group: str) -> str:
    """The opening up to a group; all of a message that has its cue last."""
    is_as_written = utterance.text.startswith(mended.string[: mended.end(group)])
    return (utterance.text[: mended.end(group)] if is_as_written else utterance.text).strip()


_MENDED_NUMBER: Final = re.compile(
    rf"(?i)(?=\W*(?:{OOPS}|make (?:it|that)|i meant?)\b|\*\w)\W*(?:(?:{OOPS})\W{{1,3}}){{0,3}}"
    r"(?:(?:make (?:it|that)|i meant?|it['’]?s|that['’]?s|it is|should be) ){0,2}(?:(?<=\*)(?P<what>[a-z]{2,12}) )?"
    r"(?P<value>\d{1,3}(?:,\d{3})*(?P<hour>[:.]\d\d)?)(?=[.,;!?](?:\s|$)|\s*$| not )"
)
"""A message that opens with a number in the place of one just said: “make that 11”, “No, 9:20.”, “*year 5”."""
_NUMBER: Final = re.compile(r"(?<![\w:.,-])\d{1,3}(?:,\d{3})*(?:[:.]\d\d)?(?![\w:-])")


def _find_mended_number(user_text: str, utterance: Utterance, facts: Sequence[KnownFact]) -> Iterator[Correction]:
    """What was said just before with one number, or one hour, that the message mends."""
    mended = _MENDED_NUMBER.match(with_cue_first(user_text))
    if mended is None:
        return
    said = [
        (fact, number)
        for fact in _just_said(utterance, facts)
        for number in _NUMBER.findall(DATED.sub(" ", fact.statement))
        if bool(mended["hour"]) == (":" in number)
        and re.search(rf"(?i)\b{mended['what'] or ''} ?{re.escape(number)}(?!\w)", fact.statement)
    ]
    if len({number for _, number in said}) != 1:
        return  # which of them is meant isn't said
    quote = _quote_of(utterance, mended, "value")
    for fact, number in said:
        yield Correction(fact, Change.REPLACE, quote, utterance.number, mended["value"], old=number)


def _find_mended_name(user_text: str, utterance: Utterance, facts: Sequence[KnownFact]) -> Iterator[Correction]:
    """What was said just before with a name that the message mends, if it is the only one like it."""
    mended = find_mended_name(user_text)
    if mended is None:
        return
    said, quote = _just_said(utterance, facts), utterance.text[: mended.end()].strip()
    wrong = name_like(mended["name"], " ".join(fact.statement for fact in said))
    for fact in said:
        if wrong and re.search(rf"\b{re.escape(wrong)}\b", fact.statement):
            yield Correction(fact, Change.REPLACE, quote, utterance.number, mended["name"], old=wrong)


def _just_said(utterance: Utterance, facts: Sequence[KnownFact]) -> list[KnownFact]:
    """The facts of the last message before this one, if it isn't long ago."""
    recent = [fact for fact in facts if utterance.said_at - fact.said_at <= JUST_BEFORE and fact.message_id]
    last = max((fact.message_id for fact in recent if fact.message_id), default=None)
    return [fact for fact in recent if fact.message_id == last]


_JOKES: Final = re.compile(
    r"(?i)^\W*(?:(?:(?:ha)+|lol|no|nope|ok|okay|sorry|oh|well|hey|relax|actually|i(?:['’]?m| am| was))\W+){0,4}"
    r"(?:(?:that|it|this) was(?: just| only| all| obviously)? (?:an? )?(?:joke|lie|prank)"
    r"|(?:just |only )?(?:kidding|joking)|i made (?:that|it) up|jk|april fools?)\b"
)
"""Opens a message that takes back the one before: “haha no, that was a joke”."""


def _find_joked(user_text: str, utterance: Utterance, facts: Sequence[KnownFact]) -> Iterator[Correction]:
    """What was learned from the message just before, if this one says that it was a joke."""
    joked = _JOKES.match(user_text)
    if joked is None or "?" in joked[0]:
        return
    for fact in _just_said(utterance, facts):
        yield Correction(fact, Change.RETRACT, utterance.text[: joked.end()].strip(), utterance.number)


def _statements(user_text: str, utterance: Utterance) -> Iterator[tuple[str, str]]:
    """Sentences that state, neither questions nor suppositions, with their words as written."""
    for sentence in _SENTENCE.finditer(user_text):
        if "?" not in sentence[0] and len(sentence[0]) <= MAX_SENTENCE and not SUPPOSED.search(sentence[0]):
            yield sentence[0], utterance.text[sentence.start() : sentence.end()].strip()


def _with_name(words: str, facts: Sequence[KnownFact]) -> str:
    """The words, with a known name that they end with in its capitals: “so nugget”."""
    last = "".join(words.split()[-1:])
    said = (pattern.match(fact.statement) for fact in facts for pattern in _OF_ONE)
    names = {found["name"] or found["alone"] for found in said if found}
    return words.removesuffix(last) + last.title() if last.title() in names else words


def _find_deaths(user_text: str, utterance: Utterance, facts: Sequence[KnownFact]) -> Iterator[Correction]:
    """What was so of someone who has died: “My grandmother died on Sunday” ends where she lives, and asks about it if
    more than one may be meant."""
    for sentence, quote in _statements(user_text, utterance):
        died = _DIED.search(sentence)
        named = died and (died["object"] or died["buried"] or sentence[: died.start()].rstrip())
        who = _WHO_DIED.search(_with_name(named, facts)) if named else None
        if who is None:
            continue
        meant = [
            (fact, found)
            for fact in facts
            if (found := next(filter(None, (pattern.match(fact.statement) for pattern in _OF_ONE)), None))
            and (_is_one(who, found) or _is_kind_of(who, found, facts))
        ]
        is_clear = len({found["name"] or found["alone"] or "" for _, found in meant} - {""}) < 2
        day = find_date(sentence, utterance.said_at.date(), past=True)
        when = datetime.combine(day.last, datetime.min.time(), tzinfo=UTC) if day else None
        for fact, found in meant:
            if _says_how_it_is(found["verb"]) or split_key(fact.key)[1] == "age":
                change = Change.END if is_clear else Change.ASK
                yield Correction(fact, change, quote, utterance.number, when=when and min(when, utterance.said_at))


def _find_diets(user_text: str, utterance: Utterance, facts: Sequence[KnownFact]) -> Iterator[Correction]:
    """The user's diet, ended by what it excludes: “I eat meat again”."""
    diets = [(fact, _EXCLUDED.get(fact.value.casefold())) for fact in facts if fact.key == f"{USER}/diet"]
    for sentence, quote in _statements(user_text, utterance) if diets else ():
        eats = _EATS_AGAIN.search(sentence)
        for fact, excluded in diets if eats else ():
            if eats and excluded and re.search(rf"(?i)\b(?:{excluded})\b", eats["again"] or eats["back"]):
                when = when_ended(sentence, utterance.said_at)
                yield Correction(fact, Change.END, quote, utterance.number, when=when)


def _find_instead(user_text: str, utterance: Utterance, facts: Sequence[KnownFact]) -> Iterator[Correction]:
    """What takes the place of something else with the same verb: “we're going to Puglia instead”, “I take rosuvastatin
    now instead of simvastatin”."""
    for sentence, quote in _statements(user_text, utterance):
        said = _INSTEAD_OF.search(sentence) or _INSTEAD.search(sentence)
        if said is None:
            continue
        for fact in facts:
            old = _replaced_by(said, fact)
            if old and old != said["new"]:
                yield Correction(fact, Change.REPLACE, quote, utterance.number, said["new"], old=old)


def _replaced_by(said: re.Match[str], fact: KnownFact) -> str:
    """The words of a fact that something else takes the place of; empty: none."""
    if "old" in said.groupdict():
        place = find_phrase(fact.statement, said["old"]) or find_phrase(fact.statement, said["old"].split()[0])
        is_same = stem(said["doing"]) in stems_of(fact.statement) and is_about(fact, words_of(said[0]))
        return fact.statement[slice(*place)] if place and is_same else ""
    plan = re.match(
        rf"The user is {re.escape(said['doing'])} ([A-ZÀ-ÞĀ-Ž][\w'-]+(?: [A-ZÀ-ÞĀ-Ž][\w'-]+)*)", fact.statement
    )
    return plan[1] if plan else ""


def _is_one(who: re.Match[str], of: re.Match[str]) -> bool:
    """Whether a fact can be of the one who died: the same name, or the same relation and no other name."""
    said, known = who["name"] or who["alone"], of["name"] or of["alone"]
    if said and known:
        return bool(said == known)
    return bool(who["relation"] and of["relation"] and not relations_differ(who["relation"], of["relation"])
                and stem(who["relation"]) == stem(of["relation"]))  # fmt: skip


def _is_kind_of(who: re.Match[str], of: re.Match[str], facts: Sequence[KnownFact]) -> bool:
    """Whether a fact names no one, and another says that the one who died is of its kind: Bess, a border collie."""
    name = who["name"] or who["alone"]
    if not name or of["name"] or of["alone"]:
        return False
    said = (fact.statement for fact in facts if find_phrase(fact.statement, name))
    return any(find_phrase(statement, of["relation"]) for statement in said)


def _says_how_it_is(verb: str) -> bool:
    return verb in ("will", "can", "cannot") or (verb != "was" and not is_past(verb) and verb.endswith("s"))


def in_full(new: str, old: str, said_at: datetime) -> str:
    """A new day as the old one is written: “14 March” beside “Friday, 12 March 2027”, “Thursdays” beside “Tuesday”."""
    if new.rstrip("s").casefold() in WEEKDAYS:
        return new.rstrip("s").capitalize()
    found = find_date(new, said_at.date()) if DATED.match(old) else None
    return re.sub(r"^(?:on|in) ", "", found.words) if found else new


def _is_said_of(fact: KnownFact, place: tuple[int, int]) -> bool:
    """Whether the fact says something of the one named there: “The user's girlfriend *Ines* dislikes spoilers.”"""
    before, after = fact.statement[: place[0]], fact.statement[place[1] :].strip(" .!")
    called = re.fullmatch(r"The user's (?:[\w-]+ )?([\w-]+) ", before)
    return called is not None and stem(called[1]) in PEOPLE and bool(after)


_IS_PLANNED: Final = re.compile(r"The user (?:will|is going to|plans to|is planning to|wants to)\b")


def _is_clear(fact: KnownFact, denial: Denial, place: tuple[int, int], quote: str) -> bool:
    """Whether a denial means this fact: by a name, two words, the head of its value, or its verb or end."""
    words = denial.old.split()
    if len(words) > 1 or words[0][0].isupper() or fact.value.casefold().split()[-1:] == [denial.old.casefold()]:
        return True
    is_over = not denial.is_mistake or "after all" in quote or _IS_PLANNED.match(fact.statement) is not None
    return is_over and (bool(denial.verbs - WEAK) or _is_last(fact, place))


def _is_all_of_a_plan(fact: KnownFact, place: tuple[int, int]) -> bool:
    """Whether a phrase is all that is planned: “not dropping out” of “wants to drop out”."""
    plan = _IS_PLANNED.match(fact.statement)
    return plan is not None and place[0] <= plan.end() + 1 and _is_last(fact, place)


def _is_last(fact: KnownFact, place: tuple[int, int]) -> bool:
    """Whether the fact ends with what ended: “signed up for a *marathon*”."""
    return not _ADVERBIAL.sub("", fact.statement[place[1] :]).strip(" .")


def _is_verb(fact: KnownFact, place: tuple[int, int]) -> bool:
    """Whether what ended is what the user does, by the fact: “no more rent”, “I quit smoking”."""
    return fact.statement[: place[0]] == "The user " and " " not in fact.statement[slice(*place)]


def _changed_part(statement: str, rest: str) -> tuple[str, str]:
    """The words of a statement that differ from those of another, and theirs, with the word before them."""
    old, new = statement.rstrip(".").split(" "), rest.rstrip(".").split(" ")
    same = next(
        (at for at, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), min(len(old), len(new))
    )
    same = max(0, min(same, len(new)) - 1)
    return " ".join(old[same:]), " ".join(new[same:])


def _is_verb_phrase(phrase: str) -> bool:
    """Whether a seeming new value is another claim: “not an accountant, she *opened a bakery*”."""
    first = phrase.partition(" ")[0]
    return first.islower() and (first in THIRD - OPENERS or is_past(first))


def is_done(new: str, text: str) -> bool:
    """Whether a seeming new value is what the user does, which says on its own what holds: “I *swim a lot* instead”."""
    return re.search(rf"(?i)\b(?:i|we) (?:now |also )?{re.escape(new)}(?!\w)", text) is not None


def _can_take(fact: KnownFact, new: str) -> bool:
    """Whether other words can take a value's place: not in a sentence of the user's, “works *nights* every week”."""
    return bool(fact.key) or kind_of_phrase(new) != "words"


def _replaced(fact: KnownFact, place: tuple[int, int]) -> str:
    """The words of a statement that go with its old value: all of the value, and where and since when it was."""
    start, end = place
    whole = fact.statement.find(fact.value) if fact.value else -1
    if 0 <= whole <= start and end <= whole + len(fact.value):
        start, end = whole, whole + len(fact.value)
    rest = fact.statement[end:].rstrip(".!")
    return fact.statement[start : end + len(rest)] if _GOES_TOO.match(rest) else fact.statement[start:end]


def _says_so(fact: KnownFact, denial: Denial) -> bool:
    """Whether the verbs of a denial are the fact's: “I don't work in Nantes” leaves it as a home."""
    meant = stems_of(fact.statement)
    return all(
        stem(verb) in meant | _SMALL or any(stem(verb) in group and group & meant for group in (*GROUPS, _GOING))
        for verb in denial.verbs - {"do", "doing"}
    )


def _find_tastes(words: Sequence[Word], facts: Sequence[KnownFact]) -> Iterator[tuple[KnownFact, str, str]]:
    """“I love running now”: what was disliked is liked, or the other way round."""
    for fact in facts:
        subject, attribute = split_key(fact.key)
        verb = re.match(r"The user (?:really )?(\w+) ", fact.statement)
        if subject != USER or not attribute.startswith("taste:") or verb is None:
            continue
        opposite = DISLIKING if fact.value == "likes" else LIKING
        span = find_value_of(fact, words)
        said = [word.low for word in words[max(0, span[0] - 3) : span[0]]] if span else []
        if span and fact.value == "dislikes" and find_words(words, GROWN_ON) and not {w.low for w in words} & NOT:
            yield fact, verb[1], "likes"
            continue
        is_mine = bool({"i", "we", "i'm", "i've"} & {word.low for word in words[: span[0]]}) if span else False
        if (
            is_mine
            and any(stem(low) in opposite for low in said)
            and not any(low in NOT or "n't" in low for low in said)
        ):
            yield fact, verb[1], "dislikes" if fact.value == "likes" else "likes"


def _by_object(words: Sequence[Word], facts: Sequence[KnownFact], verbs: frozenset[str]) -> list[KnownFact]:
    """The facts with one of these verbs and the first content word as its object."""
    named = next((stem(word.low) for word in words if word.low not in FILLER), "")
    return [
        fact
        for fact in facts
        if named in content(fact.statement)
        and verbs & stems_of(fact.statement)
        and is_about(fact, [])
        and not is_negative(fact)
    ]


def _find_spellings(
    text: str, words: Sequence[Word], facts: Sequence[KnownFact], said_at: datetime
) -> Iterator[tuple[KnownFact, str, str]]:
    """Facts with a name that a message corrects, with both spellings: “*John, with an h”."""
    is_spelled = _IS_SPELLED.search(text) is not None
    if _MISSPELLED.search(text) is None or (len(words) > SHORT and not is_spelled):
        return
    spelled = said[1] if (said := _SPELLED_AS.search(text)) else ""
    for word in words:
        if not word.text[0].isupper() or len(word.text) < 3 or word.low in FILLER:
            continue
        for fact in facts:
            is_of_others = split_key(fact.key)[0] != USER
            for found in TOKEN.finditer(fact.statement if is_of_others else fact.value or fact.statement):
                name = found[0]
                alike = SPELLED if is_spelled else ALIKE
                is_of_name = name[0].casefold() == word.low[0] and " name" in text
                is_of_last = spelled == word.text and said_at - fact.said_at <= JUST_BEFORE
                if is_spelled and (is_of_name or is_of_last):
                    alike = SPELLED_NAME
                is_name = name[0].isupper() and name != word.text and name not in ("The", "User")
                if is_name and SequenceMatcher(None, name.casefold(), word.low).ratio() >= alike:
                    yield fact, name, word.text


def _find_return(text: str, words: Sequence[Word], known: Sequence[KnownFact]) -> KnownFact | None:
    """A fact that is true again, or was all the time: “back in Porto”, “we went back to Tesco”."""
    back = find_words(words, BACK)
    if back is None:
        return next((earlier for earlier in reversed(known) if _is_so_again(earlier, text)), None)
    named = next((at for at in range(back[1] + 1, len(words)) if words[at].low not in DETERMINERS), len(words))
    for earlier in reversed(known):
        may_return = earlier.status in ("expired", "active") or (
            earlier.status == "superseded" and (earlier.key or earlier.superseded_by)
        )
        if not may_return or not is_about(earlier, words):
            continue
        span = find_value_of(earlier, words) if earlier.value else None
        if span is not None and 0 <= span[0] - named <= 1:
            return earlier
        name = name_after(text, words, named - 1)
        if not earlier.key and name and find_phrase(earlier.statement, name) is not None:
            return earlier
    return None


def _is_so_again(fact: KnownFact, text: str) -> bool:
    """Whether a message says of a place or an employer that was left: “to be living in Cape Town again”."""
    if not (fact.key and fact.value and fact.status in ("expired", "superseded")):
        return False
    found = re.search(rf"\b(?:in|at|with|for) (?:the )?{re.escape(fact.value)} again\b", text)
    return found is not None and not _NEVER.search(text[: found.start()])


_NEVER: Final = re.compile(r"(?i)\b(?:not|n['’]t|never|if|would|could|wish|want|hope|dream\w*|miss) [^.!?]{0,60}$")
_AFTER_ALL: Final = re.compile(r"\bafter all\b", re.I)


def _find_after_all(text: str, words: Sequence[Word], known: Sequence[KnownFact]) -> KnownFact | None:
    """What was so before, or decided, and is said again: “I'm going to study nursing after all”."""
    if _AFTER_ALL.search(text) is None or read_denials(text):
        return None
    over = (fact for fact in reversed(known) if fact.status in ("expired", "superseded") and fact.key and fact.value)
    return next((fact for fact in over if is_about(fact, words) and find_value_of(fact, words)), None)


def when_ended(text: str, said_at: datetime) -> datetime | None:
    """The end of the month or year that a sentence names, no later than it was said."""
    for found in _WHEN.finditer(text):
        month, year = found[1], found[2]
        if not month and not year:
            continue
        number = MONTHS.index(month.casefold()) + 1 if month else 12
        named = int(year) if year else said_at.year - (number > said_at.month)
        following = date(named + number // 12, number % 12 + 1, 1)
        return min(datetime(following.year, following.month, 1, tzinfo=UTC), said_at)
    return None


_READERS: Final = (
    _find_gone_off,
    _find_denied,
    _find_shifted,
    _find_other_weekday,
    _find_mended,
    _find_mended_number,
    _find_mended_name,
    _find_joked,
    _find_deaths,
    _find_diets,
    _find_instead,
)
"""What reads a whole message, in this order: of two changes of a fact, the first counts."""
