"""Checks that a verbatim quote supports its statement. Pure, and independent of what the engine says about its
proposal.

A quote is doubted if it shares too little with the statement (“I”, “Yes, that's right”), or was cut out of a negation,
a question, a supposition, or someone else's claim.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

from memory.librarian.engine import KnownFact, ProposedFact
from memory.ports.source import Utterance
from memory.text.dates import MONTHS
from memory.text.keywords import content, names, numbers, stem, without_dates, words
from memory.text.user_text import mask_foreign_text

MIN_SHARED: Final = 0.5
"""Minimum share of the statement's content words, without names, in the quote's sentence. None of about 190 proposals
that the rule engine makes from the development messages and two benchmarks falls below it; invented ones do."""
_CONVENTIONAL = """
    live lives home born work works job married like likes love enjoy enjoys dislike dislikes prefer prefers want wants
    goal plan plans decide decided allergic allergy allergies old age year years birthday favourite favorite speak
    speaks native sister brother mother father wife husband partner son daughter child children friend know knows call
    eat avoid use uses own owns keep keeps
"""
CONVENTIONAL: Final = frozenset(map(stem, _CONVENTIONAL.split()))
"""Words that statements use in place of the user's own (“married” for “my wife”)."""


class Doubt(StrEnum):
    """Why a quote doesn't support a statement."""

    NOT_SAID = "not said"
    NEGATED = "negated"
    ASKED = "asked"
    SUPPOSED = "supposed"
    REPORTED = "reported"


