"""Weighs what was read in a message: drops what isn't worth keeping, and says how sure the rest is."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from memory.librarian.claims.claims import worth
from memory.librarian.engine import ProposedFact
from memory.librarian.rules.clauses import is_past
from memory.librarian.rules.words import ADVERBS, OPENERS
from memory.models.kinds import Kind
from memory.text.keywords import content

UNJUDGED: Final = frozenset({"note", "order", "secret"})
"""Forms of their own, which are what they look like."""
DROPPED_BELOW: Final = 0.28
"""Probability of being worth keeping below which a statement is dropped."""
KNOWN_BELOW: Final = 0.08
"""The same for what has a key, and for whom a message names: an allergy or a home is worth a question."""
READ_FROM: Final = 0.24
"""From here on what a form or the tagger is sure of keeps its confidence: 91 of 100 statements that are worth keeping
(`claims_dev.txt`)."""
SURE_FROM: Final = 0.94
"""From here on what the user says of themselves in free words is kept unasked."""
SURE: Final = 0.85
ASK: Final = 0.7
"""Confidence of a statement that is sure, and of one that is not."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement that may be proposed, and how it was read."""

    fact: ProposedFact
    form: str


def select_candidates(found: Sequence[Candidate], message: str) -> list[ProposedFact]:
    """The candidates in `message` that are worth keeping, as surely as they are."""
    weighed = [(one, _weigh(one, message)) for one in found if one.fact.confidence > 0]
    facts = [(one.form, fact) for one, fact in weighed if fact is not None]
    stated = [fact for form, fact in facts if form != "mention"]
    return [fact for form, fact in facts if form != "mention" or not _is_stated(fact, stated)]


def select_facts(facts: Iterable[ProposedFact], message: str) -> list[ProposedFact]:
    """Those of the facts that are worth keeping, as surely as they are."""
    weighed = (_weigh(Candidate(fact, "tag"), message) for fact in facts)
    return [fact for fact in weighed if fact is not None]


def _is_stated(mention: ProposedFact, facts: Sequence[ProposedFact]) -> bool:
    """Whether a fact that is kept already says who someone is, or when something is.

    “The user's sister Mary lives in Lisbon”, “the user is training for a marathon in May”.
    """
    if mention.kind is Kind.EVENT:
        what = {*content(mention.statement)} - {*content(mention.value)}
        return any(one.value == mention.value and what & {*content(one.statement)} for one in facts)
    return (
        not mention.key
        and bool(mention.tags)
        and any(all(tag in one.statement for tag in mention.tags) for one in facts)
        and mention.value in mention.tags
    )


_SUBJECT: Final = re.compile(r"The user's (?P<whose>[\w-]+ (?P<name>[A-ZÀ-ÞĀ-Ž][\w'-]+)) ")


def _introduced(statement: str, said: str) -> str:
    """The words with someone who was named before as the user's: “Kofi” → “my husband Kofi”."""
    found = _SUBJECT.match(statement)
    if found is None or found["whose"] in said:
        return said
    return re.sub(rf"(?i)\b{re.escape(found['name'])}\b", f"my {found['whose']}", said, count=1)


def _with_subject(said: str) -> str:
    """The words with the subject that they leave out: “moved to Porto” → “I moved to Porto”."""
    first = next((word for word in said.lower().split() if word not in ADVERBS), "")
    does = is_past(first) or first in OPENERS
    return f"{'I' if does else "I'm"} {said[:1].lower()}{said[1:]}"


_MOVED_HOUSE: Final = re.compile(r"(?i)\bshifted(?= to\b)")
"""As people in India say that they moved; the classifier doesn't know it."""


def _weigh(one: Candidate, message: str) -> ProposedFact | None:
    if one.form in UNJUDGED:
        return one.fact
    quote = _with_subject(one.fact.quote) if one.form.startswith("elided") else one.fact.quote
    words = (_MOVED_HOUSE.sub("moved", said) for said in (message.replace(one.fact.quote, quote), quote))
    chance = worth(one.fact.statement, *(_introduced(one.fact.statement, said) for said in words))
    if chance < (KNOWN_BELOW if one.fact.key or one.form == "mention" else DROPPED_BELOW):
        is_marked = one.form == "tag" and one.fact.confidence >= SURE  # the tagger is as sure of the opposite
        return one.fact.model_copy(update={"confidence": ASK}) if is_marked else None
    confidence = one.fact.confidence
    if one.form.endswith("words") and chance >= SURE_FROM and confidence >= ASK:
        confidence = SURE
    elif chance < READ_FROM and not (one.form == "lexicon" and one.fact.key):  # “I'm pescatarian now”
        confidence = min(confidence, ASK)
    return one.fact.model_copy(update={"confidence": confidence})