_BREAK = re.compile(r"[.!?…]+(?=\s|$)|\n+|[;]")
_ASKS = re.compile(
    r"^\W*(?:(?:and|but|so|or|hey|hi|ok|okay|well|please)[, ]+)?"
    r"(?:do|does|did|am|is|are|was|were|can|could|should|would|will|have|has|had|what|where|who|when|why|how|which|isn't|aren't|don't|doesn't|didn't|wasn't)\b",
    re.I,
)
_MONTH = "|".join(MONTHS)
_DAY = re.compile(rf"\b\d{{4}}-\d\d-\d\d\b|\b(?:\d{{1,2}} )?(?:{_MONTH})(?: \d{{4}})?\b|\b(?:19|20)\d\d\b", re.I)
_RELATIVE = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|this|coming|since|week|weekend|months?|years?"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tue|wed|thu|fri|sat|sun)\b"
    rf"|\b(?:{_MONTH})\b",
    re.I,
)
"""A relative day, or one without a year: the statement has the full date."""
_REQUESTS = re.compile(r"\b(?:can|could|will|would) you (?:please |just )*(?:call me|remember|note)\b", re.I)
_MINE = re.compile(r"\b(?:my|our)\b", re.I)
_SUPPOSES = re.compile(
    r"\b(?:if|suppose|supposing|imagine|pretend|unless|whether|what if|wish|in case|as though|let's say|assume|assuming"
    r"|hypothetically)\b[^,;:]*$",
    re.I,
)
_CLAIMS = re.compile(
    r"\b(?!(?:i|i've|as|we)\b)[\w']+ (?:always |just |also |once )?"
    r"(?:says?|said|claims?|claimed|insists?|thinks?|believes?|swears?|tells? (?:me|us|people|everyone)"
    r"|told (?:me|us|people|everyone)|wrote|writes)(?: that)?,?\s*$",
    re.I,
)
_NOT = re.compile(
    r"\b(?:not|never|no longer|nor|neither|without|hardly)\b|n['’]t\b|\b(?:false|untrue|wrong|a lie) that\b", re.I
)
_NOT_BEFORE = re.compile(
    r"(?:\b(?:not|never|no longer|don['’]?t|doesn['’]?t|didn['’]?t|isn['’]?t|wasn['’]?t"
    r"|false that|untrue that|not true that|nor do|neither do)\b)[^,;:]{0,40}$",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Place:
    """The context of a quote in its message."""

    before: str
    """The part of the sentence before the quote."""
    sentence: str
    is_question: bool


def doubt(
    proposal: ProposedFact, evidence: Utterance, utterances: Sequence[Utterance], known: Iterable[KnownFact]
) -> Doubt | None:
    """Why the quote in `evidence` doesn't support the statement; None if it does."""
    place = _find_context(proposal.quote, evidence)
    if not _supports(proposal, place, evidence, utterances, known):
        return Doubt.NOT_SAID
    if _NOT_BEFORE.search(place.before) and not _NOT.search(proposal.statement):
        return Doubt.NEGATED
    asks = place.is_question and _ASKS.search(place.sentence) and not _REQUESTS.search(place.sentence)
    if asks and not _MINE.search(proposal.quote):
        return Doubt.ASKED
    if _SUPPOSES.search(place.before):
        return Doubt.SUPPOSED
    if _CLAIMS.search(place.before):
        return Doubt.REPORTED
    return None


def _find_context(quote: str, evidence: Utterance) -> Place:
    """The sentences that contain the quote, in the writer's own words."""
    user_text = mask_foreign_text(evidence.text, evidence.echoes)
    start = max(user_text.find(quote), 0) if quote in user_text else max(evidence.text.find(quote), 0)
    end = start + len(quote)
    begins = max((found.end() for found in _BREAK.finditer(user_text, 0, start)), default=0)
    following = _BREAK.search(user_text, max(start, end - 1))
    ends = following.end() if following else len(user_text)
    return Place(user_text[begins:start], user_text[begins:ends], bool(following and "?" in following[0]))


def _supports(
    proposal: ProposedFact,
    place: Place,
    evidence: Utterance,
    utterances: Sequence[Utterance],
    known: Iterable[KnownFact],
) -> bool:
    corrected = _corrected_statement(proposal, place, known)
    said = content(place.sentence) | content(corrected)
    if not said:
        return False  # “I”, “Yes.”
    dated = _RELATIVE.search(place.sentence) is not None
    statement = _DAY.sub(" ", proposal.statement) if dated else _without_month_said(proposal.statement, evidence)
    written = numbers(mask_foreign_text(evidence.text, evidence.echoes))
    if not numbers(statement) <= written | numbers(corrected):
        return False
    if not _names_are_the_users(proposal, evidence, utterances, known, corrected):
        return False
    elsewhere = {stem(name) for name in names(without_dates(statement))} - said
    meant = {word for word in content(without_dates(statement)) if not word.isdigit()} - elsewhere
    hard = meant - CONVENTIONAL
    return len(hard & said) >= MIN_SHARED * len(hard) if hard else bool(meant & said or numbers(statement))


def _without_month_said(statement: str, evidence: Utterance) -> str:
    """Without the month of the message, which “29 years old in May 2026” adds to “I'm 29”; in any time zone."""
    for day in (evidence.said_at - timedelta(days=1), evidence.said_at, evidence.said_at + timedelta(days=1)):
        statement = statement.replace(f"{day:%B %Y}", " ")
    return statement


def _corrected_statement(proposal: ProposedFact, place: Place, known: Iterable[KnownFact]) -> str:
    """The known fact that a correction in the user's words changes: “Bisto, not Biscuit”; empty: none."""
    if not proposal.correction:
        return ""
    sentence = content(place.sentence)
    meant = {word for word in content(without_dates(proposal.statement)) if not word.isdigit()}
    for fact in known:
        is_it = fact.key == proposal.key if proposal.key else fact.number == proposal.related_to is not None
        old = content(fact.statement)
        if is_it and meant - old <= sentence:
            return fact.statement
    return ""


def _names_are_the_users(
    proposal: ProposedFact,
    evidence: Utterance,
    utterances: Sequence[Utterance],
    known: Iterable[KnownFact],
    corrected: str,
) -> bool:
    """Whether all names are from the user: earlier messages, known facts or the corrected one may name “she”, too."""
    wanted = names(without_dates(proposal.statement))
    if not wanted:
        return True
    said = {
        word.removesuffix("'s")
        for utterance in utterances
        if utterance.speaker == "user" and utterance.number <= evidence.number
        for word in words(mask_foreign_text(utterance.text, utterance.echoes))
    }
    missing = {name for name in wanted if not set(words(name)) <= said}
    active = (corrected, *(fact.statement for fact in known if fact.status == "active"))
    return not missing or missing <= {word.removesuffix("'s") for text in active for word in words(text)}
